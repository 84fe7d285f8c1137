"""A block's tiles are in shared memory, and ldmatrix loads four 8×8 parts of them at once."""

from functools import cache

from numba import cuda, float32, uint32
from numba.types import float16

from tensor_kernels.parts.edges import check_wide, copy_chunk
from tensor_kernels.parts.fragments import clear, multiply_by_8, store_sums
from utils.division import cdiv
from utils.intrinsics.tensor import ldmatrix_x4, ldmatrix_x4_trans
from utils.ladder.step import Budget, Launch, Step
from utils.ladder.tasks import TENSOR_GEMM

WM, WN = 64, 64
MT, NT = WM // 16, WN // 8  # fragments of a and of b that a warp needs for its part of c


@cache
def build(BM, BN, BK):
    """Return the kernel (a, b, c) that computes c = a·b, with BM×BN of c per block.

    a and b hold float16, and c holds float32. A tile has BK steps of k, and a warp computes 64×64
    of c.
    """
    ACROSS = BN // WN
    THREADS = BM // WM * ACROSS * 32

    @cuda.jit(device=True, forceinline=True)
    def load_tile(x, corner, t, tile):
        chunks = tile.shape[1] // 8
        for load in range(tile.shape[0] * chunks // THREADS):
            number = uint32(t + load * THREADS)
            row, col = number // chunks, number % chunks * 8
            copy_chunk(x, corner[0] + row, corner[1] + col, tile, (row, col))

    @cuda.jit(device=True, forceinline=True)
    def load_fragments(sa, sb, y, x, z, lane, of_a, of_b):
        # Lanes 0 to 15 give the rows of the left two 8×8 parts, lanes 16 to 31 of the right two.
        down, right = lane % 16, lane // 16 * 8
        for i in range(MT):
            row, col = uint32(y + i * 16 + down), uint32(z + right)
            ldmatrix_x4(of_a[i], sa, (row, col))
        for j in range(0, NT, 2):
            row, col = uint32(z + down), uint32(x + j * 8 + right)
            ldmatrix_x4_trans(of_b[j : j + 2], sb, (row, col))

    # Elements are read from global memory once per block, 16 bytes at a time; flaw: the eight rows
    # that ldmatrix reads at once are in the same banks, so they are read one after the other.
    @cuda.jit
    def mma_shared(a, b, c):
        k = a.shape[1]
        sa = cuda.shared.array((BM, BK), float16, alignment=16)
        sb = cuda.shared.array((BK, BN), float16, alignment=16)
        sums = cuda.local.array((MT, NT, 4), float32)
        of_a = cuda.local.array((MT, 8), float16)
        of_b = cuda.local.array((NT, 4), float16)
        t = uint32(cuda.threadIdx.x)
        row, col = uint32(cuda.blockIdx.y * BM), uint32(cuda.blockIdx.x * BN)
        warp, lane = t // 32, t % 32
        y, x = warp // ACROSS * WM, warp % ACROSS * WN

        clear(sums)
        start = uint32(0)
        while start < k:
            load_tile(a, (row, start), t, sa)
            load_tile(b, (start, col), t, sb)
            cuda.syncthreads()
            for z in range(0, BK, 16):
                load_fragments(sa, sb, y, x, z, lane, of_a, of_b)
                multiply_by_8(of_a, of_b, sums)
            # No warp may store the next tile before all have read this one.
            cuda.syncthreads()
            start = uint32(start + BK)

        store_sums(c, row + y, col + x, lane, sums)

    return mma_shared


def launch(shape, BM, BN, BK):
    """Return a launch with one thread block per BM×BN tile of c, and one warp per 64×64 of it.

    Axis x of the grid counts tiles along n, and axis y along m. BK has no influence on the launch.
    Raises CourseError unless n and k are multiples of 8.
    """
    check_wide("mma_shared", shape)
    warps = BM // WM * (BN // WN)
    return Launch(grid=(cdiv(shape.n, BN), cdiv(shape.m, BM)), block=(warps * 32,))


STEP = Step(
    module=__name__,
    name="mma_shared",
    idea="tiles in shared memory; ldmatrix loads the fragments",
    previous="mma_naive",
    task=TENSOR_GEMM,
    build=build,
    launch=launch,
    choices={"BM": (128,), "BN": (128,), "BK": (32,)},
    budget=Budget(registers=200, global_bits=128, shared_bits=128, tensor_share=0.42),
)
