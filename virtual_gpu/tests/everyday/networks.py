"""Right kernels of machine learning: layers, attention, losses, clustering, trees."""

import math
from collections import namedtuple

import numpy as np
from numba import boolean, cuda, float32, float64, int8, int32, uint32

from . import collector

CASES, right = collector()
EPS = 1e-5
HEAD = 16
THREADS = 32
Adam = namedtuple("Adam", ["lr", "beta1", "beta2", "eps"])
NODE = np.dtype([("feature", np.int32), ("threshold", np.float64), ("left", np.int32),
                 ("right", np.int32), ("value", np.float64)], align=True)  # fmt: skip


def softmax(x, *_):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@right(lambda rng: (rng.normal(size=(5, 50)), np.zeros((5, 50))), softmax, grid=5, block=THREADS)
@cuda.jit
def online_softmax_by_warps(x, out):
    row, lane = cuda.blockIdx.x, cuda.threadIdx.x
    m, d = -math.inf, 0.0
    for c in range(lane, x.shape[1], THREADS):
        new_m = max(m, x[row, c])
        d = d * math.exp(m - new_m) + math.exp(x[row, c] - new_m)
        m = new_m
    for off in (16, 8, 4, 2, 1):
        om = cuda.shfl_xor_sync(0xFFFFFFFF, m, off)
        od = cuda.shfl_xor_sync(0xFFFFFFFF, d, off)
        new_m = max(m, om)
        d = d * math.exp(m - new_m) + od * math.exp(om - new_m)
        m = new_m
    for c in range(lane, x.shape[1], THREADS):
        out[row, c] = math.exp(x[row, c] - m) / d


def normed(x, gamma, beta, out):
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + EPS) * gamma + beta


@right(lambda rng: (rng.random((6, 20)), rng.random(20), rng.random(20), np.zeros((6, 20))),
       normed, block=8)  # fmt: skip
@cuda.jit
def layer_norm_one_thread_per_row(x, gamma, beta, y):
    r = cuda.grid(1)
    if r < x.shape[0]:
        d = x.shape[1]
        mean = 0.0
        for j in range(d):
            mean += x[r, j]
        mean /= d
        var = 0.0
        for j in range(d):
            var += (x[r, j] - mean) ** 2
        inv = 1 / math.sqrt(var / d + EPS)
        for j in range(d):
            y[r, j] = (x[r, j] - mean) * inv * gamma[j] + beta[j]


def attention(q, k, v, causal, out):
    scores = q @ k.T / math.sqrt(HEAD)
    if causal:
        scores = np.where(np.tri(*scores.shape), scores, -np.inf)
    return softmax(scores) @ v


@right(lambda rng: (*rng.normal(size=(3, 20, HEAD)), True, np.zeros((20, HEAD))), attention,
       grid=20, block=THREADS)  # fmt: skip
@cuda.jit
def causal_attention_row(q, k, v, causal, out):
    weights = cuda.shared.array(THREADS, float64)
    qi, t = cuda.blockIdx.x, cuda.threadIdx.x
    n = k.shape[0]
    score = -math.inf
    if t < n and not (causal and t > qi):
        score = 0.0
        for d in range(HEAD):
            score += q[qi, d] * k[t, d]
        score /= math.sqrt(HEAD)
    top = score
    for s in (16, 8, 4, 2, 1):
        top = max(top, cuda.shfl_xor_sync(0xFFFFFFFF, top, s))
    weights[t] = math.exp(score - top)
    cuda.syncthreads()
    total = 0.0
    for j in range(n):
        total += weights[j]
    if t < HEAD:
        acc = 0.0
        for j in range(n):
            acc += weights[j] * v[j, t]
        out[qi, t] = acc / total


def conv2d(x, w, b, stride, pad, out):
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    v = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))[:, :, ::stride, ::stride]
    return np.einsum("nchwij,ocij->nohw", v, w) + b[:, None, None]


@right(lambda rng: (rng.random((2, 3, 9, 9)), rng.random((4, 3, 3, 3)), rng.random(4), 2, 1,
                    np.zeros((2, 4, 5, 5))), conv2d, grid=(1, 1, 8), block=(8, 8, 1))  # fmt: skip
@cuda.jit
def conv2d_nchw(x, w, b, stride, pad, y):
    ow, oh, noc = cuda.grid(3)
    n, oc = noc // w.shape[0], noc % w.shape[0]
    if n >= y.shape[0] or oh >= y.shape[2] or ow >= y.shape[3]:
        return
    acc = b[oc]
    for ic in range(w.shape[1]):
        for kh in range(w.shape[2]):
            ih = oh * stride - pad + kh
            if ih < 0 or ih >= x.shape[2]:
                continue
            for kw in range(w.shape[3]):
                iw = ow * stride - pad + kw
                if 0 <= iw < x.shape[3]:
                    acc += x[n, ic, ih, iw] * w[oc, ic, kh, kw]
    y[n, oc, oh, ow] = acc


def pooled(x, where, out):
    return x[:12, :16].reshape(6, 2, 8, 2).max((1, 3))


@right(lambda rng: (rng.random((13, 17), np.float32), np.zeros((6, 8), np.int32),
                    np.zeros((6, 8), np.float32)), pooled, block=(8, 8))  # fmt: skip
@cuda.jit
def max_pool_with_indices(x, where, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        best = float32(-math.inf)
        arg = -1
        for di in range(2):
            for dj in range(2):
                r, c = 2 * i + di, 2 * j + dj
                if x[r, c] > best:
                    best = x[r, c]
                    arg = r * x.shape[1] + c
        out[i, j] = best
        where[i, j] = arg


@right(lambda rng: (rng.integers(-1, 10, 25), rng.random((10, 12), np.float32),
                    np.ones((25, 12), np.float32)),
       lambda tokens, table, out: np.where(tokens[:, None] >= 0, table[tokens], 0),
       grid=25, block=16)  # fmt: skip
@cuda.jit
def embedding_with_padding(tokens, table, out):
    pos, d = cuda.blockIdx.x, cuda.threadIdx.x
    if d < table.shape[1]:
        tok = tokens[pos]
        out[pos, d] = table[tok, d] if tok != -1 else float32(0)


def scattered(tokens, grad, out):
    want = np.zeros((10, 6))
    np.add.at(want, tokens, grad)
    return want


@right(lambda rng: (rng.integers(0, 10, 40), rng.random((40, 6)), np.zeros((10, 6))), scattered,
       grid=(5, 1), block=(8, 8))  # fmt: skip
@cuda.jit
def embedding_backward(tokens, grad, table_grad):
    i, d = cuda.grid(2)
    if i < tokens.shape[0] and d < grad.shape[1]:
        cuda.atomic.add(table_grad, (tokens[i], d), grad[i, d])


def dropped(x, seed, p, out):
    def mixed(h):
        h = (h ^ h >> 16) * 0x85EBCA6B % 2**32
        h = (h ^ h >> 13) * 0xC2B2AE35 % 2**32
        return h ^ h >> 16

    keep = [mixed(i ^ seed) / 2**32 >= p for i in range(x.size)]
    return np.where(keep, x / (1 - p), 0)


@cuda.jit(device=True)
def murmur(h):
    h = uint32((h ^ (h >> 16)) * uint32(0x85EBCA6B))
    h = uint32((h ^ (h >> 13)) * uint32(0xC2B2AE35))
    return h ^ (h >> 16)


@right(lambda rng: (rng.random(100), 1234, 0.3, np.zeros(100)), dropped, grid=2)
@cuda.jit
def dropout_by_a_hash(x, seed, p, out):
    i = cuda.grid(1)
    if i < x.size:
        u = murmur(uint32(i) ^ uint32(seed)) / 4294967296.0
        out[i] = x[i] / (1.0 - p) if u >= p else 0.0


def entropy(logits, label, grad):
    want = softmax(logits)
    want[np.arange(label.size), label] -= 1
    return want / label.size


@right(lambda rng: (rng.normal(size=(12, 7)), rng.integers(0, 7, 12), np.zeros((12, 7))), entropy)
@cuda.jit
def cross_entropy_gradient(logits, label, grad):
    n = cuda.grid(1)
    batch, classes = logits.shape
    if n < batch:
        top = logits[n, 0]
        for c in range(1, classes):
            top = max(top, logits[n, c])
        total = 0.0
        for c in range(classes):
            grad[n, c] = math.exp(logits[n, c] - top)
            total += grad[n, c]
        for c in range(classes):
            grad[n, c] = (grad[n, c] / total - (1.0 if c == label[n] else 0.0)) / batch


def k_means(points, centres, sums, counts):
    nearest = ((points[:, None] - centres) ** 2).sum(-1).argmin(1)
    return np.bincount(nearest, minlength=4)


@right(lambda rng: (rng.random((90, 2)), rng.random((4, 2)), np.zeros((4, 2)),
                    np.zeros(4, np.int64)), k_means, grid=3, block=32)  # fmt: skip
@cuda.jit
def k_means_assign_and_sum(points, centres, sums, counts):
    i = cuda.grid(1)
    if i >= points.shape[0]:
        return
    best, cluster = 1e30, 0
    for k in range(centres.shape[0]):
        d = (points[i, 0] - centres[k, 0]) ** 2 + (points[i, 1] - centres[k, 1]) ** 2
        if d < best:
            best = d
            cluster = k
    for axis in range(2):
        cuda.atomic.add(sums, (cluster, axis), points[i, axis])
    cuda.atomic.add(counts, cluster, 1)


def time_warp(a, b, out):
    want = []
    for x in a:
        d = np.full((x.size + 1, b.size + 1), np.inf)
        d[0, 0] = 0
        for i in range(x.size):
            for j in range(b.size):
                d[i + 1, j + 1] = abs(x[i] - b[j]) + min(d[i, j], d[i, j + 1], d[i + 1, j])
        want.append(d[-1, -1])
    return want


@right(lambda rng: (rng.random((9, 12)), rng.random(10), np.zeros(9)), time_warp, block=16)
@cuda.jit
def dtw_with_one_row(a, b, out):
    s = cuda.grid(1)
    if s < a.shape[0]:
        row = cuda.local.array(11, float64)
        row[0] = 0.0
        for j in range(1, 11):
            row[j] = math.inf
        for i in range(a.shape[1]):
            diag = row[0]
            row[0] = math.inf
            for j in range(1, 11):
                up = row[j]
                row[j] = abs(a[s, i] - b[j - 1]) + min(diag, min(up, row[j - 1]))
                diag = up
        out[s] = row[10]


def adam(step, grad, m, v, opt, w):
    m, v = 0.9 * m + 0.1 * grad, 0.999 * v + 0.001 * grad**2
    return w - 0.01 * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)


@right(lambda rng: (3, *rng.random((3, 70)), Adam(0.01, 0.9, 0.999, 1e-8), rng.random(70)), adam,
       grid=2)  # fmt: skip
@cuda.jit
def adam_step(step, grad, m, v, opt, w):
    i = cuda.grid(1)
    if i < w.size:
        g = grad[i]
        m[i] = opt.beta1 * m[i] + (1 - opt.beta1) * g
        v[i] = opt.beta2 * v[i] + (1 - opt.beta2) * g * g
        m_hat = m[i] / (1 - opt.beta1**step)
        v_hat = v[i] / (1 - opt.beta2**step)
        w[i] -= opt.lr * m_hat / (math.sqrt(v_hat) + opt.eps)


def gelu(x, w, b, out):
    h = x @ w + b
    return 0.5 * h * (1 + np.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h**3)))


def activated(activation):
    @cuda.jit
    def dense_layer(x, w, b, out):
        i, j = cuda.grid(2)
        if i < out.shape[0] and j < out.shape[1]:
            h = b[j]
            for k in range(x.shape[1]):
                h += x[i, k] * w[k, j]
            out[i, j] = activation(h)

    return dense_layer


@cuda.jit(device=True)
def tanh_gelu(h):
    return 0.5 * h * (1.0 + math.tanh(math.sqrt(2.0 / math.pi) * (h + 0.044715 * h**3)))


right(lambda rng: (rng.random((9, 6)), rng.random((6, 11)), rng.random(11), np.zeros((9, 11))),
      gelu, grid=(2, 2), block=(8, 8))(activated(tanh_gelu))  # fmt: skip


def forest(rng):
    tree = np.zeros(7, NODE)
    for i in range(3):
        tree[i] = (i, 0.5, 2 * i + 1, 2 * i + 2, 0)
    tree["left"][3:] = -1
    tree["value"][3:] = rng.random(4)
    return tree, rng.random((30, 3)), np.zeros(30)


def decide(tree, x, out):
    want = []
    for row in x:
        i = 0
        while tree[i]["left"] != -1:
            i = tree[i]["left" if row[tree[i]["feature"]] < tree[i]["threshold"] else "right"]
        want.append(tree[i]["value"])
    return want


@right(forest, decide)
@cuda.jit
def decision_tree_of_records(tree, x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        at = 0
        while tree[at].left != -1:
            node = tree[at]
            if x[i, node.feature] < node.threshold:
                at = node.left
            else:
                at = node.right
        out[i] = tree[at].value


def suppressed(boxes, out):
    keep = []
    for i, (x1, y1, x2, y2) in enumerate(boxes):
        area, alive = (x2 - x1) * (y2 - y1), True
        for k in range(i):
            if keep[k]:
                u1, v1, u2, v2 = boxes[k]
                inter = max(0, min(x2, u2) - max(x1, u1)) * max(0, min(y2, v2) - max(y1, v1))
                alive &= inter / (area + (u2 - u1) * (v2 - v1) - inter) <= 0.3
        keep.append(alive)
    return keep


def boxes(rng):
    low = rng.random((30, 2))
    return np.concatenate([low, low + 0.2 + 0.2 * rng.random((30, 2))], 1), np.zeros(30, np.bool_)


@cuda.jit(device=True, inline="always")
def iou(a, b):
    w = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    h = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    inter = w * h
    return inter / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inter)


@right(boxes, suppressed, block=THREADS)
@cuda.jit
def non_maximum_suppression(dets, keep):
    alive = cuda.shared.array(shape=THREADS, dtype=boolean)
    t = cuda.threadIdx.x
    alive[t] = t < dets.shape[0]
    cuda.syncthreads()
    for k in range(dets.shape[0] - 1):
        if alive[k] and t > k and alive[t]:
            if iou(dets[k], dets[t]) > 0.3:
                alive[t] = False
        cuda.syncthreads()
    if t < dets.shape[0]:
        keep[t] = alive[t]


def quantised(x, scale, out):
    return np.clip(np.rint(x / scale), -128, 127)


@right(lambda rng: (rng.normal(size=80), 0.02, np.zeros(80, np.int8)), quantised, grid=3, block=32)
@cuda.jit
def quantise_to_int8(x, scale, q):
    i = cuda.grid(1)
    if i < x.size:
        q[i] = int8(max(-128, min(127, round(x[i] / scale))))


def recurrent(x, w, u, h0, out):
    h = h0
    for step in x:
        h = np.tanh(w @ step + u @ h)
    return h


@right(lambda rng: (rng.random((6, 5)), rng.random((HEAD, 5)), 0.2 * rng.random((HEAD, HEAD)),
                    rng.random(HEAD), np.zeros(HEAD)), recurrent, block=HEAD)  # fmt: skip
@cuda.jit
def recurrent_cell_over_time(x, w, u, h0, out):
    h = cuda.shared.array(HEAD, float64)
    t = cuda.threadIdx.x
    h[t] = h0[t]
    cuda.syncthreads()
    for step in range(len(x)):
        s = 0.0
        for k in range(x.shape[1]):
            s += w[t, k] * x[step, k]
        for k in range(HEAD):
            s += u[t, k] * h[k]
        cuda.syncthreads()
        h[t] = math.tanh(s)
        cuda.syncthreads()
    out[t] = h[t]


def turned(x, out):
    pos, half = np.arange(x.shape[0])[:, None], x.shape[1] // 2
    angle = pos / 10000 ** (np.arange(half) / half)
    a, b = x[:, ::2], x[:, 1::2]
    want = np.empty_like(x)
    want[:, ::2] = a * np.cos(angle) - b * np.sin(angle)
    want[:, 1::2] = a * np.sin(angle) + b * np.cos(angle)
    return want


@right(lambda rng: (rng.random((10, 8)), np.zeros((10, 8))), turned, grid=10, block=4)
@cuda.jit
def rotary_embedding(x, out):
    pos, pair = cuda.blockIdx.x, cuda.threadIdx.x
    half = x.shape[1] // 2
    theta = pos * 10000.0 ** (-pair / half)
    c, s = math.cos(theta), math.sin(theta)
    a, b = x[pos, 2 * pair], x[pos, 2 * pair + 1]
    out[pos, 2 * pair] = a * c - b * s
    out[pos, 2 * pair + 1] = a * s + b * c


def batch_norm(x, out):
    return (x - x.mean((0, 2, 3), keepdims=True)) / np.sqrt(x.var((0, 2, 3), keepdims=True) + EPS)


@right(lambda rng: (rng.random((3, 4, 5, 5)), np.zeros((3, 4, 5, 5))), batch_norm, grid=4, block=64)
@cuda.jit
def batch_norm_one_block_per_channel(x, out):
    sums = cuda.shared.array(2, float64)
    c, t = cuda.blockIdx.x, cuda.threadIdx.x
    n, _, h, w = x.shape
    if t < 2:
        sums[t] = 0
    cuda.syncthreads()
    for i in range(t, n * h * w, cuda.blockDim.x):
        v = x[i // (h * w), c, i // w % h, i % w]
        cuda.atomic.add(sums, 0, v)
        cuda.atomic.add(sums, 1, v * v)
    cuda.syncthreads()
    mean = sums[0] / (n * h * w)
    inv = 1 / math.sqrt(sums[1] / (n * h * w) - mean * mean + EPS)
    for i in range(t, n * h * w, cuda.blockDim.x):
        b, yy, xx = i // (h * w), i // w % h, i % w
        out[b, c, yy, xx] = (x[b, c, yy, xx] - mean) * inv


def perceptron(x, y, rate, w):
    want = w.copy()
    for row, label in zip(x, y):
        if label * (row @ want) <= 0:
            want += rate * label * row
    return want


@right(lambda rng: (rng.normal(size=(15, 8)), rng.choice([-1, 1], 15), 0.5, np.zeros(8)),
       perceptron, block=8)  # fmt: skip
@cuda.jit
def perceptron_in_one_block(x, y, rate, w):
    products = cuda.shared.array(8, float64)
    decision = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    for sample in range(x.shape[0]):
        products[t] = x[sample, t] * w[t]
        cuda.syncthreads()
        if t == 0:
            s = 0.0
            for k in range(8):
                s += products[k]
            decision[0] = 1 if y[sample] * s <= 0 else 0
        cuda.syncthreads()
        if decision[0]:
            w[t] += rate * y[sample] * x[sample, t]
        cuda.syncthreads()
