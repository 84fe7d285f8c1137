"""Reading at the limit of memory: 16 bytes per load, and several loads under way in each thread."""

from functools import cache

from numba import cuda, uint32

from utils.intrinsics.wide_memory import before_boundary, stream16

LOAD_BYTES = 16
LOADS = 4


@cache
def total_of_thread(operation, BLOCK, TURNS):
    """A device function of x: what this thread reads, reduced to one total.

    A block reads a stretch of BLOCK·LOADS·TURNS times 16 bytes; the first also reads what lies
    before the first boundary of 16 bytes in x and behind the last.
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
            # None of the loads waits for another. Together the threads of an SM have 128 KiB under
            # way, more than the memory's bandwidth times its latency.
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
    """How many blocks read so many bytes, each LOADS·TURNS times 16 bytes in each thread."""
    return max(1, -(-stretch_bytes // (LOAD_BYTES * LOADS * TURNS * BLOCK)))
