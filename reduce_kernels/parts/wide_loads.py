"""Reads at the bandwidth of memory: 16 bytes per load, and several loads in flight per thread."""

from functools import cache

from numba import cuda, uint32

from utils.division import cdiv
from utils.intrinsics.wide_memory import before_boundary, stream16

LOAD_BYTES = 16
LOADS = 4


@cache
def total_of_thread(operation, BLOCK, TURNS):
    """Return a device function of x that reduces all elements which this thread reads to one value.

    `operation` is an Operation. A block reads a section of BLOCK·LOADS·TURNS times 16 bytes. The
    first block also reads the elements before the first multiple of 16 bytes in x and after the
    last one.
    """
    combine, identity = operation.combine, operation.identity
    element, total_type = operation.element, operation.total
    WIDTH = 8 * LOAD_BYTES // element.bitwidth

    @cuda.jit(device=True, forceinline=True)
    def total_of_thread(x):
        tid = uint32(cuda.threadIdx.x)
        values = cuda.local.array((LOADS, WIDTH), total_type)
        totals = cuda.local.array(WIDTH, total_type)
        for j in range(WIDTH):
            totals[j] = identity

        head = min(before_boundary(x), x.size)
        vectors = (x.size - head) // WIDTH
        vector = uint32(cuda.blockIdx.x) * (BLOCK * LOADS * TURNS) + tid
        for _ in range(TURNS):
            # The loads are independent. Together the threads of an SM have 128 KiB in flight, more
            # than the memory's bandwidth times its latency.
            for load in range(LOADS):
                if vector + load * BLOCK < vectors:
                    parts = stream16(x, head + (vector + load * BLOCK) * WIDTH)
                    for j in range(WIDTH):
                        values[load, j] = parts[j]
                else:
                    for j in range(WIDTH):
                        values[load, j] = identity
            for load in range(LOADS):
                for j in range(WIDTH):
                    totals[j] = combine(totals[j], values[load, j])
            vector += LOADS * BLOCK

        if cuda.blockIdx.x == 0:
            if tid < head:
                totals[0] = combine(totals[0], x[tid])
            if head + vectors * WIDTH + tid < x.size:
                totals[0] = combine(totals[0], x[head + vectors * WIDTH + tid])
        for j in range(1, WIDTH):
            totals[0] = combine(totals[0], totals[j])
        return totals[0]

    return total_of_thread


def blocks(stretch_bytes, BLOCK, TURNS):
    """Return the number of blocks that read `stretch_bytes` bytes, at least 1.

    Each of the BLOCK threads of a block makes LOADS·TURNS loads of 16 bytes.
    """
    return max(1, cdiv(stretch_bytes, LOAD_BYTES * LOADS * TURNS * BLOCK))
