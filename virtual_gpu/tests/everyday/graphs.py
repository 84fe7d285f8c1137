"""Right kernels on graphs: searches, shortest paths, ranks, components."""

from itertools import pairwise

import numpy as np
from numba import cuda, uint32, uint64

from . import collector

CASES, right = collector()
INF = 1 << 29


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
    want = sorted(
        {int(t) for u in queue[:size] for t in target[starts[u] : starts[u + 1]]} - {*queue}
    )
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
    return [0.15 / 24 + 0.85 * share[source[a:b]].sum() for a, b in pairwise(starts)]


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


def random_walk(starts, target, walks):
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
       random_walk, grid=2, block=32)  # fmt: skip
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
