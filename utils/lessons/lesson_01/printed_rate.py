"""A benchmark of three source lines, with the rate that it printed and the peak of the GPU."""

from __future__ import annotations

from utils.ladder.shapes import GemmShape
from utils.lessons.cards import Table, table
from utils.lessons.lesson_01.recorded_pitfalls import pitfalls_device, recorded_series
from utils.lessons.lesson_01.timeline import CLOCK
from utils.translation import translate
from virtual_gpu.pictures.svg import GREY, Picture, path, rect, svg, text

SIZE = 4096  # n of the product
SOURCE = (
    "start = time.perf_counter()",
    "naive[grid, block](a, b, c)",
    "seconds = time.perf_counter() - start",
)
WIDTH, LONGEST, BAR, PITCH = 412, 300, 18, 44
HEAD, LEADING = 48, 18  # the first source line, and the distance of two of them


def rate(m: int, n: int, k: int, us: float) -> float:
    """Return the rate in GFLOP/s of the product of an m×k and a k×n matrix.

    us: its time in microseconds.
    """
    return GemmShape(m, n, k).flops / us / 1e3


def printed_gflops() -> float:
    """Return the rate in GFLOP/s that follows from the recorded time of a launch of `naive`.

    It is the median time of the recorded launches of an n×n product with n = `SIZE`. The clock was
    read when the launch had returned.
    """
    return rate(SIZE, SIZE, SIZE, 1000 * recorded_series("naive", SIZE, "launch").time_ms)


def printed_range() -> tuple[float, float]:
    """Return the least and the greatest rate in GFLOP/s that the recorded launches of `naive` give.
    """
    times_us = recorded_series("naive", SIZE, "launch").times_us
    return rate(SIZE, SIZE, SIZE, max(times_us)), rate(SIZE, SIZE, SIZE, min(times_us))


def rates_table(*sizes: int) -> Table:
    """Tabulate the recorded rates of `naive` in GFLOP/s, one row per size n.

    The columns are n, and the rates if the clock is read without a wait when the launch returns, if
    the host waits before both readings of the clock, and of the kernel alone with hot caches.
    """
    rows, timers = [], ("launch", "wall", "hot")
    for n in sizes:
        times = (1000 * recorded_series("naive", n, timer).time_ms for timer in timers)
        rows.append((n, *(f"{rate(n, n, n, us):,.0f}" for us in times)))
    head = ("n", "without a wait", "with both waits", "kernel alone, hot")
    return table("Rates of naive in GFLOP/s", head, rows)


def draw() -> Picture:
    """Draw the benchmark's source, and below it bars for its printed rate and for the peak.

    Both rates are in GFLOP/s. The printed one is that of `printed_gflops`.
    """
    device = pitfalls_device()
    title = f"naive, {SIZE}×{SIZE}, on one {device.name}"
    body = text(0, 16, title, 13, font_weight="bold")
    below = HEAD + LEADING * len(SOURCE) - 8
    body += path(f"M1 {HEAD - 18}H{WIDTH - 1}V{below}H1Z", opacity=0.3)  # around these lines
    for row, source in enumerate(SOURCE):
        body += text(8, HEAD + LEADING * row, source, 12, style="font-family:monospace")
    y = HEAD + LEADING * len(SOURCE) + 20
    rates = {
        translate("the rate from this time"): (printed_gflops(), CLOCK),
        translate("the float32 peak of the GPU"): (device.peak_gflops, GREY),
    }
    scale = LONGEST / max(gflops for gflops, _ in rates.values())
    for row, (words, (gflops, colour)) in enumerate(rates.items()):
        top = y + PITCH * row
        body += text(0, top, words, 12)
        body += rect(0, top + 6, round(gflops * scale, 1), BAR, colour)
        body += text(round(gflops * scale) + 6, top + 20, f"{_rounded(gflops)} GFLOP/s", 12)
    sentences = [f"{words}: {_rounded(gflops)} GFLOP/s" for words, (gflops, _) in rates.items()]
    alt = f"{title}. A benchmark: {'; '.join(SOURCE)}. {'. '.join(sentences)}."
    return Picture(svg(WIDTH, y + PITCH * len(rates) - 12, body, alt, widest=560), alt)


def _rounded(gflops: float) -> str:
    """Return a rate as text, rounded to three digits, which is more than 20 launches agree on."""
    return f"{float(f'{gflops:.3g}'):,.0f}"
