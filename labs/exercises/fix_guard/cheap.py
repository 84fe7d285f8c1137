"""Submissions to `fix_guard` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.exercises.fix_guard.wrong import GUARD, STORE

THREAD = "    col, row = cuda.grid(2)\n"
GUARDED = f"    if {GUARD}:\n        {STORE}\n"
ROW = f"        for col in range({{}}):\n            {STORE}\n"
ROWS = (
    "        for row in range({}):\n            for col in range({}):\n"
    f"                {STORE}\n"
)

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "no guard": [(GUARD, "True")],
    "clamped indices in place of a guard": [
        (GUARDED, "    row, col = min(row, out.shape[0] - 1), min(col, out.shape[1] - 1)\n"
         f"    {STORE}\n")],
    "only sizes that fit": [(GUARD, "out.shape[0] % 8 + out.shape[1] % 32 == 0")],
    "one thread of the grid does everything": [
        (GUARDED, "    if row + col == 0:\n" + ROWS.format("out.shape[0]", "out.shape[1]"))
    ],
    "one thread of each row does the row": [
        (GUARDED, "    if row < out.shape[0] and col == 0:\n" + ROW.format("out.shape[1]"))
    ],
    "one lane of each warp does the work of all": [
        (GUARDED, "    if row < out.shape[0] and col % 32 == 0:\n"
         + ROW.format("col, min(col + 32, out.shape[1])"))
    ],
    "one block does everything": [
        (GUARDED, "    if cuda.blockIdx.x + cuda.blockIdx.y == 0:\n"
         + ROWS.format("row, out.shape[0], 8", "cuda.threadIdx.x, out.shape[1], 32"))
    ],
    "every thread does everything": [
        (THREAD + GUARDED, "    if True:\n" + ROWS.format("out.shape[0]", "out.shape[1]"))
    ],
}  # fmt: skip
