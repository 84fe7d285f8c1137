"""Two buffers: the next tile loads while this one is multiplied, with one barrier per tile."""

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
    add_outer_product = outer_product(TM, TN)

    # Multiply-adds hide the loads, because a tile goes into the buffer that nobody reads;
    # flaw: the first multiply-add of each step of k still waits for the fragments it needs.
    @cuda.jit
    def double_buffered(a, b, c):
        k = a.shape[1]
        sa = cuda.shared.array((2, BK, PADDED), float32, alignment=16)
        sb = cuda.shared.array((2, BK, BN), float32, alignment=16)
        sums = cuda.local.array((TM, TN), float32)
        next_a = cuda.local.array((LOADS_A, 4), float32)
        next_b = cuda.local.array((LOADS_B, 4), float32)
        from_a = cuda.local.array(TM, float32)
        from_b = cuda.local.array(TN, float32)
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

        while start < uint32(k):
            start = uint32(start + BK)
            # From here on the next tile is in flight. No thread waits for it before it is stored in
            # shared memory. The last iteration fetches a tile past the end: zeros, from no memory.
            fetch(a, (row, start), QUADS_A, me, next_a)
            fetch(b, (start, col), QUADS_B, me, next_b)
            z = uint32(0)
            while z < BK:
                # Two steps per iteration: by default the compiler unrolls four, and their registers
                # leave room for one block on an SM instead of two.
                for u in range(2):
                    read_fragment(sa, (side, z + u), y, 4, from_a)
                    read_fragment(sb, (side, z + u), x, 4, from_b)
                    add_outer_product(sums, from_a, from_b)
                z = uint32(z + 2)
            # The other buffer was last read before the previous iteration's barrier: all threads
            # are done with it, and no second barrier is needed.
            side ^= uint32(1)
            put_columns(sa, side, QUADS_A, me, next_a)
            put_rows(sb, side, QUADS_B, me, next_b)
            cuda.syncthreads()

        store_tile(c, (row + y, col + x), (4, 4), sums)

    return double_buffered


def launch(shape, BM, BN, BK, TM, TN):
    """Return a launch with one thread block per BM×BN tile of c, and TM×TN of c per thread.

    Axis x of the grid counts tiles along n, and axis y along m. BK has no influence on the launch.
    Raises CourseError unless n and k are multiples of 4.
    """
    check_wide("double_buffered", shape)
    return register_blocked.launch(shape, BM, BN, TM, TN)


STEP = Step(
    module=__name__,
    name="double_buffered",
    idea="two buffers in shared memory: the next tile loads while this one is multiplied",
    previous="vectorized",
    task=GEMM,
    build=build,
    launch=launch,
    choices={"BM": (128, 64), "BN": (128, 64), "BK": (8, 16), "TM": (8,), "TN": (8,)},
    budget=Budget(registers=128, global_bits=128, shared_bits=128, ffma_share=0.85),
)
