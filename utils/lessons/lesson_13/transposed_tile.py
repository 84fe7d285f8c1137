"""Pictures of a tile of a in shared memory, row-major and transposed, with its reads."""

from __future__ import annotations

from utils.figures.matrices import matrix, squares
from virtual_gpu.pictures.svg import BLUE, GREEN, ORANGE, Picture, frames, legend, svg, text

ROWS, STEPS = 8, 4  # a's tile: rows of a, steps of k
LOADED, STEP, FIRST = 5, 1, 4  # a loaded row; the step and first row of a read
_SIZE, _TOP, _FAR = 26, 46, 190
_MOMENTS = {
    "as it is: store four words": (False, True),
    "as it is: read one step of k": (False, False),
    "transposed: store four words": (True, True),
    "transposed: read one step of k": (True, False),
}


def draw_transposed_tile() -> Picture:
    """Draw a tile of a in global and in shared memory, with a slider over four moments.

    The tile in shared memory is row-major in two moments and transposed in two. In each layout a
    thread first stores four words of one row of a, and then reads four rows' words for one step of
    k.
    """
    drawn = [_moment(*moment) for moment in _MOMENTS.values()]
    alt = (
        f"A tile of a with {ROWS} rows and {STEPS} steps of k. A thread loads four words of row "
        f"{LOADED} at once. Kept as it is, they lie side by side in shared memory, too, and the "
        f"four words of rows {FIRST} to {FIRST + 3} that step {STEP} of k needs lie in four rows: "
        "four reads. Transposed, the loaded words go to four rows with four stores, and the four "
        "words of a step lie side by side: one read of 128 bits."
    )
    colours = legend(loaded_at_once=BLUE, stored=GREEN, needed_by_one_step=ORANGE)
    return Picture(colours + frames(drawn, list(_MOMENTS), "moment"), alt)


def _moment(transposed: bool, storing: bool) -> str:
    """Return an SVG of the tile in both memories, while a thread stores or reads four words."""
    rows, columns = (STEPS, ROWS) if transposed else (ROWS, STEPS)
    at, to = (4, _TOP), (_FAR, _TOP)
    loaded = [(LOADED, z) for z in range(STEPS)]
    needed = [(row, STEP) for row in range(FIRST, FIRST + 4)]
    words = loaded if storing else needed
    shared_words = [(z, row) if transposed else (row, z) for row, z in words]
    body = text(4, 16, "a in global memory", 13, font_weight="bold")
    body += text(_FAR, 16, "sa in shared memory", 13, font_weight="bold")
    body += text(4, 36, "k goes to the right", 12)
    body += text(_FAR, 36, "k goes down" if transposed else "k goes to the right", 12)
    body += matrix(at, ROWS, STEPS, _SIZE, "") + matrix(to, rows, columns, _SIZE, "")
    body += squares(at, _SIZE, loaded if storing else needed, BLUE if storing else ORANGE)
    body += squares(to, _SIZE, shared_words, GREEN if storing else ORANGE)
    bottom = _TOP + ROWS * _SIZE + 20
    caption = _caption(transposed, storing)
    body += text(4, bottom, caption, 13)
    return svg(_FAR + ROWS * _SIZE + 8, bottom + 8, body, caption, widest=470)


def _caption(transposed: bool, storing: bool) -> str:
    """Return the words below a moment: the loads, stores or reads and their widths."""
    if storing:
        ways = "four stores of 32 bits" if transposed else "one store of 128 bits"
        return f"one load of 128 bits, {ways}"
    ways = "one read of 128 bits" if transposed else "four reads of 32 bits"
    return f"four rows of a, step {STEP} of k: {ways}"
