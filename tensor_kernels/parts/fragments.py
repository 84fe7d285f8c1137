"""A warp's part of c as fragments: set to zero, multiply, store.

A warp computes several products of 16×8. The local arrays that hold its fragments have one row for
16 rows of a, one for 8 columns of b, and one for each product. They stay in registers, and all
functions are inlined into the kernel that calls them.
"""

from numba import cuda, float32, uint32

from tensor_kernels.parts.edges import store_pair
from utils.intrinsics.tensor import mma_m16n8k8, mma_m16n8k16, mma_m16n8k16_bf16


@cuda.jit(device=True, forceinline=True)
def clear(sums):
    """Set all elements of the local array `sums` to zero; it has three axes, the last of size 4."""
    for i in range(sums.shape[0]):
        for j in range(sums.shape[1]):
            for e in range(4):
                sums[i, j, e] = float32(0)


@cuda.jit(device=True, forceinline=True)
def multiply_by_8(of_a, of_b, sums):
    """Add the products of all fragments over 16 steps of k to `sums`, by two mma of 8 steps each.

    `of_a` has 8 elements for 16×16 of a, `of_b` has 4 for 16×8 of b, and `sums` has 4 for each
    product.
    """
    for i in range(of_a.shape[0]):
        for j in range(of_b.shape[0]):
            mma_m16n8k8(sums[i, j], of_a[i, 0:4], of_b[j, 0:2])
            mma_m16n8k8(sums[i, j], of_a[i, 4:8], of_b[j, 2:4])


@cuda.jit(device=True, forceinline=True)
def multiply_by_16(of_a, of_b, sums):
    """Add the products of all fragments of a and b over 16 steps of k to `sums`, by one mma each.

    `of_a` has 8 elements for 16×16 of a, `of_b` has 4 for 16×8 of b, and `sums` has 4 for each
    product.
    """
    for i in range(of_a.shape[0]):
        for j in range(of_b.shape[0]):
            mma_m16n8k16(sums[i, j], of_a[i], of_b[j])


@cuda.jit(device=True, forceinline=True)
def multiply_bfloat16(of_a, of_b, sums):
    """Add the products of all fragments of a and b over 16 steps of k to `sums`, by one mma each.

    The elements of a and b are the bits of bfloat16, as uint16. `of_a` has 8 elements for 16×16 of
    a, `of_b` has 4 for 16×8 of b, and `sums` has 4 float32 for each product.
    """
    for i in range(of_a.shape[0]):
        for j in range(of_b.shape[0]):
            mma_m16n8k16_bf16(sums[i, j], of_a[i], of_b[j])


@cuda.jit(device=True, forceinline=True)
def store_sums(c, row, col, lane, sums):
    """Store a warp's sums into c, whose part begins at (row, col); nothing outside c is stored.

    A lane has two neighbouring elements of row lane // 4 of each product, and two of the row that
    is 8 below.
    """
    for i in range(sums.shape[0]):
        for j in range(sums.shape[1]):
            for half in range(2):
                down = uint32(row + i * 16 + half * 8 + lane // 4)
                right = uint32(col + j * 8 + lane % 4 * 2)
                store_pair(c, down, right, sums[i, j, half * 2], sums[i, j, half * 2 + 1])
