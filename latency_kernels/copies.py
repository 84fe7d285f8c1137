"""Hide the latency of memory: copies with more or fewer loads in flight per thread.

In Volkov 2010 a thread copies once. Here it copies 32 floats in a loop, however many are in flight
at once.
"""

from functools import cache

from numba import cuda, float32, uint32

from utils.intrinsics.wide_memory import load2, load4, store2, store4

# The floats that each thread copies, however many it has in flight: so blocks start equally often.
# Blocks with few loads in flight would otherwise end sooner than an SM can start new blocks.
FLOATS = 32


def turns_of(width: int, count: int) -> int:
    """Return the iterations of a thread that copies FLOATS floats, `count` · `width` in each."""
    return FLOATS // (width * count)


@cache
def build(WIDTH, COUNT, BLOCK):
    """Return the kernel (x, out, turns) whose threads copy COUNT times WIDTH floats per iteration.

    WIDTH is 1, 2 or 4, the floats per load. A thread issues COUNT loads before its first store. `x`
    and `out` have BLOCK·FLOATS float32 per block of BLOCK threads. `turns`, the number of
    iterations, comes from `turns_of`. It is an argument, so that the compiler keeps the loop.
    """
    take, put = _MOVES[WIDTH]

    @cuda.jit
    def copies(x, out, turns):
        values = cuda.local.array((COUNT, WIDTH), float32)
        first = uint32(cuda.blockIdx.x) * uint32(turns * BLOCK * COUNT) + uint32(cuda.threadIdx.x)
        turn = 0
        while turn < turns:
            # All loads are issued before the first store waits for one of them. Their number
            # times the threads on an SM is the number of loads in flight.
            for i in range(COUNT):
                take(values, i, x, (first + i * BLOCK) * WIDTH)
            for i in range(COUNT):
                put(values, i, out, (first + i * BLOCK) * WIDTH)
            first += uint32(BLOCK * COUNT)
            turn += 1

    return copies


@cuda.jit(device=True, forceinline=True)
def _take1(values, i, x, at):
    """Load x[at] into row i of `values`."""
    values[i, 0] = x[at]


@cuda.jit(device=True, forceinline=True)
def _take2(values, i, x, at):
    """Load two floats from x, the first with index `at`, into row i of `values`."""
    values[i, 0], values[i, 1] = load2(x, at)


@cuda.jit(device=True, forceinline=True)
def _take4(values, i, x, at):
    """Load four floats from x, the first with index `at`, into row i of `values`."""
    values[i, 0], values[i, 1], values[i, 2], values[i, 3] = load4(x, at)


@cuda.jit(device=True, forceinline=True)
def _put1(values, i, out, at):
    """Store row i of `values`, one float, in out[at]."""
    out[at] = values[i, 0]


@cuda.jit(device=True, forceinline=True)
def _put2(values, i, out, at):
    """Store row i of `values`, two floats, in `out`, the first with index `at`."""
    store2(out, at, (values[i, 0], values[i, 1]))


@cuda.jit(device=True, forceinline=True)
def _put4(values, i, out, at):
    """Store row i of `values`, four floats, in `out`, the first with index `at`."""
    store4(out, at, (values[i, 0], values[i, 1], values[i, 2], values[i, 3]))


_MOVES = {1: (_take1, _put1), 2: (_take2, _put2), 4: (_take4, _put4)}
