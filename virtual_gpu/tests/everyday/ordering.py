"""Right kernels that sort, scan, select or reduce."""

import math

import numpy as np
from numba import cuda, float32, float64, int32, int64, uint32

from . import collector

CASES, right = collector()
BLOCK_SIZE = 64
LOG_BLOCK = 6
RADIX_BITS = 4
BUCKETS = 1 << RADIX_BITS
FULL_MASK = 0xFFFFFFFF


def numbers(size, dtype=np.int32, high=1000):
    """Return a maker of (random integers, zeros of the same size)."""
    return lambda rng: (rng.integers(0, high, size).astype(dtype), np.zeros(size, dtype))


def ordered(x, *_):
    return np.sort(x)


@right(lambda rng: (rng.random(BLOCK_SIZE, np.float32),), lambda x: np.sort(x)[::-1],
       block=BLOCK_SIZE)  # fmt: skip
@cuda.jit
def bitonic_sort_descending(data):
    shared = cuda.shared.array(BLOCK_SIZE, dtype=float32)
    tid = cuda.threadIdx.x
    shared[tid] = data[tid]
    cuda.syncthreads()
    for stage in range(1, LOG_BLOCK + 1):
        for sub in range(stage - 1, -1, -1):
            j = 1 << sub
            ixj = tid ^ j
            if ixj > tid:
                up = tid & (1 << stage) != 0
                if (shared[tid] > shared[ixj]) == up:
                    shared[tid], shared[ixj] = shared[ixj], shared[tid]
            cuda.syncthreads()
    data[tid] = shared[tid]


@right(lambda rng: (rng.permutation(64).astype(np.int64),), ordered, grid=1, block=32)
@cuda.jit
def odd_even_transposition(arr):
    i = cuda.threadIdx.x
    n = arr.size
    for phase in range(n):
        left = 2 * i + phase % 2
        if left + 1 < n and arr[left] > arr[left + 1]:
            tmp = arr[left]
            arr[left] = arr[left + 1]
            arr[left + 1] = tmp
        cuda.syncthreads()


def digits(keys, shift, counts):
    blocks = (keys >> shift & BUCKETS - 1).reshape(-1, BLOCK_SIZE)
    return np.stack([np.bincount(b, minlength=BUCKETS) for b in blocks], 1)


@right(lambda rng: (rng.integers(0, 2**31, 192).astype(np.uint32), 8,
                    np.zeros((BUCKETS, 3), np.int32)), digits, grid=3,
       block=BLOCK_SIZE)  # fmt: skip
@cuda.jit
def radix_histogram(keys, shift, counts):
    local_hist = cuda.shared.array(BUCKETS, int32)
    tx = cuda.threadIdx.x
    if tx < BUCKETS:
        local_hist[tx] = 0
    cuda.syncthreads()
    gid = cuda.grid(1)
    if gid < keys.size:
        cuda.atomic.add(local_hist, (keys[gid] >> shift) & (BUCKETS - 1), 1)
    cuda.syncthreads()
    if tx < BUCKETS:
        counts[tx, cuda.blockIdx.x] = local_hist[tx]


@right(numbers(BLOCK_SIZE, np.uint32, 2**16), ordered, block=BLOCK_SIZE)
@cuda.jit
def radix_sort_by_split(keys, out):
    vals = cuda.shared.array(BLOCK_SIZE, uint32)
    scan = cuda.shared.array(BLOCK_SIZE, int32)
    t = cuda.threadIdx.x
    vals[t] = keys[t]
    cuda.syncthreads()
    for bit in range(16):
        v = vals[t]
        zero = 1 - ((v >> bit) & 1)
        scan[t] = zero
        cuda.syncthreads()
        d = 1
        while d < BLOCK_SIZE:
            add = scan[t - d] if t >= d else 0
            cuda.syncthreads()
            scan[t] += add
            cuda.syncthreads()
            d <<= 1
        total = scan[BLOCK_SIZE - 1]
        dest = scan[t] - 1 if zero else total + t - scan[t]
        vals[dest] = v
        cuda.syncthreads()
    out[t] = vals[t]


@right(numbers(100, np.uint8, 50), ordered, block=64)
@cuda.jit
def counting_sort(x, out):
    counts = cuda.shared.array(64, int32)
    starts = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    counts[t] = 0
    cuda.syncthreads()
    for i in range(t, x.size, 64):
        cuda.atomic.add(counts, x[i], 1)
    cuda.syncthreads()
    if t == 0:
        total = 0
        for k in range(64):
            starts[k] = total
            total += counts[k]
    cuda.syncthreads()
    for p in range(starts[t], starts[t] + counts[t]):
        out[p] = t


@right(lambda rng: (np.sort(rng.integers(0, 99, 70)), np.sort(rng.integers(0, 99, 45)),
                    np.zeros(115, int)),
       lambda a, b, out: np.sort(np.concatenate([a, b])), grid=4, block=8)  # fmt: skip
@cuda.jit
def merge_path(a, b, out):
    items = 4
    diag = min(cuda.grid(1) * items, a.size + b.size)
    lo = max(0, diag - b.size)
    hi = min(diag, a.size)
    while lo < hi:
        mid = (lo + hi) // 2
        if a[mid] <= b[diag - 1 - mid]:
            lo = mid + 1
        else:
            hi = mid
    i, j = lo, diag - lo
    for k in range(diag, min(diag + items, out.size)):
        if j >= b.size or (i < a.size and a[i] <= b[j]):
            out[k] = a[i]
            i += 1
        else:
            out[k] = b[j]
            j += 1


@right(numbers(80), ordered, grid=2)
@cuda.jit
def rank_sort(x, out):
    i = cuda.grid(1)
    if i < x.size:
        rank = 0
        me = x[i]
        for j in range(x.size):
            if x[j] < me or (x[j] == me and j < i):
                rank += 1
        out[rank] = me


@right(lambda rng: (rng.random((6, 20)), np.zeros((6, 20))), lambda x, out: np.sort(x, 1), block=6)
@cuda.jit
def heap_sort_of_rows(x, out):
    r = cuda.threadIdx.x
    n = x.shape[1]
    h = out[r]
    for i in range(n):
        h[i] = x[r, i]
        c = i
        while c > 0 and h[(c - 1) // 2] < h[c]:
            h[c], h[(c - 1) // 2] = h[(c - 1) // 2], h[c]
            c = (c - 1) // 2
    for end in range(n - 1, 0, -1):
        h[0], h[end] = h[end], h[0]
        p = 0
        while 2 * p + 1 < end:
            c = 2 * p + 1
            if c + 1 < end and h[c + 1] > h[c]:
                c += 1
            if h[p] >= h[c]:
                break
            h[p], h[c] = h[c], h[p]
            p = c


def quick(x, out):
    return np.sort(x, 1)


@right(lambda rng: (rng.integers(0, 50, (10, 16)), np.zeros((10, 16), np.int64)), quick, block=32)
@cuda.jit
def quicksort_with_an_explicit_stack(x, out):
    row = cuda.threadIdx.x
    if row >= x.shape[0]:
        return
    stack = cuda.local.array((32, 2), int32)
    for k in range(x.shape[1]):
        out[row, k] = x[row, k]
    top = 0
    stack[0, 0], stack[0, 1] = 0, x.shape[1] - 1
    while top >= 0:
        low, high = stack[top, 0], stack[top, 1]
        top -= 1
        if low >= high:
            continue
        pivot = out[row, high]
        i = low
        for j in range(low, high):
            if out[row, j] < pivot:
                out[row, i], out[row, j] = out[row, j], out[row, i]
                i += 1
        out[row, i], out[row, high] = out[row, high], out[row, i]
        top += 1
        stack[top, 0], stack[top, 1] = low, i - 1
        top += 1
        stack[top, 0], stack[top, 1] = i + 1, high


@right(lambda rng: (rng.random(BLOCK_SIZE), np.zeros(BLOCK_SIZE)), lambda x, out: x.cumsum(),
       block=BLOCK_SIZE)  # fmt: skip
@cuda.jit
def hillis_steele_double_buffer(x, out):
    temp = cuda.shared.array((2, BLOCK_SIZE), float64)
    tid = cuda.threadIdx.x
    pout, pin = 0, 1
    temp[pout, tid] = x[tid]
    cuda.syncthreads()
    offset = 1
    while offset < BLOCK_SIZE:
        pout = 1 - pout
        pin = 1 - pout
        if tid >= offset:
            temp[pout, tid] = temp[pin, tid] + temp[pin, tid - offset]
        else:
            temp[pout, tid] = temp[pin, tid]
        cuda.syncthreads()
        offset *= 2
    out[tid] = temp[pout, tid]


def exclusive(x, out):
    return np.concatenate([[0], x.cumsum()[:-1]])


@right(
    numbers(2 * BLOCK_SIZE, high=100), exclusive, block=BLOCK_SIZE, shared_bytes=2 * BLOCK_SIZE * 4
)
@cuda.jit
def blelloch_scan(x, out):
    temp = cuda.shared.array(0, dtype=int32)
    thid = cuda.threadIdx.x
    n = 2 * cuda.blockDim.x
    offset = 1
    temp[2 * thid] = x[2 * thid]
    temp[2 * thid + 1] = x[2 * thid + 1]
    d = n >> 1
    while d > 0:
        cuda.syncthreads()
        if thid < d:
            ai = offset * (2 * thid + 1) - 1
            bi = offset * (2 * thid + 2) - 1
            temp[bi] += temp[ai]
        offset <<= 1
        d >>= 1
    if thid == 0:
        temp[n - 1] = 0
    d = 1
    while d < n:
        offset >>= 1
        cuda.syncthreads()
        if thid < d:
            ai = offset * (2 * thid + 1) - 1
            bi = offset * (2 * thid + 2) - 1
            t = temp[ai]
            temp[ai] = temp[bi]
            temp[bi] += t
        d <<= 1
    cuda.syncthreads()
    out[2 * thid] = temp[2 * thid]
    out[2 * thid + 1] = temp[2 * thid + 1]


def segments(x, heads, out):
    total, want = 0, []
    for value, head in zip(x, heads):
        total = value if head else total + value
        want.append(total)
    return want


@right(lambda rng: (rng.random(BLOCK_SIZE), rng.random(BLOCK_SIZE) < 0.2, np.zeros(BLOCK_SIZE)),
       segments, block=BLOCK_SIZE)  # fmt: skip
@cuda.jit
def segmented_scan(x, heads, out):
    v = cuda.shared.array(BLOCK_SIZE, float64)
    f = cuda.shared.array(BLOCK_SIZE, int32)
    t = cuda.threadIdx.x
    v[t] = x[t]
    f[t] = heads[t]
    cuda.syncthreads()
    step = 1
    while step < BLOCK_SIZE:
        nv, nf = v[t], f[t]
        if t >= step:
            if not nf:
                nv += v[t - step]
            nf |= f[t - step]
        cuda.syncthreads()
        v[t] = nv
        f[t] = nf
        cuda.syncthreads()
        step *= 2
    out[t] = v[t]


@right(lambda rng: (rng.integers(0, 9, 128), np.zeros(128, np.int64)), lambda x, out: x.cumsum(),
       block=128)  # fmt: skip
@cuda.jit
def scan_by_shuffles_and_warp_totals(x, out):
    totals = cuda.shared.array(4, int64)
    t = cuda.threadIdx.x
    lane = t & 31
    wid = t >> 5
    v = x[t]
    for s in range(5):
        up = cuda.shfl_up_sync(FULL_MASK, v, 1 << s)
        if lane >= 1 << s:
            v += up
    if lane == 31:
        totals[wid] = v
    cuda.syncthreads()
    for w in range(wid):
        v += totals[w]
    out[t] = v


def runs(x, count, out):
    starts = np.flatnonzero(np.concatenate([[True], x[1:] != x[:-1]]))
    return np.concatenate([x[starts], np.full(x.size - starts.size, -1)])


@right(lambda rng: (np.sort(rng.integers(0, 12, 32)).astype(np.int32), np.zeros(1, np.int32),
                    np.full(32, -1, np.int32)), runs, block=32)  # fmt: skip
@cuda.jit
def unique_by_ballot(x, count, out):
    lane = cuda.laneid
    new = lane == 0 or x[lane] != x[lane - 1]
    mask = cuda.ballot_sync(FULL_MASK, new)
    before = cuda.popc(mask & ((1 << lane) - 1))
    if new:
        out[before] = x[lane]
    if lane == 0:
        count[0] = cuda.popc(mask)


def kept(x, limit, out):
    return np.concatenate([x[x > limit], np.zeros((x <= limit).sum())])


@right(lambda rng: (rng.random(BLOCK_SIZE), 0.4, np.zeros(BLOCK_SIZE)), kept, block=BLOCK_SIZE)
@cuda.jit
def stream_compaction(x, limit, out):
    pos = cuda.shared.array(BLOCK_SIZE, int32)
    t = cuda.threadIdx.x
    flag = 1 if x[t] > limit else 0
    pos[t] = flag
    cuda.syncthreads()
    for s in range(LOG_BLOCK):
        h = 1 << s
        n = pos[t - h] if t >= h else 0
        cuda.syncthreads()
        pos[t] += n
        cuda.syncthreads()
    if flag:
        out[pos[t] - 1] = x[t]


@right(lambda rng: (rng.normal(size=(8, 40)), np.zeros((8, 3))),
       lambda x, out: np.sort(x, 1)[:, :-4:-1], grid=8, block=32)  # fmt: skip
@cuda.jit
def top_3_of_rows(x, out):
    vals = cuda.shared.array(40, float64)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    for c in range(t, 40, cuda.blockDim.x):
        vals[c] = x[row, c]
    cuda.syncthreads()
    if t == 0:
        for k in range(3):
            best = 0
            for c in range(40):
                if vals[c] > vals[best]:
                    best = c
            out[row, k] = vals[best]
            vals[best] = -math.inf


@cuda.jit(device=True)
def larger(a, ia, b, ib):
    if b > a or (b == a and ib < ia):
        return b, ib
    return a, ia


@right(lambda rng: (rng.integers(0, 20, 32), np.zeros(1, np.int64)), lambda x, out: [x.argmax()],
       block=32)  # fmt: skip
@cuda.jit
def argmax_by_shuffles(x, out):
    i = cuda.threadIdx.x
    best, at = x[i], i
    for d in (16, 8, 4, 2, 1):
        other = cuda.shfl_down_sync(FULL_MASK, best, d)
        other_at = cuda.shfl_down_sync(FULL_MASK, at, d)
        best, at = larger(best, at, other, other_at)
    if i == 0:
        out[0] = at


def moments(x, out):
    return [x.mean(), x.var()]


@right(lambda rng: (rng.random(500), np.zeros(2)), moments, block=BLOCK_SIZE)
@cuda.jit
def welford_in_one_block(x, out):
    mean = cuda.shared.array(BLOCK_SIZE, float64)
    m2 = cuda.shared.array(BLOCK_SIZE, float64)
    count = cuda.shared.array(BLOCK_SIZE, int32)
    t = cuda.threadIdx.x
    n, mu, s = 0, 0.0, 0.0
    for i in range(t, len(x), BLOCK_SIZE):
        n += 1
        delta = x[i] - mu
        mu += delta / n
        s += delta * (x[i] - mu)
    mean[t], m2[t], count[t] = mu, s, n
    stride = BLOCK_SIZE // 2
    while stride:
        cuda.syncthreads()
        if t < stride:
            na, nb = count[t], count[t + stride]
            d = mean[t + stride] - mean[t]
            mean[t] += d * nb / (na + nb)
            m2[t] += m2[t + stride] + d * d * na * nb / (na + nb)
            count[t] = na + nb
        stride >>= 1
    if t == 0:
        out[0] = mean[0]
        out[1] = m2[0] / count[0]


@right(lambda rng: (rng.random((50, 33), np.float32), np.zeros(33, np.float32)),
       lambda x, out: x.sum(0), grid=(2, 1), block=(32, 8))  # fmt: skip
@cuda.jit
def column_sums_with_rows_of_threads(x, out):
    part = cuda.shared.array((8, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + tx
    s = float32(0)
    if col < x.shape[1]:
        for row in range(ty, x.shape[0], cuda.blockDim.y):
            s += x[row, col]
    part[ty, tx] = s
    cuda.syncthreads()
    if ty == 0 and col < x.shape[1]:
        for k in range(1, 8):
            s += part[k, tx]
        out[col] = s


@right(lambda rng: (rng.integers(0, 2, 300).astype(np.bool_), np.zeros(3, np.int32)),
       lambda x, out: [x.any(), x.all(), x.sum()], block=320)  # fmt: skip
@cuda.jit
def any_all_and_count(x, out):
    t = cuda.threadIdx.x
    mine = t < x.size and x[t]
    some = cuda.syncthreads_or(int(mine))
    every = cuda.syncthreads_and(int(t >= x.size or mine))
    how_many = cuda.syncthreads_count(int(mine))
    if t == 0:
        out[0] = some != 0
        out[1] = every != 0
        out[2] = how_many


@right(lambda rng: (np.sort(rng.random(50)), rng.random(40), np.zeros(40, np.int32)),
       lambda table, x, out: np.searchsorted(table, x), grid=2, block=32)  # fmt: skip
@cuda.jit
def lower_bounds(table, x, out):
    i = cuda.grid(1)
    if i < x.size:
        first, length = 0, table.size
        while length > 0:
            step = length // 2
            if table[first + step] < x[i]:
                first += step + 1
                length -= step + 1
            else:
                length = step
        out[i] = first


@right(lambda rng: (rng.integers(0, 64, 500).astype(np.int32), np.zeros(64, np.int32)),
       lambda x, out: np.bincount(x, minlength=64), grid=2, block=64)  # fmt: skip
@cuda.jit
def histogram_aggregated_by_match(x, out):
    n = x.size
    for base in range(cuda.blockIdx.x * cuda.blockDim.x, n, cuda.gridsize(1)):
        i = base + cuda.threadIdx.x
        key = x[i] if i < n else -1
        peers = cuda.match_any_sync(FULL_MASK, key)
        leader = cuda.ffs(peers) - 1
        if key >= 0 and cuda.laneid == leader:
            cuda.atomic.add(out, key, cuda.popc(peers))
