"""Right kernels on texts, genomes and graphs."""

import math

import numpy as np
from numba import cuda, float32, int32, int64, uint8, uint32, uint64

from . import collector

CASES, right = collector()
MATCH, MISMATCH, GAP = 2, -1, -2
BLOCK = 32
BLOCK_PLUS_ONE = BLOCK + 1
INF = 1 << 29
K = 4


def letters(rng, size):
    return rng.choice(np.frombuffer(b"ACGT", np.uint8), size)


def levenshtein(a, b, out):
    d = np.zeros((a.size + 1, b.size + 1), int)
    d[:, 0], d[0] = np.arange(a.size + 1), np.arange(b.size + 1)
    for i in range(a.size):
        for j in range(b.size):
            d[i + 1, j + 1] = min(d[i, j] + (a[i] != b[j]), d[i, j + 1] + 1, d[i + 1, j] + 1)
    return [d[-1, -1]]


@right(lambda rng: (letters(rng, 20), letters(rng, 27), np.zeros(1, np.int32)), levenshtein,
       block=BLOCK)  # fmt: skip
@cuda.jit
def levenshtein_by_antidiagonals(a, b, out):
    prev2 = cuda.shared.array(BLOCK_PLUS_ONE, int32)
    prev = cuda.shared.array(BLOCK_PLUS_ONE, int32)
    cur = cuda.shared.array(BLOCK_PLUS_ONE, int32)
    i = cuda.threadIdx.x
    n, m = a.size, b.size
    prev[i] = 0
    cur[i] = 0
    cuda.syncthreads()
    for diag in range(n + m + 1):
        j = diag - i
        if i <= n and 0 <= j <= m:
            if i == 0:
                cur[i] = j
            elif j == 0:
                cur[i] = i
            else:
                sub = prev2[i - 1] + (0 if a[i - 1] == b[j - 1] else 1)
                cur[i] = min(sub, prev[i - 1] + 1, prev[i] + 1)
        cuda.syncthreads()
        prev2[i] = prev[i]
        prev[i] = cur[i]
        cuda.syncthreads()
    if i == n:
        out[0] = prev[i]


def smith_waterman(a, b, out):
    best = []
    for x, y in zip(a, b):
        h = np.zeros((x.size + 1, y.size + 1), int)
        for i in range(x.size):
            for j in range(y.size):
                s = MATCH if x[i] == y[j] else MISMATCH
                h[i + 1, j + 1] = max(0, h[i, j] + s, h[i, j + 1] + GAP, h[i + 1, j] + GAP)
        best.append(h.max())
    return best


@right(lambda rng: (letters(rng, (4, 16)), letters(rng, (4, 20)), np.zeros(4, np.int32)),
       smith_waterman, grid=4, block=16)  # fmt: skip
@cuda.jit
def smith_waterman_block_per_pair(a, b, score):
    h = cuda.shared.array((17, 21), int32)
    best = cuda.shared.array(1, int32)
    pair = cuda.blockIdx.x
    t = cuda.threadIdx.x
    h[t + 1, 0] = 0
    for j in range(t, 21, 16):
        h[0, j] = 0
    if t == 0:
        best[0] = 0
    cuda.syncthreads()
    for d in range(16 + 20 - 1):
        j = d - t
        if 0 <= j < 20:
            s = MATCH if a[pair, t] == b[pair, j] else MISMATCH
            v = max(0, max(h[t, j] + s, max(h[t, j + 1] + GAP, h[t + 1, j] + GAP)))
            h[t + 1, j + 1] = v
            cuda.atomic.max(best, 0, v)
        cuda.syncthreads()
    if t == 0:
        score[pair] = best[0]


def kmers(seq, counts):
    code = np.searchsorted(np.frombuffer(b"ACGT", np.uint8), seq)
    words = np.lib.stride_tricks.sliding_window_view(code, K) @ 4 ** np.arange(K)[::-1]
    return np.bincount(words, minlength=4**K)


@cuda.jit(device=True)
def encode(base):
    if base == ord("A"):
        return 0
    if base == ord("C"):
        return 1
    if base == ord("G"):
        return 2
    return 3


@right(lambda rng: (letters(rng, 300), np.zeros(4**K, np.int32)), kmers, grid=5)
@cuda.jit
def count_kmers(seq, counts):
    i = cuda.grid(1)
    if i + K <= seq.size:
        word = 0
        for k in range(K):
            word = (word << 2) | encode(seq[i + k])
        cuda.atomic.add(counts, word, 1)


def places(text, pattern, found):
    t, p = text.tobytes(), pattern.tobytes()
    return [t[i : i + len(p)] == p for i in range(len(t))]


@right(lambda rng: (np.frombuffer(b"abracadabra abra abr", np.uint8), np.frombuffer(b"abra", np.uint8),
                    np.zeros(20, np.uint8)), places)  # fmt: skip
@cuda.jit
def naive_pattern_search(text, pattern, found):
    i = cuda.grid(1)
    if i > text.size - pattern.size:
        return
    for j in range(pattern.size):
        if text[i + j] != pattern[j]:
            return
    found[i] = 1


def rolling(text, window, out):
    t = text.tolist()
    return [
        sum(c * 257 ** (window - 1 - k) for k, c in enumerate(t[i : i + window])) % 1000003
        for i in range(len(t) - window + 1)
    ]


@right(lambda rng: (rng.integers(97, 123, 90, np.uint8), 8, np.zeros(83, np.int64)), rolling,
       grid=2)  # fmt: skip
@cuda.jit
def rabin_karp_hashes(text, window, out):
    start = cuda.grid(1)
    if start < out.size:
        value = int64(0)
        for k in range(window):
            value = (value * 257 + text[start + k]) % 1000003
        out[start] = value


def complement(seq, out):
    return np.frombuffer(seq.tobytes().translate(bytes.maketrans(b"ACGT", b"TGCA")), np.uint8)[::-1]


@right(lambda rng: (letters(rng, 75), np.zeros(75, np.uint8)), complement, grid=3, block=32)
@cuda.jit
def reverse_complement(seq, out):
    i = cuda.grid(1)
    n = seq.shape[0]
    if i < n:
        c = seq[n - 1 - i]
        if c == 65:
            r = 84
        elif c == 84:
            r = 65
        elif c == 67:
            r = 71
        else:
            r = 67
        out[i] = r


@right(lambda rng: (letters(rng, (20, 30)), np.zeros(20, np.float32)),
       lambda reads, gc: ((reads == ord("G")) | (reads == ord("C"))).mean(1), grid=20, block=32)  # fmt: skip
@cuda.jit
def gc_content(reads, gc):
    read = cuda.blockIdx.x
    k = cuda.threadIdx.x
    is_gc = 0
    if k < reads.shape[1] and (reads[read, k] == ord("G") or reads[read, k] == ord("C")):
        is_gc = 1
    total = cuda.syncthreads_count(is_gc)
    if k == 0:
        gc[read] = total / reads.shape[1]


def sentence(rng):
    text = np.frombuffer(b"The quick Brown fox, 12 JUMPS over THE lazy dog!", np.uint8).copy()
    return (text,)


@right(sentence, lambda text: np.frombuffer(text.tobytes().upper(), np.uint8))
@cuda.jit
def upper_case(text):
    i = cuda.grid(1)
    if i < text.size and ord("a") <= text[i] <= ord("z"):
        text[i] -= 32


@right(lambda rng: (*sentence(rng), np.zeros(1, np.uint32)),
       lambda text, count: [len(text.tobytes().split())])  # fmt: skip
@cuda.jit
def word_count(text, count):
    i = cuda.grid(1)
    if i < text.size:
        starts = text[i] != 32 and (i == 0 or text[i - 1] == 32)
        if starts:
            cuda.atomic.inc(count, 0, 1000000)


def shifted(text, key, out):
    return [(c - 97 + k - 97) % 26 + 97 for c, k in zip(text, np.resize(key, text.size).astype(int))]


@right(lambda rng: (rng.integers(97, 123, 50, np.uint8), np.frombuffer(b"lemon", np.uint8),
                    np.zeros(50, np.uint8)), shifted)  # fmt: skip
@cuda.jit
def vigenere_cipher(text, key, out):
    i = cuda.grid(1)
    if i < len(text):
        shift = key[i % len(key)] - 97
        out[i] = (text[i] - 97 + shift) % 26 + 97


def palindromes(text, out):
    radii = []
    for i in range(text.size):
        r = 0
        while i - r - 1 >= 0 and i + r + 1 < text.size and text[i - r - 1] == text[i + r + 1]:
            r += 1
        radii.append(r)
    return radii


@right(lambda rng: (rng.integers(0, 2, 60, np.int8), np.zeros(60, np.int32)), palindromes)
@cuda.jit
def palindrome_radius(text, out):
    i = cuda.grid(1)
    if i < text.size:
        r = 1
        while i - r >= 0 and i + r < text.size and text[i - r] == text[i + r]:
            r += 1
        out[i] = r - 1


def viterbi(obs, start, trans, emit, out):
    p = start + emit[:, obs[0]]
    for o in obs[1:]:
        p = (p[:, None] + trans).max(0) + emit[:, o]
    return [p.max()]


def model(rng):
    def logs(*shape):
        p = rng.random(shape)
        return np.log(p / p.sum(-1, keepdims=True))

    return rng.integers(0, 5, 12), logs(8), logs(8, 8), logs(8, 5), np.zeros(1)


@right(model, viterbi, block=8)
@cuda.jit
def viterbi_of_one_sequence(obs, start, trans, emit, out):
    prob = cuda.shared.array((2, 8), "float64")
    s = cuda.threadIdx.x
    prob[0, s] = start[s] + emit[s, obs[0]]
    cuda.syncthreads()
    for t in range(1, obs.size):
        old, new = (t - 1) % 2, t % 2
        best = -math.inf
        for q in range(8):
            best = max(best, prob[old, q] + trans[q, s])
        prob[new, s] = best + emit[s, obs[t]]
        cuda.syncthreads()
    if s == 0:
        best = prob[(obs.size - 1) % 2, 0]
        for q in range(1, 8):
            best = max(best, prob[(obs.size - 1) % 2, q])
        out[0] = best


# --- graphs ------------------------------------------------------------------------------------


def network(rng, nodes=24, edges=70):
    """Return the CSR form of a random graph: row starts, neighbours, weights."""
    source, target = rng.integers(0, nodes, (2, edges))
    source = np.sort(source)
    starts = np.searchsorted(source, np.arange(nodes + 1)).astype(np.int32)
    return starts, target.astype(np.int32), rng.integers(1, 9, edges).astype(np.int32)


def distances_from(start, starts, target, weight):
    want = np.full(starts.size - 1, INF)
    want[start] = 0
    for _ in want:
        for u in range(want.size):
            for e in range(starts[u], starts[u + 1]):
                want[target[e]] = min(want[target[e]], want[u] + weight[e])
    return want


def shortest(starts, target, weight, dist):
    return distances_from(0, starts, target, weight)


def from_node_0(rng):
    dist = np.full(24, INF, np.int32)
    dist[0] = 0
    return *network(rng), dist


@right(from_node_0, shortest, block=32)
@cuda.jit
def bellman_ford_in_one_block(starts, target, weight, dist):
    node = cuda.threadIdx.x
    n = dist.size
    while True:
        mine = INF
        if node < n:
            mine = dist[node]
        cuda.syncthreads()
        improved = 0
        if mine < INF:
            for e in range(starts[node], starts[node + 1]):
                d = mine + weight[e]
                if cuda.atomic.min(dist, target[e], d) > d:
                    improved = 1
        if not cuda.syncthreads_or(improved):
            break


def frontier_step(starts, target, frontier, visited, cost, out):
    reached = {t for u in np.flatnonzero(frontier) for t in target[starts[u] : starts[u + 1]]}
    return [n in reached and not visited[n] for n in range(out.size)]


def some_frontier(rng):
    starts, target, _ = network(rng)
    frontier = np.arange(24) % 7 == 3
    return starts, target, frontier, frontier.copy(), np.zeros(24, np.int32), np.zeros(24, np.bool_)


@right(some_frontier, frontier_step)
@cuda.jit
def bfs_pull_step(starts, target, frontier, visited, cost, updating):
    tid = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if tid >= frontier.size or visited[tid]:
        return
    for u in range(frontier.size):
        if frontier[u]:
            for e in range(starts[u], starts[u + 1]):
                if target[e] == tid:
                    updating[tid] = True
                    cost[tid] = cost[u] + 1


def queued(starts, target, queue, size, level, length, next_queue):
    want = sorted({int(t) for u in queue[:size] for t in target[starts[u] : starts[u + 1]]} - {*queue})
    return want + [999] * (24 - len(want))


def with_queue(rng):
    starts, target, _ = network(rng)
    level = np.full(24, -1, np.int32)
    level[[2, 5, 9]] = 0
    return starts, target, np.array([2, 5, 9], np.int32), 3, level, np.zeros(1, np.int32)


@right(lambda rng: (*with_queue(rng), np.full(24, 999)), queued, block=(8, 3))
@cuda.jit
def bfs_with_a_queue_then_sorted(starts, target, queue, size, level, length, next_queue):
    lane, row = cuda.threadIdx.x, cuda.threadIdx.y
    if row < size:
        u = queue[row]
        for e in range(starts[u] + lane, starts[u + 1], cuda.blockDim.x):
            v = target[e]
            if cuda.atomic.compare_and_swap(level[v:], -1, 1) == -1:
                pos = cuda.atomic.add(length, 0, 1)
                next_queue[pos] = v
    cuda.syncthreads()
    if lane == 0 and row == 0:
        for a in range(1, length[0]):
            key = next_queue[a]
            b = a - 1
            while b >= 0 and next_queue[b] > key:
                next_queue[b + 1] = next_queue[b]
                b -= 1
            next_queue[b + 1] = key


def pulled(starts, source, degree, rank, out):
    share = rank / degree
    return [0.15 / 24 + 0.85 * share[source[a:b]].sum() for a, b in zip(starts[:-1], starts[1:])]


def ranked(rng):
    starts, source, _ = network(rng)
    degree = np.maximum(np.bincount(source, minlength=24), 1)
    return starts, source, degree, rng.random(24), np.zeros(24)


@right(ranked, pulled, grid=24, block=32)
@cuda.jit
def pagerank_warp_per_node(starts, source, degree, rank, out):
    node, lane = cuda.blockIdx.x, cuda.threadIdx.x
    s = 0.0
    for e in range(starts[node] + lane, starts[node + 1], 32):
        u = source[e]
        s += rank[u] / degree[u]
    offset = 16
    while offset >= 1:
        s += cuda.shfl_down_sync(0xFFFFFFFF, s, offset)
        offset >>= 1
    if lane == 0:
        out[node] = 0.15 / rank.size + 0.85 * s


def components(u, v, parent):
    want = np.arange(parent.size)
    for _ in want:
        for a, b in zip(u, v):
            want[a] = want[b] = min(want[a], want[b])
    return want


def pairs(rng):
    u, v = rng.integers(0, 30, (2, 20)).astype(np.int32)
    return u, v, np.arange(30, dtype=np.int32)


@cuda.jit(device=True)
def find(parent, i):
    while cuda.atomic.add(parent, i, 0) != i:
        i = cuda.atomic.add(parent, i, 0)
    return i


@right(pairs, components, block=32)
@cuda.jit
def union_find_by_atomics(u, v, parent):
    e = cuda.grid(1)
    if e < u.size:
        a, b = find(parent, u[e]), find(parent, v[e])
        while a != b:
            hi, lo = max(a, b), min(a, b)
            old = cuda.atomic.min(parent, hi, lo)
            if old == hi:
                break
            a, b = find(parent, old), lo
    cuda.syncthreads()
    root = 0
    if e < parent.size:
        root = find(parent, e)
    cuda.syncthreads()
    if e < parent.size:
        parent[e] = root


def triangles(adjacency, count):
    a = adjacency.astype(int)
    return [np.trace(a @ a @ a) // 6]


def undirected(rng):
    a = np.triu(rng.random((18, 18)) < 0.35, 1)
    return a | a.T, np.zeros(1, np.uint64)


@right(undirected, triangles, grid=(3, 3), block=(8, 8))
@cuda.jit
def count_triangles(adj, count):
    i, j = cuda.grid(2)
    n = adj.shape[0]
    if i < n and i < j < n and adj[i, j]:
        mine = 0
        for k in range(j + 1, n):
            if adj[i, k] and adj[j, k]:
                mine += 1
        if mine:
            cuda.atomic.add(count, 0, uint64(mine))


def floyd(k, out):
    return np.minimum(out, out[:, k, None] + out[None, k])


@right(lambda rng: (4, rng.random((17, 17), np.float32)), floyd, grid=(2, 2), block=(16, 16))
@cuda.jit
def floyd_warshall_step(k, d):
    i, j = cuda.grid(2)
    if i < d.shape[0] and j < d.shape[1] and i != k and j != k:
        through = d[i, k] + d[k, j]
        if d[i, j] > through:
            d[i, j] = through


def coloured(adjacency, order, colors):
    want = np.zeros(18, int)
    for node in np.argsort(order):
        used = {want[m] for m in np.flatnonzero(adjacency[node]) if order[m] < order[node]}
        want[node] = min(set(range(18)) - used)
    return want


@right(lambda rng: (undirected(rng)[0], rng.permutation(18).astype(np.int32),
                    np.full(18, -1, np.int8)), coloured, block=32)  # fmt: skip
@cuda.jit
def greedy_colouring_by_rounds(adj, order, colors):
    v = cuda.threadIdx.x
    for turn in range(adj.shape[0]):
        if v < adj.shape[0] and order[v] == turn:
            used = uint32(0)
            for w in range(adj.shape[0]):
                if adj[v, w] and colors[w] >= 0:
                    used |= uint32(1) << colors[w]
            colors[v] = cuda.ffs(~used) - 1
        cuda.syncthreads()


def random_walk(starts, target, walks, steps):
    want = np.zeros(walks.shape, int)
    for i in range(walks.shape[0]):
        node, state = i % 24, i * 2654435761 % 2**32
        for s in range(walks.shape[1]):
            want[i, s] = node
            state ^= state << 13 & 0xFFFFFFFF
            state ^= state >> 17
            state ^= state << 5 & 0xFFFFFFFF
            degree = int(starts[node + 1] - starts[node])
            if degree:
                node = target[starts[node] + state % degree]
    return want


@right(lambda rng: (*network(rng)[:2], np.zeros((40, 6), np.int32)),
       lambda starts, target, walks: random_walk(starts, target, walks, 6), grid=2, block=32)  # fmt: skip
@cuda.jit
def random_walks_with_xorshift(starts, target, walks):
    i = cuda.grid(1)
    if i < walks.shape[0]:
        node = i % (starts.size - 1)
        state = uint32(i * 2654435761)
        for s in range(walks.shape[1]):
            walks[i, s] = node
            state ^= uint32(state << 13)
            state ^= state >> 17
            state ^= uint32(state << 5)
            deg = starts[node + 1] - starts[node]
            if deg > 0:
                node = target[starts[node] + state % uint32(deg)]
