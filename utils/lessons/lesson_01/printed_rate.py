"""A benchmark of three source lines, with the rate that it printed and the peak of the GPU."""

from __future__ import annotations

from utils.ladder.shapes import GemmShape
from utils.lessons.lesson_01.recorded_pitfalls import pitfalls_device, recorded_series
from utils.lessons.lesson_01.timeline import CLOCK
from utils.translation import translate
from virtual_gpu.pictures.svg import GREY, Picture, rect, svg, text

SIZE = 4096  # n of the product
SOURCE = (
    "start = time.perf_counter()",
    "naive[grid, block](a, b, c)",
    "seconds = time.perf_counter() - start",
)
WIDTH, LONGEST, BAR, PITCH = 412, 300, 18, 44
HEAD, LEADING = 48, 18  # the first source line, and the distance of two of them


def printed_gflops() -> float:
    """Return the rate in GFLOP/s that follows from the recorded time of a launch of `naive`.

    The clock was read when the launch had returned.
    """
    work = GemmShape(SIZE, SIZE, SIZE).flops
    return work / recorded_series("naive", SIZE, "launch").time_ms / 1e6


def draw() -> Picture:
    """Draw the benchmark's source, and below it bars for its printed rate and for the peak."""
    device = pitfalls_device()
    title = f"naive, {SIZE}×{SIZE}, on one {device.name}"
    body = text(0, 16, title, 13, font_weight="bold")
    for row, source in enumerate(SOURCE):
        body += text(8, HEAD + LEADING * row, source, 12, style="font-family:monospace")
    y = HEAD + LEADING * len(SOURCE) + 16
    rates = {
        translate("the rate from this time"): (printed_gflops(), CLOCK),
        translate("the peak of the GPU"): (device.peak_gflops, GREY),
    }
    scale = LONGEST / max(rate for rate, _ in rates.values())
    for row, (words, (rate, colour)) in enumerate(rates.items()):
        top = y + PITCH * row
        body += text(0, top, words, 12)
        body += rect(0, top + 6, round(rate * scale, 1), BAR, colour)
        body += text(round(rate * scale) + 6, top + 20, f"{rate:,.0f} GFLOP/s", 12)
    sentences = [f"{words}: {rate:,.0f} GFLOP/s" for words, (rate, _) in rates.items()]
    alt = f"{title}. A benchmark: {'; '.join(SOURCE)}. {'. '.join(sentences)}."
    return Picture(svg(WIDTH, y + PITCH * len(rates) - 12, body, alt, widest=560), alt)
