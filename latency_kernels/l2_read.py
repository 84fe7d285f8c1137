"""The ceiling of the L2 cache: all blocks read the same 16 MiB, each from a different offset."""

from numba import cuda, float32, uint32

from latency_kernels.parts.workloads import (
    IN_FLIGHT,
    L2,
    L2_BLOCK,
    L2_TURNS,
    STRIDE,
    WINDOW,
    WINDOWS,
)
from utils.division import cdiv
from utils.intrinsics.wide_memory import load4
from utils.ladder.step import Launch, Step


@cuda.jit
def l2_read(x, out):
    thread = cuda.grid(1)
    block, tid = uint32(cuda.blockIdx.x), uint32(cuda.threadIdx.x)
    total = float32(0)
    for turn in range(L2_TURNS):
        # In each iteration, 1024 consecutive blocks read 1024 different windows. So the data that
        # an SM requests is in the L2 cache, and not in the SM's own L1 cache.
        window = (block + uint32(turn * STRIDE)) & uint32(WINDOWS - 1)
        first = window * uint32(WINDOW) + tid * uint32(4)
        for j in range(IN_FLIGHT):
            # Wide, so that few instructions keep many bytes in flight.
            p, q, r, s = load4(x, first + uint32(4 * L2_BLOCK * j))
            total += (p + q) + (r + s)
    if thread < out.size:
        out[thread] = total


def launch(shape):
    """Return a launch with one thread per L2_READS reads; shape.elements counts the reads."""
    return Launch(grid=(cdiv(shape.elements, WINDOW * L2_TURNS),), block=(L2_BLOCK,))


STEP = Step(
    module=__name__,
    name="l2_read",
    idea="16 MiB read again and again: the bandwidth of the L2 cache",
    previous=None,
    task=L2,
    build=lambda: l2_read,
    launch=launch,
)
