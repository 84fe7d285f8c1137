"""Submissions to `stage_ready` that ignore the idea of the task."""

import re

from labs.checking.variants import file_beside

HEAD = """from numba import cuda, float32


@cuda.jit
def stage_ready(a, b, c):
    row, col = cuda.blockIdx.y * 32, cuda.blockIdx.x * 8
"""
SUM = """
{margin}total = float32(0)
{margin}for i in range(a.shape[1]):
{margin}    total += float32(a[y, i]) * float32(b[i, x])
{margin}c[y, x] = total
"""
EACH = "        y, x = row + e // 8, col + e % 8" + SUM.format(margin=" " * 8)
ONE = "            y, x = row + e // 8, col + e % 8" + SUM.format(margin=" " * 12)
WAITS = r"\n *(wait_copies\(1\)|commit_copies\(\))"
LOADED = re.sub(
    r"copy8_async\((.*), ([ab]), (\(.*\))\)", r"store8(\1, load8(\2, \3))",
    re.sub(WAITS, "", file_beside(__file__, "solution")),
).replace("copy8_async", "load8").replace("mma_m16n8k16\n", "mma_m16n8k16, store8\n")  # fmt: skip

CHEAP = {
    "chunks loaded and stored": LOADED,
    "the starter": file_beside(__file__, "starter"),
    "four sums per lane without mma":
        f"{HEAD}    for e in range(cuda.threadIdx.x, 256, 64):\n{EACH}",
    "one lane does everything":
        f"{HEAD}    if cuda.threadIdx.x == 0:\n        for e in range(256):\n{ONE}",
    "one block does everything":
        f"{HEAD}    if cuda.blockIdx.x + cuda.blockIdx.y == 0:\n"
        "        for e in range(cuda.threadIdx.x, c.size, 64):\n"
        f"            y, x = e // c.shape[1], e % c.shape[1]{SUM.format(margin=' ' * 12)}",
    "every lane does everything": f"{HEAD}    for e in range(256):\n{EACH}",
    "adjacent elements in each lane":
        f"{HEAD}    for e in range(4 * cuda.threadIdx.x, 4 * cuda.threadIdx.x + 4):\n{EACH}",
}  # fmt: skip
