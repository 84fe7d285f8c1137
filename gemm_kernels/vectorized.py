"""128-bit loads and stores everywhere; the tile of a is transposed on its way to shared memory.

Gray and others 2022 store the transposed tile without padding; here its rows are padded by 4
elements.
"""

from functools import cache

from numba import cuda, float32, uint32

from gemm_kernels import register_blocked
from gemm_kernels.parts.blocks import check_wide, clear, outer_product, quad, quad_place, store_tile
from utils.intrinsics.wide_memory import load4, store4
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
    # Four more columns: threads that write rows z and z + 4 of a column now use different banks.
    PADDED = BM + 4
    add_outer_product = outer_product(TM, TN)

    # Every access moves 128 bits, because the elements of one step of k are adjacent; flaw: no
    # thread computes between the two barriers until the slowest load has arrived.
    @cuda.jit
    def vectorized(a, b, c):
        k = a.shape[1]
        sa = cuda.shared.array((BK, PADDED), float32, alignment=16)
        sb = cuda.shared.array((BK, BN), float32, alignment=16)
        sums = cuda.local.array((TM, TN), float32)
        from_a = cuda.local.array(TM, float32)
        from_b = cuda.local.array(TN, float32)
        t = uint32(cuda.threadIdx.x)
        row, col = uint32(cuda.blockIdx.y * BM), uint32(cuda.blockIdx.x * BN)
        y, x = t // ACROSS * TM, t % ACROSS * TN

        clear(sums)
        for start in range(0, k, BK):
            for load in range(LOADS_A):
                down, z = quad_place(t + load * THREADS, QUADS_A)
                values = quad(a, row + down, start + z)
                # sa[z, down] and not sa[down, z]: the elements of one step of k are then adjacent.
                for j in range(4):
                    sa[z + j, down] = values[j]
            for load in range(LOADS_B):
                z, across = quad_place(t + load * THREADS, QUADS_B)
                store4(sb, (z, across), quad(b, start + z, col + across))
            cuda.syncthreads()
            z = uint32(0)
            while z < BK:
                # TM/4 + TN/4 reads of 128 bits feed TM·TN multiply-adds.
                for i in range(0, TM, 4):
                    from_a[i], from_a[i + 1], from_a[i + 2], from_a[i + 3] = load4(sa, (z, y + i))
                for j in range(0, TN, 4):
                    from_b[j], from_b[j + 1], from_b[j + 2], from_b[j + 3] = load4(sb, (z, x + j))
                add_outer_product(sums, from_a, from_b)
                z = uint32(z + 1)
            cuda.syncthreads()

        store_tile(c, (row + y, col + x), (4, 4), sums)

    return vectorized


def launch(shape, BM, BN, BK, TM, TN):
    """Return a launch with one thread block per BM×BN tile of c, and TM×TN of c per thread.

    Axis x of the grid counts tiles along n, and axis y along m. BK has no influence on the launch.
    Raises CourseError unless n and k are multiples of 4.
    """
    check_wide("vectorized", shape)
    return register_blocked.launch(shape, BM, BN, TM, TN)


STEP = Step(
    module=__name__,
    name="vectorized",
    idea="128-bit loads and stores; a transposed on its way into shared memory",
    previous="register_blocked",
    task=GEMM,
    build=build,
    launch=launch,
    choices={"BM": (128, 64), "BN": (128, 64), "BK": (16, 8), "TM": (8,), "TN": (8,)},
    budget=Budget(registers=128, global_bits=128, shared_bits=128, ffma_share=0.9),
)
