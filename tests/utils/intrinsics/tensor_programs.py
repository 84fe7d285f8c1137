"""Kernels with the intrinsics of tensor cores, for either compiler."""

from types import SimpleNamespace

from utils.intrinsics.tensor import (
    copy8_async,
    copy8_or_zeros_async,
    ldmatrix_x2,
    ldmatrix_x2_trans,
    ldmatrix_x4,
    ldmatrix_x4_trans,
    load8,
    load_pair,
    mma_m16n8k8,
    mma_m16n8k16,
    mma_m16n8k16_bf16,
    store8,
)
from utils.intrinsics.wide_memory import commit_copies, wait_copies

HALVES = "void(float16[:, ::1], float16[:, ::1], float32[:, ::1])"
BITS = "void(uint16[:, ::1], uint16[:, ::1], float32[:, ::1])"


def programs(cuda, types) -> SimpleNamespace:
    """Return kernels (a, b, c) of a compiler, whose modules `cuda` and `types` are given.

    One warp multiplies a, 16×16, by b, 16×8, into c, 16×8.
    """

    def product(multiply, dtype):
        @cuda.jit
        def kernel(a, b, c):
            left = cuda.shared.array((16, 16), dtype, alignment=16)
            right = cuda.shared.array((16, 8), dtype, alignment=16)
            sums = cuda.local.array((2, 4), types.float32)
            of_a = cuda.local.array((2, 8), dtype)
            of_b = cuda.local.array((2, 4), dtype)
            lane = cuda.threadIdx.x
            for e in range(4):
                sums[1, e] = types.float32(0)
            copy8_async(left, (lane // 2, lane % 2 * 8), a, (lane // 2, lane % 2 * 8))
            if lane < 16:
                copy8_or_zeros_async(right, (lane, 0), b, (lane, 0))
            commit_copies()
            wait_copies(0)
            cuda.syncthreads()
            ldmatrix_x4(of_a[1], left, (lane % 16, lane // 16 * 8))
            ldmatrix_x2_trans(of_b[1], right, (lane % 16, 0))
            multiply(sums[1], of_a[1], of_b[1])
            for e in range(4):
                c[lane // 4 + e // 2 * 8, lane % 4 * 2 + e % 2] = sums[1, e]

        return kernel

    half = types.float16

    @cuda.jit
    def by_halves(a, b, c):
        left = cuda.shared.array((16, 16), half, alignment=16)
        right = cuda.shared.array((16, 16), half, alignment=16)
        sums = cuda.local.array(4, types.float32)
        of_a = cuda.local.array(4, half)
        of_b = cuda.local.array((2, 4), half)
        lane = cuda.threadIdx.x
        for e in range(4):
            sums[e] = types.float32(0)
        at = lane // 2, lane % 2 * 8
        store8(left, at, load8(a, at))
        store8(right, at, load8(b, at))
        cuda.syncthreads()
        ldmatrix_x2(of_a, left, (lane % 16, 0))
        ldmatrix_x4_trans(of_b[0:2], right, (lane % 16, lane // 16 * 8))
        mma_m16n8k8(sums, of_a, of_b[0, 0:2])
        for e in range(4):
            c[lane // 4 + e // 2 * 8, lane % 4 * 2 + e % 2] = sums[e]

    @cuda.jit
    def by_pairs(a, b, c):
        sums = cuda.local.array(4, types.float32)
        of_a = cuda.local.array(4, half)
        of_b = cuda.local.array(2, half)
        lane = cuda.threadIdx.x
        group, pair = lane // 4, lane % 4 * 2
        for e in range(4):
            sums[e] = types.float32(0)
        for start in range(0, 16, 8):
            for e in range(2):
                of_a[2 * e], of_a[2 * e + 1] = load_pair(a, (group + 8 * e, start + pair))
                of_b[e] = b[start + pair + e, group]
            mma_m16n8k8(sums, of_a, of_b)
        for e in range(4):
            c[group + e // 2 * 8, pair + e % 2] = sums[e]

    return SimpleNamespace(
        by_pairs=by_pairs,
        whole=product(mma_m16n8k16, half),
        bfloat16=product(mma_m16n8k16_bf16, types.uint16),
        by_halves=by_halves,
    )
