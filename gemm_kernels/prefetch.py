"""While a tile is computed the next one is on its way: two buffers, and one barrier per tile."""

from functools import cache

from numba import cuda, float32, uint32

from gemm_kernels import register_blocked
from gemm_kernels.parts.blocks import (
    check_wide,
    fetch,
    outer_product,
    put_columns,
    put_rows,
    read,
    store_quad,
)
from utils.ladder.step import Budget, Step
from utils.ladder.tasks import GEMM


@cache
def build(BM, BN, BK, TM, TN):
    """The kernel for BM×BN of c a block, BK steps of k a tile, and TM×TN of c a thread."""
    ACROSS = BN // TN
    THREADS = BM // TM * ACROSS
    LOADS_A, LOADS_B = BM * BK // 4 // THREADS, BK * BN // 4 // THREADS
    QUADS_A, QUADS_B = BK // 4, BN // 4
    PADDED = BM + 4
    LAST = BK - 1
    add_outer_product = outer_product(TM, TN)

    @cuda.jit
    def prefetch(a, b, c):
        k = uint32(a.shape[1])
        sa = cuda.shared.array((2, BK, PADDED), float32, alignment=16)
        sb = cuda.shared.array((2, BK, BN), float32, alignment=16)
        sums = cuda.local.array((TM, TN), float32)
        next_a = cuda.local.array((LOADS_A, 4), float32)
        next_b = cuda.local.array((LOADS_B, 4), float32)
        # Two sets of fragments: one is multiplied while the other is read.
        a0 = cuda.local.array(TM, float32)
        b0 = cuda.local.array(TN, float32)
        a1 = cuda.local.array(TM, float32)
        b1 = cuda.local.array(TN, float32)
        t = uint32(cuda.threadIdx.x)
        me = t, THREADS
        row, col = uint32(cuda.blockIdx.y * BM), uint32(cuda.blockIdx.x * BN)
        y, x = t // ACROSS * TM, t % ACROSS * TN

        for i in range(TM):
            for j in range(TN):
                sums[i, j] = float32(0)
        start, side = uint32(0), uint32(0)
        fetch(a, (row, start), QUADS_A, me, next_a)
        fetch(b, (start, col), QUADS_B, me, next_b)
        put_columns(sa, side, QUADS_A, me, next_a)
        put_rows(sb, side, QUADS_B, me, next_b)
        cuda.syncthreads()
        read(sa, (side, 0), y, 4, a0)
        read(sb, (side, 0), x, 4, b0)

        while start < k:
            start = uint32(start + BK)
            # From here the next tile is under way. Nobody waits for it before it is put into shared
            # memory. The last turn fetches what lies behind the end: zeros, from no memory.
            fetch(a, (row, start), QUADS_A, me, next_a)
            fetch(b, (start, col), QUADS_B, me, next_b)
            z = uint32(1)
            while z < LAST:
                read(sa, (side, z), y, 4, a1)
                read(sb, (side, z), x, 4, b1)
                add_outer_product(sums, a0, b0)
                read(sa, (side, z + 1), y, 4, a0)
                read(sb, (side, z + 1), x, 4, b0)
                add_outer_product(sums, a1, b1)
                z = uint32(z + 2)
            read(sa, (side, LAST), y, 4, a1)
            read(sb, (side, LAST), x, 4, b1)
            add_outer_product(sums, a0, b0)
            # The other side was last read before the barrier of the turn before: everyone is done
            # with it, and no second barrier is needed.
            side ^= uint32(1)
            put_columns(sa, side, QUADS_A, me, next_a)
            put_rows(sb, side, QUADS_B, me, next_b)
            cuda.syncthreads()
            read(sa, (side, 0), y, 4, a0)
            read(sb, (side, 0), x, 4, b0)
            add_outer_product(sums, a1, b1)

        # Flaw: a thread's 8 columns lie side by side, so the quads that neighbours read at once lie
        # 8 elements apart, and of every four of them two pairs meet in the same banks.
        for i in range(TM):
            for j in range(0, TN, 4):
                four = sums[i, j], sums[i, j + 1], sums[i, j + 2], sums[i, j + 3]
                store_quad(c, row + y + i, col + x + j, four)

    return prefetch


def launch(shape, BM, BN, BK, TM, TN):
    """The blocks of `register_blocked`; CourseError where n or k is no multiple of 4."""
    check_wide("prefetch", shape)
    return register_blocked.launch(shape, BM, BN, TM, TN)


STEP = Step(
    module=__name__,
    name="prefetch",
    idea="two buffers in shared memory and in registers: the next tile loads while this one counts",
    previous="vectorized",
    task=GEMM,
    build=build,
    launch=launch,
    choices={"BM": (128, 64), "BN": (128, 64), "BK": (8, 16), "TM": (8,), "TN": (8,)},
    budget=Budget(registers=128, global_bits=128, shared_bits=128, ffma_share=0.7),
)
