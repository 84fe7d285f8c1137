"""Submissions to `row_gap` that ignore the idea of the task."""

from labs.checking.variants import file_beside

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
    "the starter": file_beside(__file__, "starter"),
    "one thread does everything": _text("0 if t else 1024"),
    "the first warp does everything": _text("t, 1024 if t < 32 else 0, 32"),
    "word by word, along out": _text("t, 1024, 256"),
    "word by word, along x": _text("t, 1024, 256", "first + e // 8, e % 8"),
    "four neighbours of x": _text("4 * t, 4 * t + 4", "first + e // 8, e % 8"),
}
