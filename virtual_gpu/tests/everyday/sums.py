"""Right kernels that reduce, scan, sort or multiply."""

import math

import numpy as np
from numba import cuda, float32, float64, int32, int64

from . import collector

CASES, right = collector()
N = 128
WARPS = N // 32
ALL = 0xFFFFFFFF


def into(size, count=1, dtype=np.float32):
    """Return a maker of (random numbers, zeros for the results)."""
    return lambda rng: (rng.random(size, np.float32).astype(dtype), np.zeros(count, dtype))


def per_block(x, out):
    return x.reshape(out.size, -1).sum(axis=1)


def total(x, out):
    return x.sum(keepdims=True)


@right(into(2 * N, 2), per_block, grid=2, block=N)
@cuda.jit
def tree_in_shared_memory(x, out):
    partial = cuda.shared.array(N, float32)
    t = cuda.threadIdx.x
    partial[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            partial[t] += partial[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = partial[0]


@right(into(300), total, grid=3, block=N)
@cuda.jit
def shuffle_down_and_add(x, out):
    i = cuda.grid(1)
    value = x[i] if i < x.size else float32(0)
    for distance in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(ALL, value, distance)
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, value)


@right(into(64, 64), lambda x, out: np.repeat(x.reshape(-1, 32).sum(1), 32))
@cuda.jit
def butterfly_gives_all_lanes_the_sum(x, out):
    i = cuda.grid(1)
    value = x[i]
    distance = 16
    while distance:
        value += cuda.shfl_xor_sync(-1, value, distance)
        distance >>= 1
    out[i] = value


@cuda.jit(device=True)
def warp_sum(value):
    offset = 16
    while offset > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    return value


@right(into(3 * N, 3), per_block, grid=3, block=N)
@cuda.jit
def sums_of_warps_then_of_the_block(x, out):
    sums = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    value = warp_sum(x[cuda.grid(1)])
    if lane == 0:
        sums[warp] = value
    cuda.syncthreads()
    if warp == 0:
        value = sums[lane] if lane < WARPS else float32(0)
        value = warp_sum(value)
        if lane == 0:
            out[cuda.blockIdx.x] = value


@right(into(1000, dtype=np.float64), total, grid=2)
@cuda.jit
def each_thread_adds_then_one_atomic(x, out):
    mine = 0.0
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        mine += x[i]
    cuda.atomic.add(out, 0, mine)


@right(into(4 * 64, 4), per_block, grid=4, shared_bytes=64 * 4)
@cuda.jit
def tree_in_dynamic_memory(x, out):
    partial = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    partial[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 1
    while step < cuda.blockDim.x:
        if t % (2 * step) == 0:
            partial[t] += partial[t + step]
        step *= 2
        cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = partial[0]


@right(lambda rng: (rng.integers(-50, 50, 200), np.full(1, -1000)),
       lambda x, out: x.max(keepdims=True), grid=2, block=N)  # fmt: skip
@cuda.jit
def largest_by_atomics(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.max(out, 0, x[i])


@right(lambda rng: (rng.random(N), np.zeros(1, np.int32)),
       lambda x, out: x.argmin(), block=N)  # fmt: skip
@cuda.jit
def position_of_the_smallest(x, out):
    values = cuda.shared.array(N, float64)
    places = cuda.shared.array(N, int32)
    t = cuda.threadIdx.x
    values[t], places[t] = x[t], t
    cuda.syncthreads()
    half = N // 2
    while half > 0:
        if t < half and values[t + half] < values[t]:
            values[t] = values[t + half]
            places[t] = places[t + half]
        cuda.syncthreads()
        half >>= 1
    if t == 0:
        out[0] = places[0]


@right(lambda rng: (rng.random(500), rng.random(500), np.zeros(1)),
       lambda a, b, out: [a @ b], grid=2, block=N)  # fmt: skip
@cuda.jit
def dot_product_with_a_cache(a, b, out):
    cache = cuda.shared.array(N, dtype=float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    s = 0.0
    while i < a.size:
        s += a[i] * b[i]
        i += cuda.blockDim.x * cuda.gridDim.x
    cache[t] = s
    cuda.syncthreads()
    i = cuda.blockDim.x // 2
    while i != 0:
        if t < i:
            cache[t] += cache[t + i]
        cuda.syncthreads()
        i = i // 2
    if t == 0:
        cuda.atomic.add(out, 0, cache[0])


@right(into(N, N, np.float64), lambda x, out: x.cumsum(), block=N)
@cuda.jit
def scan_with_two_buffers(x, out):
    buffers = cuda.shared.array((2, N), float64)
    t = cuda.threadIdx.x
    now = 0
    buffers[now, t] = x[t]
    cuda.syncthreads()
    offset = 1
    while offset < N:
        following = 1 - now
        if t >= offset:
            buffers[following, t] = buffers[now, t] + buffers[now, t - offset]
        else:
            buffers[following, t] = buffers[now, t]
        cuda.syncthreads()
        now = following
        offset *= 2
    out[t] = buffers[now, t]


@right(into(N, N, np.float64), lambda x, out: x.cumsum() - x, block=N // 2)
@cuda.jit
def exclusive_scan_up_and_down(x, out):
    tree = cuda.shared.array(N, float64)
    t = cuda.threadIdx.x
    tree[2 * t], tree[2 * t + 1] = x[2 * t], x[2 * t + 1]
    offset, d = 1, N >> 1
    while d > 0:
        cuda.syncthreads()
        if t < d:
            a, b = offset * (2 * t + 1) - 1, offset * (2 * t + 2) - 1
            tree[b] += tree[a]
        offset *= 2
        d >>= 1
    if t == 0:
        tree[N - 1] = 0
    d = 1
    while d < N:
        offset >>= 1
        cuda.syncthreads()
        if t < d:
            a, b = offset * (2 * t + 1) - 1, offset * (2 * t + 2) - 1
            tree[a], tree[b] = tree[b], tree[b] + tree[a]
        d *= 2
    cuda.syncthreads()
    out[2 * t] = tree[2 * t]
    out[2 * t + 1] = tree[2 * t + 1]


@right(into(96, 96), lambda x, out: x.reshape(-1, 32).cumsum(1).ravel(), block=96)
@cuda.jit
def scan_of_each_warp(x, out):
    i = cuda.grid(1)
    lane = i & 31
    value = x[i]
    for k in range(5):
        below = cuda.shfl_up_sync(ALL, value, 1 << k)
        if lane >= 1 << k:
            value += below
    out[i] = value


@right(lambda rng: (rng.random((5, 100)), np.zeros(5)), lambda x, out: x.sum(1), grid=5)
@cuda.jit
def one_block_per_row(x, out):
    sums = cuda.shared.array(64, float64)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    mine = 0.0
    for j in range(t, x.shape[1], cuda.blockDim.x):
        mine += x[row, j]
    sums[t] = mine
    cuda.syncthreads()
    for k in range(5, -1, -1):
        if t < 2**k:
            sums[t] += sums[t + 2**k]
        cuda.syncthreads()
    if t == 0:
        out[row] = sums[0]


def softmaxed(x, out):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@right(lambda rng: (rng.normal(size=(6, 40)), np.zeros((6, 40))), softmaxed, grid=2, block=4)
@cuda.jit
def softmax_of_rows(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        top = -math.inf
        for j in range(x.shape[1]):
            top = max(top, x[i, j])
        total = 0.0
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j] - top)
            total += out[i, j]
        for j in range(x.shape[1]):
            out[i, j] /= total


def normalised(x, out):
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)


@right(lambda rng: (rng.random((3, 64)), np.zeros((3, 64))), normalised, grid=3)
@cuda.jit
def layer_norm_by_syncthreads(x, out):
    moments = cuda.shared.array(2, float64)
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    if t < 2:
        moments[t] = 0
    cuda.syncthreads()
    value = x[row, t]
    cuda.atomic.add(moments, 0, value)
    cuda.atomic.add(moments, 1, value * value)
    cuda.syncthreads()
    mean = moments[0] / x.shape[1]
    variance = moments[1] / x.shape[1] - mean * mean
    out[row, t] = (value - mean) / math.sqrt(variance + 1e-5)


def product(a, b, out):
    return a @ b


@right(lambda rng: (rng.random((40, 30)), rng.random(30), np.zeros(40)), product)
@cuda.jit
def matrix_times_vector(a, x, y):
    i = cuda.grid(1)
    if i < a.shape[0]:
        acc = 0.0
        for j in range(a.shape[1]):
            acc += a[i, j] * x[j]
        y[i] = acc


@right(lambda rng: (rng.random((7, 50)), rng.random(50), np.zeros(7)), product, grid=4)
@cuda.jit
def one_warp_per_row(a, x, y):
    warp, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    if warp < a.shape[0]:
        acc = 0.0
        for j in range(lane, a.shape[1], 32):
            acc += a[warp, j] * x[j]
        offset = 16
        while offset >= 1:
            acc += cuda.shfl_down_sync(ALL, acc, offset)
            offset = offset // 2
        if lane == 0:
            y[warp] = acc


def matrices(m, k, n, dtype=np.float32):
    """Return a maker of (a, b, zeros for a @ b)."""

    def make(rng):
        a, b = rng.random((m, k)).astype(dtype), rng.random((k, n)).astype(dtype)
        return a, b, np.zeros((m, n), dtype)

    return make


@right(matrices(10, 12, 9), product, grid=(2, 2), block=(8, 8))
@cuda.jit
def matmul_plain(A, B, C):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        tmp = 0.0
        for k in range(A.shape[1]):
            tmp += A[i, k] * B[k, j]
        C[i, j] = tmp


@right(matrices(19, 13, 21), product, grid=(3, 3), block=(8, 8))
@cuda.jit
def matmul_tiled_with_guards(A, B, C):
    sA = cuda.shared.array(shape=(8, 8), dtype=float32)
    sB = cuda.shared.array(shape=(8, 8), dtype=float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tmp = float32(0.0)
    for i in range((A.shape[1] + 7) // 8):
        sA[ty, tx] = 0
        sB[ty, tx] = 0
        if y < A.shape[0] and (tx + i * 8) < A.shape[1]:
            sA[ty, tx] = A[y, tx + i * 8]
        if x < B.shape[1] and (ty + i * 8) < B.shape[0]:
            sB[ty, tx] = B[ty + i * 8, x]
        cuda.syncthreads()
        for j in range(8):
            tmp += sA[ty, j] * sB[j, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = tmp


@right(matrices(16, 5, 16, np.float64), product, block=(8, 8))
@cuda.jit
def matmul_with_a_local_tile(a, b, c):
    acc = cuda.local.array((2, 2), float64)
    for p in range(2):
        for q in range(2):
            acc[p, q] = 0
    i, j = cuda.grid(2)
    for k in range(a.shape[1]):
        for p in range(2):
            for q in range(2):
                acc[p, q] += a[2 * i + p, k] * b[k, 2 * j + q]
    for p in range(2):
        for q in range(2):
            c[2 * i + p, 2 * j + q] = acc[p, q]


@right(lambda rng: (rng.random(64), np.zeros(2, np.int32)),
       lambda x, out: (x > 0.5).reshape(2, 32).sum(1))  # fmt: skip
@cuda.jit
def count_by_ballot(x, out):
    i = cuda.grid(1)
    votes = cuda.ballot_sync(ALL, x[i] > 0.5)
    if i % 32 == 0:
        out[i // 32] = cuda.popc(votes)


@right(lambda rng: (rng.random(128), np.zeros((2, 3), np.int32)),
       lambda x, out: [[(p > 0.9).sum(), (p > 0.99).any(), 1] for p in x.reshape(2, 64)],
       grid=2)  # fmt: skip
@cuda.jit
def barriers_that_count(x, out):
    i, block = cuda.grid(1), cuda.blockIdx.x
    above = cuda.syncthreads_count(int(x[i] > 0.9))
    some = cuda.syncthreads_or(1 if x[i] > 0.99 else 0)
    every = cuda.syncthreads_and(int(x[i] >= 0))
    if cuda.threadIdx.x == 0:
        out[block, 0] = above
        out[block, 1] = 1 if some else 0
        out[block, 2] = 1 if every else 0


@right(lambda rng: (rng.random(100), np.zeros(100), np.zeros(1, np.int32)),
       lambda x, kept, count: (x > 0.7).sum(), grid=2)  # fmt: skip
@cuda.jit
def keep_the_large_ones(x, kept, count):
    i = cuda.grid(1)
    if i < x.size and x[i] > 0.7:
        place = cuda.atomic.add(count, 0, 1)
        kept[place] = x[i]


@right(lambda rng: (rng.random(64),), lambda x: np.sort(x))
@cuda.jit
def bitonic_sort(x):
    values = cuda.shared.array(64, float64)
    t = cuda.threadIdx.x
    values[t] = x[t]
    cuda.syncthreads()
    k = 2
    while k <= 64:
        j = k >> 1
        while j > 0:
            other = t ^ j
            if other > t:
                up = (t & k) == 0
                a, b = values[t], values[other]
                if (a > b) == up:
                    values[t], values[other] = b, a
            cuda.syncthreads()
            j >>= 1
        k <<= 1
    x[t] = values[t]


@right(lambda rng: (rng.integers(0, 99, 33, np.int32),), lambda x: np.sort(x), block=33)
@cuda.jit
def odd_even_sort(x):
    values = cuda.shared.array(64, int32)
    t, n = cuda.threadIdx.x, x.shape[0]
    values[t] = x[t]
    cuda.syncthreads()
    for turn in range(n):
        if t % 2 == turn % 2 and t + 1 < n and values[t] > values[t + 1]:
            values[t], values[t + 1] = values[t + 1], values[t]
        cuda.syncthreads()
    x[t] = values[t]


def distances(a, b, out):
    return np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1))


@right(lambda rng: (rng.random((10, 3)), rng.random((12, 3)), np.zeros((10, 12))), distances,
       grid=(2, 2), block=(8, 8))  # fmt: skip
@cuda.jit
def distances_of_pairs(a, b, out):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < b.shape[0]:
        d = 0.0
        for k in range(a.shape[1]):
            d += (a[i, k] - b[j, k]) ** 2
        out[i, j] = d**0.5


@right(lambda rng: (rng.random((60, 2)), rng.random((4, 2)), np.zeros(60, np.int64)),
       lambda x, centres, out: distances(x, centres, out).argmin(1))  # fmt: skip
@cuda.jit
def nearest_centre(x, centres, out):
    i = cuda.grid(1)
    if i >= len(x):
        return
    best, least = -1, math.inf
    for c in range(len(centres)):
        dx, dy = x[i, 0] - centres[c, 0], x[i, 1] - centres[c, 1]
        d = dx * dx + dy * dy
        if d < least:
            best, least = c, d
    out[i] = best


@right(lambda rng: (rng.random(256), np.zeros(4), np.zeros(1)), lambda x, parts, out: [x.sum()],
       grid=4)  # fmt: skip
@cuda.jit
def grid_barrier_between_two_phases(x, parts, out):
    grid = cuda.cg.this_grid()
    sums = cuda.shared.array(1, float64)
    if cuda.threadIdx.x == 0:
        sums[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(sums, 0, x[cuda.grid(1)])
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        parts[cuda.blockIdx.x] = sums[0]
    grid.sync()
    if cuda.grid(1) == 0:
        acc = 0.0
        for b in range(cuda.gridDim.x):
            acc += parts[b]
        out[0] = acc


@right(lambda rng: (rng.random(256), np.zeros(4), np.zeros(1, np.int32), np.zeros(1)),
       lambda x, parts, done, out: [x.sum()], grid=4)  # fmt: skip
@cuda.jit
def last_block_adds_the_parts(x, parts, done, out):
    sums = cuda.shared.array(64, float64)
    last = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    sums[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    half = 32
    while half > 0:
        if t < half:
            sums[t] += sums[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        parts[cuda.blockIdx.x] = sums[0]
        cuda.threadfence()
        last[0] = cuda.atomic.add(done, 0, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0] and t == 0:
        acc = 0.0
        for b in range(cuda.gridDim.x):
            acc += parts[b]
        out[0] = acc


@right(lambda rng: (rng.integers(0, 9, 50), np.zeros(1, np.int64)),
       lambda x, out: x.sum(keepdims=True))  # fmt: skip
@cuda.jit
def warp_reads_lane_zero(x, out):
    i = cuda.grid(1)
    mine = x[i] if i < x.size else 0
    for k in (1, 2, 4, 8, 16):
        mine += cuda.shfl_xor_sync(ALL, mine, k)
    first = cuda.shfl_sync(ALL, mine, 0)
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, int64(first))
