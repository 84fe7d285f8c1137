"""A picture of a tile of a in global memory and in shared memory, row-major and transposed."""

from __future__ import annotations

from utils.figures.matrices import matrix, squares
from virtual_gpu.pictures.svg import BLUE, ORANGE, Picture, legend, rect, svg, text

ROWS, STEPS = 8, 4  # a's tile: rows of a, steps of k
LOADED, STEP, FIRST = 5, 1, 4  # a loaded row; the step and first row of a read
_SIZE, _TOP, _PITCH = 22, 60, 140


def draw_transposed_tile() -> Picture:
    """Draw a tile of a in global memory, and beside it the same tile in two layouts of shared.

    The first layout is row-major, the second one transposed. Four words of one row, which a thread
    loads at once, have one colour everywhere, and four words of one step of k have another.
    """
    body = _tile(0, False, "global memory", "1 wide load")
    body += _tile(1, False, "shared, as it is", "1 store, 4 reads")
    body += _tile(2, True, "shared, transposed", "4 stores, 1 read")
    alt = (
        f"A tile of a with {ROWS} rows and {STEPS} steps of k. A thread loads four words of row "
        f"{LOADED} at once. Kept as it is, they lie side by side in shared memory, too, and the "
        f"four words of rows {FIRST} to {FIRST + 3} that step {STEP} of k needs lie in four rows: "
        "one store, four reads. Transposed, the loaded words go to four rows with four stores, and "
        "the four words of a step lie side by side: one read of 128 bits."
    )
    width = 2 * _PITCH + ROWS * _SIZE + 8
    colours = legend(loaded_at_once=BLUE, needed_in_one_step_of_k=ORANGE)
    return Picture(colours + svg(width, _TOP + ROWS * _SIZE + 6, body, alt, widest=560), alt)


def _tile(column: int, transposed: bool, name: str, cost: str) -> str:
    """Return the SVG of one layout of the tile with its name and what it costs a thread.

    column: the index in the picture, from 0 at the left. transposed: True if a row of the tile has
    the words of one step of k. cost: words such as "1 wide load".
    """
    at = (4 + column * _PITCH, _TOP)
    rows, columns = (STEPS, ROWS) if transposed else (ROWS, STEPS)
    loaded = [_place(LOADED, z, transposed) for z in range(STEPS)]
    needed = [_place(row, STEP, transposed) for row in range(FIRST, FIRST + 4)]
    both = next(iter(set(loaded) & set(needed)))
    body = text(at[0], 16, name, 13, font_weight="bold") + text(at[0], 34, cost, 13)
    body += text(at[0], 53, "k goes down" if transposed else "k goes right", 12, opacity=0.8)
    body += matrix(at, rows, columns, _SIZE, "")
    body += squares(at, _SIZE, needed, ORANGE) + squares(at, _SIZE, set(loaded) - {both}, BLUE)
    body += rect(at[0] + both[1] * _SIZE + 4, at[1] + both[0] * _SIZE + 4, _SIZE - 8, _SIZE - 8,
                 BLUE)  # fmt: skip
    return body


def _place(row: int, step: int, transposed: bool) -> tuple[int, int]:
    """Return the (row, column) in the tile of the word of a row of a and a step of k.

    It is (row, step), or (step, row) if the tile is `transposed`.
    """
    return (step, row) if transposed else (row, step)
