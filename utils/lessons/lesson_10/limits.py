"""Bars of the share of the peak that each grain can reach, by the reader's own function."""

from __future__ import annotations

from collections.abc import Callable

from gemm_kernels import granularity
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import share_of_peak
from utils.machine.occupancy import limits_of
from virtual_gpu.pictures.svg import GREY, ORANGE, Picture, legend, rect, svg, text

WIDTH, LEFT, BAR, PITCH, HEAD, FOR_WORDS = 412, 60, 11, 34, 26, 48
GRAINS, TILE = (1, 2, 4, 8, 16), 32
JOINED = 0.5  # wavefronts of a word of the tile of a


def draw_limits(cost: Callable[[int, float], float]) -> Picture:
    """Draw the largest share of the peak that shared memory allows, above the recorded one.

    There is a group of two bars, in percent, per grain of `GRAINS`. The recorded share is that of a
    4096×4096 product on the device shown. cost: the reader's right `shared_cost`. A grain of which
    the course has no kernel has only the first bar. Raises CourseError if a kernel has no record.
    """
    device = device_shown()
    per_cycle = limits_of(device.compute_capability).sub_partitions
    title = "The most that shared memory allows, % of the peak"
    where = f"tiles of {TILE}×{TILE}; recorded at 4096 on one {device.name}"
    body = text(0, 12, title, 13, font_weight="bold")
    scale, sentences = (WIDTH - LEFT - FOR_WORDS) * per_cycle / 100, [f"{title}, {where}"]
    for place, grain in enumerate(GRAINS):
        y, most = HEAD + PITCH * place, 100 / (per_cycle * cost(grain, JOINED))
        bars = [(most, ORANGE), *((share, GREY) for share in _recorded(grain))]
        body += text(LEFT - 6, y + BAR - 1.5, f"grain {grain}", 12, "end")
        for row, (share, colour) in enumerate(bars):
            top = y + row * (BAR + 2)
            body += rect(LEFT, top, round(share * scale, 1), BAR, colour)
            body += text(LEFT + share * scale + 5, top + BAR - 1.5, f"{share:.1f}", 12)
        sentences.append(f"grain {grain}: at most {most:.1f}")
    alt = ". ".join(sentences) + "."
    key = legend(at_most_by_your_function=ORANGE, recorded=GREY)
    return Picture(
        key + svg(WIDTH, HEAD + PITCH * len(GRAINS), body, alt, widest=1.15 * WIDTH), alt
    )


def _recorded(grain: int) -> list[float]:
    """Return [recorded share of the peak at 4096, in percent], or [] for a grain of no kernel.

    Raises CourseError if the kernel of this grain has no record on the device shown.
    """
    step = granularity.STEP
    if grain not in step.choices["GRAIN"]:
        return []
    return [100 * share_of_peak(step.variant(GRAIN=grain, TILE=TILE))]
