"""Three orders of the multiply-adds of an outer product.

Each device function adds a[i]·b[j] to sums[i, j] for all i, j < N. If neighbouring multiply-adds
share an operand and the assembler marks it for reuse, the register file is read less often.
"""

from numba import cuda


def row_by_row(N):
    """Return a device function (a, b, sums): sums[i, j] += a[i]·b[j] for i, j < N, row by row."""

    @cuda.jit(device=True, forceinline=True)
    def add(a, b, sums):
        for i in range(N):
            for j in range(N):
                sums[i, j] = cuda.fma(a[i], b[j], sums[i, j])

    return add


def back_and_forth(N):
    """Return a device function (a, b, sums): sums[i, j] += a[i]·b[j], every second row backwards.

    i and j are less than N. At the end of a row b[j] is reused, and a[i] changes.
    """

    @cuda.jit(device=True, forceinline=True)
    def add(a, b, sums):
        for i in range(N):
            for column in range(N):
                j = column if i % 2 == 0 else N - 1 - column
                sums[i, j] = cuda.fma(a[i], b[j], sums[i, j])

    return add


def spiral(N, first=0):
    """Return a device function (a, b, sums): sums[i, j] += a[i]·b[j] in a spiral, edges first.

    i and j are from `first` to N - 1 - first.
    """
    last = N - 1 - first
    add_inner = spiral(N, first + 1) if first + 1 < last else None

    @cuda.jit(device=True, forceinline=True)
    def add(a, b, sums):
        for j in range(first, last + 1):
            sums[first, j] = cuda.fma(a[first], b[j], sums[first, j])
        for i in range(first + 1, last + 1):
            sums[i, last] = cuda.fma(a[i], b[last], sums[i, last])
        for j in range(last - 1, first - 1, -1):
            sums[last, j] = cuda.fma(a[last], b[j], sums[last, j])
        for i in range(last - 1, first, -1):
            sums[i, first] = cuda.fma(a[i], b[first], sums[i, first])
        if add_inner is not None:
            add_inner(a, b, sums)

    return add


ORDERS = (row_by_row, back_and_forth, spiral)
