"""Right kernels that use what Python offers: loops, tuples, slices, closures, local arrays."""

import math
from collections import namedtuple

import numpy as np
from numba import cuda, float32, float64, int32

from . import collector

CASES, right = collector()
PRIMES = (2, 3, 5, 7, 11, 13)
STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0))
Ray = namedtuple("Ray", ("start", "slope"))


def ints(low, high, size, dtype=np.int64, results=np.int64):
    """Return a maker of (random integers, zeros for as many results)."""
    return lambda rng: (rng.integers(low, high, size).astype(dtype), np.zeros(size, results))


def floats(*shape, results=None):
    """Return a maker of (random float64, zeros of that shape, or of ``results``)."""
    return lambda rng: (rng.random(shape), np.zeros(shape if results is None else results))


def each(function):
    """Return a ``want`` that applies a Python function to each element of the first argument."""
    return lambda x, *_: [function(value) for value in x.tolist()]


def steps_to_one(n):
    steps = 0
    while n != 1:
        n, steps = n // 2 if n % 2 == 0 else 3 * n + 1, steps + 1
    return steps


@right(ints(1, 60, 40), each(steps_to_one))
@cuda.jit
def collatz(x, out):
    i = cuda.grid(1)
    if i < x.size:
        n, steps = x[i], 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        out[i] = steps


def is_prime(n):
    return n > 1 and all(n % p for p in range(2, n))


@right(ints(0, 90, 50, results=np.bool_), each(is_prime))
@cuda.jit
def primes_by_for_else(x, out):
    i = cuda.grid(1)
    if i < x.size:
        n = x[i]
        for p in PRIMES:
            if n != p and n % p == 0:
                break
        else:
            out[i] = n > 1


@right(floats(70), lambda x, out: np.where(x < 0.3, 0, np.where(x < 0.6, 1, 2)), grid=2)
@cuda.jit
def returns_in_three_places(x, out):
    i = cuda.grid(1)
    if i >= x.size:
        return
    if x[i] < 0.3:
        return
    if x[i] < 0.6:
        out[i] = 1
        return
    out[i] = 2


@right(floats(30, 20, results=30), lambda x, out: np.where(x > 0.5, x, 0).sum(1))
@cuda.jit
def skips_by_continue(x, out):
    i = cuda.grid(1)
    if i >= x.shape[0]:
        return
    acc = 0.0
    for j in range(x.shape[1]):
        if x[i, j] <= 0.5:
            continue
        acc += x[i, j]
    out[i] = acc


@right(floats(20), lambda x, out: x * 41)
@cuda.jit
def enumerates_a_tuple(x, out):
    i = cuda.grid(1)
    if i < x.size:
        for k, p in enumerate(PRIMES[:4]):
            out[i] += x[i] * k * p
        out[i] += 7 * x[i] - 0 * i


@right(lambda rng: (rng.random((9, 6)), rng.random((9, 6)), np.zeros(9)),
       lambda a, b, out: (a * b).sum(1))  # fmt: skip
@cuda.jit
def zips_two_rows(a, b, out):
    i = cuda.grid(1)
    if i < len(a):
        for u, v in zip(a[i], b[i]):
            out[i] += u * v


@right(floats(24), lambda x, out: 2 * x + 30 * x + 500 * x)
@cuda.jit
def zips_two_tuples(x, out):
    i = cuda.grid(1)
    if i < x.size:
        for p, q in zip((2, 3, 5), (1, 10, 100)):
            out[i] += p * q * x[i]


@right(floats(6, 11, results=6), lambda x, out: x[:, -1] + 11 * x.ndim + x[-1, 0])
@cuda.jit
def last_extent_and_last_element(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = x[i, -1] + x.shape[-1] * x.ndim + x[-1, 0]


@right(floats(12, 7, results=12), lambda x, out: x.sum(1) / 7 + x[:, :3].max(1))
@cuda.jit
def rows_as_slices(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        row = x[i]
        acc = 0.0
        for value in row:
            acc += value
        out[i] = acc / len(row) + max(row[:3])


def framed(x, out):
    want = np.ones_like(x)
    want[:, 1:-1] = x[:, 1:-1]
    return want


@right(floats(5, 8), framed, block=5)
@cuda.jit
def assigns_to_slices(x, out):
    i = cuda.grid(1)
    out[i, :] = 1
    for j in range(1, x.shape[1] - 1):
        out[i, j] = x[i, j]


@cuda.jit(device=True)
def polar(x, y):
    return math.hypot(x, y), math.atan2(y, x)


@right(lambda rng: (rng.random(30), rng.random(30), np.zeros((30, 2))),
       lambda x, y, out: np.stack([np.hypot(x, y), np.arctan2(y, x)], 1))  # fmt: skip
@cuda.jit
def two_results_of_a_function(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        r, angle = polar(x[i], y[i])
        out[i, 0] = r
        out[i, 1] = angle


def power_kernel(exponent):
    @cuda.jit
    def power_of_a_closure(x, out):
        i = cuda.grid(1)
        if i < x.size:
            value = 1.0
            for _ in range(exponent):
                value *= x[i]
            out[i] = value

    return power_of_a_closure


right(floats(40), lambda x, out: x**5)(power_kernel(5))


@cuda.jit(device=True)
def clamp(value, low=0.25, high=0.75):
    return low if value < low else high if value > high else value


@right(floats(60), lambda x, out: np.clip(x, 0.25, 0.5))
@cuda.jit
def default_arguments(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = clamp(x[i], high=0.5)


@cuda.jit(device=True)
def swap(values, a, b):
    values[a], values[b] = values[b], values[a]


@right(floats(9, 4), lambda x, out: x[:, ::-1], block=9)
@cuda.jit
def function_that_changes_an_array(x, out):
    i = cuda.grid(1)
    mine = cuda.local.array(4, float64)
    for k in range(4):
        mine[k] = x[i, k]
    swap(mine, 0, 3)
    swap(mine, 1, 2)
    for k in range(4):
        out[i, k] = mine[k]


@right(lambda rng: (rng.random((8, 3, 3)) + 3 * np.eye(3), np.zeros((8, 3, 3))),
       lambda a, out: np.linalg.inv(a), block=8)  # fmt: skip
@cuda.jit
def inverts_small_matrices(a, out):
    i = cuda.grid(1)
    m = cuda.local.array((3, 6), float64)
    for r in range(3):
        for c in range(3):
            m[r, c] = a[i, r, c]
            m[r, c + 3] = 1.0 if r == c else 0.0
    for p in range(3):
        pivot = m[p, p]
        for c in range(6):
            m[p, c] /= pivot
        for r in range(3):
            if r != p:
                factor = m[r, p]
                for c in range(6):
                    m[r, c] -= factor * m[p, c]
    for r in range(3):
        for c in range(3):
            out[i, r, c] = m[r, c + 3]


def depths(left, right_, roots, out):
    def depth(node):
        return 0 if node < 0 else 1 + max(depth(left[node]), depth(right_[node]))

    return [depth(root) for root in roots]


LEFT = np.array([1, 3, -1, -1, -1, -1], np.int32)
RIGHT_ = np.array([2, 4, 5, -1, -1, -1], np.int32)


@right(lambda rng: (LEFT, RIGHT_, np.arange(6, dtype=np.int32), np.zeros(6, np.int32)), depths,
       block=6)  # fmt: skip
@cuda.jit
def walks_a_tree_with_a_stack(left, right_, roots, out):
    i = cuda.grid(1)
    nodes = cuda.local.array(16, int32)
    levels = cuda.local.array(16, int32)
    nodes[0], levels[0], top, deepest = roots[i], 1, 1, 0
    while top > 0:
        top -= 1
        node, level = nodes[top], levels[top]
        deepest = max(deepest, level)
        if left[node] >= 0:
            nodes[top], levels[top] = left[node], level + 1
            top += 1
        if right_[node] >= 0:
            nodes[top], levels[top] = right_[node], level + 1
            top += 1
    out[i] = deepest


@right(ints(-5, 25, 40, results=np.int32), lambda x, out: np.select([x < 0, x < 10], [-1, x], 10))
@cuda.jit
def comparisons_in_a_chain(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] if 0 <= x[i] < 10 else (-1 if x[i] < 0 else 10)


@right(floats(50), lambda x, out: (x > 0.2) & ~(x > 0.8) | (x == 0))
@cuda.jit
def and_or_not(x, out):
    i = cuda.grid(1)
    if i < x.size and ((x[i] > 0.2 and not x[i] > 0.8) or x[i] == 0):
        out[i] = True


@right(lambda rng: (np.sort(rng.random(31)), rng.random(40), np.zeros(40, np.int64)),
       lambda x, keys, out: np.searchsorted(x, keys))  # fmt: skip
@cuda.jit
def binary_search(x, keys, out):
    i = cuda.grid(1)
    if i < keys.size:
        low, high = 0, x.size
        while low < high:
            middle = (low + high) // 2
            if x[middle] < keys[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low


@right(ints(0, 1000, 50, np.uint32, np.int32), each(lambda n: bin(n).count("1") + ((n ^ 5) & 7)))
@cuda.jit
def counts_bits_in_a_loop(x, out):
    i = cuda.grid(1)
    if i < x.size:
        n, bits = x[i], 0
        while n:
            bits += n & 1
            n >>= 1
        out[i] = bits + ((x[i] ^ 5) & 7)


@right(ints(-20, 20, 40), lambda x, out: x // 7 * 100 + x % 7 - (-x) // 3)
@cuda.jit
def divides_negative_integers(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] // 7 * 100 + x[i] % 7 - (-x[i]) // 3


@right(floats(33), each(lambda v: math.exp(-v) * math.erf(v) + math.lgamma(v + 1) + math.log1p(v)))
@cuda.jit
def functions_of_math(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        out[i] = math.exp(-v) * math.erf(v) + math.lgamma(v + 1) + math.log1p(v)


@right(lambda rng: (rng.random(20), rng.random(20), rng.random(20), np.zeros(20)),
       lambda a, b, c, out: np.ptp([a, b, c], axis=0))  # fmt: skip
@cuda.jit
def range_of_three(a, b, c, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = max(a[i], b[i], c[i]) - min(a[i], b[i], c[i])


@right(floats(40), each(lambda v: int(v * 10) + round(v * 3) + float(int(v * 4))))
@cuda.jit
def casts_and_rounds(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = int(x[i] * 10) + round(x[i] * 3) + float(int(x[i] * 4))


@right(floats(13, 17), lambda x, out: 2 * x, grid=(2, 2), block=(4, 4))
@cuda.jit
def strides_in_two_dimensions(x, out):
    first_i, first_j = cuda.grid(2)
    step_i, step_j = cuda.gridsize(2)
    for i in range(first_i, x.shape[0], step_i):
        for j in range(first_j, x.shape[1], step_j):
            out[i, j] = x[i, j] * 2


def solved(lower, diagonal, b, out):
    n = b.shape[1]
    matrix = np.diag(np.full(n, diagonal)) + np.diag(np.full(n - 1, lower), 1)
    return np.linalg.solve(matrix, b.T).T


@right(lambda rng: (0.5, 2.0, rng.random((10, 8)), np.zeros((10, 8))), solved, block=10)
@cuda.jit
def runs_backwards(lower, diagonal, b, out):
    i = cuda.grid(1)
    n = b.shape[1]
    out[i, n - 1] = b[i, n - 1] / diagonal
    for k in range(n - 2, -1, -1):
        out[i, k] = (b[i, k] - lower * out[i, k + 1]) / diagonal


@right(lambda rng: ((rng.random(30), rng.random(30), rng.random(30)), np.zeros(30)),
       lambda parts, out: sum(parts))  # fmt: skip
@cuda.jit
def tuple_of_arrays(parts, out):
    i = cuda.grid(1)
    if i < out.size:
        for part in parts:
            out[i] += part[i]


@right(lambda rng: (Ray(1.5, 0.5), np.zeros(20)), lambda ray, out: 1.5 + 0.5 * np.arange(20))
@cuda.jit
def named_tuple(ray, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = ray.start + ray.slope * i


@right(floats(6, 6), lambda x, out: sum(np.roll(x, (-a, -b), (0, 1)) for a, b in STEPS),
       block=(6, 6))  # fmt: skip
@cuda.jit
def steps_of_a_global_tuple(x, out):
    i, j = cuda.grid(2)
    for di, dj in STEPS:
        out[i, j] += x[(i + di) % 6, (j + dj) % 6]


@right(floats(25), lambda x, out: 7 * x)
@cuda.jit
def loop_over_a_list(x, out):
    i = cuda.grid(1)
    if i < x.size:
        for weight in [1, 2, 4]:
            out[i] += weight * x[i]


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@right(ints(0, 40, 40), each(fibonacci))
@cuda.jit
def fibonacci_numbers(x, out):
    i = cuda.grid(1)
    if i < x.size:
        a, b = 0, 1
        for _ in range(x[i]):
            a, b = b, a + b
        out[i] = a


@right(floats(21), lambda x, out: x[::-1] + x[-1])
@cuda.jit
def counts_from_the_end_by_size(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[x.size - 1 - i] + x[-1]


@right(floats(40), lambda x, out: np.sqrt(x) + x**2.5 + x**-1)
@cuda.jit
def powers(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] ** 0.5 + pow(x[i], 2.5) + x[i] ** -1


@right(floats(30), lambda x, out: 4 * x)
@cuda.jit
def walrus(x, out):
    i = cuda.grid(1)
    if i < x.size:
        value = x[i]
        out[i] = (again := value) * 3 + again


@right(floats(30), lambda x, out: np.where(x > 0.5, x * 3 - 1, x / 2))
@cuda.jit
def variable_set_in_both_branches(x, out):
    i = cuda.grid(1)
    if i < x.size:
        if x[i] > 0.5:
            factor, shift = 3.0, 1.0
        else:
            factor, shift = 0.5, 0.0
        out[i] = x[i] * factor - shift


@right(lambda rng: (rng.random(30, np.float32), np.zeros((3, 30), np.float32)),
       lambda x, out: [x, 2 * x, 3 * x], grid=(1, 3), block=(32, 1))  # fmt: skip
@cuda.jit
def block_number_selects_the_work(x, out):
    i, what = cuda.threadIdx.x, cuda.blockIdx.y
    if i < x.size:
        if what == 0:
            out[what, i] = x[i]
        elif what == 1:
            out[what, i] = float32(2) * x[i]
        else:
            out[what, i] = x[i] * 3
