"""Small kernels in the manner of a collection of puzzles: each is made by a factory."""

import numba
import numpy as np

from utils import Puzzle

BLOCK = 8
BLOCK_AND_FOUR = BLOCK + 4


def make_map(cuda):
    def add_ten(out, a):
        i = cuda.threadIdx.x
        out[i] = a[i] + 10

    return add_ten


def make_zip(cuda):
    def add(out, a, b):
        i = cuda.threadIdx.x
        out[i] = a[i] + b[i]

    return add


def make_guard(cuda):
    def add_ten_guarded(out, a, size):
        i = cuda.threadIdx.x
        if i < size:
            out[i] = a[i] + 10

    return add_ten_guarded


def make_broadcast(cuda):
    def add_outer(out, a, b, size):
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        j = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
        if i < size and j < size:
            out[i, j] = a[i, 0] + b[0, j]

    return add_outer


def make_pooling(cuda):
    def sum_of_three(out, a, size):
        tile = cuda.shared.array(BLOCK, numba.float64)
        i = cuda.grid(1)
        t = cuda.threadIdx.x
        if i < size:
            tile[t] = a[i]
        cuda.syncthreads()
        if i < size:
            total = 0.0
            for back in range(3):
                if t >= back:
                    total += tile[t - back]
            out[i] = total

    return sum_of_three


def make_dot(cuda):
    def dot(out, a, b, size):
        products = cuda.shared.array(BLOCK, numba.float64)
        t = cuda.threadIdx.x
        products[t] = a[t] * b[t] if t < size else 0
        cuda.syncthreads()
        if t == 0:
            total = 0.0
            for product in products:
                total += product
            out[0] = total

    return dot


def make_convolution(cuda):
    def convolve(out, a, b, a_size, b_size):
        near = cuda.shared.array(BLOCK_AND_FOUR, numba.float64)
        weights = cuda.shared.array(4, numba.float64)
        i, t = cuda.grid(1), cuda.threadIdx.x
        near[t] = a[i] if i < a_size else 0
        if t < b_size:
            near[BLOCK + t] = a[i + BLOCK] if i + BLOCK < a_size else 0
            weights[t] = b[t]
        cuda.syncthreads()
        if i < a_size:
            total = 0.0
            for k in range(b_size):
                total += near[t + k] * weights[k]
            out[i] = total

    return convolve


def make_prefix_sum(cuda):
    def sum_blocks(out, a, size):
        cache = cuda.shared.array(BLOCK, numba.float64)
        i, t = cuda.grid(1), cuda.threadIdx.x
        cache[t] = a[i] if i < size else 0
        cuda.syncthreads()
        stride = 1
        while stride < BLOCK:
            if t % (2 * stride) == 0:
                cache[t] += cache[t + stride]
            cuda.syncthreads()
            stride *= 2
        if t == 0:
            out[cuda.blockIdx.x] = cache[0]

    return sum_blocks


def make_matmul(cuda):
    def matmul(out, a, b, size):
        a_tile = cuda.shared.array((BLOCK, BLOCK), numba.float64)
        b_tile = cuda.shared.array((BLOCK, BLOCK), numba.float64)
        row, column = cuda.grid(2)
        r, c = cuda.threadIdx.x, cuda.threadIdx.y
        total = 0.0
        for first in range(0, size, BLOCK):
            a_tile[r, c] = a[row, first + c] if row < size and first + c < size else 0
            b_tile[r, c] = b[first + r, column] if first + r < size and column < size else 0
            cuda.syncthreads()
            for k in range(BLOCK):
                total += a_tile[r, k] * b_tile[k, c]
            cuda.syncthreads()
        if row < size and column < size:
            out[row, column] = total

    return matmul


def pooled(a):
    return np.array([a[max(0, i - 2) : i + 1].sum() for i in range(a.size)])


def convolved(a, b):
    padded = np.concatenate([a, np.zeros(b.size)])
    return np.array([padded[i : i + b.size] @ b for i in range(a.size)])


line, square = np.arange(8.0), np.arange(144.0).reshape(12, 12)
PUZZLES = (
    Puzzle("map", make_map, lambda a: a + 10, (line[:4],), (4,), (4, 1)),
    Puzzle("zip", make_zip, np.add, (line[:4], line[4:]), (4,), (4, 1)),
    Puzzle("guard", make_guard, lambda a: a + 10, (line[:4],), (4,), (8, 1), (1, 1), (4,)),
    Puzzle("broadcast", make_broadcast, np.add, (line[:5, None], line[None, :5]), (5, 5),
           (3, 3), (2, 2), (5,)),
    Puzzle("pooling", make_pooling, pooled, (line,), (8,), (8, 1), (1, 1), (8,)),
    Puzzle("dot product", make_dot, np.dot, (line, line), (1,), (8, 1), (1, 1), (8,)),
    Puzzle("convolution", make_convolution, convolved, (np.arange(15.0), line[:4]), (15,),
           (8, 1), (2, 1), (15, 4)),
    Puzzle("prefix sum", make_prefix_sum, lambda a: a.reshape(2, 8).sum(axis=1),
           (np.arange(16.0),), (2,), (8, 1), (2, 1), (16,)),
    Puzzle("matmul", make_matmul, np.matmul, (square, square.T.copy()), (12, 12),
           (8, 8), (2, 2), (12,)),
)  # fmt: skip

if __name__ == "__main__":
    for puzzle in PUZZLES:
        puzzle.check()
