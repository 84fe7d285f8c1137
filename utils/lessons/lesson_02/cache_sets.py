"""Pictures of a cache with sets: where a column has room, and what its rows' length costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from gemm_kernels.cpu import LADDER
from utils.ladder.problems import draw as drawn
from utils.ladder.problems import poisoned
from utils.lessons.lesson_02.single_core import LINE_BYTES
from utils.measuring.timing import Timing, time_cpu
from utils.translation import translate
from virtual_gpu.pictures.svg import BLUE, GREY, ORANGE, Picture, legend, rect, svg, text

SETS, WAYS = 64, 12  # of the L1 cache of a Zen 5
L2_SETS, L2_WAYS = 1024, 16  # of its L2 cache of 1 MiB
WORD_BYTES = 4
PER_ROW = 16  # boxes of sets in a row of the picture
BOX, GAP = 16, 4
ROWS, COLUMN = 8, 1024  # the rows of a, and the rows of b in the timed products
LENGTHS = (960, 992, 1008, 1024, 1040, 1056, 1088)
REPETITIONS = 7


def in_each_set(words: int, rows: int, sets: int = SETS) -> dict[int, int]:
    """Return index of a cache set -> the number of a column's cache lines that belong to this set.

    A set without any of these lines is not in the dict. words: the words of a row, at least 16.
    rows: the rows of the matrix. sets: the number of the cache's sets.
    """
    lines = (row * words * WORD_BYTES // LINE_BYTES for row in range(rows))
    return dict(Counter(line % sets for line in lines))


def room(words: int, rows: int) -> int:
    """Return how many of a column's cache lines can be in the L1 cache at the same time.

    words: the words of a row, at least 16. rows: the rows of the matrix.
    """
    return sum(min(count, WAYS) for count in in_each_set(words, rows).values())


def room_in_l2(words: int, rows: int) -> int:
    """Return how many of a column's cache lines can be in the L2 cache at the same time.

    words: the words of a row, at least 16. rows: the rows of the matrix.
    """
    return sum(min(count, L2_WAYS) for count in in_each_set(words, rows, L2_SETS).values())


def draw_sets(**columns: tuple[int, int]) -> Picture:
    """Draw the sets of the L1 cache as boxes, filled with the cache lines of a column.

    A set that gets more cache lines than it holds is orange. There is one drawing per keyword,
    whose value is (words of a row, rows of the column).
    """
    key = legend(in_the_set=BLUE, more_than_the_set_holds=ORANGE)
    panels = [_panel(*column) for column in columns.values()]
    drawings = "".join(drawing for drawing, _ in panels)
    return Picture(f'{key}<div class="row">{drawings}</div>', " ".join(alt for _, alt in panels))


def _panel(words: int, rows: int) -> tuple[str, str]:
    """Return (SVG, alt text) of all sets and the cache lines of one column in them."""
    counts = in_each_set(words, rows)
    body = text(0, 14, translate("{rows} rows of {words} words", rows=rows, words=words), 13,
                font_weight="bold")  # fmt: skip
    for which in range(SETS):
        x, y = which % PER_ROW * (BOX + GAP), 26 + which // PER_ROW * (BOX + GAP)
        count = counts.get(which, 0)
        body += rect(x, y, BOX, BOX, "none", stroke="currentColor", stroke_opacity=0.35)
        if count:
            height = round(BOX * min(count, WAYS) / WAYS, 2)
            colour = ORANGE if count > WAYS else BLUE
            body += rect(x, y + BOX - height, BOX, height, colour)
    bottom = 26 + SETS // PER_ROW * (BOX + GAP)
    used = translate("{used} of {sets} sets are used", used=len(counts), sets=SETS)
    most = translate(
        "at most {most} cache lines per set, with room for {ways}",
        most=max(counts.values()), ways=WAYS,
    )  # fmt: skip
    body += text(0, bottom + 12, used, 12) + text(0, bottom + 28, most, 12)
    held = room(words, rows)
    alt = f"{rows} rows of {words} words: {used}, {most}, {held} of {rows} cache lines have room."
    return svg(PER_ROW * (BOX + GAP), bottom + 34, body, alt, widest=330), alt


def time_lengths(lengths: Sequence[int] = LENGTHS) -> dict[int, Timing]:
    """Time `naive` on this computer for several lengths of the rows of b; return length -> Timing.

    a has 8 rows, and b has 1024 rows. Each time is the median of seven.
    """
    kernel = LADDER.step("naive").variant().kernel
    a = drawn("uniform", (ROWS, COLUMN), 1)
    calls = [
        partial(kernel, a, drawn("uniform", (COLUMN, n), 2), poisoned((ROWS, n))) for n in lengths
    ]
    timings = time_cpu(calls, repetitions=REPETITIONS, repetition_ms=1)
    return dict(zip(lengths, timings, strict=True))


def draw_lengths(timed: Mapping[int, Timing], room_of: Callable[[int, int], int]) -> Picture:
    """Draw the room for a column of 1024 rows and the time of `naive`, per length of a row of b.

    timed: length -> Timing, from `time_lengths`. room_of: the reader's `room_in_sets`. The bar of a
    cache is orange if it has no room for the whole column. The times are nanoseconds per
    multiply-add, because longer rows have more of them.
    """
    near = {n: room_of(n, COLUMN) for n in timed}
    far = {n: room_in_l2(n, COLUMN) for n in timed}
    scale = 1e6 / (ROWS * COLUMN)
    ns = {n: tuple(scale / n * ms for ms in (one.median_ms, one.min_ms, one.max_ms))
          for n, one in timed.items()}  # fmt: skip
    titles = (translate("room in L1"), translate("room in L2"), translate("ns per multiply-add"))
    lefts, longest, pitch = (48, 166, 284), 72, 26
    slowest = max(middle for middle, _, _ in ns.values())
    body = text(0, 14, translate("words"), 12)
    for left, title in zip(lefts, titles, strict=True):
        body += text(left, 14, title, 12, font_weight="bold")
    sentences = []
    for row, n in enumerate(timed):
        y = 24 + pitch * row
        body += text(38, y + 13, n, 12, "end")
        for left, rooms in zip(lefts[:2], (near[n], far[n]), strict=True):
            colour = BLUE if rooms >= COLUMN else ORANGE
            body += _bar(left, y, longest * rooms / COLUMN, colour, f"{rooms:,}")
        middle, least, most = ns[n]
        body += _bar(lefts[2], y, longest * middle / slowest, GREY, f"{middle:.2f}")
        sentences.append(f"{n} words: {near[n]} cache lines with room in L1, {far[n]} in L2, "
                         f"{middle:.2f} ({least:.2f} … {most:.2f}) ns")  # fmt: skip
    alt = "; ".join(sentences) + "."
    key = legend(room_for_the_whole_column=BLUE, room_for_a_part_of_it=ORANGE)
    drawing = svg(432, 30 + pitch * len(timed), body, alt, widest=560)
    return Picture(f"{key}{drawing}", alt)


def _bar(x: float, y: float, width: float, colour: str, label: str) -> str:
    """Return the SVG of a horizontal bar with its label on the right; x, y, width: in pixels."""
    bar = rect(x, y, round(width, 1), 17, colour)
    return bar + text(round(x + width + 5, 1), y + 13, label, 12)
