"""Kernels with the slips that beginners make; the line of each is marked with ``# wrong``."""

import numpy as np
from numba import cuda, float32, float64, int32

from . import SILENT, collector

PROGRAMS, planted = collector()


def floats(*shape):
    """Return a float32 array of different numbers, the same in each call."""
    return np.random.default_rng(3).random(shape, np.float32) + np.float32(1)


def zeros(*shape, dtype=np.float32):
    """Return an array of zeros."""
    return np.zeros(shape, dtype)


# --- indices ---------------------------------------------------------------------------------


@planted("out_of_bounds")
def guard_of_the_other_array():
    """The guard compares with the longer input instead of the output."""

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i] + x[i + 1]  # wrong

    kernel[1, 128](floats(100), zeros(99))


@planted("out_of_bounds")
def x_and_y_exchanged():
    """cuda.grid(2) gives x first, which is taken for the row."""

    @cuda.jit
    def kernel(image, out):
        row, col = cuda.grid(2)
        if row < image.shape[1] and col < image.shape[0]:
            out[row, col] = 255 - image[row, col]  # wrong

    kernel[(3, 2), (16, 16)](floats(30, 40), zeros(30, 40))


@planted("out_of_bounds")
def last_neighbour_in_a_stencil():
    """The guard leaves out the first element only."""

    @cuda.jit
    def kernel(u, v):
        i = cuda.grid(1)
        if 0 < i < u.size:
            v[i] = (u[i - 1] + u[i] + u[i + 1]) / 3  # wrong

    kernel[2, 64](floats(128), zeros(128))


@planted("out_of_bounds")
def tile_with_the_index_of_the_grid():
    """The shared tile is indexed by the global index."""

    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array(64, float32)
        i = cuda.grid(1)
        if i < x.size:
            tile[i] = x[i]  # wrong
        cuda.syncthreads()
        if i < x.size:
            out[i] = tile[cuda.threadIdx.x] * 2

    kernel[4, 64](floats(256), zeros(256))


@planted("out_of_bounds")
def stride_of_a_grid_loop_added_twice():
    """The loop begins at the thread's index, and its body adds the index again."""

    @cuda.jit
    def kernel(x, out):
        start = cuda.grid(1)
        for i in range(start, x.size, cuda.gridsize(1)):
            out[start + i] = x[start + i]  # wrong

    kernel[2, 32](floats(128), zeros(128))


@planted("out_of_bounds")
def loop_to_the_length_inclusive():
    """The loop runs to n + 1."""

    @cuda.jit
    def kernel(a, b, out):
        i = cuda.grid(1)
        if i < a.shape[0]:
            acc = 0.0
            for k in range(a.shape[1] + 1):
                acc += a[i, k] * b[k]  # wrong
            out[i] = acc

    kernel[1, 32](floats(20, 12), floats(12), zeros(20))


# --- barriers and races ----------------------------------------------------------------------


@planted("barrier")
def barrier_inside_the_guard():
    """Threads beyond the end never reach the barrier."""

    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array(64, float32)
        t, i = cuda.threadIdx.x, cuda.grid(1)
        if i < x.size:
            tile[t] = x[i]
            cuda.syncthreads()  # wrong
            out[i] = tile[0]

    kernel[2, 64](floats(100), zeros(100))


@planted("barrier")
def barrier_in_the_body_of_a_tree():
    """The barrier is indented into the branch of a reduction."""

    @cuda.jit
    def kernel(x, out):
        part = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        part[t] = x[t]
        cuda.syncthreads()
        s = 32
        while s > 0:
            if t < s:
                part[t] += part[t + s]
                cuda.syncthreads()  # wrong
            s //= 2
        if t == 0:
            out[0] = part[0]

    kernel[1, 64](floats(64), zeros(1))


@planted("race")
def product_with_one_barrier():
    """The second barrier of a tiled product is missing."""

    @cuda.jit
    def kernel(a, b, c):
        sa = cuda.shared.array((16, 16), float32)
        sb = cuda.shared.array((16, 16), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        x, y = cuda.grid(2)
        acc = float32(0)
        for m in range(a.shape[1] // 16):
            sa[ty, tx] = a[y, m * 16 + tx]  # wrong
            sb[ty, tx] = b[m * 16 + ty, x]
            cuda.syncthreads()
            for k in range(16):
                acc += sa[ty, k] * sb[k, tx]
        c[y, x] = acc

    kernel[(2, 2), (16, 16)](floats(32, 32), floats(32, 32), zeros(32, 32))


@planted("race")
def counter_of_a_block():
    """Threads count matches in shared memory with +=."""

    @cuda.jit
    def kernel(x, out):
        count = cuda.shared.array(1, int32)
        if cuda.threadIdx.x == 0:
            count[0] = 0
        cuda.syncthreads()
        if x[cuda.grid(1)] > 1.5:
            count[0] += 1  # wrong
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            out[cuda.blockIdx.x] = count[0]

    kernel[2, 64](floats(128), zeros(2, dtype=np.int32))


@planted("race")
def shifted_in_place():
    """Each thread overwrites what its right neighbour reads."""

    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        if i < x.size - 1:
            x[i + 1] = x[i]  # wrong

    kernel[2, 64](floats(128))


@planted("race")
def life_in_place():
    """The new generation is stored into the array that the neighbours read."""

    @cuda.jit
    def kernel(cells):
        i, j = cuda.grid(2)
        n, m = cells.shape
        if 0 < i < n - 1 and 0 < j < m - 1:
            alive = 0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    alive += cells[i + di, j + dj]
            alive -= cells[i, j]
            cells[i, j] = 1 if alive == 3 or (alive == 2 and cells[i, j] == 1) else 0  # wrong

    cells = np.random.default_rng(1).integers(0, 2, (18, 18)).astype(np.int32)
    kernel[(2, 2), (16, 16)](cells)


@planted("race")
def block_result_stored_by_all():
    """Every block stores its sum to element 0 instead of its own element."""

    @cuda.jit
    def kernel(x, out):
        part = cuda.shared.array(32, float32)
        t = cuda.threadIdx.x
        part[t] = x[cuda.grid(1)]
        cuda.syncthreads()
        if t == 0:
            acc = float32(0)
            for k in range(32):
                acc += part[k]
            out[t] = acc  # wrong

    kernel[4, 32](floats(128), zeros(4))


# --- values that are not set -----------------------------------------------------------------


@planted("uninitialised")
def accumulator_of_a_block_not_cleared():
    """The shared sum has any value before the first atomic."""

    @cuda.jit
    def kernel(x, out):
        total = cuda.shared.array(1, float32)
        i = cuda.grid(1)
        cuda.atomic.add(total, 0, x[i])  # wrong
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            out[cuda.blockIdx.x] = total[0]

    kernel[2, 64](floats(128), zeros(2))


@planted("uninitialised")
def private_histogram_not_cleared():
    """A local array is counted up from whatever it holds."""

    @cuda.jit
    def kernel(words, out):
        i = cuda.grid(1)
        if i < words.shape[0]:
            counts = cuda.local.array(4, int32)
            for k in range(words.shape[1]):
                counts[words[i, k]] += 1  # wrong
            out[i] = counts[2]

    words = np.random.default_rng(2).integers(0, 4, (20, 10))
    kernel[1, 32](words, zeros(20, dtype=np.int32))


# --- launches, types and names ---------------------------------------------------------------


@planted("Unsupported")
def name_of_the_array_reused():
    """The parameter x is shadowed by the index, which is then indexed."""

    @cuda.jit
    def kernel(x, y, out):
        x, j = cuda.grid(2)
        if x < out.shape[0] and j < out.shape[1]:
            out[x, j] = x[j] + y[j]  # wrong

    kernel[(1, 1), (8, 8)](floats(8), floats(8), zeros(8, 8))


@planted(SILENT)
def assigned_instead_of_added():
    """acc = where acc += is meant leaves the last product only."""

    @cuda.jit
    def kernel(a, b, c):
        i, j = cuda.grid(2)
        if i < c.shape[0] and j < c.shape[1]:
            acc = 0.0
            for k in range(a.shape[1]):
                acc = a[i, k] * b[k, j]  # wrong
            c[i, j] = acc

    kernel[(1, 1), (8, 8)](floats(8, 8), floats(8, 8), zeros(8, 8))


@planted("barrier")
def early_return_before_a_barrier_in_a_loop():
    """A thread leaves the loop before the barrier that the others wait at."""

    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array(32, float32)
        t = cuda.threadIdx.x
        for start in range(0, x.size, 32):
            if start + t >= x.size:
                break
            tile[t] = x[start + t]
            cuda.syncthreads()  # wrong
            out[start + t] = tile[0]
            cuda.syncthreads()

    kernel[1, 32](floats(50), zeros(50))


@planted("uninitialised")
def maximum_set_in_one_branch():
    """best has no value if the first element is not positive."""

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            for k in range(x.shape[1]):
                if x[i, k] > 1.9:
                    best = x[i, k]
            out[i] = best  # wrong

    kernel[1, 32](floats(20, 4), zeros(20))


# --- two things at once: the harmless read of unset memory is not the cause -------------------


@planted("barrier")
def sum_whose_threads_beyond_the_end_skip_all_barriers():
    """The whole tree is inside the guard, and idle threads leave their elements unset."""

    @cuda.jit
    def kernel(a, out):
        cache = cuda.shared.array(32, float64)
        i, pos = cuda.grid(1), cuda.threadIdx.x
        if i < a.size:
            cache[pos] = a[i]
            cuda.syncthreads()  # wrong
            step = 1
            while step < 32:
                if pos % (2 * step) == 0:
                    cache[pos] += cache[pos + step]
                step *= 2
            if pos == 0:
                out[cuda.blockIdx.x] = cache[0]

    kernel[2, 32](np.ones(45), np.zeros(2))


@planted("out_of_bounds")
def block_larger_than_its_tile():
    """The launch has 32 x 32 threads, and the tile has 16 x 16 elements."""

    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array((16, 16), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        tile[ty, tx] = x[ty, tx]  # wrong
        cuda.syncthreads()
        out[tx, ty] = tile[ty, tx]

    kernel[1, (32, 32)](floats(32, 32), zeros(32, 32))


@planted("uninitialised")
def launch_with_too_few_threads_for_the_tile():
    """The launch has 16 x 16 threads, and the tile and its loop have 32."""

    @cuda.jit
    def kernel(a, out):
        tile = cuda.shared.array((32, 32), float32)
        i, j = cuda.threadIdx.x, cuda.threadIdx.y
        tile[i, j] = a[i, j]
        cuda.syncthreads()
        acc = float32(0)
        for k in range(32):
            acc += tile[i, k]  # wrong
        out[i, j] = acc

    kernel[1, (16, 16)](floats(32, 32), zeros(32, 32))


@planted("race")
def padded_tile_and_a_missing_barrier():
    """The halo of the tile is never set and never used; a barrier is missing."""

    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array(34, float32)
        t = cuda.threadIdx.x
        tile[t + 1] = x[t]
        left, right = tile[t], tile[t + 2]  # wrong
        if 0 < t < 31:
            out[t] = left + right

    kernel[1, 32](floats(32), zeros(32))


@planted("race")
def product_whose_last_tile_has_a_guard_only():
    """The tile is overwritten while it is read; its unset part is multiplied by nothing."""

    @cuda.jit
    def kernel(a, b, out):
        tile = cuda.shared.array(32, float32)
        t = cuda.threadIdx.x
        acc = float32(0)
        for start in range(0, a.size, 32):
            if start + t < a.size:
                tile[t] = a[start + t]  # wrong
            cuda.syncthreads()
            for k in range(min(32, a.size - start)):
                acc += tile[k] * b[k]
        out[t] = acc

    kernel[1, 32](floats(80), floats(32), zeros(32))


@planted("out_of_bounds")
def strides_of_another_array():
    """The position in the output is computed with the strides of the input."""

    @cuda.jit
    def kernel(out, out_shape, a, a_shape, a_strides):
        i = cuda.grid(1)
        if i < out.size:
            row, col = i // out_shape[1], i % out_shape[1]
            out[col * a_strides[0] + row * a_strides[1]] = a[col * a_strides[0] + row]  # wrong

    kernel[1, 64](zeros(40), np.array([4, 10]), floats(40), np.array([10, 4]), np.array([10, 1]))


@planted("barrier")
def shuffle_of_the_first_ten_lanes():
    """The mask names all 32 lanes, and 10 of them come to the shuffle."""

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            value = x[i]
            for d in (16, 8, 4, 2, 1):
                value += cuda.shfl_down_sync(0xFFFFFFFF, value, d)  # wrong
            if i == 0:
                out[0] = value

    kernel[1, 32](floats(10), zeros(1))


@planted(SILENT)
def weight_by_integer_division():
    """1 // n is 0, so all results are 0."""

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i] * (1 // x.size)  # wrong

    kernel[1, 64](floats(50), zeros(50))
