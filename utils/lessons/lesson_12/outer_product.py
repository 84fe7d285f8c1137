"""Pictures of the tile of c that a thread keeps in registers: an outer product, and tile sizes."""

from __future__ import annotations

from collections.abc import Sequence

from utils.figures.matrices import matrix, squares
from virtual_gpu.common.wording import counted
from virtual_gpu.pictures.svg import ORANGE, PALE, PURPLE, Picture, frames, legend, path, svg, text

SIZE = 22
BLOCK, DEPTH, TILE = 8, 4, 4  # side of the block's tile, steps of k, side of a thread's tile
# The upper left corners of the matrices.
B = (DEPTH * SIZE + 44, 24)
C = (B[0], B[1] + DEPTH * SIZE + 34)
A = (4, C[1])
WIDTH, HEIGHT = C[0] + BLOCK * SIZE + 6, C[1] + BLOCK * SIZE + 28
THREAD = (4, 0)  # first row and column of the highlighted thread


def draw_outer_product() -> Picture:
    """Draw one thread's outer products, a column of a times a row of b, with a slider over k.

    The thread computes 4×4 elements of c in its registers.
    """
    moments = [_stage() + _caption("4 threads, 4×4 elements of c each")]
    moments += [_step(z) for z in range(DEPTH)]
    labels = ["whose element is it?", *(f"step {z + 1} of {DEPTH}" for z in range(DEPTH))]
    alt = (
        f"A block computes {BLOCK}×{BLOCK} elements of c with 4 threads, {TILE}×{TILE} elements "
        f"each. In every step a thread reads {TILE} words of a column of a's tile and {TILE} words "
        f"of a row of b's tile from shared memory, and multiplies each with each: "
        f"{TILE * TILE} multiply-adds for {2 * TILE} words."
    )
    colours = legend(sums_of_one_thread=PURPLE, read_in_this_step=ORANGE, read_before=PALE)
    drawn = [svg(WIDTH, HEIGHT, moment, alt, widest=1.35 * WIDTH) for moment in moments]
    return Picture(colours + frames(drawn, labels, "Step", start=1), alt)


def draw_tile_sizes(tiles: Sequence[tuple[int, int]]) -> Picture:
    """Draw each thread tile with its words read and its multiply-adds in one step of k.

    `tiles` are pairs (TM, TN), the rows and columns of c that a thread computes, each at most 16.
    """
    side, per_row, pitch = 6, 3, 138
    rows = [tiles[at : at + per_row] for at in range(0, len(tiles), per_row)]
    body, descriptions, y = "", [], 16
    for row in rows:
        below = y + 18 + side * max(down for down, _ in row)
        for index, (down, across) in enumerate(row):
            x, reads, work = index * pitch + 6, down + across, down * across
            body += text(x, y, f"{down}×{across}", 14, font_weight="bold")
            body += _words((x, y + 20), down, 1, side, ORANGE)
            body += _words((x + side + 4, y + 10), 1, across, side, ORANGE)
            body += _words((x + side + 4, y + 20), down, across, side, PURPLE)
            body += text(x, below + 20, f"{reads} words for {work}:")
            body += text(x, below + 36, f"{reads / work:.4g} for each", font_weight="bold")
            descriptions.append(
                f"{down}×{across}: {counted(reads, 'word')} for {counted(work, 'multiply-add')}"
            )
        y = below + 64
    alt = f"Words from shared memory in one step of a thread. {'; '.join(descriptions)}."
    colours = legend(**{"words that it reads": ORANGE, "its multiply-adds": PURPLE})
    return Picture(colours + svg(416, y - 20, body, alt, widest=560), alt)


def _words(at: tuple[float, float], rows: int, columns: int, side: int, colour: str) -> str:
    """Return the SVG of rows × columns filled squares whose upper left corner is `at`.

    at: (x, y) in pixels. side: the length of a square's edge in pixels.
    """
    cells = [(row, column) for row in range(rows) for column in range(columns)]
    return squares(at, side, cells, colour)


def _stage() -> str:
    """Return SVG of the two tiles in shared memory and of the block's c, with one thread's sums.

    The sums are filled squares, and thick lines divide c among the four threads.
    """
    row, column = THREAD
    own = [(row + i, column + j) for i in range(TILE) for j in range(TILE)]
    lines = (
        f"M{C[0] + TILE * SIZE} {C[1]}v{BLOCK * SIZE}M{C[0]} {C[1] + TILE * SIZE}h{BLOCK * SIZE}"
    )
    return (
        squares(C, SIZE, own, PURPLE)
        + matrix(A, BLOCK, DEPTH, SIZE, "a tile")
        + matrix(B, DEPTH, BLOCK, SIZE, "b tile")
        + text(4, B[1] + 16, "the two tiles are")
        + text(4, B[1] + 32, "in shared memory")
        + matrix(C, BLOCK, BLOCK, SIZE, "c of the block")
        + path(lines, stroke_width=2.5)
    )


def _step(z: int) -> str:
    """Return SVG of step `z` of k: the words read in this step, those read before, and the sums."""
    row, column = THREAD
    a_words, b_words = [(row + i, z) for i in range(TILE)], [(z, column + j) for j in range(TILE)]
    before_a = [(at, earlier) for at, _ in a_words for earlier in range(z)]
    before_b = [(earlier, at) for _, at in b_words for earlier in range(z)]
    return (
        squares(A, SIZE, before_a, PALE)
        + squares(B, SIZE, before_b, PALE)
        + squares(A, SIZE, a_words, ORANGE)
        + squares(B, SIZE, b_words, ORANGE)
        + _stage()
        + _caption(f"{2 * TILE} words read, {TILE * TILE} multiply-adds")
    )


def _caption(words: str) -> str:
    """Return the SVG of bold words at the lower right corner of the picture."""
    return text(C[0] + BLOCK * SIZE, HEIGHT - 8, words, 13, "end", font_weight="bold")
