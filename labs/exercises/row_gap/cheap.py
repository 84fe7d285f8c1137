"""Submissions to `row_gap` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.exercises.row_gap.wrong import FILL, LOOP, SHAPE

_TEXT = """from numba import cuda


@cuda.jit
def row_gap(x, out):
    t, first = cuda.threadIdx.x, cuda.blockIdx.x * 128
    for e in range({elements}):
        i, z = {place}
        out[z, i] = x[i, z]
"""


def _text(elements: str, place: str = "first + e % 128, e // 128") -> str:
    return _TEXT.format(elements=elements, place=place)


CHEAP = {
    "lanes below each other, without a gap": [
        (SHAPE, "(8, 128)"),
        ("down, z = t // 2, t % 2 * 4", "down, z = t % 128, t // 128 * 4"),
    ],
    "atomics in a tile without a gap": [
        (SHAPE, "(8, 128)"),
        (
            LOOP,
            "    for z in range(8):\n        if t < 128:\n            tile[z, t] = float32(0)\n"
            "    z = t % 2 * 4\n    cuda.syncthreads()\n"
            + LOOP.replace(FILL, "cuda.atomic.add(tile, (z + j, down), four[j])"),
        ),
    ],
    "the starter": file_beside(__file__, "starter"),
    "one thread does everything": _text("0 if t else 1024"),
    "the first warp does everything": _text("t, 1024 if t < 32 else 0, 32"),
    "word by word, along out": _text("t, 1024, 256"),
    "word by word, along x": _text("t, 1024, 256", "first + e // 8, e % 8"),
    "four neighbours of x": _text("4 * t, 4 * t + 4", "first + e // 8, e % 8"),
}
