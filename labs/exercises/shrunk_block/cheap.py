"""Submissions to `shrunk_block` that ignore the idea of the task."""

from labs.checking.variants import file_beside

_TEXT = """from numba import cuda


@cuda.jit
def shrunk_block(x, factor, out):
    (m, n), t = out.shape, cuda.threadIdx.y * 32 + cuda.threadIdx.x
    top, left = cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
{head}    for e in range({elements}):
        r, col = top + e // 32, left + e % 32
        if r < m and col < n:
            out[r, col] = factor * x[r, col]
"""


def _text(elements: str, head: str = "") -> str:
    return _TEXT.format(elements=elements, head=head)


CHEAP = {
    "one thread does everything": _text("0 if t else 1024"),
    "the first warp does everything": _text("t, 1024, 32", "    if t >= 32:\n        return\n"),
    "one lane of each warp works": _text(
        "t * 4, t * 4 + 128", "    if t % 32:\n        return\n"),
    "four neighbours in each thread": _text("4 * t, 4 * t + 4"),
    "only sizes that fit": _text("t, 1024, 256", "    if m % 32 or n % 32:\n        return\n"),
    "the first block does everything": _text("t, 1024, 256").replace(
        "cuda.blockIdx.y * 32", "0").replace("range(t, 1024, 256)", "range(t, 32 * m, 256)"),
    "the starter": file_beside(__file__, "starter"),
}  # fmt: skip
