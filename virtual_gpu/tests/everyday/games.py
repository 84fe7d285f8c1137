"""Right kernels of games and puzzles: fractals, cellular automata, number play."""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numba import cuda, int8, int32

from . import collector

CASES, right = collector()
MAX_ITER = 40
GRID = (9, 9)
KNIGHT = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))


class Box(NamedTuple):
    """A rectangle of the complex plane."""

    left: float
    top: float
    width: float


def julia(box, c, out):
    want = np.zeros(out.shape, int)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            z = complex(
                box.left + box.width * j / out.shape[1], box.top - box.width * i / out.shape[0]
            )
            n = 0
            while n < MAX_ITER and abs(z) <= 2:
                z, n = z * z + c, n + 1
            want[i, j] = n
    return want


@right(lambda rng: (Box(-1.5, 1.5, 3.0), -0.8 + 0.156j, np.zeros((12, 20), np.uint8)), julia,
       grid=(3, 2), block=(8, 8))  # fmt: skip
@cuda.jit
def julia_set(box, c, image):
    col, row = cuda.grid(2)
    height, width = image.shape
    if col < width and row < height:
        z = complex(box.left + box.width * col / width, box.top - box.width * row / height)
        for n in range(MAX_ITER):
            if z.real * z.real + z.imag * z.imag > 4.0:
                image[row, col] = n
                break
            z = z * z + c
        else:
            image[row, col] = MAX_ITER


def generation(cells):
    around = sum(np.roll(cells, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - cells
    return (around == 3) | ((cells == 1) & (around == 2))


@right(lambda rng: (rng.integers(0, 2, (14, 14), np.int8), np.zeros((14, 14), np.int8)),
       lambda cells, out: generation(generation(cells).astype(np.int8)),
       block=(14, 14))  # fmt: skip
@cuda.jit
def two_generations_of_life(cells, out):
    world = cuda.shared.array((2, 14, 14), int8)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    world[0, x, y] = cells[x, y]
    cuda.syncthreads()
    for gen in range(2):
        src, dst = gen % 2, (gen + 1) % 2
        alive = -world[src, x, y]
        for dx in range(-1, 2):
            for dy in range(-1, 2):
                alive += world[src, (x + dx) % 14, (y + dy) % 14]
        lives = alive == 3 or (alive == 2 and world[src, x, y])
        world[dst, x, y] = 1 if lives else 0
        cuda.syncthreads()
    out[x, y] = world[0, x, y]


def sieve(limit):
    return [n > 1 and all(n % d for d in range(2, n)) for n in range(limit)]


@right(lambda rng: (np.ones(121, np.bool_),), lambda flags: sieve(121), block=64)
@cuda.jit
def sieve_of_eratosthenes(flags):
    t = cuda.threadIdx.x
    n = flags.size
    if t < 2:
        flags[t] = False
    cuda.syncthreads()
    for p in range(2, int(math.sqrt(n)) + 1):
        is_prime = flags[p]
        if is_prime:
            for m in range(p * p + t * p, n, p * cuda.blockDim.x):
                flags[m] = False
        cuda.syncthreads()


def longest_collatz(start, best):
    def length(n):
        return 1 if n == 1 else 1 + length(n // 2 if n % 2 == 0 else 3 * n + 1)

    return [max(length(n) << 32 | n for n in range(start, start + 128))]


@right(lambda rng: (1, np.zeros(1, np.int64)), longest_collatz, grid=2, block=64)
@cuda.jit
def longest_collatz_sequence(start, best):
    n0 = start + cuda.grid(1)
    n = n0
    length = 1
    while n > 1:
        if n & 1:
            n = 3 * n + 1
        else:
            n >>= 1
        length += 1
    cuda.atomic.max(best, 0, (length << 32) | n0)


def queens(n, out):
    def count(row, columns, left, right_):
        if row == n:
            return 1
        free = ~(columns | left | right_) & (1 << n) - 1
        return sum(count(row + 1, columns | 1 << c, (left | 1 << c) << 1, (right_ | 1 << c) >> 1)
                   for c in range(n) if free >> c & 1)  # fmt: skip

    return [count(0, 0, 0, 0)]


@right(lambda rng: (6, np.zeros(1, np.int32)), queens, block=32)
@cuda.jit
def n_queens_with_a_stack(n, solutions):
    first = cuda.threadIdx.x
    if first >= n:
        return
    cols = cuda.local.array(8, int32)
    cols[0] = first
    row = 1
    cols[1] = -1
    found = 0
    while row > 0:
        cols[row] += 1
        if cols[row] == n:
            row -= 1
            continue
        ok = True
        for r in range(row):
            d = cols[row] - cols[r]
            if d == 0 or abs(d) == row - r:
                ok = False
                break
        if ok:
            if row == n - 1:
                found += 1
            else:
                row += 1
                cols[row] = -1
    cuda.atomic.add(solutions, 0, found)


def sudoku_ok(boards, out):
    def good(b):
        parts = [*b, *b.T, *b.reshape(3, 3, 3, 3).swapaxes(1, 2).reshape(9, 9)]
        return all(len(set(p.tolist())) == 9 for p in parts)

    return [good(b) for b in boards]


def sudokus(rng):
    good = np.array([[(3 * i + i // 3 + j) % 9 + 1 for j in range(9)] for i in range(9)], np.int8)
    boards = np.stack([good, good.T, good, good[::-1]])
    boards[2, 4, 4] = boards[2, 4, 5]
    return boards, np.ones(4, np.bool_)


@right(sudokus, sudoku_ok, grid=4, block=27)
@cuda.jit
def sudoku_checker(boards, ok):
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    kind, which = t // 9, t % 9
    seen = 0
    for k in range(9):
        if kind == 0:
            v = boards[b, which, k]
        elif kind == 1:
            v = boards[b, k, which]
        else:
            v = boards[b, which // 3 * 3 + k // 3, which % 3 * 3 + k % 3]
        seen |= 1 << (v - 1)
    if seen != 0b111111111:
        ok[b] = False


def knight_moves(out):
    n = out.shape[0]
    return [[sum(0 <= i + a < n and 0 <= j + b < n for a, b in KNIGHT) for j in range(n)]
            for i in range(n)]  # fmt: skip


@right(lambda rng: (np.zeros(GRID, np.int32),), knight_moves, grid=(3, 3), block=(3, 3))
@cuda.jit
def knight_mobility(out):
    i, j = cuda.grid(2)
    for k in range(len(KNIGHT)):
        di, dj = KNIGHT[k]
        if 0 <= i + di < out.shape[0] and 0 <= j + dj < out.shape[1]:
            out[i, j] += 1


def egyptian(n, out):
    want = np.zeros(out.shape, int)
    for i in range(out.shape[0]):
        rest = Fraction(i + 1, n)
        for k in range(out.shape[1]):
            if rest == 0:
                break
            want[i, k] = math.ceil(1 / rest)
            rest -= Fraction(1, want[i, k].item())
    return want


@right(lambda rng: (11, np.zeros((10, 4), np.int64)), egyptian, block=16)
@cuda.jit
def egyptian_fractions(n, out):
    i = cuda.threadIdx.x
    if i < out.shape[0]:
        num, den = i + 1, n
        k = 0
        while num > 0 and k < out.shape[1]:
            unit = -(-den // num)
            out[i, k] = unit
            num, den = num * unit - den, den * unit
            k += 1
