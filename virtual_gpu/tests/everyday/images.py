"""Right kernels on images and grids: stencils, transposes, histograms, masks."""

import math

import numpy as np
from numba import cuda, float32, int32, uint8

from . import collector

CASES, right = collector()
SMOOTH = np.array([1, 4, 6, 4, 1], np.float32) / 16
T = 8
HALOED = T + 2


def zeros_like(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def image(*shape):
    """Return a maker of (random float32 image, zeros of its shape)."""
    return lambda rng: (rng.random(shape, np.float32), np.zeros(shape, np.float32))


def grey(*shape):
    """Return a maker of (random uint8 image, zeros of its shape)."""
    return lambda rng: (rng.integers(0, 256, shape, np.uint8), np.zeros(shape, np.uint8))


def windows(x, height, width):
    return np.lib.stride_tricks.sliding_window_view(x, (height, width))


@right(lambda rng: (2.0, rng.random(100, np.float32), rng.random(100, np.float32)),
       lambda a, x, y: np.float32(a) * x + y, grid=2)  # fmt: skip
@cuda.jit
def saxpy_in_place(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = float32(a) * x[i] + y[i]


def five_points(x, out):
    want = np.zeros_like(x)
    want[1:-1, 1:-1] = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * x[1:-1, 1:-1]
    return want


@right(image(20, 30), five_points, grid=(4, 3), block=(8, 8))
@cuda.jit
def laplace_inside(x, out):
    j, i = cuda.grid(2)
    if 0 < i < x.shape[0] - 1 and 0 < j < x.shape[1] - 1:
        out[i, j] = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1] - 4 * x[i, j]


def heat(x, out):
    want = x.copy()
    want[1:-1, 1:-1] += np.float32(0.1) * five_points(x, out)[1:-1, 1:-1]
    return want


@right(image(19, 21), heat, grid=(3, 3), block=(8, 8))
@cuda.jit
def heat_step_keeps_the_edge(u, v):
    i, j = cuda.grid(2)
    m, n = u.shape
    if i >= m or j >= n:
        return
    if i == 0 or j == 0 or i == m - 1 or j == n - 1:
        v[i, j] = u[i, j]
    else:
        around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
        v[i, j] = u[i, j] + float32(0.1) * (around - 4 * u[i, j])


def seven_points(x, out):
    padded = np.pad(x, 1)
    return (
        padded[:-2, 1:-1, 1:-1] + padded[2:, 1:-1, 1:-1] + padded[1:-1, :-2, 1:-1]
        + padded[1:-1, 2:, 1:-1] + padded[1:-1, 1:-1, :-2] + padded[1:-1, 1:-1, 2:] - 6 * x
    )  # fmt: skip


@right(image(6, 7, 9), seven_points, grid=(2, 2, 3), block=(4, 4, 4))
@cuda.jit
def seven_points_in_3d(x, out):
    i, j, k = cuda.grid(3)
    if i < x.shape[0] and j < x.shape[1] and k < x.shape[2]:
        acc = -6 * x[i, j, k]
        if i > 0:
            acc += x[i - 1, j, k]
        if i + 1 < x.shape[0]:
            acc += x[i + 1, j, k]
        if j > 0:
            acc += x[i, j - 1, k]
        if j + 1 < x.shape[1]:
            acc += x[i, j + 1, k]
        if k > 0:
            acc += x[i, j, k - 1]
        if k + 1 < x.shape[2]:
            acc += x[i, j, k + 1]
        out[i, j, k] = acc


def box_blur(x, out):
    return windows(np.pad(x, 1, mode="edge"), 3, 3).mean(axis=(2, 3))


@right(image(17, 12), box_blur, grid=(2, 3), block=(8, 8))
@cuda.jit
def box_blur_clamped(x, out):
    c, r = cuda.grid(2)
    rows, cols = x.shape
    if r < rows and c < cols:
        total = float32(0)
        for dr in range(-1, 2):
            for dc in range(-1, 2):
                total += x[min(max(r + dr, 0), rows - 1), min(max(c + dc, 0), cols - 1)]
        out[r, c] = total / 9


@right(image(100), lambda x, out: np.convolve(x, SMOOTH, mode="same"), grid=2)
@cuda.jit
def smooth_with_constant_weights(x, out):
    weights = cuda.const.array_like(SMOOTH)
    i = cuda.grid(1)
    if i < x.size:
        total = float32(0)
        for k in range(-2, 3):
            j = i + k
            if j >= 0 and j < x.size:
                total += weights[k + 2] * x[j]
        out[i] = total


def cross(x, out):
    return windows(np.pad(x, 1), 3, 3).sum(axis=(2, 3))


@right(image(20, 13), cross, grid=(2, 3), block=(T, T))
@cuda.jit
def window_sums_with_halo(x, out):
    tile = cuda.shared.array((HALOED, HALOED), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x0, y0 = cuda.blockIdx.x * T - 1, cuda.blockIdx.y * T - 1
    for r in range(ty, T + 2, T):
        for c in range(tx, T + 2, T):
            if 0 <= y0 + r < x.shape[0] and 0 <= x0 + c < x.shape[1]:
                tile[r, c] = x[y0 + r, x0 + c]
            else:
                tile[r, c] = 0
    cuda.syncthreads()
    if y0 + ty + 1 < x.shape[0] and x0 + tx + 1 < x.shape[1]:
        total = float32(0)
        for r in range(3):
            for c in range(3):
                total += tile[ty + r, tx + c]
        out[y0 + ty + 1, x0 + tx + 1] = total


def flipped(*shape):
    """Return a maker of (random float32 image, zeros of the transposed shape)."""
    return lambda rng: (rng.random(shape, np.float32), np.zeros(shape[::-1], np.float32))


@right(flipped(12, 20), lambda x, out: x.T, grid=(3, 2), block=(8, 8))
@cuda.jit
def transpose_plain(x, out):
    j, i = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        out[j, i] = x[i, j]


@right(flipped(64, 32), lambda x, out: x.T, grid=(1, 2), block=(32, 8))
@cuda.jit
def transpose_with_padding(x, out):
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.blockIdx.x * 32 + tx, cuda.blockIdx.y * 32 + ty
    for k in range(0, 32, 8):
        tile[ty + k, tx] = x[row + k, col]
    cuda.syncthreads()
    col, row = cuda.blockIdx.y * 32 + tx, cuda.blockIdx.x * 32 + ty
    for k in range(0, 32, 8):
        out[row + k, col] = tile[tx, ty + k]


@right(flipped(19, 21), lambda x, out: x.T, grid=(3, 3), block=(8, 8))
@cuda.jit
def transpose_with_guards(x, out):
    tile = cuda.shared.array(shape=(8, 9), dtype=float32)
    i = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < x.shape[0] and j < x.shape[1]:
        tile[cuda.threadIdx.y, cuda.threadIdx.x] = x[i, j]
    cuda.syncthreads()
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.y
    j = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.x
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


def luma(rgb, out):
    r, g, b = (rgb[..., c].astype(np.float32) for c in range(3))
    weighted = np.float32(0.299) * r + np.float32(0.587) * g + np.float32(0.114) * b
    return weighted.astype(np.uint8)


@right(lambda rng: (rng.integers(0, 256, (10, 14, 3), np.uint8), np.zeros((10, 14), np.uint8)),
       luma, grid=(2, 2), block=(8, 8))  # fmt: skip
@cuda.jit
def rgb_to_grey(rgb, out):
    y, x = cuda.grid(2)
    if y < rgb.shape[0] and x < rgb.shape[1]:
        r, g, b = float32(rgb[y, x, 0]), float32(rgb[y, x, 1]), float32(rgb[y, x, 2])
        out[y, x] = uint8(float32(0.299) * r + float32(0.587) * g + float32(0.114) * b)


def sobel_of(x, out):
    gx = x[:-2, 2:] + 2 * x[1:-1, 2:] + x[2:, 2:] - x[:-2, :-2] - 2 * x[1:-1, :-2] - x[2:, :-2]
    gy = x[2:, :-2] + 2 * x[2:, 1:-1] + x[2:, 2:] - x[:-2, :-2] - 2 * x[:-2, 1:-1] - x[:-2, 2:]
    return np.pad(np.hypot(gx, gy), 1)


@right(image(18, 11), sobel_of, grid=(2, 3), block=(8, 8))
@cuda.jit
def sobel(x, out):
    c, r = cuda.grid(2)
    h, w = x.shape
    if r < 1 or c < 1 or r > h - 2 or c > w - 2:
        return
    left = x[r - 1, c - 1] + 2 * x[r, c - 1] + x[r + 1, c - 1]
    right_ = x[r - 1, c + 1] + 2 * x[r, c + 1] + x[r + 1, c + 1]
    top = x[r - 1, c - 1] + 2 * x[r - 1, c] + x[r - 1, c + 1]
    bottom = x[r + 1, c - 1] + 2 * x[r + 1, c] + x[r + 1, c + 1]
    gx, gy = right_ - left, bottom - top
    out[r, c] = math.sqrt(gx * gx + gy * gy)


@right(lambda rng: (rng.random(90, np.float32), rng.random(90) < 0.5, zeros_like(90)),
       lambda x, mask, out: np.where(mask, x, 0), grid=2)  # fmt: skip
@cuda.jit
def only_where_the_mask_is_true(x, mask, out):
    i = cuda.grid(1)
    if i < x.shape[0] and mask[i]:
        out[i] = x[i]


@right(lambda rng: (rng.random(100, np.float32), 0.5, zeros_like(100, dtype=np.bool_)),
       lambda x, limit, out: x > limit, grid=4, block=32)  # fmt: skip
@cuda.jit
def threshold_into_a_mask(x, limit, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = x[i] > limit


@cuda.jit(device=True)
def escape_time(c, most):
    z = 0j
    for n in range(most):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag >= 4:
            return n
    return most


def escapes(x0, x1, y0, y1, most, out):
    h, w = out.shape
    y, x = np.mgrid[:h, :w]
    c = (x0 + x * ((x1 - x0) / w)) + 1j * (y0 + y * ((y1 - y0) / h))
    z, times = np.zeros_like(c), np.full((h, w), most)
    for n in range(most):
        alive = times == most
        z[alive] = z[alive] ** 2 + c[alive]
        times[alive & (z.real**2 + z.imag**2 >= 4)] = n
    return times


@right(lambda rng: (-2.0, 1.0, -1.0, 1.0, 12, zeros_like(12, 18, dtype=np.uint8)), escapes,
       grid=(2, 2), block=(4, 4))  # fmt: skip
@cuda.jit
def mandelbrot(x0, x1, y0, y1, most, out):
    h, w = out.shape
    start_x, start_y = cuda.grid(2)
    step_x = cuda.gridDim.x * cuda.blockDim.x
    step_y = cuda.gridDim.y * cuda.blockDim.y
    for x in range(start_x, w, step_x):
        real = x0 + x * ((x1 - x0) / w)
        for y in range(start_y, h, step_y):
            imag = y0 + y * ((y1 - y0) / h)
            out[y, x] = escape_time(complex(real, imag), most)


def next_life(x, out):
    around = sum(
        np.roll(x, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)
    )
    return (around == 3) | ((x == 1) & (around == 2))


@right(lambda rng: (rng.integers(0, 2, (16, 24), np.int32), zeros_like(16, 24, dtype=np.int32)),
       next_life, grid=(2, 3), block=(8, 8))  # fmt: skip
@cuda.jit
def life_on_a_torus(x, out):
    i, j = cuda.grid(2)
    m, n = x.shape
    if i < m and j < n:
        alive = 0
        for di in (-1, 0, 1):
            for dj in (-1, 0, 1):
                if di != 0 or dj != 0:
                    alive += x[(i + di) % m, (j + dj) % n]
        out[i, j] = 1 if alive == 3 or (x[i, j] == 1 and alive == 2) else 0


def dilated(x, out):
    return windows(np.pad(x, 1), 3, 3).max(axis=(2, 3))


@right(grey(15, 15), dilated, grid=(2, 2), block=(8, 8))
@cuda.jit
def dilate(x, out):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        best = x[i, j]
        for r in range(max(0, i - 1), min(x.shape[0], i + 2)):
            for c in range(max(0, j - 1), min(x.shape[1], j + 2)):
                best = max(best, x[r, c])
        out[i, j] = best


def median_of(x, out):
    return np.median(np.lib.stride_tricks.sliding_window_view(np.pad(x, 2, "edge"), 5), axis=1)


@right(image(70), median_of, grid=3, block=32)
@cuda.jit
def median_of_five(x, out):
    i = cuda.grid(1)
    if i >= x.size:
        return
    window = cuda.local.array(5, float32)
    for k in range(5):
        value = x[min(max(i + k - 2, 0), x.size - 1)]
        at = k
        while at > 0 and window[at - 1] > value:
            window[at] = window[at - 1]
            at -= 1
        window[at] = value
    out[i] = window[2]


@right(lambda rng: (rng.random((9, 11), np.float32), zeros_like(15, 20)),
       lambda x, out: x[np.arange(15) * 9 // 15][:, np.arange(20) * 11 // 20],
       grid=(2, 3), block=(8, 8))  # fmt: skip
@cuda.jit
def resize_nearest(x, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = x[i * x.shape[0] // out.shape[0], j * x.shape[1] // out.shape[1]]


def interpolated(x, at, out):
    return np.interp(at, np.arange(x.size), x)


@right(lambda rng: (rng.random(20, np.float32), np.linspace(0, 19, 50), np.zeros(50)),
       interpolated)  # fmt: skip
@cuda.jit
def linear_interpolation(x, at, out):
    i = cuda.grid(1)
    if i < at.size:
        left = min(int(at[i]), x.size - 2)
        part = at[i] - left
        out[i] = (1 - part) * x[left] + part * x[left + 1]


def rotated_by_90(x, out):
    want = np.zeros_like(x)
    want[:, :] = np.rot90(x)
    return want


@right(image(16, 16), rotated_by_90, grid=(2, 2), block=(8, 8))
@cuda.jit
def rotate_by_coordinates(x, out):
    j, i = cuda.grid(2)
    half = (x.shape[0] - 1) / 2
    u, v = j - half, i - half
    row, col = round(half + u), round(half - v)
    if 0 <= row < x.shape[0] and 0 <= col < x.shape[1]:
        out[i, j] = x[row, col]


@right(lambda rng: (rng.integers(0, 256, 500, np.uint8), zeros_like(256, dtype=np.int32)),
       lambda x, bins: np.bincount(x, minlength=256), grid=2, block=128)  # fmt: skip
@cuda.jit
def histogram_in_global_memory(x, bins):
    i = cuda.grid(1)
    stride = cuda.gridsize(1)
    while i < x.size:
        cuda.atomic.add(bins, x[i], 1)
        i += stride


@right(lambda rng: (rng.integers(0, 16, 700, np.int64), zeros_like(16, dtype=np.int32)),
       lambda x, bins: np.bincount(x, minlength=16), grid=3)  # fmt: skip
@cuda.jit
def histogram_per_block(x, bins):
    mine = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    if t < 16:
        mine[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), len(x), cuda.gridsize(1)):
        cuda.atomic.add(mine, x[i], 1)
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(bins, t, mine[t])


@right(lambda rng: (rng.random((12, 9)), np.zeros((13, 10))),
       lambda x, out: np.pad(x.cumsum(0).cumsum(1), ((1, 0), (1, 0))), block=1)  # fmt: skip
@cuda.jit
def integral_image_by_one_thread(x, out):
    for i in range(1, out.shape[0]):
        row = 0.0
        for j in range(1, out.shape[1]):
            row += x[i - 1, j - 1]
            out[i, j] = out[i - 1, j] + row


@right(image(8, 10), lambda x, out: x[:, ::-1], grid=(1, 2), block=(8, 5))
@cuda.jit
def flip_by_a_slice(x, out):
    i, j = cuda.grid(2)
    mirrored = x[:, ::-1]
    if i < x.shape[0] and j < x.shape[1]:
        out[i, j] = mirrored[i, j]


@right(lambda rng: (rng.integers(0, 256, (6, 8), np.uint8), rng.integers(0, 256, (6, 8), np.uint8),
                    64, zeros_like(6, 8, dtype=np.uint8)),
       lambda a, b, alpha, out: (a.astype(int) * alpha + b.astype(int) * (256 - alpha)) // 256,
       block=(6, 8))  # fmt: skip
@cuda.jit
def blend_bytes(a, b, alpha, out):
    i, j = cuda.grid(2)
    out[i, j] = (a[i, j] * alpha + b[i, j] * (256 - alpha)) >> 8


def residual(x, y, worst):
    return np.abs(five_points(x, y)[1:-1, 1:-1]).max(keepdims=True).ravel()


@right(lambda rng: (rng.random((12, 12)), np.zeros((12, 12)), np.zeros(1)), residual,
       grid=(2, 2), block=(8, 8))  # fmt: skip
@cuda.jit
def largest_residual(x, y, worst):
    i, j = cuda.grid(2)
    if i >= 1 and j >= 1 and i < x.shape[0] - 1 and j < x.shape[1] - 1:
        y[i, j] = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1] - 4 * x[i, j]
        cuda.atomic.max(worst, 0, abs(y[i, j]))


def waved(x, before, factors, out):
    a, b = factors
    want = np.zeros_like(x)
    want[1:-1] = a * x[1:-1] - before[1:-1] + b * (x[:-2] + x[2:])
    return want


@right(lambda rng: (rng.random(80), rng.random(80), (1.5, 0.25), np.zeros(80)), waved, grid=2)
@cuda.jit
def wave_step_with_a_tuple(x, before, factors, out):
    a, b = factors
    i = cuda.grid(1)
    if 0 < i < x.size - 1:
        out[i] = a * x[i] - before[i] + b * (x[i - 1] + x[i + 1])


@right(lambda rng: (rng.random(50, np.float32), rng.permutation(50), zeros_like(50)),
       lambda x, where, out: x[where])  # fmt: skip
@cuda.jit
def gather(x, where, out):
    i = cuda.grid(1)
    if i < where.size:
        out[i] = x[where[i]]


@right(lambda rng: (rng.random(50, np.float32), rng.permutation(50), np.zeros(50, np.float32)),
       lambda x, where, out: x[np.argsort(where)])  # fmt: skip
@cuda.jit
def scatter_by_a_permutation(x, where, out):
    i = cuda.grid(1)
    if i < where.size:
        out[where[i]] = x[i]


@right(image(33, 7), lambda x, out: np.roll(x, 1, axis=0), grid=(5, 1), block=(7, 8))
@cuda.jit
def shift_rows_around(x, out):
    j, i = cuda.threadIdx.x, cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if i < x.shape[0]:
        above = i - 1 if i > 0 else x.shape[0] - 1
        out[i, j] = x[above, j]
