"""Submissions to `shuffles` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import atomics, block_sums

HEAD = """from numba import cuda, float32


@cuda.jit
def shuffles(x, partials):
    of_warps = cuda.shared.array(8, float32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    total = x[i] if i < x.size else float32(0)
"""
TAIL = """    cuda.syncthreads()
    if tid == 0:
        whole = float32(0)
        for j in range(8):
            whole += of_warps[j]
        partials[cuda.blockIdx.x] = whole
"""
LANES_IN_TURNS = f"""{HEAD}    for lane in range(32):
        if tid % 32 == lane:
            of_warps[tid // 32] = total + (of_warps[tid // 32] if lane else float32(0))
        cuda.syncwarp()
{TAIL}"""
GATHERED = f"""{HEAD}    mine = total
    for lane in range(1, 32):
        other = cuda.shfl_sync(0xFFFFFFFF, total, lane)
        mine += other
    if tid % 32 == 0:
        of_warps[tid // 32] = mine
{TAIL}"""

CHEAP = {
    **block_sums("shuffles(x, partials)", "x[j]"),
    "atomics on one word": atomics("shuffles(x, partials)", "x[j]"),
    "the starter": file_beside(__file__, "starter"),
    "lanes add to the word of their warp in turns": LANES_IN_TURNS,
    "one lane gets the values of the others one by one": GATHERED,
}
