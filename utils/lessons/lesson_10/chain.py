"""A picture of the way from one tile of b to four: what changes in each step, and the times."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gemm_kernels import tiles_alone
from utils.lessons import product_bars
from utils.lessons.granularity import machine_wavefronts
from utils.lessons.inner_loops import hot_loop
from virtual_gpu.pictures.svg import GREY, Picture, rect, svg, text

WIDTH, BAR, HEAD, PITCH, FOR_WORDS = 412, 13, 54, 84, 64
COLUMNS = (0, 140, 270)  # x of the columns of needs


@dataclass(frozen=True)
class Link:
    """A kernel of the chain, in which each kernel improves on the one before.

    name: its name in the picture. kernel: its name in `tiles_alone.csv`. loads, waits: the
    multiply-adds of a thread per word of a that it loads, and per time that it waits for global
    memory. turns: the number of sums to which the machine code adds by turns.
    """

    name: str
    kernel: str
    loads: int
    waits: int
    turns: int = 1

    def needs(self) -> tuple[tuple[str, float], ...]:
        """Return five pairs (words, number) on what a multiply-add needs.

        They are, in this order, the loads of a, the instructions, the waits, the wavefronts, and
        1 / `turns`. A smaller number is better. Raises CourseError if neither the compiler nor the
        record of loops has the kernel.
        """
        variants = tiles_alone.variants()
        variant = {str(one): one for one in variants}[self.kernel]
        wavefronts = machine_wavefronts(variant)
        instructions = hot_loop(variant).per_multiply_add_with_tiles
        return (
            (f"1/{self.loads} load of a", 1 / self.loads),
            (f"{instructions:.2f} instructions", instructions),
            (f"1/{self.waits} wait", 1 / self.waits),
            (f"{wavefronts:.2f} wavefronts", wavefronts),
            ("one sum at a time" if self.turns == 1 else "sums by turns", 1 / self.turns),
        )


CHAIN = (
    Link("grain 1", "granularity GRAIN=1 TILE=32", 32, 32),
    Link("one by one", "one_by_one", 128, 32),
    Link("reads again", "reads_again", 128, 128),
    Link("grain 4", "granularity GRAIN=4 TILE=32", 128, 128, 4),
)
LEAST = 0.1  # a need is better if it is smaller by more than this fraction


def draw_chain(rows: Iterable) -> Picture:
    """Draw the recorded ms of each kernel of the chain as a bar, with its needs above it.

    The needs are those of `Link.needs`, and the time is that of an N×N product. A need that is at
    least a tenth less than in the kernel before is bold, and the time saved is pale. rows: of
    `tiles_alone.csv`. Raises CourseError if neither the compiler nor the record of loops has one
    of the kernels.
    """
    rows = list(rows)
    timed = product_bars.recorded_times(rows)
    where = f"{product_bars.N}×{product_bars.N}×{product_bars.N}, one {rows[0].device}"
    title = "From grain 1 to grain 4, per multiply-add"
    body = text(0, 14, title, 13, font_weight="bold") + text(0, 31, where, 12)
    scale = (WIDTH - FOR_WORDS) / timed[CHAIN[0].kernel]
    sentences, before = [f"{title}, {where}"], None
    for y, link in enumerate(CHAIN):
        top, ms, needs = HEAD + PITCH * y, timed[link.kernel], link.needs()
        gain = f"{timed[before.kernel] / ms:.2f} times faster" if before else ""
        body += text(0, top, link.name, 13, font_weight="600")
        body += text(WIDTH, top, gain, 12, "end", font_weight="bold") + _needs(top, link, before)
        body += rect(0, top + 40, round(ms * scale, 1), BAR, GREY)
        end = timed[before.kernel if before else link.kernel] * scale
        body += rect(ms * scale, top + 40, round(end - ms * scale, 1), BAR, GREY, fill_opacity=0.25)
        body += text(end + 5, top + 40 + BAR - 2, f"{ms:.2f} ms", 12)
        known = ", ".join(words for words, _ in needs)
        sentences.append(f"{link.name}: {known}, {ms:.2f} ms{', ' * bool(gain)}{gain}")
        before = link
    alt = ". ".join(sentences) + "."
    return Picture(svg(WIDTH, HEAD + PITCH * len(CHAIN) - 18, body, alt, widest=1.15 * WIDTH), alt)


def _needs(top: float, link: Link, before: Link | None) -> str:
    """Return SVG of a kernel's needs in columns of two rows.

    A need is bold if it is at least a tenth less than that of `before`, which may be None. top: y
    in pixels of the line above the rows.
    """
    body = ""
    for place, (words, value) in enumerate(link.needs()):
        is_better = before is not None and value < (1 - LEAST) * before.needs()[place][1]
        look = {"font_weight": "bold"} if is_better else {}
        body += text(COLUMNS[place // 2], top + 17 + 16 * (place % 2), words, 12, **look)
    return body
