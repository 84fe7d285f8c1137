"""Right kernels on many kinds of data: complex numbers, bytes, records, sparse arrays, graphs."""

import enum
import math
from itertools import pairwise

import numpy as np
from numba import cuda, float32, float64, int32, uint8, uint32, uint64
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

from . import collector

CASES, right = collector()
PARTICLE = np.dtype([("x", np.float32), ("v", np.float32), ("kind", np.int32)])
POINT = np.dtype([("id", np.int64), ("at", np.float64, (3,))])
TABLE = np.sin(np.linspace(0, 3, 16))


class Kind(enum.IntEnum):
    FREE = 0
    FIXED = 1


def phases(rng):
    return rng.random(40, np.float32) + 1j * rng.random(40, np.float32)


@right(lambda rng: (phases(rng).astype(np.complex64), phases(rng).astype(np.complex64),
                    np.zeros(40, np.complex64)),
       lambda a, b, out: a * np.conj(b) + 1j)  # fmt: skip
@cuda.jit
def complex_products(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] * b[i].conjugate() + 1j


@right(lambda rng: (phases(rng).astype(np.complex128), np.zeros((40, 2))),
       lambda z, out: np.stack([np.abs(z), z.real - z.imag], 1))  # fmt: skip
@cuda.jit
def parts_of_complex_numbers(z, out):
    i = cuda.grid(1)
    if i < z.size:
        out[i, 0] = abs(z[i])
        out[i, 1] = z[i].real - z[i].imag


@right(lambda rng: (rng.random(32), np.zeros(32, np.complex128)), lambda x, out: np.fft.fft(x))
@cuda.jit
def discrete_fourier_transform(x, out):
    k = cuda.grid(1)
    n = x.size
    if k < n:
        acc = 0j
        for t in range(n):
            angle = -2 * math.pi * k * t / n
            acc += x[t] * complex(math.cos(angle), math.sin(angle))
        out[k] = acc


def fnv(words, out):
    hashes = []
    for word in words.tolist():
        value = 2166136261
        for byte in word:
            value = (value ^ byte) * 16777619 % 2**32
        hashes.append(value)
    return hashes


@right(lambda rng: (rng.integers(0, 256, (20, 6), np.uint8), np.zeros(20, np.uint32)), fnv)
@cuda.jit
def hash_of_bytes(words, out):
    i = cuda.grid(1)
    if i < words.shape[0]:
        value = uint32(2166136261)
        for byte in words[i]:
            value = uint32((value ^ byte) * uint32(16777619))
        out[i] = value


def mixed(x, out):
    z = x.copy()
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    return z


@right(lambda rng: (rng.integers(0, 2**63, 30).astype(np.uint64), np.zeros(30, np.uint64)), mixed)
@cuda.jit
def mixes_64_bits(x, out):
    i = cuda.grid(1)
    if i < x.size:
        z = x[i]
        z ^= z >> uint64(30)
        z *= uint64(0xBF58476D1CE4E5B9)
        out[i] = z ^ (z >> uint64(27))


def generated(seeds, out):
    state, want = seeds.astype(np.uint64), []
    for _ in range(4):
        state = (state * 1664525 + 1013904223) % 2**32
        want.append(state / 2**32)
    return np.stack(want, 1)


@right(lambda rng: (rng.integers(0, 2**32, 25).astype(np.uint32), np.zeros((25, 4))), generated)
@cuda.jit
def linear_congruences(seeds, out):
    i = cuda.grid(1)
    if i < seeds.size:
        state = seeds[i]
        for k in range(out.shape[1]):
            state = uint32(state * uint32(1664525) + uint32(1013904223))
            out[i, k] = state / 4294967296.0


@right(lambda rng: (rng.integers(0, 256, 60, np.uint8), rng.integers(0, 256, 60, np.uint8),
                    np.zeros(60, np.uint8)),
       lambda a, b, out: np.minimum(a.astype(int) + b, 255))  # fmt: skip
@cuda.jit
def bytes_that_saturate(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        total = int32(a[i]) + int32(b[i])
        out[i] = 255 if total > 255 else total


@right(lambda rng: (rng.integers(0, 256, 60, np.uint8), 13, np.zeros(60, np.uint8)),
       lambda x, key, out: ((x ^ np.uint8(key)).astype(int) + 100) % 256)  # fmt: skip
@cuda.jit
def bytes_that_wrap_by_a_mask(x, key, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = ((x[i] ^ key) + 100) & 0xFF


@right(lambda rng: (rng.integers(-30000, 30000, 60).astype(np.int16), 1.5, np.zeros(60, np.int16)),
       lambda x, gain, out: np.clip(x * gain, -32768, 32767).astype(np.int16))  # fmt: skip
@cuda.jit
def gain_of_samples(x, gain, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = int(max(-32768.0, min(32767.0, x[i] * gain)))


@right(lambda rng: (rng.random((10, 50)), np.zeros(10)), lambda x, out: x.sum(1))
@cuda.jit
def kahan_sum(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        total = lost = 0.0
        for j in range(x.shape[1]):
            y = x[i, j] - lost
            t = total + y
            lost = (t - total) - y
            total = t
        out[i] = total


def particles(rng):
    p = np.zeros(40, PARTICLE)
    p["x"], p["v"] = rng.random(40), rng.random(40)
    p["kind"] = rng.integers(0, 2, 40)
    return p


def moved(p, dt, out):
    return p["x"] + np.where(p["kind"] == Kind.FREE, p["v"] * np.float32(dt), 0)


@right(lambda rng: (particles(rng), 0.5, np.zeros(40, np.float32)), moved)
@cuda.jit
def moves_particles(p, dt, out):
    i = cuda.grid(1)
    if i < p.size:
        if p[i].kind == Kind.FREE:
            p[i].x += p[i].v * float32(dt)
        out[i] = p[i]["x"]


@right(lambda rng: (particles(rng), np.zeros(2, np.float32)),
       lambda p, out: [p["v"][p["kind"] == k].sum() for k in (0, 1)])  # fmt: skip
@cuda.jit
def sums_a_field_by_kind(p, out):
    i = cuda.grid(1)
    if i < p.size:
        cuda.atomic.add(out, p[i].kind, p[i].v)


def points(rng):
    p = np.zeros(20, POINT)
    p["id"], p["at"] = np.arange(20), rng.random((20, 3))
    return p


@right(lambda rng: (points(rng), np.zeros(20)), lambda p, out: np.linalg.norm(p["at"], axis=1))
@cuda.jit
def records_with_an_array(p, out):
    i = cuda.grid(1)
    if i < p.size:
        at = p[i].at
        out[p[i].id] = math.sqrt(at[0] ** 2 + at[1] ** 2 + at[2] ** 2)


@right(lambda rng: (np.asfortranarray(rng.random((9, 7))), np.zeros((9, 7))),
       lambda x, out: x + 1, block=(9, 7))  # fmt: skip
@cuda.jit
def array_in_fortran_order(x, out):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        out[i, j] = x[i, j] + 1


def forces(p, out):
    d = p[None] - p[:, None]
    r2 = (d**2).sum(-1) + 0.01
    return (d / r2[..., None] ** 1.5).sum(1)


@cuda.jit(device=True)
def pull(a, b, acc):
    dx, dy, dz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    r2 = dx * dx + dy * dy + dz * dz + 0.01
    w = 1.0 / (r2 * math.sqrt(r2))
    return acc[0] + dx * w, acc[1] + dy * w, acc[2] + dz * w


@right(lambda rng: (rng.random((64, 3)), np.zeros((64, 3))), forces, grid=2, block=32)
@cuda.jit
def bodies_by_tiles(p, out):
    tile = cuda.shared.array((32, 3), float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    acc = (0.0, 0.0, 0.0)
    for start in range(0, p.shape[0], 32):
        for k in range(3):
            tile[t, k] = p[start + t, k]
        cuda.syncthreads()
        for j in range(32):
            acc = pull(p[i], tile[j], acc)
        cuda.syncthreads()
    for k in range(3):
        out[i, k] = acc[k]


def sparse(rng):
    dense = np.where(rng.random((12, 15)) < 0.3, rng.random((12, 15)), 0)
    rows, columns = np.nonzero(dense)
    starts = np.searchsorted(rows, np.arange(13)).astype(np.int32)
    return dense, rows.astype(np.int32), columns.astype(np.int32), dense[rows, columns], starts


def csr(rng):
    _, _, columns, values, starts = sparse(rng)
    return starts, columns, values, rng.random(15), np.zeros(12)


def csr_product(starts, columns, values, x, out):
    return [(values[a:b] * x[columns[a:b]]).sum() for a, b in pairwise(starts)]


@right(csr, csr_product)
@cuda.jit
def sparse_rows_times_vector(starts, columns, values, x, y):
    row = cuda.grid(1)
    if row < y.size:
        acc = 0.0
        for k in range(starts[row], starts[row + 1]):
            acc += values[k] * x[columns[k]]
        y[row] = acc


def coo(rng):
    _, rows, columns, values, _ = sparse(rng)
    return rows, columns, values, rng.random(15), np.zeros(12)


@right(coo, lambda r, c, v, x, y: np.bincount(r, v * x[c], minlength=12), grid=2)
@cuda.jit
def sparse_entries_by_atomics(rows, columns, values, x, y):
    k = cuda.grid(1)
    if k < values.size:
        cuda.atomic.add(y, rows[k], values[k] * x[columns[k]])


RING = np.arange(0, 42, 2, dtype=np.int32)
NEIGHBOURS = np.stack([(np.arange(20) - 1) % 20, (np.arange(20) + 1) % 20], 1).ravel()
LEVELS = np.where(np.arange(20) < 3, np.arange(20), -1).astype(np.int32)


def next_level(starts, edges, level, levels, found):
    return [1]


@right(lambda rng: (RING, NEIGHBOURS.astype(np.int32), 2, LEVELS.copy(), np.zeros(1, np.int32)),
       next_level)  # fmt: skip
@cuda.jit
def breadth_first_step(starts, edges, level, levels, found):
    node = cuda.grid(1)
    if node < levels.size and levels[node] == level:
        for k in range(starts[node], starts[node + 1]):
            if cuda.atomic.cas(levels, edges[k], -1, level + 1) == -1:
                found[0] = 1


def ranked(starts, edges, rank, out):
    return np.full(20, 0.15 / 20) + 0.85 * sum(
        np.bincount(edges[k::2], rank / 2, minlength=20) for k in (0, 1)
    )


@right(lambda rng: (RING, NEIGHBOURS, rng.random(20), np.full(20, 0.15 / 20)), ranked)
@cuda.jit
def page_rank_step(starts, edges, rank, out):
    node = cuda.grid(1)
    if node >= rank.size:
        return
    begin, end = starts[node], starts[node + 1]
    for k in range(begin, end):
        cuda.atomic.add(out, edges[k], 0.85 * rank[node] / (end - begin))


@right(lambda rng: (rng.permutation(100)[:40], np.full(64, -1), np.zeros(1, np.int64)),
       lambda keys, table, count: [40])  # fmt: skip
@cuda.jit
def inserts_into_a_hash_table(keys, table, count):
    i = cuda.grid(1)
    if i < keys.size:
        slot = keys[i] * 7 % table.size
        while cuda.atomic.cas(table, slot, -1, keys[i]) != -1:
            slot = (slot + 1) % table.size
        cuda.atomic.add(count, 0, 1)


def edit_distances(words, key, out):
    def distance(a, b):
        row = list(range(len(b) + 1))
        for i, p in enumerate(a, 1):
            row, before = [i], row
            for j, q in enumerate(b, 1):
                row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (p != q)))
        return row[-1]

    return [distance(word, key.tolist()) for word in words.tolist()]


@right(lambda rng: (rng.integers(0, 4, (15, 7), np.uint8), rng.integers(0, 4, 6, np.uint8),
                    np.zeros(15, np.int32)), edit_distances)  # fmt: skip
@cuda.jit
def edit_distance(words, key, out):
    i = cuda.grid(1)
    if i >= words.shape[0]:
        return
    row = cuda.local.array(8, int32)
    for j in range(key.size + 1):
        row[j] = j
    for a in range(words.shape[1]):
        corner = row[0]
        row[0] = a + 1
        for b in range(key.size):
            keep = row[b + 1]
            cost = 0 if words[i, a] == key[b] else 1
            row[b + 1] = min(row[b + 1] + 1, row[b] + 1, corner + cost)
            corner = keep
    out[i] = row[key.size]


@right(lambda rng: (rng.integers(0, 256, (30, 3), np.uint8), np.zeros(30, np.uint32)),
       lambda rgb, out: rgb.astype(int) @ [65536, 256, 1])  # fmt: skip
@cuda.jit
def packs_three_bytes(rgb, out):
    i = cuda.grid(1)
    if i < rgb.shape[0]:
        out[i] = (uint32(rgb[i, 0]) << 16) | (uint32(rgb[i, 1]) << 8) | rgb[i, 2]


def morton(x, y, out):
    def spread(v):
        return sum((v >> k & 1) << 2 * k for k in range(8))

    return spread(x.astype(int)) | spread(y.astype(int)) << 1


@cuda.jit(device=True)
def spread_bits(v):
    v = (v | (v << 4)) & 0x0F0F
    v = (v | (v << 2)) & 0x3333
    return (v | (v << 1)) & 0x5555


@right(lambda rng: (rng.integers(0, 256, 40, np.uint32), rng.integers(0, 256, 40, np.uint32),
                    np.zeros(40, np.uint32)), morton)  # fmt: skip
@cuda.jit
def morton_codes(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = spread_bits(x[i]) | (spread_bits(y[i]) << 1)


@right(lambda rng: (rng.random(40), (1.0, -2.0, 0.5, 3.0), np.zeros(40)),
       lambda x, c, out: np.polyval(c, x))  # fmt: skip
@cuda.jit
def polynomial_by_horner(x, coefficients, out):
    i = cuda.grid(1)
    if i < x.size:
        value = 0.0
        for c in coefficients:
            value = value * x[i] + c
        out[i] = value


@right(lambda rng: (rng.integers(0, 16, 40, np.int8), np.zeros(40)), lambda x, out: TABLE[x])
@cuda.jit
def table_of_the_module(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = TABLE[x[i]]


def prices(spot, strike, years, out):
    d1 = (np.log(spot / strike) + (0.02 + 0.045) * years) / (0.3 * np.sqrt(years))
    normal = np.vectorize(lambda d: 0.5 * math.erfc(-d / math.sqrt(2)))
    return spot * normal(d1) - strike * np.exp(-0.02 * years) * normal(d1 - 0.3 * np.sqrt(years))


@cuda.jit(device=True)
def normal(d):
    return 0.5 * math.erfc(-d / math.sqrt(2.0))


@right(lambda rng: (rng.uniform(5, 30, 40), rng.uniform(1, 100, 40), rng.uniform(0.25, 10, 40),
                    np.zeros(40)), prices)  # fmt: skip
@cuda.jit
def black_scholes(spot, strike, years, out):
    i = cuda.grid(1)
    if i < spot.size:
        s, k, t = spot[i], strike[i], years[i]
        root = math.sqrt(t)
        d1 = (math.log(s / k) + (0.02 + 0.5 * 0.3**2) * t) / (0.3 * root)
        d2 = d1 - 0.3 * root
        out[i] = s * normal(d1) - k * math.exp(-0.02 * t) * normal(d2)


def lattice(x, out):
    values = np.maximum(x[:, None] + np.arange(-8, 9, 2), 0)
    while values.shape[1] > 1:
        values = (values[:, 1:] + values[:, :-1]) / 2
    return values[:, 0]


@right(lambda rng: (rng.uniform(-5, 5, 20), np.zeros(20)), lattice)
@cuda.jit
def option_on_a_lattice(x, out):
    i = cuda.grid(1)
    if i < x.size:
        values = cuda.local.array(9, float64)
        for k in range(9):
            values[k] = max(x[i] + 2 * k - 8, 0.0)
        for level in range(8, 0, -1):
            for k in range(level):
                values[k] = 0.5 * (values[k] + values[k + 1])
        out[i] = values[0]


def hits(starts, directions, out):
    b = (starts * directions).sum(1)
    inside = b * b - (starts**2).sum(1) + 1
    return np.where(inside >= 0, -b - np.sqrt(np.maximum(inside, 0)), -1)


@cuda.jit(device=True)
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@right(lambda rng: (rng.normal(size=(30, 3)) * 0.4 + [0, 0, -3], np.tile([0.0, 0, 1], (30, 1)),
                    np.zeros(30)), hits)  # fmt: skip
@cuda.jit
def rays_and_a_sphere(starts, directions, out):
    i = cuda.grid(1)
    if i < starts.shape[0]:
        o = (starts[i, 0], starts[i, 1], starts[i, 2])
        d = (directions[i, 0], directions[i, 1], directions[i, 2])
        b = dot(o, d)
        inside = b * b - dot(o, o) + 1.0
        out[i] = -1.0 if inside < 0 else -b - math.sqrt(inside)


@right(lambda rng: (create_xoroshiro128p_states(64, seed=1), np.zeros(64)),
       lambda states, out: np.ones(64))  # fmt: skip
@cuda.jit
def random_numbers_are_in_their_interval(states, out):
    i = cuda.grid(1)
    inside = 0
    for _ in range(20):
        u = xoroshiro128p_uniform_float32(states, i)
        if 0 <= u < 1:
            inside += 1
    out[i] = inside / 20


@right(lambda rng: (rng.integers(0, 2**32, 30).astype(np.uint32),
                    rng.integers(0, 2**32, 30).astype(np.uint32), np.zeros(30, np.uint8)),
       lambda a, b, out: [bin(bits).count("1") for bits in (a ^ b).tolist()])  # fmt: skip
@cuda.jit
def hamming_distances(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = uint8(cuda.popc(a[i] ^ b[i]))


def common_lengths(a, b, out):
    lengths = np.zeros((a.size + 1, b.size + 1), int)
    for i in range(a.size):
        for j in range(b.size):
            best = max(lengths[i, j + 1], lengths[i + 1, j])
            lengths[i + 1, j + 1] = lengths[i, j] + 1 if a[i] == b[j] else best
    return [lengths[-1, -1]]


@right(lambda rng: (rng.integers(0, 3, 32, np.int32), rng.integers(0, 3, 32, np.int32),
                    np.zeros(1, np.int32)), common_lengths, block=32)  # fmt: skip
@cuda.jit
def longest_common_subsequence(a, b, out):
    lengths = cuda.shared.array((33, 33), int32)
    t = cuda.threadIdx.x
    lengths[t + 1, 0] = 0
    lengths[0, t + 1] = 0
    if t == 0:
        lengths[0, 0] = 0
    cuda.syncthreads()
    for diagonal in range(63):
        i, j = t, diagonal - t
        if 0 <= j < 32:
            if a[i] == b[j]:
                lengths[i + 1, j + 1] = lengths[i, j] + 1
            else:
                lengths[i + 1, j + 1] = max(lengths[i, j + 1], lengths[i + 1, j])
        cuda.syncthreads()
    if t == 0:
        out[0] = lengths[32, 32]
