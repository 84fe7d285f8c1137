"""Pictures of the elements of c that one thread computes, and of the words that it reads."""

from __future__ import annotations

from utils.figures.matrices import matrix, squares
from virtual_gpu.pictures.svg import GREEN, ORANGE, PURPLE, Picture, frames, legend, rect, svg, text

CELL = 14
TILE = 8  # rows, and columns, of a tile
GRAINS = (1, 2, 4, 8)
LEFT, TOP = 2, 24
STRIDE = (TILE + 2) * CELL
SA, SB = (LEFT, TOP + STRIDE), (LEFT + STRIDE, TOP)
C, BLOCK = (LEFT + STRIDE, TOP + STRIDE), (LEFT + 2 * STRIDE, TOP + STRIDE)
LONG, HIGH = LEFT + 3 * STRIDE - 2 * CELL + 4, TOP + STRIDE + TILE * CELL + 4
THREAD = (0, 5)  # row and column of the highlighted thread in the block
STEP = 2  # the term of the sum that is drawn
COLOURS = {"its_elements_of_c": GREEN, "what_it_reads_in_one_step": ORANGE}


def draw_fewer_threads() -> Picture:
    """Draw a block and one step of one thread, with a slider over 1, 2, 4 and 8 elements of c."""
    labels = [
        f"grain {grain}: {TILE}×{TILE // grain} threads, {_sums(grain)} in each" for grain in GRAINS
    ]
    alt_text = (
        f"A block computes a tile of c with {TILE}×{TILE} elements from a tile of a and a tile of "
        "b in shared memory, sa and sb. "
        + " ".join(
            f"With grain {grain} the block has {TILE}×{TILE // grain} threads. In each step a "
            f"thread reads one word of sb and {grain} of sa, for {_multiply_adds(grain)}."
            for grain in GRAINS
        )
    )
    drawn = [svg(LONG, HIGH, _moment(grain), alt_text, widest=LONG * 1.6) for grain in GRAINS]
    key = legend(one_thread=PURPLE, **COLOURS)
    return Picture(key + frames(drawn, labels, "Elements of c per thread"), alt_text)


def _sums(grain: int) -> str:
    """Return the number of a thread's sums in words: "one sum", or such as "4 sums"."""
    return "one sum" if grain == 1 else f"{grain} sums"


def _multiply_adds(grain: int) -> str:
    return "1 multiply-add" if grain == 1 else f"{grain} multiply-adds"


def _moment(grain: int) -> str:
    """Return the SVG elements of a block whose threads compute `grain` elements of c each.

    One thread is highlighted, with the words that it reads in one step and its elements of c.
    """
    (row, column), stride = THREAD, TILE // grain
    rows = [row + stride * g for g in range(grain)]
    words = f"{grain + 1} words for"
    return (
        text(LEFT, TOP + 14, "one step of a thread:", 12)
        + text(LEFT, TOP + 34, words, 14, font_weight="bold")
        + text(LEFT, TOP + 53, _multiply_adds(grain), 14, font_weight="bold")
        + text(BLOCK[0], TOP + 14, f"{TILE}×{TILE} here,", 12)
        + text(BLOCK[0], TOP + 31, "32×32 in the code", 12)
        + rect(*C, TILE * CELL, TILE * CELL, GREEN, fill_opacity=0.2)
        + matrix(BLOCK, stride, TILE, CELL, "threads")
        + matrix(SA, TILE, TILE, CELL, "sa")
        + matrix(SB, TILE, TILE, CELL, "sb")
        + matrix(C, TILE, TILE, CELL, "c")
        + squares(BLOCK, CELL, [(row, column)], PURPLE)
        + squares(SA, CELL, [(each, STEP) for each in rows], ORANGE)
        + squares(SB, CELL, [(STEP, column)], ORANGE)
        + squares(C, CELL, [(each, column) for each in rows], GREEN)
    )


def draw_rows_and_tiles(grain: int = 4) -> Picture:
    """Draw one step of a thread with `grain` rows of one tile, and of one with `grain` tiles of b.

    Both threads compute `grain` elements of c. The first reads `grain` words of sa and one of sb,
    the second one word of sa and `grain` of sb, one in each tile.
    """
    (row, column), cell = THREAD, 8
    rows = [row + TILE // grain * g for g in range(grain)]
    columns = [column + TILE * tile for tile in range(grain)]
    long, left, top = TILE * cell, LEFT + (TILE + 2) * cell, 40
    sa, sb, c = (LEFT, top + long + 22), (left, top), (left, top + long + 22)
    drawn, sentences = "", [f"One step of a thread with {grain} sums."]
    for title, wide, down, across, words in (
        (f"{grain} rows", 1, rows, [column], f"{grain} words of a column of sa, one word of sb"),
        (f"{grain} tiles of b", grain, [row], columns, f"one word of sa, {grain} of a row of sb"),
    ):
        body = text(LEFT, top - 24, title, 16, font_weight="bold")
        body += matrix(sa, TILE, TILE, cell, "sa") + matrix(sb, TILE, TILE * wide, cell, "sb")
        body += matrix(c, TILE, TILE * wide, cell, "c")
        body += squares(sa, cell, [(each, STEP) for each in down], ORANGE)
        body += squares(sb, cell, [(STEP, each) for each in across], ORANGE)
        body += squares(c, cell, [(each, one) for each in down for one in across], GREEN)
        sentences.append(f"{title}: {words}.")
        width = max(left + TILE * wide * cell, LEFT + len(title) * cell) + 4
        picture = svg(width, c[1] + long + 4, body, sentences[-1], widest=width * 1.4)
        drawn += f'<div style="flex: 0 1 {round(width * 1.4)}px">{picture}</div>'
    beside = f'<div style="display: flex; flex-wrap: wrap; gap: 1.5em 3em">{drawn}</div>'
    return Picture(legend(**COLOURS) + beside, " ".join(sentences))
