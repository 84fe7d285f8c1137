"""Right kernels on texts and genomes."""

import math

import numpy as np
from numba import cuda, int32, int64

from . import collector

CASES, right = collector()
MATCH, MISMATCH, GAP = 2, -1, -2
BLOCK = 32
BLOCK_PLUS_ONE = BLOCK + 1
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


@right(lambda rng: (np.frombuffer(b"abracadabra abra abr", np.uint8),
                    np.frombuffer(b"abra", np.uint8), np.zeros(20, np.uint8)), places)  # fmt: skip
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
       lambda reads, gc: ((reads == ord("G")) | (reads == ord("C"))).mean(1),
       grid=20, block=32)  # fmt: skip
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
    return [
        (c - 97 + k - 97) % 26 + 97 for c, k in zip(text, np.resize(key, text.size).astype(int))
    ]


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
