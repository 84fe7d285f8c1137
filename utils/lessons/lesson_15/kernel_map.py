"""The code of a Maxwell design as a map: each line has the colour of its part."""

from __future__ import annotations

import html
import inspect
import itertools
import re
import textwrap
from dataclasses import dataclass

from IPython.display import HTML

from utils.ladder.function_text import plain_function
from utils.ladder.step import Step
from virtual_gpu.pictures.svg import BLUE, GREEN, GREY, ORANGE, PURPLE


@dataclass(frozen=True)
class Part:
    """A part of the kernel's code in the map.

    name, words: its label and a sentence. colour: of its lines' edge. lines: a regular expression
    that finds its lines.
    """

    name: str
    words: str
    colour: str
    lines: str


PARTS = (
    Part("bits", "which part of the tile does thread t have?", PURPLE,
         r"across, down =|y, x ="),
    Part("tiles", "a tile of a and one of b go to shared memory, half of the warps load each", BLUE,
         r"corner =|\bloads_a =|\bme =|load_half|fetch_half|put_half|syncthreads"),
    Part("multiply", "8 + 8 words from shared memory, then 64 multiply-adds", GREEN,
         r"clear\(|multiply_tile|outer_product|read_fragment"),
    Part("stores", "the sums go to c by way of shared memory", ORANGE, r"store_through_shared"),
)  # fmt: skip
_REST = Part("", "", GREY, "")

_STYLE = """<style>
.kernel-map {font-family: ui-monospace, monospace; font-size: 13px; line-height: 1.5;
 overflow-x: auto; margin: 6px 0}
.kernel-map .part {border-left: 6px solid; padding-left: 8px; margin: 1px 0; min-width: max-content}
.kernel-map .part b {font-family: system-ui, sans-serif; white-space: normal; color: inherit}
.kernel-map .label {font-family: system-ui, sans-serif; max-width: 80vw; white-space: normal}
.kernel-map pre {margin: 0; background: none; color: inherit; font-size: 13px}
</style>"""


def part_of(line: str) -> Part:
    """Return the part that a line of code belongs to; a part with the name "" if it has none."""
    return next((one for one in PARTS if re.search(one.lines, line)), _REST)


def map_of(step: Step) -> list[tuple[Part, list[str]]]:
    """Return (part, lines) for each run of lines of the same part, in the order of the code.

    Comments and empty lines are left out.
    """
    text = textwrap.dedent(inspect.getsource(plain_function(step.variant().kernel)))
    lines = [line for line in text.splitlines() if line.strip() and line.strip()[0] != "#"]
    return [(part, list(run)) for part, run in itertools.groupby(lines, part_of)]


def draw_map(step: Step) -> HTML:
    """Return the map of a step's kernel as HTML: runs of lines, labelled where a part begins."""
    seen, blocks = set(), []
    for part, run in map_of(step):
        label = ""
        if part.name and part.name not in seen:
            label = f'<div class="label"><b>{part.name}</b>: {html.escape(part.words)}</div>'
        seen.add(part.name)
        code = html.escape("\n".join(run))
        blocks.append(
            f'<div class="part" style="border-color:{part.colour}">{label}<pre>{code}</pre></div>'
        )
    return HTML(f'{_STYLE}<div class="kernel-map">{"".join(blocks)}</div>')
