"""A picture of the way from `tiled` to `ilp`: what changes in each step, and the recorded times."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gemm_kernels import ilp_alone
from utils.lessons.granularity import machine_wavefronts
from utils.lessons.inner_loops import hot_loop
from utils.lessons.lesson_11 import time_bars
from virtual_gpu.pictures.svg import GREY, Picture, rect, svg, text

WIDTH, BAR, HEAD, PITCH, FOR_WORDS = 412, 13, 54, 66, 64
COLUMNS = (0, 130, 270)  # x of wavefronts, instructions and warps


@dataclass(frozen=True)
class Link:
    """A kernel of the chain, in which each kernel changes the one before.

    name: its name in the picture. kernel: its name in `ilp_alone.csv`. warps: the warps that an SM
    of the H200 holds.
    """

    name: str
    kernel: str
    warps: int

    def needs(self) -> tuple[tuple[str, float], ...]:
        """Return (words, number) for wavefronts and instructions per multiply-add, and for warps.

        They are in this order. A smaller number is better: that of the warps is negative.
        """
        variants = ilp_alone.variants()
        variant = {str(one): one for one in variants}[self.kernel]
        wavefronts = machine_wavefronts(variant)
        instructions = hot_loop(variant).per_multiply_add_with_tiles
        return (
            (f"{wavefronts:.2f} wavefronts", wavefronts),
            (f"{instructions:.2f} instructions", instructions),
            (f"{self.warps} warps", -self.warps),
        )


CHAIN = (
    Link("tiled", "tiled TILE=32", 64),
    Link("four rows, four steps at a time", "unrolled_rows", 32),
    Link("tx and ty in uint32", "rows_in_32_bits", 32),
    Link("ilp with 32 warps", "ilp_32_warps", 32),
    Link("ilp", "ilp GRAIN=4", 40),
)


def draw_chain(rows: Iterable) -> Picture:
    """Draw the recorded ms of each kernel of the chain as a bar, with its needs above it.

    The needs are those of `Link.needs`, and the time is that of an N×N product. What is better than
    in the kernel before is bold, and the time saved is pale. rows: of `ilp_alone.csv`. Raises
    CourseError if neither the compiler nor the record of loops has one of the kernels.
    """
    rows = list(rows)
    timed = time_bars.recorded_times(rows)
    where = f"{time_bars.N}×{time_bars.N}×{time_bars.N}, one {rows[0].device}"
    title = "From tiled to ilp, one change after the other"
    body = text(0, 14, title, 13, font_weight="bold") + text(0, 31, where, 12)
    scale = (WIDTH - FOR_WORDS) / timed[CHAIN[0].kernel]
    sentences, before = [f"{title}, {where}"], None
    for y, link in enumerate(CHAIN):
        top, ms, needs = HEAD + PITCH * y, timed[link.kernel], link.needs()
        body += text(0, top, link.name, 13, font_weight="600")
        gain = f"{timed[before.kernel] / ms:.2f} times faster" if before else ""
        body += text(WIDTH, top, gain, 12, "end", font_weight="bold")
        for column, (words, value) in enumerate(needs):
            is_better = before is not None and value < before.needs()[column][1]
            look = {"font_weight": "bold"} if is_better else {}
            body += text(COLUMNS[column], top + 17, words, 12, **look)
        body += rect(0, top + 24, round(ms * scale, 1), BAR, GREY)
        end = timed[before.kernel if before else link.kernel] * scale
        body += rect(ms * scale, top + 24, round(end - ms * scale, 1), BAR, GREY, fill_opacity=0.25)
        body += text(end + 5, top + 24 + BAR - 2, f"{ms:.2f} ms", 12)
        known = ", ".join(words for words, _ in needs)
        sentences.append(f"{link.name}: {known}, {ms:.2f} ms{', ' * bool(gain)}{gain}")
        before = link
    alt = ". ".join(sentences) + "."
    return Picture(svg(WIDTH, HEAD + PITCH * len(CHAIN) - 16, body, alt, widest=1.15 * WIDTH), alt)
