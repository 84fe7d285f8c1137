"""Kernels as other people write them, each against NumPy or plain Python.

Every case builds its arrays, launches through ``kernel[grid, block](...)`` and returns what the
kernel made and what it should have made.
"""

import enum
import linecache
import math
import operator
import zlib

import numpy as np
import pytest
from numba import (
    bool_,
    boolean,
    complex64,
    cuda,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    njit,
    uint8,
    uint16,
    uint32,
    uint64,
    void,
)
from numba.cuda import libdevice
from numba.cuda.random import (
    create_xoroshiro128p_states,
    xoroshiro128p_normal_float32,
    xoroshiro128p_uniform_float32,
    xoroshiro128p_uniform_float64,
)

from utils.virtual_gpu import Unsupported

CASES = {}


def case(build):
    """Registers a function that returns (got, wanted), each an array or a tuple of arrays."""
    CASES[build.__name__] = build
    return build


def rng(seed=0):
    return np.random.default_rng(seed)


def f4(*shape):
    return rng(sum(shape)).random(shape, dtype=np.float32)


# --- first kernels: one thread, one element -----------------------------------------------------


@case
def vector_add():
    @cuda.jit
    def add_kernel(x, y, out):
        tx = cuda.threadIdx.x
        ty = cuda.blockIdx.x
        block_size = cuda.blockDim.x
        idx = tx + ty * block_size
        if idx < out.size:
            out[idx] = x[idx] + y[idx]

    x, y, out = f4(100), f4(101)[:100].copy(), np.zeros(100, np.float32)
    add_kernel[4, 32](x, y, out)
    return out, x + y


@case
def increment_by_one():
    @cuda.jit
    def increment_by_one(an_array):
        pos = cuda.grid(1)
        if pos < an_array.size:
            an_array[pos] += 1

    a = np.arange(77, dtype=np.int32)
    increment_by_one[(3,), (32,)](a)
    return a, np.arange(1, 78)


@case
def increment_a_2d_array():
    @cuda.jit
    def increment(an_array):
        x, y = cuda.grid(2)
        if x < an_array.shape[0] and y < an_array.shape[1]:
            an_array[x, y] += 1

    a = np.arange(35.0).reshape(7, 5)
    increment[(2, 2), (4, 4)](a)
    return a, np.arange(1, 36.0).reshape(7, 5)


@case
def position_in_three_dimensions():
    @cuda.jit
    def where_am_i(out):
        i, j, k = cuda.grid(3)
        nx, ny, nz = cuda.gridsize(3)
        if i < out.shape[0] and j < out.shape[1] and k < out.shape[2]:
            out[i, j, k] = (i * ny + j) * nz + k

    out = np.zeros((4, 6, 2), np.int64)
    where_am_i[(2, 3, 1), (2, 2, 2)](out)
    return out, np.arange(48).reshape(4, 6, 2)


@case
def guard_with_early_return():
    @cuda.jit
    def scale(x, factor):
        """Multiplies in place."""
        i = cuda.grid(1)
        if i >= x.shape[0]:
            return
        x[i] = x[i] * factor

    x = f4(50)
    want = x.astype(np.float64) * 2.5
    scale[2, 32](x, 2.5)
    return x, want


@case
def grid_stride_loop():
    @cuda.jit
    def axpy(a, x, y):
        start = cuda.grid(1)
        stride = cuda.gridsize(1)
        for i in range(start, x.shape[0], stride):
            y[i] += a * x[i]

    x, y = f4(1000), np.ones(1000, np.float32)
    axpy[3, 64](np.float32(2), x, y)
    return y, 1 + 2 * x


@case
def grid_stride_backwards():
    @cuda.jit
    def countdown(out):
        for i in range(len(out) - 1 - cuda.grid(1), -1, -cuda.gridsize(1)):
            out[i] = len(out) - i

    out = np.zeros(333, np.int16)
    countdown[2, 32](out)
    return out, np.arange(333, 0, -1)


@case
def forall_launch():
    @cuda.jit
    def square(r, x):
        i = cuda.grid(1)
        if i < len(r):
            r[i] = x[i] ** 2

    x, r = f4(321), np.zeros(321, np.float32)
    square.forall(321)(r, x)
    return r, x * x


@case
def stream_and_device_arrays():
    @cuda.jit
    def negate(x):
        i = cuda.grid(1)
        if i < x.shape[0]:
            x[i] = -x[i]

    stream = cuda.stream()
    x = f4(64)
    d_x = cuda.to_device(x, stream=stream)
    negate[2, 32, stream](d_x)
    negate[1, 32, stream](d_x[:32])
    got = d_x.copy_to_host(stream=stream)
    stream.synchronize()
    return got, np.concatenate([x[:32], -x[32:]])


@case
def auto_synchronize_and_pinned_memory():
    @cuda.jit
    def double(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= 2

    stream = cuda.stream()
    x = cuda.pinned_array(40, dtype=np.float64)
    x[:] = np.arange(40)
    with stream.auto_synchronize():
        d = cuda.to_device(x, stream=stream)
        double[2, 32, stream](d)
        d.copy_to_host(x, stream=stream)
    return x, 2.0 * np.arange(40)


@case
def strided_and_fortran_device_arrays():
    @cuda.jit
    def fill(a, b, c):
        i, j = cuda.grid(2)
        if i < a.shape[0] and j < a.shape[1]:
            a[i, j] = 10 * i + j
            b[i, j] = a[i, j]
            c[i] = i

    d = cuda.to_device(np.zeros((8, 10)))
    f = np.zeros((4, 5), order="F")
    line = cuda.to_device(np.zeros(12))
    fill[(1, 1), (8, 8)](d[::2, 1::2], f, line[::3])
    want = 10.0 * np.arange(4)[:, None] + np.arange(5)
    whole, third = np.zeros((8, 10)), np.zeros(12)
    whole[::2, 1::2], third[::3] = want, np.arange(4)
    return (d.copy_to_host(), f, line.copy_to_host()), (whole, want, third)


@case
def transposed_device_array():
    @cuda.jit
    def copy(src, dst):
        i, j = cuda.grid(2)
        if i < dst.shape[0] and j < dst.shape[1]:
            dst[i, j] = src[i, j]

    x, out = f4(6, 9), np.zeros((9, 6), np.float32)
    copy[(3, 2), (4, 4)](cuda.to_device(x).T, out)
    return out, x.T


@case
def more_blocks_than_work_and_empty_loops():
    @cuda.jit
    def touch(x, n, out):
        i = cuda.grid(1)
        count = 0
        for _ in range(n):
            count += 1
        for _ in range(5, 2):
            count += 100
        for j in range(0):
            count += j
        if i < out.size:
            out[i] = count + x.size

    out = np.full(5, -1)
    touch[10, 32](np.zeros(0, np.float32), 0, out)
    return out, np.zeros(5, np.int64)


@case
def scalar_arguments_of_numpy_types():
    @cuda.jit
    def mix(out, a, b, c, flag, z):
        i = cuda.grid(1)
        if i < out.size and flag:
            out[i] = a * i + b + c + z.real

    out = np.zeros(8)
    mix[1, 8](out, np.int8(-3), np.uint16(65535), np.float32(0.1), np.bool_(True), 1.5 + 2j)
    return out, -3.0 * np.arange(8) + 65535 + float(np.float32(0.1)) + 1.5


@case
def structured_results_through_a_zero_dimensional_array():
    @cuda.jit
    def put(out):
        out[()] = 42.5

    out = np.zeros(())
    put[1, 1](out)
    return out, np.array(42.5)


# --- the puzzle collections: map, zip, guard, broadcast, pooling, dot, convolution --------------


def map_operation(function):
    def call(out, a, size):
        local_i = cuda.threadIdx.x
        if local_i < size:
            out[local_i] = function(a[local_i])

    return cuda.jit(call)


@case
def puzzle_map_with_a_device_function_factory():
    ten_more = map_operation(cuda.jit(device=True)(lambda v: v + 10))
    a, out = np.arange(4.0), np.zeros(4)
    ten_more[1, 8](out, a, 4)
    return out, a + 10


@case
def puzzle_broadcast():
    @cuda.jit
    def outer_sum(out, a, b, size):
        i = cuda.threadIdx.x + cuda.blockDim.x * cuda.blockIdx.x
        j = cuda.threadIdx.y + cuda.blockDim.y * cuda.blockIdx.y
        if 0 <= i < size > j >= 0:
            out[i, j] = a[i, 0] + b[0, j]

    a, b, out = f4(5, 1), f4(1, 5), np.zeros((5, 5), np.float32)
    outer_sum[(2, 2), (3, 3)](out, a, b, 5)
    return out, a + b


TPB = 8


@case
def puzzle_pooling():
    @cuda.jit
    def pool(out, a, size):
        shared = cuda.shared.array(TPB, float32)
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        local_i = cuda.threadIdx.x
        if i < size:
            shared[local_i] = a[i]
            cuda.syncthreads()
            acc = 0
            for j in range(3):
                if i - j >= 0:
                    acc += shared[local_i - j]
            out[i] = acc

    a, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    pool[1, TPB](out, a, 8)
    return out, [0, 1, 3, 6, 9, 12, 15, 18]


@case
def puzzle_dot():
    @cuda.jit
    def dot(out, a, b, size):
        products = cuda.shared.array(shape=(TPB,), dtype=float32)
        local_i = cuda.threadIdx.x
        products[local_i] = a[local_i] * b[local_i] if local_i < size else 0.0
        cuda.syncthreads()
        if local_i == 0:
            acc = 0.0
            for k in range(size):
                acc += products[k]
            out[0] = acc

    a, b, out = f4(6), f4(7)[:6].copy(), np.zeros(1, np.float32)
    dot[1, TPB](out, a, b, 6)
    return out, [np.dot(a, b)]


MAX_CONV = 4
TPB_MAX_CONV = TPB + MAX_CONV


@case
def puzzle_convolution_with_halo():
    @cuda.jit
    def conv(out, a, b, a_size, b_size):
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        local_i = cuda.threadIdx.x
        window = cuda.shared.array(TPB_MAX_CONV, float32)
        weights = cuda.shared.array(MAX_CONV, float32)
        window[local_i] = a[i] if i < a_size else 0
        if local_i < b_size:
            weights[local_i] = b[local_i]
        else:
            halo = local_i - b_size
            if halo < b_size:
                far = i - b_size + TPB
                window[TPB + halo] = a[far] if far < a_size else 0
        cuda.syncthreads()
        if i < a_size:
            acc = float32(0)
            for k in range(b_size):
                acc += window[local_i + k] * weights[k]
            out[i] = acc

    a, b, out = f4(15), f4(4), np.zeros(15, np.float32)
    conv[2, TPB](out, a, b, 15, 4)
    padded = np.concatenate([a, np.zeros(4, np.float32)])
    return out, [padded[i : i + 4] @ b for i in range(15)]


@case
def puzzle_prefix_sum_by_blocks():
    @cuda.jit
    def block_sum(out, a, size):
        cache = cuda.shared.array(TPB, float32)
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        local_i = cuda.threadIdx.x
        cache[local_i] = 0
        if i < size:
            cache[local_i] = a[i]
        cuda.syncthreads()
        p = 2
        while p <= TPB:
            if local_i % p == 0:
                cache[local_i] += cache[local_i + p // 2]
            cuda.syncthreads()
            p *= 2
        if local_i == 0:
            out[cuda.blockIdx.x] = cache[0]

    a, out = np.arange(15, dtype=np.float32), np.zeros(2, np.float32)
    block_sum[2, TPB](out, a, 15)
    return out, [28, 77]


@case
def puzzle_axis_sum():
    @cuda.jit
    def axis_sum(out, a, size):
        cache = cuda.shared.array(TPB, float64)
        i = cuda.threadIdx.x
        batch = cuda.blockIdx.y
        cache[i] = a[batch, i] if i < size else 0.0
        cuda.syncthreads()
        for k in range(3):
            p = 2**k
            if i % (p * 2) == 0:
                cache[i] = cache[i] + cache[i + p]
            cuda.syncthreads()
        if i == 0:
            out[batch, 0] = cache[0]

    a, out = rng().random((4, 6)), np.zeros((4, 1))
    axis_sum[(1, 4), (TPB, 1)](out, a, 6)
    return out, a.sum(axis=1, keepdims=True)


# --- matrix products, transposes, stencils ------------------------------------------------------


@case
def matmul_naive():
    @cuda.jit
    def matmul(A, B, C):
        i, j = cuda.grid(2)
        if i < C.shape[0] and j < C.shape[1]:
            tmp = 0.0
            for k in range(A.shape[1]):
                tmp += A[i, k] * B[k, j]
            C[i, j] = tmp

    a, b, c = f4(13, 7), f4(7, 11), np.zeros((13, 11), np.float32)
    matmul[(2, 2), (8, 8)](a, b, c)
    return c, a @ b


@case
def matmul_shared_any_shape():
    tile = 8

    @cuda.jit
    def fast_matmul(A, B, C):
        sA = cuda.shared.array(shape=(tile, tile), dtype=float32)
        sB = cuda.shared.array(shape=(tile, tile), dtype=float32)
        x, y = cuda.grid(2)
        tx = cuda.threadIdx.x
        ty = cuda.threadIdx.y
        bpg = cuda.gridDim.x
        tmp = float32(0.0)
        for i in range(bpg):
            sA[ty, tx] = 0
            sB[ty, tx] = 0
            if y < A.shape[0] and (tx + i * tile) < A.shape[1]:
                sA[ty, tx] = A[y, tx + i * tile]
            if x < B.shape[1] and (ty + i * tile) < B.shape[0]:
                sB[ty, tx] = B[ty + i * tile, x]
            cuda.syncthreads()
            for j in range(tile):
                tmp += sA[ty, j] * sB[j, tx]
            cuda.syncthreads()
        if y < C.shape[0] and x < C.shape[1]:
            C[y, x] = tmp

    a, b, c = f4(13, 21), f4(21, 19), np.zeros((13, 19), np.float32)
    fast_matmul[(3, 3), (tile, tile)](cuda.to_device(a), cuda.to_device(b), c)
    return c, a @ b


@case
def transpose_tiled_and_padded():
    @cuda.jit
    def transpose(src, dst):
        tile = cuda.shared.array((16, 17), dtype=np.float32)
        x = cuda.blockIdx.x * 16 + cuda.threadIdx.x
        y = cuda.blockIdx.y * 16 + cuda.threadIdx.y
        for r in range(0, 16, 4):
            if x < src.shape[1] and y + r < src.shape[0]:
                tile[cuda.threadIdx.y + r, cuda.threadIdx.x] = src[y + r, x]
        cuda.syncthreads()
        x = cuda.blockIdx.y * 16 + cuda.threadIdx.x
        y = cuda.blockIdx.x * 16 + cuda.threadIdx.y
        for r in range(0, 16, 4):
            if x < dst.shape[1] and y + r < dst.shape[0]:
                dst[y + r, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y + r]

    src, dst = f4(40, 23), np.zeros((23, 40), np.float32)
    transpose[(2, 3), (16, 4)](src, dst)
    return dst, src.T


@case
def heat_equation_in_one_dimension():
    @cuda.jit
    def step(old, new, k):
        i = cuda.grid(1)
        if i == 0 or i == old.shape[0] - 1:
            new[i] = old[i]
        elif i < old.shape[0]:
            new[i] = k * (old[i + 1] + old[i - 1] - 2 * old[i]) + old[i]

    u = np.zeros(101)
    u[50] = 1000.0
    want = u.copy()
    a, b = cuda.to_device(u), cuda.device_array_like(u)
    for _ in range(20):
        step[4, 32](a, b, 0.25)
        a, b = b, a
        want[1:-1] = 0.25 * (want[2:] + want[:-2] - 2 * want[1:-1]) + want[1:-1]
    return a.copy_to_host(), want


@case
def laplace_with_grid_synchronisation():
    @cuda.jit
    def relax(old, new, timesteps):
        i = cuda.grid(1)
        grid = cuda.cg.this_grid()
        for step in range(timesteps):
            if step % 2 == 0:
                src, dst = old, new
            else:
                src, dst = new, old
            if 0 < i < len(old) - 1:
                dst[i] = 0.5 * (src[i - 1] + src[i + 1])
            elif i == 0 or i == len(old) - 1:
                dst[i] = src[i]
            grid.sync()

    u = np.zeros(96)
    u[[0, -1]] = 1.0, 2.0
    want = u.copy()
    for _ in range(9):
        want[1:-1] = 0.5 * (want[:-2] + want[2:])
    new = np.zeros(96)
    relax[3, 32](u, new, 9)
    return new, want


@case
def jacobi_2d_with_error_reduction():
    @cuda.jit
    def jacobi(A, Anew, error):
        err = cuda.shared.array((4, 8), dtype=float64)
        tx = cuda.threadIdx.x
        ty = cuda.threadIdx.y
        j, i = cuda.grid(2)
        err[ty, tx] = 0
        if i >= 1 and i < A.shape[0] - 1 and j >= 1 and j < A.shape[1] - 1:
            Anew[i, j] = 0.25 * (A[i, j + 1] + A[i, j - 1] + A[i - 1, j] + A[i + 1, j])
            err[ty, tx] = abs(Anew[i, j] - A[i, j])
        cuda.syncthreads()
        t = 4
        while t > 0:
            if tx < t:
                err[ty, tx] = max(err[ty, tx], err[ty, tx + t])
            t //= 2
            cuda.syncthreads()
        t = 2
        while t > 0:
            if ty < t and tx == 0:
                err[ty, tx] = max(err[ty, tx], err[ty + t, tx])
            t //= 2
            cuda.syncthreads()
        if tx == 0 and ty == 0:
            error[cuda.blockIdx.y, cuda.blockIdx.x] = err[0, 0]

    a = rng().random((12, 24))
    new, error = a.copy(), np.zeros((3, 3))
    jacobi[(3, 3), (8, 4)](a, new, error)
    want = a.copy()
    want[1:-1, 1:-1] = 0.25 * (a[1:-1, 2:] + a[1:-1, :-2] + a[:-2, 1:-1] + a[2:, 1:-1])
    return (new, error), (want, abs(want - a).reshape(3, 4, 3, 8).max(axis=(1, 3)))


@case
def stencil_with_shared_halo():
    radius, block, width = 2, 16, 20

    @cuda.jit
    def smooth(x, out):
        s = cuda.shared.array(width, float32)
        g = cuda.grid(1)
        t = cuda.threadIdx.x + radius
        s[t] = x[g]
        if cuda.threadIdx.x < radius:
            s[t - radius] = x[g - radius] if g >= radius else 0
            s[t + block] = x[g + block] if g + block < x.size else 0
        cuda.syncthreads()
        total = float32(0)
        for o in range(-radius, radius + 1):
            total += s[t + o]
        out[g] = total / (2 * radius + 1)

    x, out = f4(64), np.zeros(64, np.float32)
    smooth[4, block](x, out)
    return out, np.convolve(x, np.full(5, 0.2), "same")


@case
def game_of_life_on_a_torus():
    @cuda.jit
    def life(world, nxt):
        r, c = cuda.grid(2)
        h, w = world.shape
        if r >= h or c >= w:
            return
        alive = 0
        for dr in (-1, 0, 1):
            for dc in (-1, 0, 1):
                if dr == 0 and dc == 0:
                    continue
                alive += world[(r + dr) % h, (c + dc) % w]
        nxt[r, c] = 1 if alive == 3 or (world[r, c] and alive == 2) else 0

    world = rng(3).integers(0, 2, (10, 13)).astype(np.uint8)
    nxt = np.zeros_like(world)
    life[(2, 2), (8, 8)](world, nxt)
    shifts = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)]
    n = sum(np.roll(world, s, (0, 1)).astype(int) for s in shifts)
    return nxt, (n == 3) | ((world == 1) & (n == 2))


@case
def box_blur_on_a_colour_image():
    @cuda.jit
    def blur(img, out):
        x, y = cuda.grid(2)
        height, width, channels = img.shape
        if x < height and y < width:
            for c in range(channels):
                total, count = 0, 0
                for i in range(max(x - 1, 0), min(x + 2, height)):
                    for j in range(max(y - 1, 0), min(y + 2, width)):
                        total += img[i, j, c]
                        count += 1
                out[x, y, c] = total // count

    img = rng().integers(0, 256, (9, 7, 3), dtype=np.uint8)
    out = np.zeros_like(img)
    blur[(2, 1), (8, 8)](img, out)
    want = np.zeros_like(img)
    for x, y in np.ndindex(9, 7):
        part = img[max(x - 1, 0) : x + 2, max(y - 1, 0) : y + 2].reshape(-1, 3).astype(int)
        want[x, y] = part.sum(axis=0) // len(part)
    return out, want


@case
def sobel_with_constant_filters():
    gx = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], np.int8)

    @cuda.jit
    def sobel(img, out):
        kx = cuda.const.array_like(gx)
        i, j = cuda.grid(2)
        if 0 < i < img.shape[0] - 1 and 0 < j < img.shape[1] - 1:
            sx = 0
            sy = 0
            for a in range(3):
                for b in range(3):
                    sx += kx[a, b] * img[i + a - 1, j + b - 1]
                    sy += kx[b, a] * img[i + a - 1, j + b - 1]
            out[i, j] = min(255, int(math.sqrt(sx * sx + sy * sy)))

    img = rng(1).integers(0, 256, (9, 12)).astype(np.uint8)
    out, want = np.zeros_like(img), np.zeros_like(img)
    sobel[(2, 2), (8, 8)](img, out)
    for i, j in np.ndindex(7, 10):
        part = img[i : i + 3, j : j + 3].astype(int)
        want[i + 1, j + 1] = min(255, int(math.hypot((gx * part).sum(), (gx.T * part).sum())))
    return out, want


# --- reductions, scans, sorts -------------------------------------------------------------------


@case
def reduction_in_shared_memory():
    @cuda.jit
    def array_sum(data):
        tid = cuda.threadIdx.x
        size = len(data)
        if tid < size:
            i = cuda.grid(1)
            shr = cuda.shared.array(64, int32)
            shr[tid] = data[i]
            cuda.syncthreads()
            s = 1
            while s < cuda.blockDim.x:
                if tid % (2 * s) == 0:
                    shr[tid] += shr[tid + s]
                s *= 2
                cuda.syncthreads()
            if tid == 0:
                data[tid] = shr[tid]

    d = cuda.to_device(np.arange(64, dtype=np.int32))
    array_sum[1, 64](d)
    return d[0], 2016


@case
def reduction_with_dynamic_shared_memory():
    @cuda.jit
    def block_sums(x, out):
        buf = cuda.shared.array(0, dtype=float64)
        t = cuda.threadIdx.x
        acc = 0.0
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            acc += x[i]
        buf[t] = acc
        cuda.syncthreads()
        half = cuda.blockDim.x >> 1
        while half:
            if t < half:
                buf[t] += buf[t + half]
            cuda.syncthreads()
            half >>= 1
        if not t:
            out[cuda.blockIdx.x] = buf[0]

    x, out = rng().random(1000), np.zeros(4)
    block_sums[4, 32, 0, 32 * 8](x, out)
    return out.sum(), x.sum()


@case
def two_arrays_in_one_dynamic_block():
    @cuda.jit
    def split(x, y, out):
        f = cuda.shared.array(0, dtype=float32)[:16]
        g = cuda.shared.array(0, dtype=int32)[16:32]
        t = cuda.threadIdx.x
        f[t] = x[t]
        g[t] = y[t]
        cuda.syncthreads()
        out[t] = f[15 - t] + g[15 - t]

    x, y, out = f4(16), np.arange(16, dtype=np.int32), np.zeros(16)
    split[1, 16, 0, 128](x, y, out)
    return out, (x.astype(float) + y)[::-1]


@case
def reduce_decorator():
    @cuda.reduce
    def total(a, b):
        return a + b

    x = np.arange(1, 1235, dtype=np.float64)
    return total(x), x.sum()


@case
def argmax_of_a_block():
    @cuda.jit
    def argmax(x, where, value):
        v = cuda.shared.array(64, float32)
        k = cuda.shared.array(64, int32)
        t = cuda.threadIdx.x
        best, at = -math.inf, -1
        for i in range(t, x.shape[0], cuda.blockDim.x):
            if x[i] > best:
                best, at = x[i], i
        v[t], k[t] = best, at
        cuda.syncthreads()
        for s in (32, 16, 8, 4, 2, 1):
            if t < s and v[t + s] > v[t]:
                v[t] = v[t + s]
                k[t] = k[t + s]
            cuda.syncthreads()
        if t == 0:
            where[0] = k[0]
            value[0] = v[0]

    x = f4(777)
    where, value = np.zeros(1, np.int64), np.zeros(1, np.float32)
    argmax[1, 64](x, where, value)
    return (where, value), ([x.argmax()], [x.max()])


@case
def warp_reduction_with_shuffles():
    @cuda.jit(device=True)
    def warp_sum(val):
        offset = 16
        while offset > 0:
            val += cuda.shfl_down_sync(0xFFFFFFFF, val, offset)
            offset //= 2
        return val

    @cuda.jit
    def total(x, out):
        sums = cuda.shared.array(32, float32)
        lane = cuda.threadIdx.x % 32
        warp = cuda.threadIdx.x // 32
        i = cuda.grid(1)
        mine = x[i] if i < x.size else float32(0)
        s = warp_sum(mine)
        if lane == 0:
            sums[warp] = s
        cuda.syncthreads()
        if warp == 0:
            s = sums[lane] if lane < cuda.blockDim.x // cuda.warpsize else float32(0)
            s = warp_sum(s)
            if lane == 0:
                cuda.atomic.add(out, 0, s)

    x, out = f4(500), np.zeros(1, np.float32)
    total[4, 128](x, out)
    return out, [x.sum()]


@case
def scan_hillis_steele():
    @cuda.jit
    def scan(x, out):
        temp = cuda.shared.array(2 * 64, float32)
        t = cuda.threadIdx.x
        n = cuda.blockDim.x
        pout, pin = 0, 1
        temp[t] = x[t - 1] if t > 0 else 0
        cuda.syncthreads()
        offset = 1
        while offset < n:
            pout = 1 - pout
            pin = 1 - pout
            if t >= offset:
                temp[pout * n + t] = temp[pin * n + t] + temp[pin * n + t - offset]
            else:
                temp[pout * n + t] = temp[pin * n + t]
            cuda.syncthreads()
            offset *= 2
        out[t] = temp[pout * n + t]

    x, out = f4(64), np.zeros(64, np.float32)
    scan[1, 64](x, out)
    return out, np.cumsum(x) - x


@case
def scan_blelloch():
    @cuda.jit
    def scan(x, out, n):
        temp = cuda.shared.array(64, int32)
        t = cuda.threadIdx.x
        offset = 1
        temp[2 * t], temp[2 * t + 1] = x[2 * t], x[2 * t + 1]
        d = n >> 1
        while d > 0:
            cuda.syncthreads()
            if t < d:
                ai = offset * (2 * t + 1) - 1
                bi = offset * (2 * t + 2) - 1
                temp[bi] += temp[ai]
            offset *= 2
            d >>= 1
        if t == 0:
            temp[n - 1] = 0
        d = 1
        while d < n:
            offset >>= 1
            cuda.syncthreads()
            if t < d:
                ai = offset * (2 * t + 1) - 1
                bi = offset * (2 * t + 2) - 1
                temp[ai], temp[bi] = temp[bi], temp[bi] + temp[ai]
            d *= 2
        cuda.syncthreads()
        out[2 * t] = temp[2 * t]
        out[2 * t + 1] = temp[2 * t + 1]

    x, out = rng().integers(-9, 9, 64, dtype=np.int32), np.zeros(64, np.int32)
    scan[1, 32](x, out, 64)
    return out, np.cumsum(x) - x


@case
def bitonic_sort():
    @cuda.jit
    def exchange(values, j, k):
        i = cuda.grid(1)
        ixj = i ^ j
        if ixj > i:
            if (i & k) == 0 and values[i] > values[ixj]:
                values[i], values[ixj] = values[ixj], values[i]
            if (i & k) != 0 and values[i] < values[ixj]:
                values[i], values[ixj] = values[ixj], values[i]

    x = f4(128)
    d = cuda.to_device(x)
    k = 2
    while k <= 128:
        j = k >> 1
        while j > 0:
            exchange[2, 64](d, j, k)
            j >>= 1
        k <<= 1
    return d.copy_to_host(), np.sort(x)


@case
def odd_even_sort_in_one_block():
    @cuda.jit
    def odd_even(a):
        t = cuda.threadIdx.x
        n = a.size
        for phase in range(n):
            left = 2 * t + (phase & 1)
            if left + 1 < n and a[left] > a[left + 1]:
                a[left], a[left + 1] = a[left + 1], a[left]
            cuda.syncthreads()

    a = rng().integers(0, 100, 45).astype(np.int16)
    want = np.sort(a)
    odd_even[1, 32](a)
    return a, want


@case
def rank_sort_counts_smaller_values():
    @cuda.jit
    def rank(a, out):
        i = cuda.grid(1)
        if i < len(a):
            pos = 0
            for j in range(len(a)):
                if a[j] < a[i] or (a[j] == a[i] and j < i):
                    pos += 1
            out[pos] = a[i]

    a = rng().integers(0, 20, 70)
    out = np.zeros_like(a)
    rank[3, 32](a, out)
    return out, np.sort(a)


# --- atomics, votes, barriers, fences -----------------------------------------------------------


@case
def histogram_in_shared_memory():
    @cuda.jit
    def histogram(x, bins, lo, hi):
        local = cuda.shared.array(10, int32)
        t = cuda.threadIdx.x
        if t < 10:
            local[t] = 0
        cuda.syncthreads()
        for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
            b = int((x[i] - lo) / (hi - lo) * bins.shape[0])
            if b < 0:
                b = 0
            elif b >= bins.shape[0]:
                b = bins.shape[0] - 1
            cuda.atomic.add(local, b, 1)
        cuda.syncthreads()
        if t < 10:
            cuda.atomic.add(bins, t, local[t])

    x, bins = rng().random(900), np.zeros(10, np.int32)
    histogram[3, 64](x, bins, 0.0, 1.0)
    return bins, np.histogram(x, 10, (0, 1))[0]


ATOMIC_TYPES = (np.int32, np.int64, np.uint32, np.uint64, np.float32, np.float64)


@case
def atomic_add_sub_max_min_on_every_type():
    @cuda.jit
    def update(x, out):
        i = cuda.grid(1)
        cuda.atomic.add(out, 0, x[i])
        cuda.atomic.sub(out, 1, x[i])
        cuda.atomic.max(out, 2, x[i])
        cuda.atomic.min(out, 3, x[i])

    got, want = [], []
    for dtype in ATOMIC_TYPES:
        x = np.arange(1, 65).astype(dtype)
        out = np.array([0, 4000, 7, 7], dtype)
        update[2, 32](x, out)
        got.append(out)
        want.append([2080, 4000 - 2080, 64, 1])
    return tuple(got), tuple(want)


@case
def atomic_nanmax_and_nanmin():
    @cuda.jit
    def extremes(x, out):
        i = cuda.grid(1)
        cuda.atomic.nanmax(out, 0, x[i])
        cuda.atomic.nanmin(out, 1, x[i])

    x = np.array([1.0, np.nan, -5.0, 8.0])
    out = np.array([0.0, 0.0])
    extremes[1, 4](x, out)
    return out, [8.0, -5.0]


@case
def atomic_bits_and_wrapping_counters():
    @cuda.jit
    def bits(out, wrap):
        i = cuda.grid(1)
        cuda.atomic.or_(out, 0, uint32(1) << uint32(i % 32))
        cuda.atomic.and_(out, 1, ~(uint32(1) << uint32(i % 8)))
        cuda.atomic.xor(out, 2, uint32(i))
        cuda.atomic.inc(wrap, 0, uint32(6))
        cuda.atomic.dec(wrap, 1, uint32(6))

    out = np.array([0, 0xFFFFFFFF, 0], np.uint32)
    wrap = np.array([0, 3], np.uint32)
    bits[1, 33](out, wrap)
    xor = 0
    for i in range(33):
        xor ^= i
    return (out, wrap), ([0xFFFFFFFF, 0xFFFFFF00, xor], [33 % 7, (3 - 33) % 7])


@case
def atomic_exchange_and_compare_and_swap():
    @cuda.jit
    def claim(slots, owner, last):
        i = cuda.grid(1)
        cuda.atomic.exch(last, 0, 5)
        if cuda.atomic.cas(slots, i // 2, 0, 1) == 0:
            cuda.atomic.add(owner, i // 2, 1)

    slots, owner, last = np.zeros(32, np.int32), np.zeros(32, np.int32), np.zeros(1, np.int64)
    claim[2, 32](slots, owner, last)
    return (slots, owner, last), (np.ones(32), np.ones(32), [5])


@case
def compare_and_swap_legacy_form():
    @cuda.jit
    def first(x, out):
        i = cuda.grid(1)
        out[i] = cuda.atomic.compare_and_swap(x[i:], -1, i)

    x, out = np.array([-1, 3, -1, 7], np.int32), np.zeros(4, np.int32)
    first[1, 4](x, out)
    return (x, out), ([0, 3, 2, 7], [-1, 3, -1, 7])


@case
def atomics_with_two_and_three_indices():
    @cuda.jit
    def count(a, b):
        tile = cuda.shared.array((4, 8), float64)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        tile[tx, ty] = 0
        cuda.syncthreads()
        cuda.atomic.add(tile, (tx, uint16(ty)), 1.0)
        cuda.atomic.add(tile, (tx, 0), 1)
        cuda.syncthreads()
        a[tx, ty] = tile[tx, ty]
        cuda.atomic.max(b, (0, tx, 1), ty)

    a, b = np.zeros((4, 8)), np.zeros((1, 4, 2), np.int32)
    count[1, (4, 8)](a, b)
    want = np.ones((4, 8))
    want[:, 0] = 9
    top = np.zeros((1, 4, 2))
    top[0, :, 1] = 7
    return (a, b), (want, top)


@case
def ticket_from_atomic_add():
    @cuda.jit
    def compact(x, out, n):
        i = cuda.grid(1)
        if i < x.size and x[i] > 0:
            at = cuda.atomic.add(n, 0, 1)
            out[at] = x[i]

    x = rng().integers(-5, 6, 200).astype(np.int32)
    out, n = np.zeros(200, np.int32), np.zeros(1, np.int32)
    compact[4, 64](x, out, n)
    want = np.sort(x[x > 0])
    return (np.sort(out[: n[0]]), n), (want, [want.size])


@case
def spin_lock_around_a_counter():
    @cuda.jit
    def locked(lock, total):
        if cuda.threadIdx.x == 0:
            while cuda.atomic.cas(lock, 0, 0, 1) != 0:
                cuda.nanosleep(uint32(20))
            total[0] += 1
            cuda.threadfence()
            cuda.atomic.exch(lock, 0, 0)

    lock, total = np.zeros(1, np.int32), np.zeros(1, np.int32)
    locked[6, 4](lock, total)
    return (lock, total), ([0], [6])


@case
def last_block_finishes_the_sum():
    @cuda.jit
    def total(x, partial, ticket, out):
        s = cuda.shared.array(32, float32)
        last = cuda.shared.array(1, boolean)
        t = cuda.threadIdx.x
        s[t] = x[cuda.grid(1)]
        cuda.syncthreads()
        if t == 0:
            acc = float32(0)
            for k in range(32):
                acc += s[k]
            partial[cuda.blockIdx.x] = acc
            cuda.threadfence()
            last[0] = cuda.atomic.add(ticket, 0, 1) == cuda.gridDim.x - 1
        cuda.syncthreads()
        if last[0] and t == 0:
            acc = float32(0)
            for k in range(cuda.gridDim.x):
                acc += partial[k]
            out[0] = acc

    x, out = f4(256), np.zeros(1, np.float32)
    total[8, 32](x, np.zeros(8, np.float32), np.zeros(1, np.int32), out)
    return out, [x.sum()]


@case
def barriers_that_count_and_vote():
    @cuda.jit
    def votes(x, out):
        i = cuda.grid(1)
        out[0, i] = cuda.syncthreads_count(x[i])
        out[1, i] = cuda.syncthreads_and(int32(x[i] >= 0))
        out[2, i] = cuda.syncthreads_or(int32(x[i] == 3))

    x = np.array([0, 1, 2, 3, 0, 5, 6, 7], np.int32)
    out = np.zeros((3, 8), np.int32)
    votes[1, 8](x, out)
    return out, np.array([[6], [1], [1]]) * np.ones(8)


@case
def warp_votes():
    @cuda.jit
    def votes(x, everyone, someone, equal, ballot, active):
        i = cuda.threadIdx.x
        everyone[i] = cuda.all_sync(0xFFFFFFFF, x[i] < 40)
        someone[i] = cuda.any_sync(0xFFFFFFFF, x[i] == 5)
        equal[i] = cuda.eq_sync(0xFFFFFFFF, x[i] > 3)
        ballot[i] = cuda.ballot_sync(0xFFFFFFFF, x[i] & 1)
        if i % 4 == 0:
            active[i] = cuda.activemask()

    x = np.arange(32, dtype=np.int32)
    a, b, c = np.zeros((3, 32), np.bool_)
    d, e = np.zeros((2, 32), np.uint32)
    votes[1, 32](x, a, b, c, d, e)
    ones = np.ones(32)
    active = np.where(x % 4 == 0, 0x11111111, 0)
    return (a, b, c, d, e), (ones, ones, 0 * ones, ones * 0xAAAAAAAA, active)


@case
def shuffles_of_every_kind_and_type():
    @cuda.jit
    def shuffle(x, out):
        i = cuda.threadIdx.x
        m = 0xFFFFFFFF
        out[0, i] = cuda.shfl_sync(m, x[i], 7)
        out[1, i] = cuda.shfl_up_sync(m, x[i], 2)
        out[2, i] = cuda.shfl_down_sync(m, x[i], 5)
        out[3, i] = cuda.shfl_xor_sync(m, x[i], 16)

    got, want = [], []
    for dtype in (np.int32, np.int64, np.float32, np.float64):
        x = np.arange(10, 42).astype(dtype)
        out = np.zeros((4, 32), dtype)
        shuffle[1, 32](x, out)
        lane = np.arange(32)
        got.append(out)
        up, down = np.where(lane < 2, lane, lane - 2), np.where(lane > 26, lane, lane + 5)
        want.append(x[np.stack([np.full(32, 7), up, down, lane ^ 16])])
    return tuple(got), tuple(want)


@case
def match_any_and_match_all():
    @cuda.jit
    def match(x, out, everyone, same):
        i = cuda.grid(1)
        out[i] = cuda.match_any_sync(0xFFFFFFFF, x[i])
        mask, pred = cuda.match_all_sync(0xFFFFFFFF, x[i])
        everyone[i], same[i] = mask, pred

    x = np.arange(32, dtype=np.int32) % 2
    out, everyone, same = np.zeros(32, np.uint32), np.ones(32, np.uint32), np.ones(32, np.int32)
    match[1, 32](x, out, everyone, same)
    return (out, everyone, same), (np.where(x, 0xAAAAAAAA, 0x55555555), 0 * x, 0 * x)


@case
def warp_scan_with_lane_id_and_syncwarp():
    @cuda.jit
    def scan(x, out):
        lane = cuda.laneid
        v = x[cuda.grid(1)]
        d = 1
        while d < 32:
            below = cuda.shfl_up_sync(-1, v, d)
            if lane >= d:
                v += below
            d <<= 1
        s = cuda.shared.array(32, int32)
        s[lane] = v
        cuda.syncwarp()
        out[lane] = s[lane] + s[31 - lane]

    x, out = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    scan[1, 32](x, out)
    c = np.cumsum(x)
    return out, c + c[::-1]


@case
def fences_of_three_scopes():
    @cuda.jit
    def publish(a):
        i = cuda.grid(1)
        a[i] = i
        cuda.threadfence_block()
        cuda.threadfence()
        cuda.threadfence_system()
        a[i] += 1

    a = np.zeros(8, np.int64)
    publish[2, 4](a)
    return a, np.arange(1, 9)


# --- device functions, tuples, closures, constants ----------------------------------------------


@case
def device_functions_that_return_tuples():
    @cuda.jit(device=True)
    def add_sub(a, b):
        return a + b, a - b

    @cuda.jit(device=True, inline=True)
    def twice(a, b):
        s, d = add_sub(a, b)
        return add_sub(s, d)

    @cuda.jit
    def use(x, y, out):
        i = cuda.grid(1)
        pair = twice(x[i], y[i])
        out[i, 0] = pair[0]
        out[i, 1] = pair[-1]
        out[i, 2] = len(pair)

    x, y, out = np.arange(6.0), np.ones(6), np.zeros((6, 3))
    use[1, 6](x, y, out)
    return out, np.stack([2 * x, 2 * y, 2 + 0 * x], 1)


@case
def device_function_with_several_returns_and_default():
    @cuda.jit("float64(float64, float64)", device=True)
    def clamp(v, top):
        if v < 0:
            return 0.0
        if v > top:
            return top
        return v

    @cuda.jit
    def kernel(x, top=0.5):
        i = cuda.grid(1)
        if i < x.shape[0]:
            x[i] = clamp(x[i], top)

    x = np.linspace(-1, 1, 20)
    want = x.clip(0, 0.5)
    kernel[1, 32](x, 0.5)
    return x, want


@case
def device_function_that_writes_an_array_and_returns_nothing():
    @cuda.jit(device=True)
    def fill(row, value):
        for k in range(row.shape[0]):
            row[k] = value + k

    @cuda.jit
    def rows(out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            fill(out[i], i * 10)

    out = np.zeros((5, 3))
    rows[1, 8](out)
    return out, 10.0 * np.arange(5)[:, None] + np.arange(3)


@case
def ordinary_python_function_called_from_a_kernel():
    def cube(v):
        return v * v * v

    helper = cuda.jit(cube, device=True)

    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        x[i] = helper(x[i]) + operator.add(1, 2)

    x = np.arange(5.0)
    kernel[1, 5](x)
    return x, np.arange(5.0) ** 3 + 3


@case
def recursion_of_a_device_function():
    @cuda.jit("int64(int64)", device=True)
    def fib(n):
        if n < 2:
            return n
        return fib(n - 1) + fib(n - 2)

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = fib(i)

    out = np.zeros(10, np.int64)
    kernel[1, 10](out)
    return out, [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]


class Colour(enum.IntEnum):
    RED = 1
    GREEN = 4


LIMITS = (3, 5.5)
TABLE = np.array([10, 20, 30], np.int32)


@case
def global_tuples_arrays_and_enums():
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        if i == Colour.RED:
            out[i] = TABLE[1]
        elif i < LIMITS[0]:
            out[i] = LIMITS[1]
        elif i is not None:
            out[i] = Colour.GREEN + TABLE.shape[0] + np.pi

    out = np.zeros(5)
    kernel[1, 5](out)
    return out, [5.5, 20, 5.5, 7 + np.pi, 7 + np.pi]


@case
def closure_constants_choose_a_branch():
    def make(op, unroll):
        @cuda.jit
        def kernel(x, y, out):
            i = cuda.grid(1) * unroll
            for u in range(unroll):
                if op == "add":
                    out[i + u] = x[i + u] + y[i + u]
                else:
                    out[i + u] = x[i + u] - y[i + u]

        return kernel

    x, y = f4(32), f4(33)[:32].copy()
    a, b = np.zeros_like(x), np.zeros_like(x)
    make("add", 2)[1, 16](x, y, a)
    make("sub", 4)[1, 8](x, y, b)
    return (a, b), (x + y, x - y)


@case
def tuple_and_none_arguments():
    @cuda.jit
    def kernel(out, pair, start, extra):
        i = cuda.grid(1)
        a, b = pair
        if extra is None:
            out[i] = a * i + b + start[1]
        else:
            out[i] = -1

    out = np.zeros(4)
    kernel[1, 4](out, (2, 0.5), (1, 7), None)
    return out, 2 * np.arange(4) + 7.5


@case
def tuple_of_arrays_argument():
    @cuda.jit
    def kernel(arrays, out):
        i = cuda.grid(1)
        out[i] = arrays[0][i] + arrays[1][i] * len(arrays)

    x, y, out = np.arange(4.0), np.ones(4), np.zeros(4)
    kernel[1, 4]((cuda.to_device(x), cuda.to_device(y)), out)
    return out, x + 2


@case
def constant_arrays_of_two_dimensions():
    matrix = np.arange(12, dtype=np.float32).reshape(3, 4)

    @cuda.jit
    def kernel(out):
        c = cuda.const.array_like(matrix)
        i, j = cuda.grid(2)
        if i < c.shape[0] and j < c.shape[1]:
            out[j, i] = c[i, j]

    out = np.zeros((4, 3), np.float32)
    kernel[1, (4, 4)](out)
    return out, matrix.T


@case
def local_arrays_of_two_dimensions():
    @cuda.jit
    def invert(m, out):
        i = cuda.grid(1)
        a = cuda.local.array((2, 2), dtype=float64)
        for r in range(2):
            for c in range(2):
                a[r, c] = m[i, r, c]
        det = a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
        out[i, 0, 0], out[i, 1, 1] = a[1, 1] / det, a[0, 0] / det
        out[i, 0, 1], out[i, 1, 0] = -a[0, 1] / det, -a[1, 0] / det

    m = rng().random((6, 2, 2)) + np.eye(2)
    out = np.zeros_like(m)
    invert[1, 6](m, out)
    return out, np.linalg.inv(m)


@case
def insertion_sort_in_a_local_array():
    @cuda.jit
    def medians(x, out):
        i = cuda.grid(1)
        if i >= x.shape[0]:
            return
        v = cuda.local.array(5, x.dtype)
        for k in range(5):
            v[k] = x[i, k]
        for k in range(1, 5):
            key = v[k]
            j = k - 1
            while j >= 0 and v[j] > key:
                v[j + 1] = v[j]
                j -= 1
            v[j + 1] = key
        out[i] = v[2]

    x, out = f4(40, 5), np.zeros(40, np.float32)
    medians[2, 32](x, out)
    return out, np.median(x, axis=1)


# --- control flow -------------------------------------------------------------------------------


@case
def loop_else_clauses():
    @cuda.jit
    def primes(out):
        n = cuda.grid(1)
        if n < 2:
            out[n] = 0
            return
        for d in range(2, n):
            if d * d > n:
                out[n] = 1
                break
            if n % d == 0:
                out[n] = 0
                break
        else:
            out[n] = 2
        k = 0
        while k < n:
            k += 3
            if k == 9:
                break
        else:
            out[n] += 10

    def python(n):
        small = {0: 0, 1: 0, 2: 2}
        prime = all(n % d for d in range(2, math.isqrt(n) + 1))
        return small.get(n, int(prime)) + (10 if 1 < n <= 6 else 0)

    out = np.zeros(40, np.int32)
    primes[1, 40](out)
    return out, [python(n) for n in range(40)]


@case
def nested_loops_with_break_continue_and_return():
    @cuda.jit
    def search(grid, target, found):
        t = cuda.grid(1)
        for i in range(grid.shape[1]):
            if grid[t, i, 0] < 0:
                continue
            for j in range(grid.shape[2]):
                if grid[t, i, j] > 8:
                    break
                if grid[t, i, j] == target:
                    found[t, 0] = i
                    found[t, 1] = j
                    return
        found[t, 0] = -7

    def python(plane):
        for i, row in enumerate(plane):
            if row[0] < 0:
                continue
            for j, v in enumerate(row):
                if v > 8:
                    break
                if v == 5:
                    return i, j
        return -7, -1

    x = rng(4).integers(-3, 10, (32, 4, 5))
    found = np.full((32, 2), -1)
    search[1, 32](x, 5, found)
    return found, [python(p) for p in x]


@case
def while_true_and_pass():
    @cuda.jit
    def gcd(a, b, out):
        i = cuda.grid(1)
        x, y = a[i], b[i]
        while True:
            if y == 0:
                break
            else:
                pass
            x, y = y, x % y
        out[i] = x

    a, b = rng().integers(1, 500, (2, 30))
    out = np.zeros(30, np.int64)
    gcd[1, 30](a, b, out)
    return out, np.gcd(a, b)


@case
def collatz_lengths():
    @cuda.jit
    def collatz(out):
        i = cuda.grid(1)
        n, steps = i + 1, 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        out[i] = steps

    def python(n):
        return 0 if n == 1 else 1 + python(3 * n + 1 if n % 2 else n // 2)

    out = np.zeros(100, np.uint16)
    collatz[4, 25](out)
    return out, [python(n) for n in range(1, 101)]


@case
def tuple_swaps_and_chained_assignment():
    @cuda.jit
    def fibonacci(out):
        i = cuda.grid(1)
        a, b = 0, 1
        c = d = i
        for _ in range(i):
            a, b = b, a + b
        (p, q), r = (a, c), d
        out[i] = p + q - r

    out = np.zeros(20, np.int64)
    fibonacci[1, 20](out)
    return out, [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584, 4181]


@case
def augmented_assignments_of_every_operator():
    @cuda.jit
    def all_of_them(a, f):
        i = cuda.grid(1)
        a[i, 0] += 3
        a[i, 1] -= 3
        a[i, 2] *= 3
        a[i, 3] //= 3
        a[i, 4] %= 3
        a[i, 5] **= 2
        a[i, 6] <<= 2
        a[i, 7] >>= 1
        a[i, 8] &= 6
        a[i, 9] |= 9
        a[i, 10] ^= 5
        f[i] /= 4
        s = a[i, 0]
        s += 1
        s -= 2
        s *= 3
        s //= 2
        s %= 7
        s **= 2
        s <<= 3
        s >>= 1
        s |= 1
        s &= 0xFF
        s ^= 2
        f[i] += s

    a = np.repeat(np.arange(-4, 5, dtype=np.int32)[:, None], 11, axis=1)
    f = np.ones(9)
    all_of_them[1, 9](a, f)
    x = np.arange(-4, 5)
    want = [x + 3, x - 3, x * 3, x // 3, x % 3, x**2, x << 2, x >> 1, x & 6, x | 9, x ^ 5]
    s = (((x + 2) * 3) // 2 % 7) ** 2 << 3 >> 1
    return (a, f), (np.stack(want, 1), 0.25 + (((s | 1) & 0xFF) ^ 2))


@case
def boolean_logic_and_chained_comparisons():
    @cuda.jit
    def logic(a, b, out):
        i = cuda.grid(1)
        if i < a.size:
            out[i, 0] = a[i] and b[i]
            out[i, 1] = a[i] or not b[i]
            out[i, 2] = a[i] ^ b[i]
            out[i, 3] = 0 < i <= 2 != b[i]
            out[i, 4] = not (a[i] == b[i]) & True
            out[i, 5] = (a[i] != b[i]) | (i >= 3) and not i == 1
            out[i, 6] = i in (1, 3)
            out[i, 7] = bool(i) if a[i] else ~b[i]

    a = np.array([True, True, False, False])
    b = np.array([True, False, True, False])
    out = np.zeros((4, 8), np.bool_)
    logic[1, 8](a, b, out)
    i = np.arange(4)
    want = [a & b, a | ~b, a ^ b, (i > 0) & (i <= 2), a != b, ((a != b) | (i >= 3)) & (i != 1)]
    return out, np.stack([*want, (i == 1) | (i == 3), np.where(a, i > 0, ~b)], 1)


@case
def assert_in_a_kernel():
    @cuda.jit
    def checked(x):
        i = cuda.grid(1)
        assert i < 8
        x[i] = i

    x = np.zeros(8)
    checked[1, 8](x)
    return x, np.arange(8)


@case
def print_in_a_kernel():
    @cuda.jit
    def hello(x):
        i = cuda.grid(1)
        if i == 0:
            print("thread", i, "value", x[i])
        x[i] += 1

    x = np.zeros(4)
    hello[1, 4](x)
    return x, np.ones(4)


@case
def annotations_and_docstring():
    @cuda.jit
    def kernel(x: np.ndarray, n: int) -> None:
        """Adds n.

        Returns nothing.
        """
        i: int = cuda.grid(1)
        step: float
        step = 0.5
        if i < x.size:
            x[i] += n * step
        return None

    x = np.zeros(4)
    kernel[1, 4](x, 3)
    return x, np.full(4, 1.5)


@case
def loops_over_arrays_enumerate_and_zip():
    @cuda.jit
    def kernel(x, w, out):
        i = cuda.grid(1)
        total = 0.0
        for v in x:
            total += v
        for k, v in enumerate(x):
            total += k * v
        for v, u in zip(x, w):
            total += u * v
        out[i] = total

    x, w, out = np.arange(5.0), np.arange(5.0), np.zeros(2)
    kernel[1, 2](x, w, out)
    return out, np.full(2, 10.0 + 30 + 30)


# --- views --------------------------------------------------------------------------------------


@case
def row_and_column_views():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        row = x[i]
        col = x[:, i]
        inner = x[1:3, 1:]
        tail = row[-2:]
        out[i, 0] = row[0] + row[len(row) - 1]
        out[i, 1] = col[2] * col.shape[0]
        out[i, 2] = inner[0, 0] + inner.shape[1] * 100
        out[i, 3] = tail[0] - tail[-1]
        out[i, 4] = x[i, ::2][1]
        x[i, ...][3] = 5.0

    x = np.arange(16.0).reshape(4, 4)
    out = np.zeros((4, 5))
    before = x.copy()
    kernel[1, 4](x, out)
    i = np.arange(4)
    want = [before[:, 0] + before[:, 3], before[2] * 4, 305.0 + 0 * i, -1.0 + 0 * i, before[:, 2]]
    before[:, 3] = 5
    return (out, x), (np.stack(want, 1), before)


@case
def array_attributes():
    @cuda.jit
    def kernel(x, out):
        m, n = x.shape
        out[0], out[1], out[2], out[3], out[4] = m, n, x.size, x.ndim, len(x)
        out[5], out[6] = x.strides[0], x.itemsize

    out = np.zeros(7, np.int64)
    kernel[1, 1](f4(3, 5), out)
    return out, [3, 5, 15, 2, 3, 20, 4]


@case
def slice_assignment_and_whole_array_fill():
    @cuda.jit
    def kernel(x, y):
        i = cuda.grid(1)
        x[i, 1:3] = 7.0
        y[i, :] = x[i, 2]

    x, y = np.zeros((3, 4)), np.zeros((3, 4))
    kernel[1, 3](x, y)
    want = np.zeros((3, 4))
    want[:, 1:3] = 7
    return (x, y), (want, np.full((3, 4), 7))


@case
def arrays_of_many_types():
    @cuda.jit
    def double(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i] + x[i]

    got, want = [], []
    for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.uint64, np.complex64, np.complex128):
        x = np.array([1, 2, 100, 3]).astype(dtype)
        out = np.zeros(4, dtype)
        double[1, 4](x, out)
        got.append(out)
        want.append(x + x)
    return tuple(got), tuple(want)


@case
def float16_arrays():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = x[i] * x[i] + x[i]

    x = np.linspace(0, 2, 9).astype(np.float16)
    out = np.zeros(9, np.float16)
    kernel[1, 9](x, out)
    return out, x * x + x


@case
def record_arrays():
    particle = np.dtype([("x", np.float32), ("v", np.float32), ("id", np.int32)])

    @cuda.jit
    def move(p, dt):
        i = cuda.grid(1)
        if i < p.size:
            p[i].x += p[i].v * dt
            p[i]["id"] = i

    p = np.zeros(4, particle)
    p["v"] = np.arange(4)
    move[1, 4](p, 0.5)
    return (p["x"].copy(), p["id"].copy()), (0.5 * np.arange(4), np.arange(4))


# --- numbers: casts, widening, division, shifts, complex, math ----------------------------------


def defined(expression, names):
    """A function from one expression, in a file of its own so that its source can be read."""
    name = f"<{expression}>"
    text = f"def expression({names}):\n    return {expression}\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace = dict(globals())
    exec(compile(text, name, "exec"), namespace)
    return namespace["expression"]


def device_equals_host(expression, *arrays, result=np.float64):
    """The same scalar function compiled by numba.njit and run as a device function."""
    names = "ab"[: len(arrays)]
    function = defined(expression, ", ".join(names))
    host, device = njit(function), cuda.jit(device=True)(function)

    @cuda.jit
    def two(x, y, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = device(x[i], y[i])

    @cuda.jit
    def one(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = device(x[i])

    out = np.zeros(arrays[0].size, result)
    (one if len(arrays) == 1 else two)[1, 64](*arrays, out)
    return out, np.array([host(*values) for values in zip(*arrays, strict=True)]).astype(result)


PAIRS = np.array([[7, 3], [-7, 3], [7, -3], [-7, -3], [6, 3], [-1, 5], [0, 4], [100, 27]]).T.copy()
INTEGER = {
    "floor_division": "a // b",
    "modulo": "a % b",
    "true_division": "a / b",
    "shift_left": "a << (b & 7)",
    "shift_right": "a >> (b & 3)",
    "widening_product": "a * b * 50000",
    "power": "a ** (b & 3)",
    "invert_and_negate": "~a - (-b) + (+a)",
    "masks": "(a & b) + (a | b) * 3 + (a ^ b) * 5",
    "extremes": "min(a, b) * 3 + max(a, b, 2) + abs(a)",
    "divmod": "divmod(a, b)[0] * 100 + divmod(a, b)[1]",
    "conditional_float": "a if a > b else 0.5",
    "int32_cast": "int32(a * 1000000007) + b",
    "uint32_cast": "uint32(a * 2654435761) >> 7",
    "uint8_and_int16_casts": "uint8(a * b) + int16(a << 9) + int8(b * 77)",
    "numpy_casts": "np.uint16(a) + np.int32(b) * np.float32(0.1)",
    "uint64_cast": "uint64(a) >> uint64(3)",
    "float32_sum": "float32(a) / float32(b) + float32(0.1)",
    "mixed_float": "float32(a) * 0.1 + b",
    "round_and_int": "round(a / b) * 10 + int(a / b) + float(a)",
    "round_digits": "round(a / b, 2)",
    "bool_arithmetic": "(a > b) + (a < 0) * 2 + bool(b)",
    "math_on_integers": "math.floor(a / b) * 100 + math.ceil(a / b) + math.trunc(b / 2)",
    "copysign_atan2": "math.copysign(a, b) + math.atan2(a, b)",
    "hypot_pow": "math.hypot(a, b) + math.pow(abs(a), b)",
}
REAL = {
    "trigonometry": "math.sin(a) + math.cos(a) + math.tan(a) + math.atan(a)",
    "inverse": "math.asin(a / 4) + math.acos(a / 4) + math.asinh(a) + math.atanh(a / 4)",
    "hyperbolic": "math.sinh(a) + math.cosh(a) + math.tanh(a) + math.acosh(a + 1)",
    "exponents": "math.exp(a) + math.expm1(a) + math.log(a) + math.log1p(a)",
    "logarithms": "math.log2(a) + math.log10(a) + math.sqrt(a) + math.fabs(-a)",
    "special": "math.erf(a) + math.erfc(a) + math.gamma(a) + math.lgamma(a)",
    "rounding": "math.floor(a) + math.ceil(a) + math.trunc(a) + round(a)",
    "degrees": "math.degrees(a) - math.radians(a) + math.pi * math.e",
    "frexp_ldexp": "math.ldexp(math.frexp(a)[0], 3) + math.frexp(a)[1]",
    "modf": "math.modf(a)[0] * 7 + math.modf(a)[1]",
    "tests": "math.isnan(a) + 2 * math.isinf(a) + 4 * math.isfinite(a)",
    "power_half": "a**0.5 + a**3 + a**-1",
    "floor_division": "a // 0.75 + a % 0.75",
    "literal_widens": "a * 1.1 + 1",
    "float32_stays": "float32(a) * float32(1.1) + float32(1) / 3",
    "integer_widens": "a * 3 + 16777217",
    "numpy_functions": "np.sin(a) + np.log2(a) + np.arctan(a) + np.isnan(a) + np.maximum(a, 1)",
    "signs": "-a + abs(-a) * 2 + (a > 1) - (not a)",
    "complex_parts": "(complex(a, 2) * 1j).real + abs(complex(a, 1)) + (a + 2j).imag",
}


def register(name, function):
    CASES[name] = function


for _name, _expression in INTEGER.items():
    for _type in (np.int32, np.int64, np.uint8):
        _values = (PAIRS if np.issubdtype(_type, np.signedinteger) else abs(PAIRS)).astype(_type)
        register(
            f"integers_{_name}_{_type.__name__}",
            lambda e=_expression, v=_values: device_equals_host(e, *v),
        )
for _name, _expression in REAL.items():
    for _type in (np.float32, np.float64):
        _values = np.array([0.3, 0.5, 1.0, 1.5, 2.25, 3.9]).astype(_type)
        register(
            f"reals_{_name}_{_type.__name__}",
            lambda e=_expression, v=_values: device_equals_host(e, v),
        )


@case
def mixed_signed_and_unsigned_integers():
    a = np.array([1, 2, 3, 250], np.uint8)
    b = np.array([-1, 5, -300, 7], np.int32)
    c = np.array([2**63, 1, 5, 2**64 - 1], np.uint64)
    return tuple(
        zip(
            device_equals_host("a + b", a, b),
            device_equals_host("a * b", a, a),
            device_equals_host("a - b", a, a[::-1].copy()),
            device_equals_host("a + b", c, b),
            device_equals_host("(a >> (b & 7)) & 1", c, a),
            device_equals_host("a ^ (a << uint64(13)) ^ (b & 0)", c, a, result=np.uint64),
            device_equals_host("a < b", c, b),
            strict=True,
        )
    )


@case
def complex_numbers():
    @cuda.jit
    def kernel(z, w, out):
        i = cuda.grid(1)
        out[i, 0] = z[i] * w[i] + 1j
        out[i, 1] = z[i] / w[i]
        out[i, 2] = z[i].conjugate() * z[i].imag
        out[i, 3] = complex(w[i].real, -1.0) ** 2
        out[i, 4] = abs(z[i]) if z[i] != w[i] else complex64(0)

    z, w = rng().random((2, 5)) + 1j * rng(1).random((2, 5))
    out = np.zeros((5, 5), np.complex128)
    kernel[1, 5](z, w, out)
    want = [z * w + 1j, z / w, z.conj() * z.imag, (w.real - 1j) ** 2, abs(z) + 0j]
    return out, np.stack(want, 1)


@case
def cmath_functions():
    import cmath

    @cuda.jit
    def kernel(z, out):
        i = cuda.grid(1)
        out[i] = cmath.exp(z[i]) + cmath.sqrt(z[i]) + cmath.phase(z[i])

    z = rng().random(5) + 1j * rng(1).random(5)
    out = np.zeros(5, np.complex128)
    kernel[1, 5](z, out)
    return out, np.exp(z) + np.sqrt(z) + np.angle(z)


@case
def bit_intrinsics():
    @cuda.jit
    def kernel(x, y, out):
        i = cuda.grid(1)
        out[i, 0] = cuda.popc(x[i])
        out[i, 1] = cuda.clz(x[i])
        out[i, 2] = cuda.ffs(x[i])
        out[i, 3] = cuda.brev(x[i])
        out[i, 4] = cuda.selp(x[i] > 4, 3, 8)
        out[i, 5] = cuda.popc(y[i])
        out[i, 6] = cuda.clz(y[i])
        out[i, 7] = cuda.ffs(y[i])

    x = np.array([1, 2, 0xF0, 0], np.uint32)
    y = np.array([1, -1, 1 << 40, 0], np.int64)
    out = np.zeros((4, 8), np.int64)
    kernel[1, 4](x, y, out)
    rows = [[1, 31, 1, 1 << 31, 8, 1, 63, 1], [1, 30, 2, 1 << 30, 8, 64, 0, 1]]
    rows += [[4, 24, 5, 0x0F000000, 3, 1, 23, 41], [0, 32, 0, 0, 8, 0, 64, 0]]
    return out, rows


@case
def float_intrinsics():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[i, 0] = cuda.fma(x[i], x[i], 1.0)
        out[i, 1] = cuda.cbrt(x[i])

    x, out = np.arange(1.0, 6), np.zeros((5, 2))
    kernel[1, 5](x, out)
    return out, np.stack([x * x + 1, np.cbrt(x)], 1)


@case
def libdevice_functions():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[i, 0] = libdevice.rsqrt(x[i])
        out[i, 1] = libdevice.fast_expf(float32(x[i]))

    x, out = np.arange(1.0, 6), np.zeros((5, 2), np.float32)
    kernel[1, 5](x, out)
    return out, np.stack([x**-0.5, np.exp(x)], 1)


@case
def fast_math_option():
    @cuda.jit(fastmath=True, max_registers=32, lineinfo=True)
    def kernel(x):
        i = cuda.grid(1)
        x[i] = math.sqrt(x[i]) / float32(3)

    x = f4(32)
    want = np.sqrt(x) / np.float32(3)
    kernel[1, 32](x)
    return x, want


@case
def type_conversions_of_variables():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        a = 0
        for k in range(i):
            a += x[k]
        b = int32(2147483647) + int32(i)
        c = float32(16777216) + float32(i)
        d = bool_(i)
        out[i] = a + b * 2 + c + int64(d) + np.float64(1) / 3

    x, out = f4(6), np.zeros(6)
    kernel[1, 6](x, out)
    i = np.arange(6)
    a = np.concatenate([[0], np.cumsum(x.astype(np.float64))[:-1]])
    c = np.float32(16777216) + i.astype(np.float32)
    return out, a + (2147483647 + i) * 2 + c + (i > 0) + 1 / 3


# --- classic programs ---------------------------------------------------------------------------


@case
def mandelbrot():
    @cuda.jit(device=True)
    def mandel(x, y, max_iters):
        c = complex(x, y)
        z = 0.0j
        for i in range(max_iters):
            z = z * z + c
            if (z.real * z.real + z.imag * z.imag) >= 4:
                return i
        return max_iters

    @cuda.jit
    def fractal(min_x, max_x, min_y, max_y, image, iters):
        height = image.shape[0]
        width = image.shape[1]
        dx = (max_x - min_x) / width
        dy = (max_y - min_y) / height
        start_x, start_y = cuda.grid(2)
        grid_x = cuda.gridDim.x * cuda.blockDim.x
        grid_y = cuda.gridDim.y * cuda.blockDim.y
        for x in range(start_x, width, grid_x):
            real = min_x + x * dx
            for y in range(start_y, height, grid_y):
                imag = min_y + y * dy
                image[y, x] = mandel(real, imag, iters)

    image = np.zeros((16, 24), np.uint8)
    fractal[(2, 1), (8, 8)](-2.0, 1.0, -1.0, 1.0, image, 20)

    def escape(c):
        z = 0j
        for i in range(20):
            z = z * z + c
            if z.real * z.real + z.imag * z.imag >= 4:
                return i
        return 20

    step = [[complex(-2 + x * (3 / 24), -1 + y * (2 / 16)) for x in range(24)] for y in range(16)]
    return image, [[escape(c) for c in row] for row in step]


@case
def julia_set():
    @cuda.jit
    def julia(out, cr, ci):
        r, c = cuda.grid(2)
        if r < out.shape[0] and c < out.shape[1]:
            zr, zi = c / 8.0 - 1, r / 8.0 - 1
            n = 0
            while n < 30 and zr * zr + zi * zi < 4.0:
                zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
                n += 1
            out[r, c] = n

    out = np.zeros((16, 16), np.int32)
    julia[(2, 2), (8, 8)](out, -0.7, 0.27)
    want = np.zeros((16, 16))
    for r, c in np.ndindex(16, 16):
        zr, zi, n = c / 8 - 1, r / 8 - 1, 0
        while n < 30 and zr * zr + zi * zi < 4:
            zr, zi, n = zr * zr - zi * zi - 0.7, 2 * zr * zi + 0.27, n + 1
        want[r, c] = n
    return out, want


@case
def n_body_with_tiles():
    @cuda.jit
    def forces(pos, acc, soft):
        tile = cuda.shared.array((16, 4), float32)
        i = cuda.grid(1)
        px, py, pz = pos[i, 0], pos[i, 1], pos[i, 2]
        ax = ay = az = float32(0)
        for start in range(0, pos.shape[0], 16):
            for k in range(4):
                tile[cuda.threadIdx.x, k] = pos[start + cuda.threadIdx.x, k]
            cuda.syncthreads()
            for j in range(16):
                dx, dy, dz = tile[j, 0] - px, tile[j, 1] - py, tile[j, 2] - pz
                inv = 1.0 / math.sqrt(dx * dx + dy * dy + dz * dz + soft)
                w = tile[j, 3] * inv**3
                ax += dx * w
                ay += dy * w
                az += dz * w
            cuda.syncthreads()
        acc[i, 0], acc[i, 1], acc[i, 2] = ax, ay, az

    pos, acc = f4(48, 4), np.zeros((48, 3), np.float32)
    forces[3, 16](pos, acc, np.float32(0.01))
    d = pos[None, :, :3].astype(float) - pos[:, None, :3]
    w = pos[:, 3] * ((d**2).sum(-1) + 0.01) ** -1.5
    return acc, (d * w[..., None]).sum(1).astype(np.float32)


@case
def spmv_in_csr_form():
    @cuda.jit
    def spmv(data, indices, indptr, x, y):
        row = cuda.grid(1)
        if row < indptr.size - 1:
            acc = 0.0
            for p in range(indptr[row], indptr[row + 1]):
                acc += data[p] * x[indices[p]]
            y[row] = acc

    dense = rng(2).random((20, 15)) * (rng(3).random((20, 15)) < 0.3)
    rows, cols = np.nonzero(dense)
    indptr = np.searchsorted(rows, np.arange(21)).astype(np.int32)
    x, y = rng().random(15), np.zeros(20)
    spmv[1, 32](dense[rows, cols], cols.astype(np.int32), indptr, x, y)
    return y, dense @ x


@case
def k_means_assignment_and_update():
    @cuda.jit
    def assign(points, centres, label, sums, counts):
        i = cuda.grid(1)
        if i >= points.shape[0]:
            return
        best = 0
        shortest = np.inf
        for c in range(centres.shape[0]):
            d = 0.0
            for k in range(points.shape[1]):
                d += (points[i, k] - centres[c, k]) ** 2
            if d < shortest:
                shortest = d
                best = c
        label[i] = best
        for k in range(points.shape[1]):
            cuda.atomic.add(sums, (best, k), points[i, k])
        cuda.atomic.add(counts, best, 1)

    points, centres = rng().random((90, 3)), rng(1).random((4, 3))
    label, sums, counts = np.zeros(90, np.int32), np.zeros((4, 3)), np.zeros(4, np.int32)
    assign[3, 32](points, centres, label, sums, counts)
    near = ((points[:, None] - centres) ** 2).sum(-1).argmin(1)
    want = np.stack([points[near == c].sum(0) for c in range(4)])
    return (label, sums, counts), (near, want, np.bincount(near, minlength=4))


@case
def fft_in_one_block():
    @cuda.jit
    def fft(x, out):
        s = cuda.shared.array(64, np.complex128)
        t = cuda.threadIdx.x
        n, bits = 64, 6
        for i in range(t, n, cuda.blockDim.x):
            r, v = 0, i
            for _ in range(bits):
                r = (r << 1) | (v & 1)
                v >>= 1
            s[r] = x[i]
        cuda.syncthreads()
        half = 1
        while half < n:
            k = t % half
            top = (t // half) * 2 * half + k
            angle = -math.pi * k / half
            w = complex(math.cos(angle), math.sin(angle)) * s[top + half]
            s[top + half] = s[top] - w
            s[top] = s[top] + w
            cuda.syncthreads()
            half *= 2
        out[t], out[t + 32] = s[t], s[t + 32]

    x = rng().random(64) + 1j * rng(1).random(64)
    out = np.zeros(64, np.complex128)
    fft[1, 32](x, out)
    return out, np.fft.fft(x)


@case
def black_scholes():
    rsqrt2pi, a1, a2 = 0.39894228040143267794, 0.31938153, -0.356563782
    a3, a4, a5 = 1.781477937, -1.821255978, 1.330274429

    @cuda.jit(device=True)
    def cnd(d):
        k = 1.0 / (1.0 + 0.2316419 * math.fabs(d))
        poly = k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5))))
        ret = rsqrt2pi * math.exp(-0.5 * d * d) * poly
        if d > 0:
            ret = 1.0 - ret
        return ret

    @cuda.jit
    def price(call, put, s, x, t, r, v):
        i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
        if i >= s.shape[0]:
            return
        root = math.sqrt(t[i])
        d1 = (math.log(s[i] / x[i]) + (r + 0.5 * v * v) * t[i]) / (v * root)
        d2 = d1 - v * root
        discount = x[i] * math.exp((-1.0 * r) * t[i])
        call[i] = s[i] * cnd(d1) - discount * cnd(d2)
        put[i] = discount * (1.0 - cnd(d2)) - s[i] * (1.0 - cnd(d1))

    s, x, t = 5 + 25 * rng().random(50), 1 + 99 * rng(1).random(50), 0.25 + rng(2).random(50)
    call, put = np.zeros((2, 50))
    price[2, 32](call, put, s, x, t, 0.02, 0.3)
    cdf = np.vectorize(lambda d: 0.5 * math.erfc(-d / math.sqrt(2)))
    d1 = (np.log(s / x) + (0.02 + 0.045) * t) / (0.3 * np.sqrt(t))
    d2, disc = d1 - 0.3 * np.sqrt(t), x * np.exp(-0.02 * t)
    want = s * cdf(d1) - disc * cdf(d2)
    return (call.round(3), put.round(3)), (want.round(3), (want - s + disc).round(3))


@case
def floyd_warshall():
    @cuda.jit
    def relax(dist, k):
        i, j = cuda.grid(2)
        n = dist.shape[0]
        if i < n and j < n and i != k and j != k:
            through = dist[i, k] + dist[k, j]
            if through < dist[i, j]:
                dist[i, j] = through

    d = rng().integers(1, 40, (9, 9)).astype(np.int32)
    np.fill_diagonal(d, 0)
    want, dev = d.copy(), cuda.to_device(d)
    for k in range(9):
        relax[(2, 2), (8, 8)](dev, k)
        want = np.minimum(want, want[:, k : k + 1] + want[k])
    return dev.copy_to_host(), want


@case
def breadth_first_search():
    @cuda.jit
    def level_step(start, edges, level, current, changed):
        v = cuda.grid(1)
        if v < level.size and level[v] == current:
            for e in range(start[v], start[v + 1]):
                w = edges[e]
                if cuda.atomic.cas(level, w, -1, current + 1) == -1:
                    changed[0] = 1

    graph = rng(5).random((40, 40)) < 0.06
    rows, cols = np.nonzero(graph)
    start = np.searchsorted(rows, np.arange(41)).astype(np.int32)
    level = np.full(40, -1, np.int32)
    level[0] = 0
    dev, depth = cuda.to_device(level), 0
    while True:
        changed = np.zeros(1, np.int32)
        level_step[2, 32](start, cols.astype(np.int32), dev, depth, changed)
        if not changed[0]:
            break
        depth += 1
    want, frontier, d = level.copy(), {0}, 0
    while frontier:
        d += 1
        frontier = {int(w) for v in frontier for w in cols[rows == v] if want[w] < 0}
        want[list(frontier)] = d
    return dev.copy_to_host(), want


@case
def softmax_of_rows():
    @cuda.jit
    def softmax(x, out):
        buf = cuda.shared.array(32, float32)
        row, t = cuda.blockIdx.x, cuda.threadIdx.x
        m = float32(-np.inf)
        for c in range(t, x.shape[1], cuda.blockDim.x):
            m = max(m, x[row, c])
        buf[t] = m
        cuda.syncthreads()
        s = 16
        while s > 0:
            if t < s:
                buf[t] = max(buf[t], buf[t + s])
            cuda.syncthreads()
            s //= 2
        m = buf[0]
        cuda.syncthreads()
        total = float32(0)
        for c in range(t, x.shape[1], cuda.blockDim.x):
            total += math.exp(x[row, c] - m)
        buf[t] = total
        cuda.syncthreads()
        if t == 0:
            for k in range(1, 32):
                buf[0] += buf[k]
        cuda.syncthreads()
        for c in range(t, x.shape[1], cuda.blockDim.x):
            out[row, c] = math.exp(x[row, c] - m) / buf[0]

    x, out = 5 * f4(4, 70), np.zeros((4, 70), np.float32)
    softmax[4, 32](x, out)
    e = np.exp(x - x.max(1, keepdims=True))
    return out, e / e.sum(1, keepdims=True)


@case
def layer_norm_by_warps():
    @cuda.jit
    def norm(x, gamma, beta, out, eps):
        row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
        lane = cuda.threadIdx.x
        n = x.shape[1]
        total = square = float32(0.0)
        for c in range(lane, n, 32):
            v = x[row, c]
            total += v
            square += v * v
        for shift in (16, 8, 4, 2, 1):
            total += cuda.shfl_xor_sync(0xFFFFFFFF, total, shift)
            square += cuda.shfl_xor_sync(0xFFFFFFFF, square, shift)
        mean = total / n
        inv = 1.0 / math.sqrt(square / n - mean * mean + eps)
        for c in range(lane, n, 32):
            out[row, c] = (x[row, c] - mean) * inv * gamma[c] + beta[c]

    x, g, b = f4(8, 50), f4(50), f4(51)[:50].copy()
    out = np.zeros_like(x)
    norm[2, (32, 4)](x, g, b, out, 1e-5)
    z = x.astype(float)
    want = (z - z.mean(1, keepdims=True)) / np.sqrt(z.var(1, keepdims=True) + 1e-5) * g + b
    return out.round(4), want.astype(np.float32).round(4)


@case
def sieve_of_eratosthenes():
    @cuda.jit
    def sieve(flags):
        p = cuda.grid(1) + 2
        if p * p >= flags.size:
            return
        for q in range(p * p, flags.size, p):
            flags[q] = False

    flags = np.ones(400, np.bool_)
    flags[:2] = False
    sieve[1, 32](flags)
    want = [n > 1 and all(n % d for d in range(2, math.isqrt(n) + 1)) for n in range(400)]
    return flags, want


@case
def lu_elimination_step():
    @cuda.jit
    def multipliers(a, k):
        i = cuda.grid(1)
        if k < i < a.shape[0]:
            a[i, k] /= a[k, k]

    @cuda.jit
    def update(a, k):
        i, j = cuda.grid(2)
        if k < i < a.shape[0] and k < j < a.shape[1]:
            a[i, j] -= a[i, k] * a[k, j]

    m = rng().random((7, 7)) + 7 * np.eye(7)
    d = cuda.to_device(m)
    for k in range(6):
        multipliers[1, 8](d, k)
        update[(1, 1), (8, 8)](d, k)
    lu = d.copy_to_host()
    return np.tril(lu, -1) @ np.triu(lu) + np.triu(lu), m


@case
def string_matching_on_bytes():
    @cuda.jit
    def find(text, pattern, hits):
        i = cuda.grid(1)
        if i > text.size - pattern.size:
            return
        for k in range(pattern.size):
            if text[i + k] != pattern[k]:
                return
        hits[i] = 1

    text = np.frombuffer(b"abracadabra abra", np.uint8).copy()
    pattern = np.frombuffer(b"abra", np.uint8).copy()
    hits = np.zeros(16, np.uint8)
    find[1, 32](text, pattern, hits)
    return np.flatnonzero(hits), [0, 7, 12]


@case
def upper_case_of_bytes():
    @cuda.jit
    def upper(text):
        i = cuda.grid(1)
        if i < text.size and ord("a") <= text[i] <= 122:
            text[i] -= 32

    text = np.frombuffer(b"Hello, World!", np.uint8).copy()
    upper[1, 32](text)
    return text, np.frombuffer(b"HELLO, WORLD!", np.uint8)


@case
def levenshtein_by_antidiagonals():
    @cuda.jit
    def distance(a, b, table):
        t = cuda.threadIdx.x
        n, m = len(a), len(b)
        for d in range(n + m + 1):
            i, j = t, d - t
            if i <= n and 0 <= j <= m:
                if i == 0 or j == 0:
                    table[i, j] = i + j
                else:
                    cost = 0 if a[i - 1] == b[j - 1] else 1
                    best = min(table[i - 1, j] + 1, table[i, j - 1] + 1)
                    table[i, j] = min(best, table[i - 1, j - 1] + cost)
            cuda.syncthreads()

    a, b = (np.frombuffer(s, np.uint8).copy() for s in (b"kitten sitting", b"sitting kitten"))
    table = np.zeros((15, 15), np.int32)
    distance[1, 32](a, b, table)
    want = np.zeros((15, 15), int)
    for i, j in np.ndindex(15, 15):
        if 0 in (i, j):
            want[i, j] = i + j
        else:
            swap = want[i - 1, j - 1] + (a[i - 1] != b[j - 1])
            want[i, j] = min(want[i - 1, j] + 1, want[i, j - 1] + 1, swap)
    return table, want


@case
def linear_congruential_numbers_in_32_bits():
    @cuda.jit
    def lcg(seed, out):
        i = cuda.grid(1)
        state = uint32(seed + i)
        for _ in range(10):
            state = uint32(state * 1664525 + 1013904223)
        out[i] = state

    out = np.zeros(20, np.uint32)
    lcg[1, 20](12345, out)
    state = np.arange(12345, 12365, dtype=np.uint32)
    for _ in range(10):
        state = state * np.uint32(1664525) + np.uint32(1013904223)
    return out, state


@case
def xorshift_and_splitmix_in_64_bits():
    @cuda.jit
    def mix(out):
        i = cuda.grid(1)
        z = uint64(i) + uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> uint64(27))) * uint64(0x94D049BB133111EB)
        z = z ^ (z >> uint64(31))
        z ^= z << uint64(13)
        z ^= z >> uint64(7)
        z ^= z << uint64(17)
        out[i] = z

    out = np.zeros(20, np.uint64)
    mix[1, 20](out)
    u = np.uint64
    z = np.arange(20, dtype=u) + u(0x9E3779B97F4A7C15)
    z = (z ^ (z >> u(30))) * u(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> u(27))) * u(0x94D049BB133111EB)
    z ^= z >> u(31)
    for left, by in ((1, 13), (0, 7), (1, 17)):
        z ^= z << u(by) if left else z >> u(by)
    return out, z


@case
def fnv_hash_and_crc32():
    @cuda.jit
    def hashes(words, fnv, crc):
        i = cuda.grid(1)
        h = uint32(2166136261)
        c = uint32(0xFFFFFFFF)
        for k in range(words.shape[1]):
            h ^= words[i, k]
            h = uint32(h * uint32(16777619))
            c = uint32(c ^ words[i, k])
            for _ in range(8):
                c = uint32((c >> 1) ^ (0xEDB88320 & -(c & 1)))
        fnv[i] = h
        crc[i] = uint32(~c)

    words = rng().integers(0, 256, (6, 9), dtype=np.uint8)
    fnv, crc = np.zeros((2, 6), np.uint32)
    hashes[1, 6](words, fnv, crc)

    def fnv1a(word):
        h = 2166136261
        for b in word.tolist():
            h = (h ^ b) * 16777619 % 2**32
        return h

    return (fnv, crc), ([fnv1a(w) for w in words], [zlib.crc32(w.tobytes()) for w in words])


@case
def murmur_finaliser_with_rotation():
    @cuda.jit(device=True)
    def rotl(x, r):
        return uint32((x << r) | (x >> (32 - r)))

    @cuda.jit
    def murmur(keys, out):
        i = cuda.grid(1)
        h = keys[i]
        h = rotl(h, 15)
        h ^= h >> 16
        h = uint32(h * 0x85EBCA6B)
        h ^= h >> 13
        h = uint32(h * 0xC2B2AE35)
        h ^= h >> 16
        out[i] = h

    keys = rng().integers(0, 2**32, 20, dtype=np.uint32)
    out = np.zeros_like(keys)
    murmur[1, 20](keys, out)

    def python(h):
        h = ((h << 15) | (h >> 17)) % 2**32
        h = (h ^ (h >> 16)) * 0x85EBCA6B % 2**32
        h = (h ^ (h >> 13)) * 0xC2B2AE35 % 2**32
        return h ^ (h >> 16)

    return out, [python(int(k)) for k in keys]


@case
def monte_carlo_pi_with_own_generator():
    @cuda.jit
    def inside(iterations, counts):
        i = cuda.grid(1)
        state = uint32(i * 7919 + 1)
        hits = 0
        for _ in range(iterations):
            state = uint32(state * uint32(1664525) + uint32(1013904223))
            x = (state >> 8) / 16777216.0
            state = uint32(state * uint32(1664525) + uint32(1013904223))
            y = (state >> 8) / 16777216.0
            if x**2 + y**2 <= 1.0:
                hits += 1
        counts[i] = hits

    counts, want = np.zeros(32, np.int32), np.zeros(32, int)
    inside[1, 32](50, counts)
    s = (np.arange(32) * 7919 + 1).astype(np.uint32)
    for _ in range(50):
        s = s * np.uint32(1664525) + np.uint32(1013904223)
        x = (s >> 8) / 16777216
        s = s * np.uint32(1664525) + np.uint32(1013904223)
        want += x**2 + ((s >> 8) / 16777216) ** 2 <= 1
    return counts, want


@case
def monte_carlo_pi_with_xoroshiro():
    @cuda.jit
    def compute_pi(states, iterations, out):
        t = cuda.grid(1)
        inside = 0
        for _ in range(iterations):
            x = xoroshiro128p_uniform_float32(states, t)
            y = xoroshiro128p_uniform_float32(states, t)
            if x**2 + y**2 <= 1.0:
                inside += 1
        out[t] = 4.0 * inside / iterations

    states = create_xoroshiro128p_states(64, seed=1)
    out = np.zeros(64, np.float32)
    compute_pi[2, 32](states, 200, out)
    return abs(out.mean() - np.pi) < 0.1, True


@case
def random_walk_with_normal_numbers():
    @cuda.jit
    def walk(states, out):
        t = cuda.grid(1)
        for k in range(out.shape[1]):
            a = xoroshiro128p_normal_float32(states, t)
            out[t, k] = a + 0 * xoroshiro128p_uniform_float64(states, t)

    out = np.zeros((64, 50))
    walk[1, 64](create_xoroshiro128p_states(64, seed=7), out)
    return (abs(out.mean()) < 0.1, abs(out.std() - 1) < 0.1), (True, True)


@case
def sliding_window_sum():
    @cuda.jit
    def window_sum(x, width, out):
        i = cuda.grid(1)
        n = out.shape[0]
        if i < n:
            w = x[i : i + width]
            total = 0.0
            for k in range(w.size):
                total += w[k]
            out[i] = total / width

    x = rng().random(60)
    out = np.zeros(53)
    window_sum[2, 32](x, 8, out)
    return out, np.convolve(x, np.full(8, 1 / 8), "valid")


@case
def polynomial_product():
    @cuda.jit
    def multiply(p, q, r):
        i = cuda.grid(1)
        if i < r.size:
            total = 0
            for k in range(max(0, i - q.size + 1), min(i + 1, p.size)):
                total += p[k] * q[i - k]
            r[i] = total

    p, q = np.array([1, -2, 3, 5], np.int32), np.array([4, 0, -7], np.int32)
    r = np.zeros(6, np.int32)
    multiply[1, 8](p, q, r)
    return r, np.polynomial.polynomial.polymul(p, q)


@case
def dot_product_with_shared_atomics():
    @cuda.jit
    def dot(a, b, out):
        block = cuda.shared.array(1, float64)
        if cuda.threadIdx.x == 0:
            block[0] = 0.0
        cuda.syncthreads()
        i = cuda.grid(1)
        if i < a.size:
            cuda.atomic.add(block, 0, a[i] * b[i])
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(out, 0, block[0])

    a, b, out = rng(1).random(90), rng(2).random(90), np.zeros(1)
    dot[3, 32](a, b, out)
    return out, [a @ b]


@case
def business_cycle_of_many_integer_types():
    @cuda.jit
    def pack(r, g, b, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = (uint32(r[i]) << 16) | (uint32(g[i]) << 8) | b[i]

    r, g, b = rng().integers(0, 256, (3, 10), dtype=np.uint8)
    out = np.zeros(10, np.uint32)
    pack[1, 10](r, g, b, out)
    return out, r.astype(int) * 65536 + g.astype(int) * 256 + b


@case
def gray_code_and_bit_reversal():
    @cuda.jit
    def codes(gray, rev):
        i = cuda.grid(1)
        gray[i] = i ^ (i >> 1)
        r = uint8(0)
        for k in range(8):
            r |= ((i >> k) & 1) << (7 - k)
        rev[i] = r

    gray, rev = np.zeros(256, np.uint8), np.zeros(256, np.uint8)
    codes[8, 32](gray, rev)
    i = np.arange(256)
    return (gray, rev), (i ^ (i >> 1), [int(f"{k:08b}"[::-1], 2) for k in i])


@case
def newton_iteration_until_converged():
    @cuda.jit
    def root(x, out, tol=1e-12):
        i = cuda.grid(1)
        if i < x.size:
            guess = x[i]
            change = 1.0
            while abs(change) > tol:
                change = (guess * guess - x[i]) / (2 * guess)
                guess -= change
            out[i] = guess

    x, out = np.arange(1.0, 30), np.zeros(29)
    root[1, 32](x, out, 1e-12)
    return out, np.sqrt(x)


@case
def runge_kutta_with_device_functions_as_arguments():
    @cuda.jit(device=True)
    def derivative(t, y):
        return -2 * y + t

    @cuda.jit(device=True)
    def rk4(f, t, y, h):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    @cuda.jit
    def solve(y, h, steps):
        i = cuda.grid(1)
        if i < y.size:
            for s in range(steps):
                y[i] = rk4(derivative, s * h, y[i], h)

    y = np.arange(4.0)
    start = y.copy()
    solve[1, 4](y, 0.01, 100)
    want = (start + 0.25) * np.exp(-2) + 0.5 - 0.25
    return y.round(7), want.round(7)


@case
def kernel_with_an_explicit_signature():
    @cuda.jit(void(float64[:], int32))
    def fill(x, v):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = v

    x = np.zeros(5)
    fill[1, 8](x, 3)
    return x, np.full(5, 3.0)


@case
def cooperative_launch_over_rows():
    @cuda.jit
    def sequential_rows(m):
        col = cuda.grid(1)
        g = cuda.cg.this_grid()
        rows = m.shape[0]
        cols = m.shape[1]
        for row in range(1, rows):
            opposite = cols - col - 1
            m[row, col] = m[row - 1, opposite] + 1
            g.sync()

    m = np.zeros((6, 64), np.int32)
    sequential_rows[2, 32](m)
    return m, np.arange(6)[:, None] * np.ones(64)


@case
def vectorize_and_guvectorize_are_not_kernels_but_common():
    from numba import vectorize

    @vectorize(["float64(float64, float64)"], target="cuda")
    def add(a, b):
        return a + b

    x = np.arange(5.0)
    return add(x, x), 2 * x


# --- running them -------------------------------------------------------------------------------


def tolerance(array):
    single = array.dtype in (np.float32, np.complex64, np.float16)
    return (2e-3 if array.dtype == np.float16 else 2e-5) if single else 1e-11


def assert_same(got, want):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    if got.dtype.kind in "fc":
        np.testing.assert_allclose(got, want, rtol=tolerance(got), atol=tolerance(got))
    else:
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", CASES)
def test_the_kernel_gives_the_right_result(name):
    got, want = CASES[name]()
    if not isinstance(got, tuple):
        got, want = (got,), (want,)
    for one, other in zip(got, want, strict=True):
        assert_same(one, other)
