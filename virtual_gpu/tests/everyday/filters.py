"""Right kernels on pictures: filters, edges, colours, labels, tables, distances."""

import math

import numpy as np
from numba import boolean, cuda, float32, float64, int32, uint8, uint32

from . import collector

CASES, right = collector()
TILE = 16
RADIUS = 2
PADDED = TILE + 2 * RADIUS
GX = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], np.int32)
GAUSS = np.outer([1, 2, 1], [1, 2, 1]).astype(np.float32) / 16
BAYER = np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]]) / 16


def grey(*shape, out=np.uint8):
    """Return a maker of (random uint8 picture, zeros of its shape)."""
    return lambda rng: (rng.integers(0, 256, shape, np.uint8), np.zeros(shape, out))


def scene(*shape):
    """Return a maker of (random float64 picture, zeros of its shape)."""
    return lambda rng: (rng.random(shape), np.zeros(shape))


def windows(x, size, mode="edge"):
    padded = np.pad(x, size // 2, mode=mode)
    return np.lib.stride_tricks.sliding_window_view(padded, (size, size))


def edges(img, out):
    v = windows(img.astype(int), 3)
    gx, gy = (v * GX).sum((2, 3)), (v * GX.T).sum((2, 3))
    return np.minimum(np.hypot(gx, gy), 255).astype(np.uint8)


@right(grey(20, 25), edges, grid=(2, 2), block=(16, 16))
@cuda.jit
def sobel_with_clamped_borders(img, out):
    x, y = cuda.grid(2)
    h, w = img.shape
    if x < w and y < h:
        sx = 0
        sy = 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                px = img[min(max(y + dy, 0), h - 1), min(max(x + dx, 0), w - 1)]
                sx += GX[dy + 1, dx + 1] * px
                sy += GX[dx + 1, dy + 1] * px
        mag = math.sqrt(float(sx * sx + sy * sy))
        out[y, x] = uint8(255) if mag > 255 else uint8(mag)


@right(grey(18, 13), lambda img, out: np.median(windows(img, 3), (2, 3)), grid=(3, 3),
       block=(8, 8))  # fmt: skip
@cuda.jit
def median_3x3_by_insertion(img, out):
    i, j = cuda.grid(2)
    if i >= img.shape[0] or j >= img.shape[1]:
        return
    win = cuda.local.array(9, uint8)
    n = 0
    for di in (-1, 0, 1):
        for dj in (-1, 0, 1):
            r = max(0, min(img.shape[0] - 1, i + di))
            c = max(0, min(img.shape[1] - 1, j + dj))
            key = img[r, c]
            k = n - 1
            while k >= 0 and win[k] > key:
                win[k + 1] = win[k]
                k -= 1
            win[k + 1] = key
            n += 1
    out[i, j] = win[4]


def bilateral(img, sigma_s, sigma_r, out):
    v = windows(img, 5, "reflect")
    d = np.arange(-2, 3)
    spatial = np.exp(-(d[:, None] ** 2 + d**2) / (2 * sigma_s**2))
    w = spatial * np.exp(-((v - img[..., None, None]) ** 2) / (2 * sigma_r**2))
    return (w * v).sum((2, 3)) / w.sum((2, 3))


@cuda.jit(device=True)
def mirrored(i, n):
    if i < 0:
        i = -i
    if i >= n:
        i = 2 * n - 2 - i
    return i


@right(lambda rng: (rng.random((12, 14)), 1.5, 0.3, np.zeros((12, 14))), bilateral, grid=(2, 2),
       block=(8, 8))  # fmt: skip
@cuda.jit
def bilateral_filter(img, sigma_s, sigma_r, out):
    x, y = cuda.grid(2)
    H, W = img.shape
    if y < H and x < W:
        center = img[y, x]
        num, den = 0.0, 0.0
        for dy in range(-2, 3):
            for dx in range(-2, 3):
                v = img[mirrored(y + dy, H), mirrored(x + dx, W)]
                ws = math.exp(-(dx**2 + dy**2) / (2 * sigma_s**2))
                wr = math.exp(-((v - center) ** 2) / (2 * sigma_r**2))
                num += ws * wr * v
                den += ws * wr
        out[y, x] = num / den


def thin(mag, angle, out):
    want = np.zeros_like(mag)
    steps = [(0, 1), (1, 1), (1, 0), (1, -1)]
    for i in range(1, mag.shape[0] - 1):
        for j in range(1, mag.shape[1] - 1):
            di, dj = steps[round(angle[i, j] / (math.pi / 4)) % 4]
            if mag[i, j] >= max(mag[i + di, j + dj], mag[i - di, j - dj]):
                want[i, j] = mag[i, j]
    return want


@right(lambda rng: (rng.random((15, 17)), rng.uniform(0, np.pi, (15, 17)), np.zeros((15, 17))),
       thin, grid=(2, 2), block=(16, 16))  # fmt: skip
@cuda.jit
def canny_suppression(mag, angle, out):
    i, j = cuda.grid(2)
    m, n = mag.shape
    if 0 < i < m - 1 and 0 < j < n - 1:
        deg = angle[i, j] * 180 / math.pi
        if deg < 22.5 or deg >= 157.5:
            a, b = mag[i, j - 1], mag[i, j + 1]
        elif deg < 67.5:
            a, b = mag[i + 1, j + 1], mag[i - 1, j - 1]
        elif deg < 112.5:
            a, b = mag[i - 1, j], mag[i + 1, j]
        else:
            a, b = mag[i + 1, j - 1], mag[i - 1, j + 1]
        if mag[i, j] >= a and mag[i, j] >= b:
            out[i, j] = mag[i, j]


def two_thresholds(mag, low, high, out):
    strong = windows(np.where(mag >= high, 1, 0), 3, "constant").any((2, 3))
    return np.where(mag >= high, 255, np.where((mag >= low) & strong, 255, 0))


@right(lambda rng: (rng.random((14, 14)), 0.4, 0.8, np.zeros((14, 14), np.uint8)), two_thresholds,
       block=(16, 16))  # fmt: skip
@cuda.jit
def hysteresis_step(mag, low, high, out):
    r, c = cuda.grid(2)
    if r >= mag.shape[0] or c >= mag.shape[1]:
        return
    if mag[r, c] >= high:
        out[r, c] = 255
    elif mag[r, c] >= low:
        found = False
        for dr in range(-1, 2):
            for dc in range(-1, 2):
                rr, cc = r + dr, c + dc
                if rr >= 0 and rr < mag.shape[0] and cc >= 0 and cc < mag.shape[1]:
                    if mag[rr, cc] >= high:
                        found = True
        if found:
            out[r, c] = 255


def lowest_label(mask, labels, changed, out):
    want = labels.copy()
    for i, j in np.argwhere(mask):
        for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            r, c = i + di, j + dj
            if 0 <= r < mask.shape[0] and 0 <= c < mask.shape[1] and mask[r, c]:
                want[i, j] = min(want[i, j], labels[r, c])
    return want


@right(lambda rng: (rng.random((13, 11)) < 0.6, np.arange(143, dtype=np.int32).reshape(13, 11),
                    np.zeros(1, np.int32), np.arange(143, dtype=np.int32).reshape(13, 11)),
       lowest_label, grid=(2, 2), block=(8, 8))  # fmt: skip
@cuda.jit
def propagate_labels(mask, labels, changed, out):
    y, x = cuda.grid(2)
    h, w = mask.shape
    if y >= h or x >= w or not mask[y, x]:
        return
    best = labels[y, x]
    if y > 0 and mask[y - 1, x]:
        best = min(best, labels[y - 1, x])
    if y < h - 1 and mask[y + 1, x]:
        best = min(best, labels[y + 1, x])
    if x > 0 and mask[y, x - 1]:
        best = min(best, labels[y, x - 1])
    if x < w - 1 and mask[y, x + 1]:
        best = min(best, labels[y, x + 1])
    if best < labels[y, x]:
        out[y, x] = best
        changed[0] = 1


@right(lambda rng: (rng.integers(0, 256, 256, np.uint8),
                    rng.integers(0, 256, (9, 20, 3), np.uint8)),
       lambda lut, img: lut[img], grid=(1, 2), block=(16, 16))  # fmt: skip
@cuda.jit
def apply_lut_in_place(lut, img):
    table = cuda.shared.array(256, uint8)
    tid = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    table[tid] = lut[tid]
    cuda.syncthreads()
    r, c = cuda.grid(2)
    if r < img.shape[0] and c < img.shape[1]:
        for ch in range(3):
            img[r, c, ch] = table[img[r, c, ch]]


@right(lambda rng: (rng.random((10, 40)).astype(np.float32), np.zeros((10, 40), np.float32)),
       lambda x, out: x.cumsum(1), block=16)  # fmt: skip
@cuda.jit
def integral_image_rows(x, out):
    row = cuda.grid(1)
    if row < x.shape[0]:
        s = float32(0.0)
        for col in range(x.shape[1]):
            s += x[row, col]
            out[row, col] = s


def box_from_sums(sums, radius, out):
    x = np.diff(np.diff(np.pad(sums, ((1, 0), (1, 0))), axis=0), axis=1)
    h, w = x.shape
    return [[x[max(0, i - radius) : i + radius + 1, max(0, j - radius) : j + radius + 1].mean()
             for j in range(w)] for i in range(h)]  # fmt: skip


@right(lambda rng: (rng.random((15, 18)).cumsum(0).cumsum(1), 3, np.zeros((15, 18))),
       box_from_sums, grid=(2, 3), block=(8, 8))  # fmt: skip
@cuda.jit
def box_filter_by_integral_image(sums, radius, out):
    i, j = cuda.grid(2)
    h, w = sums.shape
    if i < h and j < w:
        i0, i1 = max(i - radius, 0) - 1, min(i + radius, h - 1)
        j0, j1 = max(j - radius, 0) - 1, min(j + radius, w - 1)
        s = sums[i1, j1]
        if i0 >= 0:
            s -= sums[i0, j1]
        if j0 >= 0:
            s -= sums[i1, j0]
        if i0 >= 0 and j0 >= 0:
            s += sums[i0, j0]
        out[i, j] = s / ((i1 - i0) * (j1 - j0))


def opened(img, out):
    eroded = windows(img, 3).min((2, 3))
    return eroded


@right(lambda rng: (rng.random((19, 22)) < 0.8, np.zeros((19, 22), np.bool_)), opened,
       grid=(2, 2), block=(16, 16))  # fmt: skip
@cuda.jit
def erode_binary(src, dst):
    x, y = cuda.grid(2)
    if x >= src.shape[1] or y >= src.shape[0]:
        return
    keep = True
    for j in range(y - 1, y + 2):
        for i in range(x - 1, x + 2):
            if 0 <= i < src.shape[1] and 0 <= j < src.shape[0]:
                keep = keep and src[j, i]
    dst[y, x] = keep


def luma(rgb, yuv):
    r, g, b = rgb.astype(np.float64).transpose(2, 0, 1)
    y = 0.299 * r + 0.587 * g + 0.114 * b
    return np.floor(np.stack([y, 0.492 * (b - y) + 128, 0.877 * (r - y) + 128], -1).clip(0, 255))


@cuda.jit(device=True)
def to_byte(v):
    return uint8(min(max(v, 0.0), 255.0))


@right(lambda rng: (rng.integers(0, 256, (10, 12, 3), np.uint8), np.zeros((10, 12, 3), np.uint8)),
       luma, grid=(2, 2), block=(8, 8))  # fmt: skip
@cuda.jit
def rgb_to_yuv(rgb, yuv):
    i, j = cuda.grid(2)
    if i < rgb.shape[0] and j < rgb.shape[1]:
        r, g, b = float64(rgb[i, j, 0]), float64(rgb[i, j, 1]), float64(rgb[i, j, 2])
        y = 0.299 * r + 0.587 * g + 0.114 * b
        yuv[i, j, 0] = to_byte(y)
        yuv[i, j, 1] = to_byte(0.492 * (b - y) + 128)
        yuv[i, j, 2] = to_byte(0.877 * (r - y) + 128)


def hues(rgb, out):
    import colorsys

    return [[360 * colorsys.rgb_to_hsv(*pixel)[0] for pixel in row] for row in rgb]


@right(lambda rng: (rng.random((8, 9, 3)), np.zeros((8, 9))), hues, grid=(1, 2), block=(8, 8))
@cuda.jit
def hue_of_pixels(rgb, hue):
    row, col = cuda.grid(2)
    if row < hue.shape[0] and col < hue.shape[1]:
        r, g, b = rgb[row, col]
        hi, lo = max(r, g, b), min(r, g, b)
        if hi == lo:
            h = 0.0
        elif hi == r:
            h = 60 * ((g - b) / (hi - lo) % 6)
        elif hi == g:
            h = 60 * ((b - r) / (hi - lo) + 2)
        else:
            h = 60 * ((r - g) / (hi - lo) + 4)
        hue[row, col] = h


def blurred(img, out):
    k = np.array([1, 4, 6, 4, 1]) / 16
    rows = np.apply_along_axis(np.convolve, 1, img, k, "same")
    return np.apply_along_axis(np.convolve, 0, rows, k, "same")


@right(scene(30, 20), blurred, grid=(2, 2), block=(TILE, TILE))
@cuda.jit
def separable_blur_in_one_kernel(img, out):
    tile = cuda.shared.array((PADDED, PADDED), float64)
    rows = cuda.shared.array((PADDED, TILE), float64)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x0 = cuda.blockIdx.x * TILE - RADIUS
    y0 = cuda.blockIdx.y * TILE - RADIUS
    for r in range(ty, PADDED, TILE):
        for c in range(tx, PADDED, TILE):
            inside = 0 <= y0 + r < img.shape[0] and 0 <= x0 + c < img.shape[1]
            tile[r, c] = img[y0 + r, x0 + c] if inside else 0
    cuda.syncthreads()
    for r in range(ty, PADDED, TILE):
        rows[r, tx] = (
            tile[r, tx] + 4 * tile[r, tx + 1] + 6 * tile[r, tx + 2] + 4 * tile[r, tx + 3]
            + tile[r, tx + 4]
        ) / 16  # fmt: skip
    cuda.syncthreads()
    x, y = cuda.grid(2)
    if y < img.shape[0] and x < img.shape[1]:
        out[y, x] = (
            rows[ty, tx] + 4 * rows[ty + 1, tx] + 6 * rows[ty + 2, tx] + 4 * rows[ty + 3, tx]
            + rows[ty + 4, tx]
        ) / 16  # fmt: skip


@right(lambda rng: (rng.random((9, 9, 3), np.float32), np.zeros((9, 9, 3), np.float32)),
       lambda img, out: np.stack([(windows(img[..., c], 3) * GAUSS).sum((2, 3))
                                  for c in range(3)], -1),
       grid=(2, 2, 1), block=(8, 8, 3))  # fmt: skip
@cuda.jit
def gaussian_of_each_channel(img, out):
    i, j, ch = cuda.grid(3)
    if i < img.shape[0] and j < img.shape[1] and ch < img.shape[2]:
        acc = float32(0)
        for k in range(9):
            di, dj = k // 3, k % 3
            r = min(max(i + di - 1, 0), img.shape[0] - 1)
            c = min(max(j + dj - 1, 0), img.shape[1] - 1)
            acc += GAUSS[di, dj] * img[r, c, ch]
        out[i, j, ch] = acc


def dithered(img, out):
    rows, columns = np.indices(img.shape)
    return img > BAYER[rows % 4, columns % 4]


@right(lambda rng: (rng.random((11, 13)), np.zeros((11, 13), np.bool_)), dithered, grid=(2, 2),
       block=(8, 8))  # fmt: skip
@cuda.jit
def ordered_dither(img, out):
    i, j = cuda.grid(2)
    if i < img.shape[0] and j < img.shape[1]:
        out[i, j] = img[i, j] > BAYER[i & 3, j & 3]


def equalised(img, cdf, out):
    low = cdf[cdf > 0].min()
    return np.rint((cdf[img].astype(float) - low) / (img.size - low) * 255)


def with_cdf(rng):
    img = rng.integers(40, 200, (12, 15), np.uint8)
    return img, np.bincount(img.ravel(), minlength=256).cumsum(), np.zeros_like(img)


@right(with_cdf, equalised, grid=(2, 1), block=(8, 32))
@cuda.jit
def equalise_by_cdf(img, cdf, out):
    i, j = cuda.grid(2)
    if i < img.shape[0] and j < img.shape[1]:
        lowest = 0
        for level in range(256):
            if cdf[level] > 0:
                lowest = cdf[level]
                break
        scaled = (cdf[img[i, j]] - lowest) / (img.size - lowest) * 255
        out[i, j] = uint8(round(scaled))


def warped(img, m, out):
    h, w = img.shape
    y, x = np.indices(img.shape)
    sx, sy = m[0, 0] * x + m[0, 1] * y + m[0, 2], m[1, 0] * x + m[1, 1] * y + m[1, 2]
    inside = (sx >= 0) & (sx < w - 1) & (sy >= 0) & (sy < h - 1)
    x0, y0 = np.where(inside, sx, 0).astype(int), np.where(inside, sy, 0).astype(int)
    fx, fy = sx - x0, sy - y0
    top = img[y0, x0] * (1 - fx) + img[y0, x0 + 1] * fx
    low = img[y0 + 1, x0] * (1 - fx) + img[y0 + 1, x0 + 1] * fx
    return np.where(inside, top * (1 - fy) + low * fy, 0)


@right(lambda rng: (rng.random((16, 20)), np.array([[0.9, -0.3, 2.0], [0.3, 0.9, -1.5]]),
                    np.zeros((16, 20))), warped, grid=(3, 2), block=(8, 8))  # fmt: skip
@cuda.jit
def affine_warp_bilinear(img, m, out):
    x, y = cuda.grid(2)
    h, w = img.shape
    if x >= w or y >= h:
        return
    sx = m[0, 0] * x + m[0, 1] * y + m[0, 2]
    sy = m[1, 0] * x + m[1, 1] * y + m[1, 2]
    if not (0 <= sx < w - 1 and 0 <= sy < h - 1):
        return
    x0, y0 = int(sx), int(sy)
    fx, fy = sx - x0, sy - y0
    top = img[y0, x0] * (1 - fx) + img[y0, x0 + 1] * fx
    bottom = img[y0 + 1, x0] * (1 - fx) + img[y0 + 1, x0 + 1] * fx
    out[y, x] = top * (1 - fy) + bottom * fy


def nearest_seed(seeds, out):
    y, x = np.indices(out.shape)
    d = (y[..., None] - seeds[:, 0]) ** 2 + (x[..., None] - seeds[:, 1]) ** 2
    return d.argmin(-1)


@right(lambda rng: (rng.integers(0, 20, (6, 2), np.int32), np.full((20, 20), -1, np.int32)),
       nearest_seed, grid=(3, 3), block=(8, 8))  # fmt: skip
@cuda.jit
def voronoi_cells(seeds, out):
    row, col = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        best, arg = 1 << 30, -1
        for s in range(len(seeds)):
            d = (row - seeds[s, 0]) ** 2 + (col - seeds[s, 1]) ** 2
            if d < best:
                best, arg = d, s
        out[row, col] = arg


def flood(rng):
    depth = np.full((12, 12), 99, np.int32)
    depth[3, 4] = 0
    return rng.random((12, 12)) < 0.25, depth


def flooded(wall, depth):
    want = depth.copy()
    queue = [(3, 4)]
    for i, j in queue:
        for r, c in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
            if 0 <= r < 12 and 0 <= c < 12 and not wall[r, c] and want[r, c] == 99:
                want[r, c] = want[i, j] + 1
                queue.append((r, c))
    return want


@right(flood, flooded, block=(12, 12))
@cuda.jit
def wavefront_in_one_block(wall, depth):
    again = cuda.shared.array(1, boolean)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    level = 0
    while True:
        if i == 0 and j == 0:
            again[0] = False
        cuda.syncthreads()
        if depth[i, j] == level:
            for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                r, c = i + di, j + dj
                if 0 <= r < depth.shape[0] and 0 <= c < depth.shape[1]:
                    if not wall[r, c] and cuda.atomic.cas(depth, (r, c), 99, level + 1) == 99:
                        again[0] = True
        cuda.syncthreads()
        go_on = again[0]
        cuda.syncthreads()
        if not go_on:
            break
        level += 1


def disparities(left, right_, out):
    padded = np.pad(left.astype(int), 1), np.pad(right_.astype(int), 1)
    want = np.zeros(left.shape, int)
    for i in range(left.shape[0]):
        for j in range(left.shape[1]):
            costs = [np.abs(padded[0][i : i + 3, j : j + 3]
                            - padded[1][i : i + 3, j - d : j - d + 3]).sum()
                     for d in range(min(6, j + 1))]  # fmt: skip
            want[i, j] = np.argmin(costs)
    return want


@right(lambda rng: (*rng.integers(0, 256, (2, 10, 18), np.uint8), np.zeros((10, 18), np.uint8)),
       disparities, grid=(3, 2), block=(8, 8))  # fmt: skip
@cuda.jit
def stereo_by_block_matching(left, right_, disp):
    x, y = cuda.grid(2)
    h, w = left.shape
    if x >= w or y >= h:
        return
    best_cost = uint32(0xFFFFFFFF)
    best = 0
    for d in range(6):
        if x - d < 0:
            break
        cost = uint32(0)
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                yy, xl, xr = y + dy, x + dx, x + dx - d
                a = int32(left[yy, xl]) if 0 <= yy < h and 0 <= xl < w else int32(0)
                b = int32(right_[yy, xr]) if 0 <= yy < h and 0 <= xr < w else int32(0)
                cost += abs(a - b)
        if cost < best_cost:
            best_cost = cost
            best = d
    disp[y, x] = best
