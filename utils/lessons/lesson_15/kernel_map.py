"""The parts of a Maxwell design in four colours, and its code in the same colours."""

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
from utils.lessons.lesson_15.colours import LOADS_AND_STORES, MULTIPLY_ADDS, OTHERS, STORES_OF_C
from utils.translation import translate
from virtual_gpu.pictures.svg import in_code


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
    Part("bits", "the number of a thread selects its part of the tile", OTHERS,
         r"across, down =|y, x ="),
    Part("tiles", "a tile of a and one of b go to shared memory; half of the warps load each",
         LOADS_AND_STORES,
         r"corner =|\bloads_a =|\bme =|load_half|fetch_half|put_half|syncthreads"),
    Part("multiply", "a thread reads 8 + 8 words from shared memory, for 64 multiply-adds",
         MULTIPLY_ADDS,
         r"clear\(|multiply_tile|outer_product|read_fragment"),
    Part("stores", "the sums go to c through shared memory", STORES_OF_C, r"store_through_shared"),
)  # fmt: skip
_REST = Part("", "", "transparent", "")
_MAP = re.compile(r"(across, down =).*")  # the line that the reader writes in the first task

_STYLE = """<style>
.kernel-map {line-height: 1.5; margin: 6px 0}
.kernel-map .name {border-left: 10px solid; padding: 3px 0 3px 10px; margin: 4px 0}
.kernel-map summary {cursor: pointer; margin: 8px 0}
.kernel-map .code {overflow-x: auto}
.kernel-map .run {border-left: 6px solid; padding-left: 8px; min-width: max-content}
.kernel-map .run > pre {margin: 0; background: none; color: inherit; white-space: pre;
 font: 13px/1.5 monospace}
</style>"""


def part_of(line: str) -> Part:
    """Return the part that a line of code belongs to; a part with the name "" if it has none."""
    return next((one for one in PARTS if re.search(one.lines, line)), _REST)


def map_of(step: Step) -> list[tuple[Part, list[str]]]:
    """Return (part, lines) for each run of lines of the same part, in the order of the code.

    Lines that belong to no part have the part with the name "". Comments and empty lines are left
    out. The right side of the lane map, which the reader writes, is replaced by a comment.
    """
    text = textwrap.dedent(inspect.getsource(plain_function(step.variant().kernel)))
    lines = [line for line in text.splitlines() if line.strip() and line.strip()[0] != "#"]
    lines = [_MAP.sub(r"\1 ...  # your first task", line) for line in lines]
    return [(part, list(run)) for part, run in itertools.groupby(lines, part_of)]


def draw_map(step: Step) -> HTML:
    """Return the parts of a step's kernel as HTML, with the kernel's code in a fold below them."""
    names = "".join(
        f'<div class="name" style="border-color:{part.colour}"><b>{part.name}</b>: '
        f"{html.escape(part.words)}</div>"
        for part in PARTS
    )
    runs = "".join(
        f'<div class="run" style="border-color:{part.colour}">'
        f"<pre>{html.escape(chr(10).join(run))}</pre></div>"
        for part, run in map_of(step)
    )
    fold = f"The code of {step.name} in these colours"
    helpers = translate(
        "The double buffer is that of lesson 14. `load_half` loads a thread's part of the first "
        "tile into shared memory. `fetch_half` loads its part of a later tile into registers, and "
        "`put_half` stores it in shared memory. `a0`, `b0` and `a1`, `b1` are the words of two "
        "steps of k, which are used in turn."
    )
    return HTML(
        f'{_STYLE}<div class="kernel-map">{names}<details><summary>{fold}</summary>'
        f'<p>{in_code(helpers)}</p><div class="code">{runs}</div></details></div>'
    )
