"""The stores of `strided`: alpha·sums + beta·c, one row of each thread's sums per device function.

A row's number is a constant of its function. A loop over rows is too long for the compiler to
unroll, and an index that is no constant keeps all sums in local memory: 512 bytes per thread were
written there and read again before the first store.
"""

from collections.abc import Callable, Sequence

from numba import cuda, float32, uint32

from utils.intrinsics.wide_memory import load4, store4


def in_turn(functions: Sequence[Callable]) -> Callable:
    """Return a device function that calls device functions of seven arguments, one after the other.

    There must be at least one function.
    """
    if len(functions) == 1:
        return functions[0]
    first, rest = functions[0], in_turn(functions[1:])

    @cuda.jit(device=True, forceinline=True)
    def both(sums, c, corner, shape, row_c, factors, exchange):
        first(sums, c, corner, shape, row_c, factors, exchange)
        rest(sums, c, corner, shape, row_c, factors, exchange)

    return both


def wide_row(i: int, TN: int, APART_Y: int, APART_X: int) -> Callable:
    """Return a device function that stores the i-th row of a thread's sums, four at a time.

    A thread has TN sums in a row. Its rows are adjacent in groups of four, APART_Y apart, and its
    columns in groups of four, APART_X apart. The arguments are (sums, c, corner, shape, row_c,
    factors, exchange): `corner` is (row, col) of the thread's first element in c, `shape` is
    (m, n), `row_c` the stride of c's rows in elements, and `factors` is (alpha, beta). c is not
    read if beta = 0. `exchange` is not used.
    """

    @cuda.jit(device=True, forceinline=True)
    def store_row(sums, c, corner, shape, row_c, factors, exchange):
        alpha, beta = factors
        row = uint32(corner[0] + uint32(i // 4 * APART_Y + i % 4))
        for j in range(0, TN, 4):
            col = uint32(corner[1] + uint32(j // 4 * APART_X))
            if row < shape[0] and col < shape[1]:
                at = uint32(row * row_c + col)
                x0, x1 = alpha * sums[i, j], alpha * sums[i, j + 1]
                x2, x3 = alpha * sums[i, j + 2], alpha * sums[i, j + 3]
                if beta != float32(0):
                    y0, y1, y2, y3 = load4(c, at)
                    x0, x1, x2, x3 = x0 + beta * y0, x1 + beta * y1, x2 + beta * y2, x3 + beta * y3
                store4(c, at, (x0, x1, x2, x3))

    return store_row


def narrow_row(i: int, TN: int, APART_Y: int, APART_X: int) -> Callable:
    """Return a device function that stores the i-th row of a thread's sums, one at a time.

    A warp's sums go through shared memory, so that its lanes store neighbours, and not every fourth
    element. The arguments are those of the function of `wide_row`, except that `corner` is (row,
    col) of the warp's first element in c. `exchange` is shared and has a row of 128 elements per
    warp.
    """

    @cuda.jit(device=True, forceinline=True)
    def store_row(sums, c, corner, shape, row_c, factors, exchange):
        alpha, beta = factors
        warp, lane = uint32(cuda.threadIdx.x // 32), uint32(cuda.threadIdx.x % 32)
        first = uint32(corner[0] + uint32(i // 4 * APART_Y + i % 4))
        for j in range(0, TN, 4):
            col = uint32(corner[1] + uint32(j // 4 * APART_X) + lane)
            four = (
                alpha * sums[i, j],
                alpha * sums[i, j + 1],
                alpha * sums[i, j + 2],
                alpha * sums[i, j + 3],
            )
            store4(exchange, (warp, uint32(lane * 4)), four)
            cuda.syncwarp()
            for down in range(4):
                row = uint32(first + uint32(down * 4))
                if row < shape[0] and col < shape[1]:
                    at = uint32(row * row_c + col)
                    value = exchange[warp, uint32(lane + down * 32)]
                    if beta != float32(0):
                        value += beta * c[at]
                    c[at] = value
            cuda.syncwarp()

    return store_row
