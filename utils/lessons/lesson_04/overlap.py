"""Copies beside kernels: the recorded work of each stream on a time axis, and estimates of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from utils.figures.roles import COPY, COPY_BACK, KERNEL
from utils.lessons.lesson_04.time_axis import LEFT, RIGHT, ticks
from virtual_gpu.pictures.svg import GREY, Picture, legend, path, rect, svg, text

ROWS, FEW_ROWS = 16000, 2000  # of a and c in the lesson's record
SLICES = (1, 4, 8, 16)  # that were recorded with four streams, or with one for one slice
COLOURS = {"copy b": COPY, "copy a": COPY, "kernel": KERNEL, "copy c back": COPY_BACK}
# The parts of the record -> their names in the lesson.
NAMES = {"copy_b": "copy b", "copy_in": "copy a", "kernel": "kernel", "copy_out": "copy c back"}
RECORDED = GREY  # the bar of a recorded time, beside the mark of an estimate
_TOP, _ROW, _BAR = 26, 20, 14


def of_way(rows: Iterable, way: str, m: int = ROWS) -> list:
    """Return the rows of one way to copy: first the whole product's row, then those of its parts.

    Without slices the parts are copy b, copy a, kernel, and copy c back. rows: of `overlap.csv`, as
    `gemm_kernels.overlap.recorded_times()` returns them; only those of the first row's device are
    returned. way: such as "pinned STREAMS=4 SLICES=8". m: the rows of a and c. The list is empty if
    the way is not recorded for this m.
    """
    rows = list(rows)
    wanted = (rows[0].device, way, m)
    return [row for row in rows if (row.device, row.kernel, row.m) == wanted]


def whole_ms(rows: Iterable, way: str, m: int = ROWS) -> float:
    """Return the recorded time of the product in ms, for one way to copy.

    rows: of `overlap.csv`, as `gemm_kernels.overlap.recorded_times()` returns them. way: such as
    "pinned STREAMS=4 SLICES=8". m: the rows of a and c. Raises IndexError if it is not recorded.
    """
    return of_way(rows, way, m)[0].time_ms


def sliced_way(slices: int) -> str:
    """Return the name of the way with this number of slices, from pinned memory.

    It has four streams, or one for one slice.
    """
    return f"pinned STREAMS={4 if slices > 1 else 1} SLICES={slices}"


def estimate_ms(rows: Iterable, formula: Callable, slices: int, m: int = ROWS) -> float:
    """Return the time in ms that a formula gives for a product in slices.

    rows: of `overlap.csv`. formula: called as formula(b, a, kernel, c, slices), with the ms of both
    copies to the device, the kernel and the copy back, recorded without slices. m: the rows of a
    and c. Raises ValueError if the product without slices is not recorded for this m.
    """
    _, b, a, kernel, c = of_way(rows, sliced_way(1), m)
    return formula(b.time_ms, a.time_ms, kernel.time_ms, c.time_ms, slices)


def draw_estimates(rows: Iterable, formula: Callable, m: int) -> Picture:
    """Draw the recorded ms of a product in pinned memory, a bar per number of slices.

    rows: of `overlap.csv`. formula: as for `estimate_ms`. m: the rows of a and c. A mark across
    each bar is the formula's estimate.
    """
    rows, words, y = list(rows), [], 22
    whole = of_way(rows, sliced_way(1), m)[0]
    title = f"{m}×{whole.n}×{whole.k}, pinned memory, one {whole.device}"
    body = text(LEFT, 14, title, 13, font_weight="bold")
    times = {slices: whole_ms(rows, sliced_way(slices), m) for slices in SLICES}
    scale = (RIGHT - LEFT - 90) / max(times.values())
    for slices, ms in times.items():
        y += _ROW + 2
        guess = estimate_ms(rows, formula, slices, m)
        body += text(LEFT + 62, y, _counted(slices, "slice"), 12, "end")
        body += rect(LEFT + 70, y - 11, round(ms * scale, 1), _BAR, RECORDED)
        mark = round(LEFT + 70 + guess * scale, 1)
        body += path(f"M{mark} {y - 14}v{_BAR + 6}", stroke_width=2.5)
        body += text(round(LEFT + 77 + max(ms, guess) * scale, 1), y, f"{ms:.2f} ms", 12)
        words.append(f"{_counted(slices, 'slice')}: {ms:.2f} ms, estimated {guess:.2f}")
    alt = f"{title}. {'; '.join(words)}."
    key = legend(recorded=RECORDED, formula="currentColor")
    return Picture(key + svg(RIGHT + 58, y + 14, body, alt, widest=560), alt)


def draw_streams(rows: Iterable, *ways: str, m: int = ROWS) -> Picture:
    """Draw when each stream copied and computed: a row per stream, for each way, to scale.

    rows: of `overlap.csv`, as `gemm_kernels.overlap.recorded_times()` returns them. ways: such as
    "pinned STREAMS=4 SLICES=8". m: the rows of a and c. A gap in a row is time in which the stream
    waits. Raises ValueError if a way is not recorded.
    """
    taken = {way: of_way(rows, way, m) for way in ways}
    longest = max(whole.time_ms for whole, *_ in taken.values())
    scale = (RIGHT - LEFT) / longest
    whole = taken[ways[0]][0]
    title = f"One product, {whole.m}×{whole.n}×{whole.k}, one {whole.device}"
    body, y, said = text(LEFT, 14, title, 13, font_weight="bold"), _TOP, []
    for way, (total, *parts) in taken.items():
        streams, slices = (int(number) for number in re.findall(r"=(\d+)", way))
        memory = way.partition(" ")[0]
        words = f"{memory} memory, in one piece"
        if slices > 1:
            words = f"{memory}, {_counted(streams, 'stream')}, {_counted(slices, 'slice')}"
        said.append(f"{words}: {total.time_ms:.2f} ms")
        body += text(LEFT, y + 12, said[-1], 12)
        for part in parts:
            top = y + 18 + _ROW * (max(part.slice, 0) % streams)
            left, width = LEFT + part.start_ms * scale, max(part.time_ms * scale - 0.6, 0.6)
            body += rect(round(left, 2), top, round(width, 2), _BAR, COLOURS[NAMES[part.part]])
        y += 38 + _ROW * streams
    for tick in ticks(longest):
        x = round(LEFT + tick * scale, 1)
        body += path(f"M{x} {_TOP + 16}V{y}", opacity=0.2)
        body += text(x, y + 14, f"{tick:g}", 12, "middle" if tick else "start")
    body += text(RIGHT + 34, y + 14, "ms", 12, "end")
    alt = f"{title}. {'; '.join(said)}."
    key = legend(copy_to_the_device=COPY, kernel=KERNEL, copy_c_back=COPY_BACK)
    return Picture(key + svg(RIGHT + 38, y + 20, body, alt, widest=560), alt)


def _counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 slice" or "8 slices"."""
    return f"{number} {noun}{'s' * (number != 1)}"
