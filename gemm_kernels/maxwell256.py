"""The classic design for Maxwell, 256 threads for 128×128 of c: half the global reads.

It reads half as much global memory as `maxwell64`. Unlike the kernel of Gray and others 2022, it
reads `a` stored by rows, and the compiler chooses registers and order.
"""

from functools import cache

from numba import cuda, float32, uint32

from gemm_kernels.parts.blocks import check_wide, clear, outer_product, read_fragment
from gemm_kernels.parts.maxwell import fetch_half, load_half, put_half, store_through_shared
from utils.division import cdiv
from utils.ladder.step import Budget, Launch, Step
from utils.ladder.tasks import GEMM

BM, BN, BK, TM, TN = 128, 128, 8, 8, 8


@cache
def build():
    """Return the kernel (a, b, c) that computes c = a·b, with 128×128 of c per block.

    A block has 256 threads, each of which computes 8×8 of c.
    """
    THREADS = BM // TM * (BN // TN)
    LOADERS, WARPS = THREADS // 2, THREADS // 32
    LOADS = BM * BK // 4 // LOADERS
    QUADS = BK // 4, BN // 4
    PADDED = BM + 4
    LAST = BK - 1
    APART_Y, APART_X = BM * 4 // TM, BN * 4 // TN
    add_outer_product = outer_product(TM, TN)

    @cuda.jit(device=True, forceinline=True)
    def multiply_tile(sa, sb, side, y, x, a0, b0, a1, b1, sums):
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

    # Like maxwell64 with half the reads from global memory; flaw: 256 threads wait at each barrier,
    # and every element of a tile still passes through registers.
    @cuda.jit
    def maxwell256(a, b, c):
        m, k, n = uint32(a.shape[0]), uint32(a.shape[1]), uint32(b.shape[1])
        sa = cuda.shared.array((2, BK, PADDED), float32, alignment=16)
        sb = cuda.shared.array((2, BK, BN), float32, alignment=16)
        rows = cuda.shared.array((WARPS, 4, 64), float32, alignment=16)
        sums = cuda.local.array((TM, TN), float32)
        staged = cuda.local.array((LOADS, 4), float32)
        a0 = cuda.local.array(TM, float32)
        b0 = cuda.local.array(TN, float32)
        a1 = cuda.local.array(TM, float32)
        b1 = cuda.local.array(TN, float32)
        t = uint32(cuda.threadIdx.x)
        corner = uint32(cuda.blockIdx.y * BM), uint32(cuda.blockIdx.x * BN)
        # Half of the warps load a, the others b: each thread follows one matrix, with one set of
        # registers. All lanes of a warp load the same matrix, so no warp diverges.
        loads_a = t < LOADERS
        me = t % LOADERS, LOADERS
        # The zig-zag of maxwell64, with one more bit in each direction:
        #     bit         7        6      5      4      3        2        1        0
        #     selects     across3  down3  down2  down1  across2  across1  across0  down0
        across, down = t >> 4 & 8 | t >> 1 & 7, t >> 3 & 14 | t & 1
        y, x = down * 4, across * 4

        clear(sums)
        start, side = uint32(0), uint32(0)
        load_half(a, b, corner, start, sa, sb, side, QUADS, me, loads_a, staged)
        cuda.syncthreads()
        read_fragment(sa, (side, 0), y, APART_Y, a0)
        read_fragment(sb, (side, 0), x, APART_X, b0)

        while start < k:
            start = uint32(start + BK)
            fetch_half(a, b, corner, start, QUADS, me, loads_a, staged)
            multiply_tile(sa, sb, side, y, x, a0, b0, a1, b1, sums)
            side ^= uint32(1)
            put_half(sa, sb, side, QUADS, me, loads_a, staged)
            cuda.syncthreads()
            read_fragment(sa, (side, 0), y, APART_Y, a0)
            read_fragment(sb, (side, 0), x, APART_X, b0)
            add_outer_product(sums, a1, b1)

        store_through_shared(c, (m, n), rows, corner, (down, across), APART_Y, t, sums)

    return maxwell256


def launch(shape):
    """Return a launch with one thread block per 128×128 tile of c.

    Axis x of the grid counts tiles along n, and axis y along m. Raises CourseError unless n and k
    are multiples of 4.
    """
    check_wide("maxwell256", shape)
    return Launch(grid=(cdiv(shape.n, BN), cdiv(shape.m, BM)), block=(BM // TM * (BN // TN),))


STEP = Step(
    module=__name__,
    name="maxwell256",
    idea="256 threads, 128×128 of c, the same design: half the reads from global memory",
    previous="maxwell64",
    task=GEMM,
    build=build,
    launch=launch,
    budget=Budget(registers=128, global_bits=128, shared_bits=128, ffma_share=0.6),
)
