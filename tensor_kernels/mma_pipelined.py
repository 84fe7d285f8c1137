"""Asynchronous copies fill the tiles of the next stages while the warps multiply this one."""

from functools import cache

from numba import cuda, float32, uint32
from numba.types import float16

from tensor_kernels.parts.edges import check_wide
from tensor_kernels.parts.fragments import clear, multiply_by_16, store_sums
from tensor_kernels.parts.swizzles import swizzle
from utils.division import cdiv
from utils.intrinsics.tensor import copy8_or_zeros_async, ldmatrix_x4, ldmatrix_x4_trans
from utils.intrinsics.wide_memory import commit_copies, wait_copies
from utils.ladder.step import Budget, Launch, Step
from utils.ladder.tasks import TENSOR_GEMM

WM, WN = 64, 64
MT, NT = WM // 16, WN // 8  # fragments of a and of b that a warp needs for its part of c


@cache
def build(BM, BN, BK, STAGES):
    """Return the kernel (a, b, c) that computes c = a·b, with BM×BN of c per block.

    a and b hold float16, and c holds float32. A tile has BK steps of k, and a warp computes 64×64
    of c. Shared memory holds the tiles of STAGES stages: one that is multiplied, and others that
    are being copied.
    """
    ACROSS = BN // WN
    THREADS = BM // WM * ACROSS * 32
    AHEAD = STAGES - 1
    PENDING = STAGES - 2
    place_a, place_b = swizzle(BK), swizzle(BN)

    @cuda.jit(device=True, forceinline=True)
    def start_copies(x, corner, t, tile, stage, place):
        chunks = tile.shape[2] // 8
        for load in range(tile.shape[1] * chunks // THREADS):
            number = uint32(t + load * THREADS)
            row, col = number // chunks, number % chunks * 8
            at = uint32(corner[0] + row), uint32(corner[1] + col)
            copy8_or_zeros_async(tile, (stage, row, place(row, col)), x, at)

    @cuda.jit(device=True, forceinline=True)
    def load_fragments(sa, sb, stage, y, x, z, lane, of_a, of_b):
        # Lanes 0 to 15 give the rows of the left two 8×8 parts, lanes 16 to 31 of the right two.
        down, right = lane % 16, lane // 16 * 8
        for i in range(MT):
            row, col = uint32(y + i * 16 + down), uint32(z + right)
            ldmatrix_x4(of_a[i], sa, (stage, row, place_a(row, col)))
        for j in range(0, NT, 2):
            row, col = uint32(z + down), uint32(x + j * 8 + right)
            ldmatrix_x4_trans(of_b[j : j + 2], sb, (stage, row, place_b(row, col)))

    # Copies are in flight while the tensor cores work; flaw: each warp issues every copy, every
    # ldmatrix and every mma itself, and the fragments of each mma pass through its registers.
    @cuda.jit
    def mma_pipelined(a, b, c):
        k = a.shape[1]
        sa = cuda.shared.array((STAGES, BM, BK), float16, alignment=16)
        sb = cuda.shared.array((STAGES, BK, BN), float16, alignment=16)
        sums = cuda.local.array((MT, NT, 4), float32)
        of_a = cuda.local.array((MT, 8), float16)
        of_b = cuda.local.array((NT, 4), float16)
        t = uint32(cuda.threadIdx.x)
        row, col = uint32(cuda.blockIdx.y * BM), uint32(cuda.blockIdx.x * BN)
        warp, lane = t // 32, t % 32
        y, x = warp // ACROSS * WM, warp % ACROSS * WN

        clear(sums)
        for stage in range(AHEAD):
            start_copies(a, (row, stage * BK), t, sa, stage, place_a)
            start_copies(b, (stage * BK, col), t, sb, stage, place_b)
            commit_copies()
        start, now, free = uint32(0), uint32(0), uint32(AHEAD)
        while start < k:
            # This stage's copies are complete for the thread that waits, and after the barrier for
            # all threads. All have multiplied the previous stage, so its tiles may be overwritten.
            wait_copies(PENDING)
            cuda.syncthreads()
            # The first fragments arrive while the copies are started.
            load_fragments(sa, sb, now, y, x, 0, lane, of_a, of_b)
            later = uint32(start + AHEAD * BK)
            start_copies(a, (row, later), t, sa, free, place_a)
            start_copies(b, (later, col), t, sb, free, place_b)
            # A group per iteration, also when nothing is left to copy: wait_copies counts groups.
            commit_copies()
            multiply_by_16(of_a, of_b, sums)
            for z in range(16, BK, 16):
                load_fragments(sa, sb, now, y, x, z, lane, of_a, of_b)
                multiply_by_16(of_a, of_b, sums)
            free = now
            now = uint32(now + 1 if now < AHEAD else 0)
            start = uint32(start + BK)

        store_sums(c, row + y, col + x, lane, sums)

    return mma_pipelined


def launch(shape, BM, BN, BK, STAGES):
    """Return a launch with one thread block per BM×BN tile of c, and one warp per 64×64 of it.

    Axis x of the grid counts tiles along n, and axis y along m. BK and STAGES have no influence on
    the launch. Raises CourseError unless n and k are multiples of 8.
    """
    check_wide("mma_pipelined", shape)
    warps = BM // WM * (BN // WN)
    return Launch(grid=(cdiv(shape.n, BN), cdiv(shape.m, BM)), block=(warps * 32,))


STEP = Step(
    module=__name__,
    name="mma_pipelined",
    idea="asynchronous copies for the next stages while this one is multiplied",
    previous="mma_swizzled",
    task=TENSOR_GEMM,
    build=build,
    launch=launch,
    choices={"BM": (128,), "BN": (128,), "BK": (32,), "STAGES": (3, 2)},
    budget=Budget(registers=250, global_bits=128, shared_bits=128, tensor_share=0.29),
    capability=(8, 0),
)
