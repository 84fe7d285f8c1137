"""Two sets of fragments in registers: one is multiplied while the other one is read.

Gray and others 2022 skip the fetch after the last tile. Here it fetches zeros, and rows of a's tile
are padded by 4 elements.
"""

from functools import cache

from numba import cuda, float32, uint32

from gemm_kernels import register_blocked
from gemm_kernels.parts.blocks import (
    check_wide,
    clear,
    fetch,
    outer_product,
    put_columns,
    put_rows,
    read_fragment,
    store_tile,
)
from utils.ladder.step import Budget, Step
from utils.ladder.tasks import GEMM


@cache
def build(BM, BN, BK, TM, TN):
    """Return the kernel (a, b, c) that computes c = a·b, with BM×BN of c per block.

    A tile has BK steps of k, and a thread computes TM×TN of c.
    """
    ACROSS = BN // TN
    THREADS = BM // TM * ACROSS
    LOADS_A, LOADS_B = BM * BK // 4 // THREADS, BK * BN // 4 // THREADS
    QUADS_A, QUADS_B = BK // 4, BN // 4
    PADDED = BM + 4
    LAST = BK - 1
    # A thread's quads are adjacent, down and across.
    APART_Y, APART_X = 4, 4
    add_outer_product = outer_product(TM, TN)

    @cuda.jit(device=True, forceinline=True)
    def multiply_tile(sa, sb, side, y, x, a0, b0, a1, b1, sums):
        # Step z - 1 is in a0 and b0. At the end, the last step is in a1 and b1, not yet multiplied.
        z = uint32(1)
        while z < LAST:
            read_fragment(sa, (side, z), y, APART_Y, a1)
            read_fragment(sb, (side, z), x, APART_X, b1)
            add_outer_product(sums, a0, b0)
            read_fragment(sa, (side, z + 1), y, APART_Y, a0)
            read_fragment(sb, (side, z + 1), x, APART_X, b0)
            add_outer_product(sums, a1, b1)
            z = uint32(z + 2)
        read_fragment(sa, (side, LAST), y, APART_Y, a1)
        read_fragment(sb, (side, LAST), x, APART_X, b1)
        add_outer_product(sums, a0, b0)

    # Fragments are read one step of k before they are multiplied, so no multiply-add waits for
    # them; flaw: neighbours read quads with a stride of 8 elements, and pairs of them share a bank.
    @cuda.jit
    def prefetch(a, b, c):
        k = a.shape[1]
        sa = cuda.shared.array((2, BK, PADDED), float32, alignment=16)
        sb = cuda.shared.array((2, BK, BN), float32, alignment=16)
        sums = cuda.local.array((TM, TN), float32)
        next_a = cuda.local.array((LOADS_A, 4), float32)
        next_b = cuda.local.array((LOADS_B, 4), float32)
        a0 = cuda.local.array(TM, float32)
        b0 = cuda.local.array(TN, float32)
        a1 = cuda.local.array(TM, float32)
        b1 = cuda.local.array(TN, float32)
        t = uint32(cuda.threadIdx.x)
        me = t, THREADS
        row, col = uint32(cuda.blockIdx.y * BM), uint32(cuda.blockIdx.x * BN)
        y, x = t // ACROSS * TM, t % ACROSS * TN

        clear(sums)
        start, side = uint32(0), uint32(0)
        fetch(a, (row, start), QUADS_A, me, next_a)
        fetch(b, (start, col), QUADS_B, me, next_b)
        put_columns(sa, side, QUADS_A, me, next_a)
        put_rows(sb, side, QUADS_B, me, next_b)
        cuda.syncthreads()
        read_fragment(sa, (side, 0), y, APART_Y, a0)
        read_fragment(sb, (side, 0), x, APART_X, b0)

        while start < uint32(k):
            start = uint32(start + BK)
            # The last iteration fetches a tile past the end: zeros, from no memory.
            fetch(a, (row, start), QUADS_A, me, next_a)
            fetch(b, (start, col), QUADS_B, me, next_b)
            multiply_tile(sa, sb, side, y, x, a0, b0, a1, b1, sums)
            # The other buffer was last read before the previous iteration's barrier: all threads
            # are done with it, and no second barrier is needed.
            side ^= uint32(1)
            put_columns(sa, side, QUADS_A, me, next_a)
            put_rows(sb, side, QUADS_B, me, next_b)
            cuda.syncthreads()
            read_fragment(sa, (side, 0), y, APART_Y, a0)
            read_fragment(sb, (side, 0), x, APART_X, b0)
            add_outer_product(sums, a1, b1)

        store_tile(c, (row + y, col + x), (APART_Y, APART_X), sums)

    return prefetch


def launch(shape, BM, BN, BK, TM, TN):
    """Return a launch with one thread block per BM×BN tile of c, and TM×TN of c per thread.

    Axis x of the grid counts tiles along n, and axis y along m. BK has no influence on the launch.
    Raises CourseError unless n and k are multiples of 4.
    """
    check_wide("prefetch", shape)
    return register_blocked.launch(shape, BM, BN, TM, TN)


STEP = Step(
    module=__name__,
    name="prefetch",
    idea="two sets of fragments: the next step of k is read while this one is multiplied",
    previous="double_buffered",
    task=GEMM,
    build=build,
    launch=launch,
    choices={"BM": (128, 64), "BN": (128, 64), "BK": (8, 16), "TM": (8,), "TN": (8,)},
    budget=Budget(registers=128, global_bits=128, shared_bits=128, ffma_share=0.7),
)
