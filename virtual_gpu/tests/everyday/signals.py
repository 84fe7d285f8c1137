"""Right kernels on signals: filters, transforms, codes."""

import cmath
import math
from functools import reduce

import numpy as np
from numba import complex128, cuda, float32, float64

from . import collector

CASES, right = collector()
TAPS = np.hanning(9)
TAPS_COUNT = len(TAPS)
TILE_WITH_HISTORY = 64 + TAPS_COUNT - 1
DCT = np.array([[math.sqrt((1 if k == 0 else 2) / 8) * math.cos(math.pi * (2 * n + 1) * k / 16)
                 for n in range(8)] for k in range(8)])  # fmt: skip


@right(lambda rng: (rng.random(64) + 1j * rng.random(64), np.zeros(64, np.complex128)),
       lambda x, out: np.fft.fft(x), block=32)  # fmt: skip
@cuda.jit
def fft_radix_2_in_shared_memory(x, out):
    s = cuda.shared.array(64, complex128)
    tid = cuda.threadIdx.x
    for k in range(tid, 64, 32):
        s[cuda.brev(k) >> 26] = x[k]
    cuda.syncthreads()
    half = 1
    while half < 64:
        pos = tid % half
        top = 2 * (tid - pos) + pos
        w = cmath.exp(-1j * math.pi * pos / half)
        t = w * s[top + half]
        u = s[top]
        s[top] = u + t
        s[top + half] = u - t
        half *= 2
        cuda.syncthreads()
    out[tid] = s[tid]
    out[tid + 32] = s[tid + 32]


@right(lambda rng: (rng.random(150), np.zeros(150)),
       lambda x, out: np.convolve(x, TAPS)[:150], grid=3)  # fmt: skip
@cuda.jit
def fir_filter_with_history_tile(x, y):
    taps = cuda.const.array_like(TAPS)
    tile = cuda.shared.array(TILE_WITH_HISTORY, float64)
    tx = cuda.threadIdx.x
    base = cuda.blockIdx.x * cuda.blockDim.x - (TAPS_COUNT - 1)
    for k in range(tx, TILE_WITH_HISTORY, cuda.blockDim.x):
        src = base + k
        tile[k] = x[src] if 0 <= src < x.size else 0.0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < x.size:
        acc = 0.0
        for k in range(TAPS_COUNT):
            acc += taps[k] * tile[tx + TAPS_COUNT - 1 - k]
        y[i] = acc


def biquad(x, b, a, y):
    out = np.zeros_like(x)
    for n in range(x.shape[1]):
        for k in range(3):
            out[:, n] += b[k] * x[:, n - k] if n >= k else 0
        for k in (1, 2):
            out[:, n] -= a[k] * out[:, n - k] if n >= k else 0
    return out


@right(lambda rng: (rng.random((8, 40)), (0.2, 0.4, 0.2), (1.0, -0.3, 0.1), np.zeros((8, 40))),
       biquad, block=8)  # fmt: skip
@cuda.jit
def biquad_per_channel(x, b, a, y):
    ch = cuda.threadIdx.x
    z1, z2 = 0.0, 0.0
    b0, b1, b2 = b
    for n in range(x.shape[1]):
        inp = x[ch, n]
        o = b0 * inp + z1
        z1 = b1 * inp - a[1] * o + z2
        z2 = b2 * inp - a[2] * o
        y[ch, n] = o


def blocks_8x8(image, out):
    blocks = image.reshape(2, 8, 3, 8).transpose(0, 2, 1, 3)
    return (DCT @ blocks @ DCT.T).transpose(0, 2, 1, 3).reshape(16, 24)


@right(lambda rng: (rng.random((16, 24)), np.zeros((16, 24))), blocks_8x8, grid=(2, 3),
       block=(8, 8))  # fmt: skip
@cuda.jit
def dct_of_8x8_blocks(image, out):
    blk = cuda.shared.array((8, 8), float64)
    tmp = cuda.shared.array((8, 8), float64)
    u, v = cuda.threadIdx.x, cuda.threadIdx.y
    r, c = cuda.grid(2)
    blk[u, v] = image[r, c]
    cuda.syncthreads()
    s = 0.0
    for k in range(8):
        s += DCT[u, k] * blk[k, v]
    tmp[u, v] = s
    cuda.syncthreads()
    s = 0.0
    for k in range(8):
        s += tmp[u, k] * DCT[v, k]
    out[r, c] = s


def haar(x, out):
    root = math.sqrt(2)
    return np.concatenate([(x[::2] + x[1::2]) / root, (x[::2] - x[1::2]) / root])


@right(lambda rng: (rng.random(128), np.zeros(128)), haar)
@cuda.jit
def haar_wavelet_level(signal, coeffs):
    i = cuda.grid(1)
    half = signal.size // 2
    if i < half:
        even, odd = signal[2 * i], signal[2 * i + 1]
        coeffs[i] = (even + odd) / math.sqrt(2)
        coeffs[half + i] = (even - odd) / math.sqrt(2)


def lags(x, out):
    return [(x[: x.size - k] * x[k:]).sum() for k in range(out.size)]


@right(lambda rng: (rng.random(100), np.zeros(8)), lags, grid=8, block=32)
@cuda.jit
def autocorrelation_one_block_per_lag(x, out):
    lag = cuda.blockIdx.x
    acc = 0.0
    for i in range(cuda.threadIdx.x, x.size - lag, cuda.blockDim.x):
        acc += x[i] * x[i + lag]
    cuda.atomic.add(out, lag, acc)


def goertzel(x, bins, out):
    return np.abs(np.fft.fft(x)[bins]) ** 2


@right(lambda rng: (rng.random(32), np.array([1, 3, 5, 9]), np.zeros(4)), goertzel)
@cuda.jit
def goertzel_power(x, bins, out):
    i = cuda.grid(1)
    if i < bins.size:
        w = 2 * math.cos(2 * math.pi * bins[i] / x.size)
        s1 = s2 = 0.0
        for v in x:
            s0 = v + w * s1 - s2
            s2 = s1
            s1 = s0
        out[i] = s1**2 + s2**2 - w * s1 * s2


def crossings(x, frame, out):
    signs = np.signbit(x).reshape(-1, frame)
    return (signs[:, 1:] != signs[:, :-1]).sum(1)


@right(lambda rng: (rng.normal(size=320), 32, np.zeros(10, np.int32)), crossings, grid=10,
       block=32)  # fmt: skip
@cuda.jit
def zero_crossings_per_frame(x, frame, out):
    lane = cuda.laneid
    i = cuda.blockIdx.x * frame + lane
    cur = x[i] < 0
    crossed = lane > 0 and (x[i - 1] < 0) != cur
    mask = cuda.ballot_sync(0xFFFFFFFF, crossed)
    if lane == 0:
        out[cuda.blockIdx.x] = cuda.popc(mask)


def resampled(x, ratio, out):
    where = np.arange(out.size) * ratio
    return np.interp(where, np.arange(x.size), x)


@right(lambda rng: (rng.random(40), 0.37, np.zeros(100)), resampled, grid=2)
@cuda.jit
def resample_linear(x, ratio, out):
    n = cuda.grid(1)
    if n < out.size:
        frac, whole = math.modf(n * ratio)
        k = int(whole)
        if k + 1 < x.size:
            out[n] = (1 - frac) * x[k] + frac * x[k + 1]
        else:
            out[n] = x[-1]


def crc(data, out):
    def step(value, byte):
        value ^= int(byte)
        for _ in range(8):
            value = value >> 1 ^ (0xEDB88320 if value & 1 else 0)
        return value

    return [reduce(step, row, 0xFFFFFFFF) ^ 0xFFFFFFFF for row in data]


@right(lambda rng: (rng.integers(0, 256, (12, 9), np.uint8), np.zeros(12, np.uint32)), crc)
@cuda.jit
def crc32_of_packets(data, out):
    p = cuda.grid(1)
    if p < data.shape[0]:
        crc = 0xFFFFFFFF
        for k in range(data.shape[1]):
            crc ^= data[p, k]
            for _ in range(8):
                crc = (crc >> 1) ^ (0xEDB88320 * (crc & 1))
        out[p] = crc ^ 0xFFFFFFFF


def mu_law(x, out):
    return np.sign(x) * np.log1p(255 * np.abs(x)) / math.log(256)


@right(lambda rng: (rng.uniform(-1, 1, 70).astype(np.float32), np.zeros(70, np.float32)), mu_law,
       grid=2)  # fmt: skip
@cuda.jit
def mu_law_companding(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        out[i] = math.copysign(math.log1p(float32(255) * abs(v)) / math.log(256.0), v)
