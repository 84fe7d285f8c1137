"""Right programs: host code that launches one or several kernels and looks at what they leave."""

import math

import numpy as np
from numba import cuda, float32, float64, int32, uint8, vectorize

BLOCK = 64
PROGRAMS = []


def program(run):
    """Add a program to PROGRAMS; it raises if a result is wrong."""
    PROGRAMS.append(run)
    return run


def numbers(*shape, dtype=np.float64):
    return np.random.default_rng(5).random(shape).astype(dtype)


@cuda.jit
def scan_blocks(x, out, sums):
    tile = cuda.shared.array(BLOCK, float64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    step = 1
    while step < BLOCK:
        add = tile[t - step] if t >= step else 0.0
        cuda.syncthreads()
        tile[t] += add
        cuda.syncthreads()
        step *= 2
    if i < x.size:
        out[i] = tile[t]
    if t == BLOCK - 1:
        sums[cuda.blockIdx.x] = tile[t]


@cuda.jit
def add_offsets(out, offsets):
    i = cuda.grid(1)
    if i < out.size and cuda.blockIdx.x > 0:
        out[i] += offsets[cuda.blockIdx.x - 1]


@program
def scan_in_three_launches():
    x = numbers(500)
    blocks = math.ceil(x.size / BLOCK)
    d_x = cuda.to_device(x)
    d_out = cuda.device_array_like(d_x)
    d_sums = cuda.device_array(blocks, np.float64)
    scan_blocks[blocks, BLOCK](d_x, d_out, d_sums)
    d_scanned = cuda.device_array(blocks, np.float64)
    d_total = cuda.device_array(1, np.float64)
    scan_blocks[1, BLOCK](d_sums, d_scanned, d_total)
    add_offsets[blocks, BLOCK](d_out, d_scanned)
    np.testing.assert_allclose(d_out.copy_to_host(), x.cumsum())
    np.testing.assert_allclose(d_total.copy_to_host(), x.sum())


@cuda.jit
def relax(old, new):
    i, j = cuda.grid(2)
    if 0 < i < old.shape[0] - 1 and 0 < j < old.shape[1] - 1:
        new[i, j] = (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1]) / 4


@cuda.jit
def max_difference(old, new, out):
    i, j = cuda.grid(2)
    if i < old.shape[0] and j < old.shape[1]:
        cuda.atomic.max(out, 0, abs(old[i, j] - new[i, j]))


@program
def jacobi_until_it_converges():
    plate = np.zeros((16, 16))
    plate[0] = 1
    want = plate.copy()
    a, b = cuda.to_device(plate), cuda.to_device(plate)
    error, rounds = 1.0, 0
    while error > 1e-2:
        relax[(2, 2), (8, 8)](a, b)
        d_error = cuda.to_device(np.zeros(1))
        max_difference[(2, 2), (8, 8)](a, b, d_error)
        error = d_error.copy_to_host()[0]
        a, b = b, a
        rounds += 1
    for _ in range(rounds):
        want[1:-1, 1:-1] = (want[:-2, 1:-1] + want[2:, 1:-1] + want[1:-1, :-2] + want[1:-1, 2:]) / 4
    np.testing.assert_allclose(a.copy_to_host(), want)


@cuda.jit
def expand(starts, edges, level, levels, changed):
    v = cuda.grid(1)
    if v < levels.size and levels[v] == level:
        for e in range(starts[v], starts[v + 1]):
            if cuda.atomic.cas(levels, edges[e], -1, level + 1) == -1:
                changed[0] = 1


@program
def breadth_first_search_level_by_level():
    n = 40
    edges = np.array([[(2 * v + 1) % n, (3 * v + 2) % n] for v in range(n)], np.int32).ravel()
    starts = np.arange(0, 2 * n + 1, 2, dtype=np.int32)
    levels = np.full(n, -1, np.int32)
    levels[0] = 0
    d_starts, d_edges, d_levels = map(cuda.to_device, (starts, edges, levels))
    changed, level = np.ones(1, np.int32), 0
    while changed[0]:
        changed[0] = 0
        expand[2, 32](d_starts, d_edges, level, d_levels, changed)
        level += 1
    want, queue = {0: 0}, [0]
    for v in queue:
        for w in map(int, edges[2 * v : 2 * v + 2]):
            if w not in want:
                want[w] = want[v] + 1
                queue.append(w)
    assert d_levels.copy_to_host().tolist() == [want.get(v, -1) for v in range(n)]


@cuda.jit
def bitonic_step(data, j, k):
    i = cuda.grid(1)
    partner = i ^ j
    if partner > i:
        up = i & k == 0
        if (data[i] > data[partner]) == up:
            data[i], data[partner] = data[partner], data[i]


@program
def bitonic_sort_with_a_launch_per_step():
    data = numbers(128, dtype=np.float32)
    d_data = cuda.to_device(data)
    k = 2
    while k <= data.size:
        j = k // 2
        while j > 0:
            bitonic_step[2, 64](d_data, j, k)
            j //= 2
        k *= 2
    np.testing.assert_array_equal(d_data.copy_to_host(), np.sort(data))


@cuda.jit
def assign(points, centres, labels):
    i = cuda.grid(1)
    if i < points.shape[0]:
        best = math.inf
        for c in range(centres.shape[0]):
            d = (points[i, 0] - centres[c, 0]) ** 2 + (points[i, 1] - centres[c, 1]) ** 2
            if d < best:
                best = d
                labels[i] = c


@cuda.jit
def accumulate(points, labels, sums, counts):
    i = cuda.grid(1)
    if i < points.shape[0]:
        cuda.atomic.add(sums, (labels[i], 0), points[i, 0])
        cuda.atomic.add(sums, (labels[i], 1), points[i, 1])
        cuda.atomic.add(counts, labels[i], 1)


@program
def k_means_on_the_device():
    points = numbers(100, 2)
    centres, want = points[:3].copy(), points[:3].copy()
    d_points = cuda.to_device(points)
    labels = cuda.device_array(100, np.int32)
    for _ in range(4):
        assign[4, 32](d_points, cuda.to_device(centres), labels)
        sums, counts = np.zeros((3, 2)), np.zeros(3, np.int32)
        accumulate[4, 32](d_points, labels, sums, counts)
        centres = sums / counts[:, None]
        nearest = ((points[:, None] - want) ** 2).sum(-1).argmin(1)
        want = np.stack([points[nearest == c].mean(0) for c in range(3)])
    np.testing.assert_allclose(centres, want)


@cuda.reduce
def larger_of_two(a, b):
    return a if a > b else b


@program
def reduce_and_vectorize():
    @vectorize(["float64(float64, float64)"], target="cuda")
    def hypotenuse(a, b):
        return math.sqrt(a * a + b * b)

    a, b = numbers(200), numbers(200)[::-1].copy()
    length = hypotenuse(a, b)
    np.testing.assert_allclose(length, np.hypot(a, b))
    assert larger_of_two(cuda.to_device(length)) == length.max()


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


@program
def chunks_in_streams_with_pinned_memory():
    x = cuda.pinned_array(256, np.float32)
    x[:] = np.arange(256)
    streams = [cuda.stream() for _ in range(4)]
    begin, end = cuda.event(), cuda.event()
    begin.record()
    for n, stream in enumerate(streams):
        part = x[64 * n : 64 * n + 64]
        d_part = cuda.to_device(part, stream=stream)
        add_one[1, 64, stream](d_part)
        d_part.copy_to_host(part, stream=stream)
    end.record()
    cuda.synchronize()
    assert cuda.event_elapsed_time(begin, end) >= 0
    np.testing.assert_array_equal(x, np.arange(256) + 1)


@cuda.jit
def count_digits(keys, shift, counts):
    i = cuda.grid(1)
    if i < keys.size:
        cuda.atomic.add(counts, (keys[i] >> shift) & 3, 1)


@cuda.jit
def scatter_digits(keys, shift, starts, out):
    digit = cuda.threadIdx.x
    at = starts[digit]
    for i in range(keys.size):
        if (keys[i] >> shift) & 3 == digit:
            out[at] = keys[i]
            at += 1


@program
def radix_sort_with_two_buffers():
    keys = np.random.default_rng(1).integers(0, 256, 90).astype(np.int32)
    a, b = cuda.to_device(keys), cuda.device_array_like(keys)
    for shift in range(0, 8, 2):
        counts = np.zeros(4, np.int32)
        count_digits[3, 32](a, shift, counts)
        scatter_digits[1, 4](a, shift, np.cumsum(counts) - counts, b)
        a, b = b, a
    np.testing.assert_array_equal(a.copy_to_host(), np.sort(keys))


@cuda.jit
def matvec(a, x, y):
    i = cuda.grid(1)
    if i < y.size:
        acc = 0.0
        for j in range(x.size):
            acc += a[i, j] * x[j]
        y[i] = acc


@cuda.jit
def axpy(alpha, x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] += alpha * x[i]


@cuda.jit
def xpby(x, beta, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = x[i] + beta * y[i]


@cuda.reduce
def add(a, b):
    return a + b


@cuda.jit
def multiply(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * y[i]


def dot(x, y):
    products = cuda.device_array_like(x)
    multiply[1, 32](x, y, products)
    return add(products)


@program
def conjugate_gradients():
    a = numbers(20, 20)
    a = a @ a.T + 20 * np.eye(20)
    b = numbers(20)
    d_a, x, r, p = map(cuda.to_device, (a, np.zeros(20), b, b))
    ap = cuda.device_array(20, np.float64)
    rr = dot(r, r)
    for _ in range(20):
        matvec[1, 32](d_a, p, ap)
        alpha = rr / dot(p, ap)
        axpy[1, 32](alpha, p, x)
        axpy[1, 32](-alpha, ap, r)
        new = dot(r, r)
        if new < 1e-24:
            break
        xpby[1, 32](r, new / rr, p)
        rr = new
    np.testing.assert_allclose(x.copy_to_host(), np.linalg.solve(a, b))


class Filter:
    """A class that keeps its kernel and its device memory, as libraries write them."""

    def __init__(self, taps):
        self.taps = cuda.to_device(np.asarray(taps, np.float32))
        self.kernel = self.make(len(taps))

    @staticmethod
    def make(length):
        @cuda.jit
        def kernel(x, taps, y):
            i = cuda.grid(1)
            if i < x.size:
                acc = float32(0)
                for k in range(length):
                    if i >= k:
                        acc += taps[k] * x[i - k]
                y[i] = acc

        return kernel

    def __call__(self, x):
        y = cuda.device_array(x.shape, np.float32)
        self.kernel[(x.size + 31) // 32, 32](x, self.taps, y)
        return y.copy_to_host()


@program
def a_class_around_a_kernel():
    smooth = Filter([0.5, 0.3, 0.2])
    for size in (40, 100):
        x = numbers(size, dtype=np.float32)
        want = np.convolve(x, [0.5, 0.3, 0.2])[:size]
        np.testing.assert_allclose(smooth(x), want, rtol=1e-6)


@cuda.jit
def grow(labels, mask, changed):
    i, j = cuda.grid(2)
    if i < mask.shape[0] and j < mask.shape[1] and mask[i, j]:
        for di, dj in ((0, 1), (1, 0)):
            r, c = i + di, j + dj
            if r < mask.shape[0] and c < mask.shape[1] and mask[r, c]:
                low = min(
                    cuda.atomic.min(labels, (i, j), 1 << 30),
                    cuda.atomic.min(labels, (r, c), 1 << 30),
                )
                if cuda.atomic.min(labels, (i, j), low) > low:
                    changed[0] = True
                if cuda.atomic.min(labels, (r, c), low) > low:
                    changed[0] = True


@program
def connected_components_until_nothing_changes():
    mask = np.array([[c == "#" for c in row] for row in ("##..#", "..#.#", "#.###", "#.#..")])
    labels = cuda.to_device(np.arange(20).reshape(4, 5))
    d_mask = cuda.to_device(mask)
    while True:
        changed = np.zeros(1, np.bool_)
        grow[(1, 1), (8, 8)](labels, d_mask, changed)
        if not changed[0]:
            break
    found = np.where(mask, labels.copy_to_host(), -1)
    want = [[0, 0, -1, -1, 4], [-1, -1, 4, -1, 4], [10, -1, 4, 4, 4], [10, -1, 4, -1, -1]]
    assert found.tolist() == want


@cuda.jit
def local_histograms(image, partial):
    hist = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    if t < 32:
        hist[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), image.size, cuda.gridsize(1)):
        cuda.atomic.add(hist, image[i] // 8, 1)
    cuda.syncthreads()
    if t < 32:
        partial[cuda.blockIdx.x, t] = hist[t]


@cuda.jit
def sum_of_rows(partial, total):
    t = cuda.threadIdx.x
    count = 0
    for b in range(partial.shape[0]):
        count += partial[b, t]
    total[t] = count


@cuda.jit
def threshold(image, level, out):
    i = cuda.grid(1)
    if i < image.size:
        out[i] = uint8(255) if image[i] >= level[0] else uint8(0)


@cuda.jit
def otsu(hist, level):
    score = cuda.shared.array(32, float64)
    t = cuda.threadIdx.x
    n0 = s0 = n1 = s1 = 0.0
    for k in range(hist.size):
        if k < t:
            n0 += hist[k]
            s0 += k * hist[k]
        else:
            n1 += hist[k]
            s1 += k * hist[k]
    score[t] = n0 * n1 * (s0 / n0 - s1 / n1) ** 2 if n0 > 0 and n1 > 0 else 0.0
    cuda.syncthreads()
    if t == 0:
        best = 0
        for k in range(32):
            if score[k] > score[best]:
                best = k
        level[0] = 8 * best


@program
def otsu_in_four_launches():
    rng = np.random.default_rng(2)
    image = np.concatenate([rng.integers(10, 90, 300), rng.integers(150, 250, 200)]).astype(
        np.uint8
    )
    d_image = cuda.to_device(image)
    partial = cuda.device_array((4, 32), np.int32)
    hist, level = cuda.device_array(32, np.int32), cuda.device_array(1, np.int32)
    out = cuda.device_array(image.size, np.uint8)
    local_histograms[4, 64](d_image, partial)
    sum_of_rows[1, 32](partial, hist)
    otsu[1, 32](hist, level)
    threshold[8, 64](d_image, level, out)
    np.testing.assert_array_equal(out.copy_to_host() == 255, np.arange(500) >= 300)
