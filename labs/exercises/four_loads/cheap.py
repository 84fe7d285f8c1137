"""Submissions to `four_loads` that ignore the idea of the task."""

from labs.checking.variants import file_beside

HEAD = """from numba import cuda, float32


@cuda.jit
def four_loads(x, out):
    t, first = cuda.threadIdx.x, cuda.blockIdx.x * 1024
"""
LOOP = """    for i in range({}):
        if i < x.size:
            out[i] = x[i]
"""

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "one thread of each block copies everything": (
        HEAD + "    if t > 0:\n        return\n" + LOOP.format("first, first + 1024")
    ),
    "one lane of each warp copies for all": (
        HEAD
        + "    if t % 32:\n        return\n"
        + LOOP.format("first + 4 * t, first + 4 * t + 128")
    ),
    "one warp of each block copies everything": (
        HEAD + "    if t >= 32:\n        return\n" + LOOP.format("first + t, first + 1024, 32")
    ),
    "adjacent elements, one by one": HEAD + LOOP.format("first + 4 * t, first + 4 * t + 4"),
    "four loads in block 0 alone": (
        HEAD + "    if cuda.blockIdx.x == 0:\n        p = x[t] if t < x.size else float32(0)\n"
        "        q = x[t + 256] if t + 256 < x.size else float32(0)\n"
        "        r = x[t + 512] if t + 512 < x.size else float32(0)\n"
        "        s = x[t + 768] if t + 768 < x.size else float32(0)\n"
        "        if t < x.size:\n            out[t] = p\n"
        "        if t + 256 < x.size:\n            out[t + 256] = q\n"
        "        if t + 512 < x.size:\n            out[t + 512] = r\n"
        "        if t + 768 < x.size:\n            out[t + 768] = s\n        return\n"
        + LOOP.format("first + t, first + 1024, 256")
    ),
    "added to zeros, by an atomic for each element": (
        HEAD
        + LOOP.format("first + t, first + 1024, 256").replace("x[i]", "float32(0)")
        + LOOP.format("first + t, first + 1024, 256").replace(
            "out[i] = x[i]", "cuda.atomic.add(out, i, x[i])"
        )
    ),
}
