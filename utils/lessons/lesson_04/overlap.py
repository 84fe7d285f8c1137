"""Copies beside kernels: the recorded work of each stream on a time axis, and its shortest time."""

from __future__ import annotations

import re
from collections.abc import Iterable

from utils.figures.roles import COPY, COPY_BACK, KERNEL
from utils.lessons.cards import Table, table
from utils.lessons.lesson_04.time_axis import LEFT, RIGHT, ticks
from virtual_gpu.pictures.svg import Picture, legend, path, rect, svg, text

ROWS = 16000  # of a and c in the lesson's record
COLOURS = {"copy b": COPY, "copy a": COPY, "kernel": KERNEL, "copy c back": COPY_BACK}
# The parts of the record -> their names in the lesson.
NAMES = {"copy_b": "copy b", "copy_in": "copy a", "kernel": "kernel", "copy_out": "copy c back"}
_TOP, _ROW, _BAR = 26, 20, 14


def of_way(rows: Iterable, way: str) -> list:
    """Return the rows of one way to copy, for the lesson's shape: the whole first, then its parts.

    rows: of `overlap.csv`, as `gemm_kernels.overlap.recorded_times()` returns them. way: such as
    "pinned STREAMS=2 SLICES=8". Raises IndexError if the way is not recorded.
    """
    rows = list(rows)
    wanted = (rows[0].device, way, ROWS)
    return [row for row in rows if (row.device, row.kernel, row.m) == wanted]


def whole_ms(rows: Iterable, way: str) -> float:
    """Return the recorded time of the product in ms, for one way to copy.

    rows: of `overlap.csv`, as `gemm_kernels.overlap.recorded_times()` returns them. way: such as
    "pinned STREAMS=2 SLICES=8". Raises IndexError if the way is not recorded.
    """
    return of_way(rows, way)[0].time_ms


def times_of_parts(rows: Iterable, way: str) -> Table:
    """Return a table of the times in ms of each part of a product in one piece, and of the whole.

    rows: of `overlap.csv`, as `gemm_kernels.overlap.recorded_times()` returns them. way: one with
    one slice and pinned memory, such as "pinned STREAMS=1 SLICES=1". Raises IndexError if the way
    is not recorded. There is a row per part, and one for the whole.
    """
    whole, *parts = of_way(rows, way)
    shape = f"{whole.m}×{whole.n}×{whole.k}"
    lines = [(NAMES[part.part], f"{part.time_ms:.2f}") for part in parts]
    lines.append(("all, as the host sees it", f"{whole.time_ms:.2f}"))
    return table(f"{shape}, pinned memory, one {whole.device}", ("", "ms"), lines)


def draw_streams(rows: Iterable, *ways: str) -> Picture:
    """Draw when each stream copied and computed: a row per stream, for each way, to scale.

    rows: of `overlap.csv`, as `gemm_kernels.overlap.recorded_times()` returns them. ways: such as
    "pinned STREAMS=2 SLICES=8". A gap in a row is time in which the stream waits. Raises IndexError
    if a way is not recorded.
    """
    taken = {way: of_way(rows, way) for way in ways}
    longest = max(whole.time_ms for whole, *_ in taken.values())
    scale = (RIGHT - LEFT) / longest
    whole = taken[ways[0]][0]
    title = f"One product, {whole.m}×{whole.n}×{whole.k}, one {whole.device}"
    body, y, said = text(LEFT, 14, title, 13, font_weight="bold"), _TOP, []
    for way, (total, *parts) in taken.items():
        streams, slices = (int(number) for number in re.findall(r"=(\d+)", way))
        memory = way.partition(" ")[0]
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
