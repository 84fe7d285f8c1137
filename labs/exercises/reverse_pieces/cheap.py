"""Submissions to `reverse_pieces` that ignore the idea of the task."""

from labs.checking.variants import file_beside

HEAD = """from numba import cuda


@cuda.jit
def reverse_pieces(x, out):
"""
TURNED = "j // 64 * 64 + 63 - j % 64"
STORE = f"out[j] = x[{TURNED}] if {TURNED} < x.size else 0"

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "no tile": f"{HEAD}    for piece in range(4):\n"
    "        j = 64 * (4 * cuda.blockIdx.x + piece) + cuda.threadIdx.x\n"
    f"        if j < out.size:\n            {STORE}\n",
    "one thread of a block does everything": f"{HEAD}    if cuda.threadIdx.x == 0:\n"
    "        first = 256 * cuda.blockIdx.x\n"
    f"        for j in range(first, min(first + 256, out.size)):\n            {STORE}\n",
    "one thread does everything": f"{HEAD}    if cuda.grid(1) == 0:\n"
    f"        for j in range(out.size):\n            {STORE}\n",
    "every thread does everything": f"{HEAD}    for j in range(out.size):\n        {STORE}\n",
    "one block does everything": f"{HEAD}    if cuda.blockIdx.x == 0:\n"
    f"        for j in range(cuda.threadIdx.x, out.size, 64):\n            {STORE}\n",
}
