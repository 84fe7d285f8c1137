"""Kernels with one planted bug each."""

import numpy as np
from numba import cuda, float32, int32, uint8

from utils.intrinsics.wide_memory import commit_copies, copy1_async, copy4_async, wait_copies

from . import SILENT, collector

PROGRAMS, planted = collector()
FULL = 0xFFFFFFFF


def floats(*shape):
    """Return a float32 array of different numbers, the same in each call."""
    return np.random.default_rng(11).random(shape, np.float32) + np.float32(1)


def zeros(*shape, dtype=np.float32):
    """Return an array of zeros."""
    return np.zeros(shape, dtype)


# --- races -----------------------------------------------------------------------------------


@planted("race")
def rotated_before_it_is_filled():
    """There is no barrier between the store to the tile and the load of the neighbour."""

    @cuda.jit
    def kernel(x, out):
        ring = cuda.shared.array(96, float32)
        t = cuda.threadIdx.x
        ring[t] = x[t]
        out[t] = ring[(t + 40) % 96]

    kernel[1, 96](floats(96), zeros(96))


@planted("race")
def letters_counted_without_an_atomic():
    """Threads increment the same counter with a load and a store."""

    @cuda.jit
    def kernel(letters, counts):
        i = cuda.grid(1)
        if i < letters.size:
            counts[letters[i]] += 1

    letters = np.random.default_rng(3).integers(0, 26, 500).astype(np.int32)
    kernel[4, 128](letters, zeros(26, dtype=np.int32))


@planted("race")
def prefix_sums_with_one_barrier():
    """A scan in place reads a neighbour that may have been updated in the same step."""

    @cuda.jit
    def kernel(x):
        sums = cuda.shared.array(128, float32)
        t = cuda.threadIdx.x
        sums[t] = x[t]
        d = 1
        while d < 128:
            cuda.syncthreads()
            if t >= d:
                sums[t] += sums[t - d]
            d *= 2
        x[t] = sums[t]

    kernel[1, 128](floats(128))


@planted("race")
def maximum_tree_without_barriers():
    """The steps of a tree are not separated by barriers."""

    @cuda.jit
    def kernel(x, out):
        best = cuda.shared.array(256, float32)
        t = cuda.threadIdx.x
        best[t] = x[t]
        cuda.syncthreads()
        half = 128
        while half > 0:
            if t < half:
                best[t] = max(best[t], best[t + half])
            half //= 2
        if t == 0:
            out[0] = best[0]

    kernel[1, 256](floats(256), zeros(1))


@planted("race")
def last_warp_without_syncwarp():
    """The last steps of a tree rely on a warp that stays together by itself."""

    @cuda.jit
    def kernel(x, out):
        part = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        part[t] = x[t]
        cuda.syncthreads()
        if t < 32:
            part[t] += part[t + 32]
            if t < 16:
                part[t] += part[t + 16]
        if t == 0:
            for k in range(1, 16):
                part[0] += part[k]
            out[0] = part[0]

    kernel[1, 64](floats(64), zeros(1))


@planted("race")
def tile_overwritten_too_early():
    """The next chunk is loaded while other threads still read the present one."""

    @cuda.jit
    def kernel(x, out):
        chunk = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        total = float32(0)
        for start in range(0, x.size, 64):
            chunk[t] = x[start + t]
            cuda.syncthreads()
            for k in range(64):
                total += chunk[k] * float32(k + t)
        out[t] = total

    kernel[1, 64](floats(256), zeros(64))


@planted("race")
def blocks_add_to_one_sum():
    """The first thread of each block adds to one element without an atomic."""

    @cuda.jit
    def kernel(x, total):
        mine = cuda.shared.array(32, float32)
        t = cuda.threadIdx.x
        mine[t] = x[cuda.grid(1)]
        cuda.syncthreads()
        if t == 0:
            s = float32(0)
            for k in range(32):
                s += mine[k]
            total[0] += s

    kernel[6, 32](floats(192), zeros(1))


@planted("race")
def smoothed_in_place():
    """Each thread overwrites an element that its neighbour still reads."""

    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        if 0 < i < x.size - 1:
            x[i] = (x[i - 1] + x[i] + x[i + 1]) / float32(3)

    kernel[3, 64](floats(180))


@planted("race")
def last_block_without_a_fence():
    """The last block adds results that other blocks have stored without a fence."""

    @cuda.jit
    def kernel(x, parts, arrived, total):
        b = cuda.blockIdx.x
        parts[b] = x[b]
        if cuda.atomic.add(arrived, 0, 1) == cuda.gridDim.x - 1:
            s = float32(0)
            for k in range(cuda.gridDim.x):
                s += parts[k]
            total[0] = s

    kernel[5, 1](floats(5), zeros(5), zeros(1, dtype=np.int32), zeros(1))


@planted("race")
def largest_without_an_atomic():
    """Threads compare with a shared maximum and then store it."""

    @cuda.jit
    def kernel(x, largest):
        i = cuda.grid(1)
        if x[i] > largest[0]:
            largest[0] = x[i]

    kernel[2, 64](floats(128), zeros(1))


# --- indices ---------------------------------------------------------------------------------


@planted("out_of_bounds")
def no_guard():
    """The last block has threads without an element."""

    @cuda.jit
    def kernel(x, y):
        i = cuda.grid(1)
        y[i] = float32(2) * x[i] + y[i]

    kernel[4, 64](floats(200), floats(200))


@planted("out_of_bounds")
def guard_with_equality():
    """The guard lets one index too many pass."""

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i <= x.size:
            out[i] = -x[i]

    kernel[3, 50](floats(130), zeros(130))


@planted("out_of_bounds")
def halo_beyond_the_tile():
    """The tile has no room for the elements on its right."""

    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        tile[t] = x[t]
        cuda.syncthreads()
        out[t] = tile[t] + tile[t + 1]

    kernel[1, 64](floats(65), zeros(64))


@planted("out_of_bounds")
def rows_and_columns_exchanged():
    """The row is compared with the number of columns."""

    @cuda.jit
    def kernel(x, out):
        column, row = cuda.grid(2)
        if row < x.shape[1] and column < x.shape[0]:
            out[row, column] = x[row, column]

    kernel[(3, 3), (16, 16)](floats(20, 40), zeros(20, 40))


@planted("out_of_bounds")
def next_row_of_the_tile():
    """The last row of threads reads below the tile."""

    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array((8, 8), float32)
        c, r = cuda.threadIdx.x, cuda.threadIdx.y
        tile[r, c] = x[r, c]
        cuda.syncthreads()
        out[r, c] = tile[r + 1, c] - tile[r, c]

    kernel[1, (8, 8)](floats(8, 8), zeros(8, 8))


@planted("out_of_bounds")
def window_one_too_long():
    """A private array of 5 elements is filled with 6."""

    @cuda.jit
    def kernel(x, out):
        window = cuda.local.array(5, float32)
        i = cuda.grid(1)
        for k in range(6):
            window[k] = x[i + k]
        out[i] = window[2]

    kernel[1, 32](floats(40), zeros(32))


@planted("out_of_bounds")
def the_largest_value_has_no_bin():
    """The value 1 falls into a bin that does not exist."""

    @cuda.jit
    def kernel(x, bins):
        i = cuda.grid(1)
        if i < x.size:
            cuda.atomic.add(bins, int32(x[i] * bins.size), 1)

    kernel[1, 128](np.linspace(0, 1, 100, dtype=np.float32), zeros(10, dtype=np.int32))


@planted("out_of_bounds")
def last_chunk_is_not_whole():
    """Each thread takes four elements, also where fewer are left."""

    @cuda.jit
    def kernel(x, out):
        first = 4 * cuda.grid(1)
        if first < x.size:
            for k in range(4):
                out[first + k] = x[first + k]

    kernel[1, 32](floats(106), zeros(106))


@planted("wrapped_index")
def left_neighbour_of_the_first():
    """The first thread reads the last element as its left neighbour."""

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i] - x[i - 1]

    kernel[1, 64](floats(60), zeros(60))


@planted("out_of_bounds")
def flat_index_with_the_wrong_pitch():
    """The flat index is computed with the number of rows."""

    @cuda.jit
    def kernel(x, out, rows, columns):
        c, r = cuda.grid(2)
        if r < rows and c < columns:
            out[r * columns + c] = x[c * columns + r]

    kernel[(2, 2), (16, 16)](floats(20 * 30), zeros(20 * 30), 20, 30)


# --- what nobody has set ----------------------------------------------------------------------


@planted("uninitialised")
def half_of_the_tile_is_filled():
    """Only the first half of the threads store to the tile."""

    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        if t < 32:
            tile[t] = x[t]
        cuda.syncthreads()
        out[t] = tile[63 - t]

    kernel[1, 64](floats(64), zeros(64))


@planted("uninitialised")
def private_sums_are_not_zeroed():
    """The elements of a private array are incremented before they are set."""

    @cuda.jit
    def kernel(x, out):
        sums = cuda.local.array(4, float32)
        t = cuda.threadIdx.x
        for k in range(16):
            sums[k % 4] += x[t, k]
        out[t] = sums[0] + sums[1] + sums[2] + sums[3]

    kernel[1, 32](floats(32, 16), zeros(32))


@planted("uninitialised")
def shared_counter_is_not_zeroed():
    """The counter of a block has any value at the beginning."""

    @cuda.jit
    def kernel(x, out):
        count = cuda.shared.array(1, int32)
        if x[cuda.grid(1)] > 1.5:
            cuda.atomic.add(count, 0, 1)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            out[cuda.blockIdx.x] = count[0]

    kernel[2, 64](floats(128), zeros(2, dtype=np.int32))


@planted("uninitialised")
def sign_set_in_one_branch():
    """A variable has no value for numbers below the limit."""

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if x[i] > 1.5:
            sign = 1
        out[i] = x[i] * sign

    kernel[1, 64](floats(64), zeros(64))


@planted("uninitialised")
def adds_to_new_device_memory():
    """The result is added to an array that was only allocated."""

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] += x[i]

    kernel[1, 64](cuda.to_device(floats(64)), cuda.device_array(64, np.float32))


@planted("uninitialised")
def border_of_the_tile_is_not_set():
    """The first and last element of a padded tile are never stored."""

    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array(66, float32)
        t = cuda.threadIdx.x
        tile[t + 1] = x[t]
        cuda.syncthreads()
        out[t] = tile[t] + tile[t + 2]

    kernel[1, 64](floats(64), zeros(64))


# --- barriers and warps -----------------------------------------------------------------------


@planted("barrier")
def barrier_for_even_threads():
    """Only half of the threads reach the barrier."""

    @cuda.jit
    def kernel(x):
        t = cuda.threadIdx.x
        if t % 2 == 0:
            x[t] += x[t + 1]
            cuda.syncthreads()
        x[t] *= float32(2)

    kernel[1, 64](floats(64))


@planted("barrier")
def barrier_in_a_loop_of_different_lengths():
    """The number of barriers depends on the thread."""

    @cuda.jit
    def kernel(x, out):
        t = cuda.threadIdx.x
        s = float32(0)
        for k in range(t + 1):
            s += x[k]
            cuda.syncthreads()
        out[t] = s

    kernel[1, 64](floats(64), zeros(64))


@planted("barrier")
def shuffle_names_lanes_that_have_left():
    """The mask of a shuffle names lanes beyond the end of the array."""

    @cuda.jit
    def kernel(x, out):
        t = cuda.threadIdx.x
        if t < x.size:
            v = x[t]
            v += cuda.shfl_down_sync(0xFFFFFFFF, v, 8)
            out[t] = v

    kernel[1, 32](floats(20), zeros(20))


@planted("barrier")
def ballot_of_half_a_warp():
    """A ballot asks the whole warp inside a branch of a half."""

    @cuda.jit
    def kernel(x, out):
        t = cuda.threadIdx.x
        if t < 16:
            out[t] = cuda.ballot_sync(0xFFFFFFFF, x[t] > 1.5)

    kernel[1, 32](floats(32), zeros(16, dtype=np.int64))


@planted("barrier")
def any_of_those_that_are_positive():
    """A vote inside a data-dependent branch names all lanes."""

    @cuda.jit
    def kernel(x, out):
        t = cuda.threadIdx.x
        if x[t] > 1.2:
            large = cuda.any_sync(0xFFFFFFFF, x[t] > 1.8)
            out[t] = large

    kernel[1, 64](floats(64), zeros(64))


@planted("barrier")
def grid_barrier_of_some_blocks():
    """Only the first block waits for the grid."""

    @cuda.jit
    def kernel(x):
        g = cuda.cg.this_grid()
        i = cuda.grid(1)
        x[i] += float32(1)
        if cuda.blockIdx.x == 0:
            g.sync()

    kernel[4, 32](floats(128))


@planted("LimitReached")
def loop_without_progress():
    """The condition of the loop never changes."""

    @cuda.jit
    def kernel(x, out):
        t = cuda.threadIdx.x
        k = 0
        while k < 8:
            out[t] = x[t] * k

    kernel[1, 32](floats(32), zeros(32))


# --- stale tiles and asynchronous copies ------------------------------------------------------


@planted("stale_element")
def last_tile_of_a_product_is_not_filled():
    """Threads beyond the end of the sum store nothing, and the last tile keeps old elements."""

    @cuda.jit
    def kernel(a, b, c):
        sa = cuda.shared.array((8, 8), float32)
        sb = cuda.shared.array((8, 8), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        row, column = cuda.blockIdx.y * 8 + y, cuda.blockIdx.x * 8 + x
        s = float32(0)
        for tile in range((a.shape[1] + 7) // 8):
            k = tile * 8
            if row < a.shape[0] and k + x < a.shape[1]:
                sa[y, x] = a[row, k + x]
            if column < b.shape[1] and k + y < b.shape[0]:
                sb[y, x] = b[k + y, column]
            cuda.syncthreads()
            for j in range(8):
                s += sa[y, j] * sb[j, x]
            cuda.syncthreads()
        if row < c.shape[0] and column < c.shape[1]:
            c[row, column] = s

    kernel[(2, 2), (8, 8)](floats(12, 20), floats(20, 13), zeros(12, 13))


@planted("stale_element")
def last_chunk_keeps_the_one_before():
    """The sum of a chunk includes elements of the chunk before it."""

    @cuda.jit
    def kernel(x, out):
        chunk = cuda.shared.array(32, float32)
        t = cuda.threadIdx.x
        total = float32(0)
        for start in range(0, x.size, 32):
            i = start + t
            if i < x.size:
                chunk[t] = x[i]
            cuda.syncthreads()
            for k in range(32):
                total += chunk[k]
            cuda.syncthreads()
        out[t] = total

    kernel[1, 32](floats(80), zeros(32))


@planted("race")
def copies_not_waited_for():
    """The copies are committed, and nothing waits for them."""

    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array((32, 4), float32)
        t = cuda.threadIdx.x
        copy4_async(tile, (t, 0), x, (t, 0))
        commit_copies()
        cuda.syncthreads()
        out[t] = tile[31 - t, 1]

    kernel[1, 32](floats(32, 4), zeros(32))


@planted("race")
def copies_not_committed():
    """The wait has no group to wait for."""

    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        copy1_async(tile, t, x, t)
        wait_copies(0)
        cuda.syncthreads()
        out[t] = tile[63 - t]

    kernel[1, 64](floats(64), zeros(64))


@planted("race")
def wait_for_the_older_group_only():
    """One group may still be in flight, and that is the one that is read."""

    @cuda.jit
    def kernel(x, y, out):
        first = cuda.shared.array((32, 4), float32)
        second = cuda.shared.array((32, 4), float32)
        t = cuda.threadIdx.x
        copy4_async(first, (t, 0), x, (t, 0))
        commit_copies()
        copy4_async(second, (t, 0), y, (t, 0))
        commit_copies()
        wait_copies(1)
        cuda.syncthreads()
        out[t] = first[31 - t, 0] + second[31 - t, 0]

    kernel[1, 32](floats(32, 4), floats(32, 4), zeros(32))


# --- numbers ---------------------------------------------------------------------------------


@planted("same_element")
def plus_for_times():
    """Several threads have the same index, row + width + column, and store to one element."""

    @cuda.jit
    def kernel(flags, width, bound):
        column, row = cuda.grid(2)
        if column < width and row < width:
            flags[row + width + column] = bound

    kernel[(2, 2), (16, 16)](zeros(1024), 32, float32(3))


@planted("overflow")
def index_in_32_bits():
    """The index does not fit into 32 bits."""

    @cuda.jit
    def kernel(x, out, step):
        i = cuda.grid(1)
        place = int32(i * step)
        out[i] = x[(place // step) % 64]

    kernel[1, 64](floats(64), zeros(64), 100_000_000)


@planted("overflow")
def sum_in_32_bits():
    """The sum of a block does not fit into the shared int32."""

    @cuda.jit
    def kernel(x, out):
        sums = cuda.shared.array(64, int32)
        t = cuda.threadIdx.x
        sums[t] = x[t]
        cuda.syncthreads()
        half = 32
        while half > 0:
            if t < half:
                sums[t] += sums[t + half]
            cuda.syncthreads()
            half //= 2
        if t == 0:
            out[0] = sums[0]

    kernel[1, 64](np.full(64, 100_000_000, np.int32), zeros(1, dtype=np.int64))


@planted("overflow")
def brighter_without_a_limit():
    """A pixel of 8 bits becomes dark if it gets too bright."""

    @cuda.jit
    def kernel(image):
        c, r = cuda.grid(2)
        if r < image.shape[0] and c < image.shape[1]:
            image[r, c] = image[r, c] + 60

    kernel[(2, 2), (16, 16)](np.arange(600, dtype=np.uint8).reshape(20, 30))


@planted("truncated")
def means_in_an_array_of_integers():
    """The result array has integers, so the fractions are lost."""

    @cuda.jit
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = (x[i] + y[i]) / 2

    kernel[1, 64](floats(50), floats(50), zeros(50, dtype=np.int32))


# --- logic -----------------------------------------------------------------------------------


@planted(SILENT)
def tree_ends_too_early():
    """The last step of the tree is missing."""

    @cuda.jit
    def kernel(x, out):
        part = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        part[t] = x[t]
        cuda.syncthreads()
        half = 32
        while half > 1:
            if t < half:
                part[t] += part[t + half]
            cuda.syncthreads()
            half //= 2
        if t == 0:
            out[0] = part[0]

    kernel[1, 64](floats(64), zeros(1))


@planted(SILENT)
def tree_of_an_odd_block():
    """A block of 96 threads is halved until a step loses an element."""

    @cuda.jit
    def kernel(x, out):
        part = cuda.shared.array(96, float32)
        t = cuda.threadIdx.x
        part[t] = x[t]
        cuda.syncthreads()
        half = cuda.blockDim.x // 2
        while half > 0:
            if t < half:
                part[t] += part[t + half]
            cuda.syncthreads()
            half //= 2
        if t == 0:
            out[0] = part[0]

    kernel[1, 96](floats(96), zeros(1))


@planted(SILENT)
def tiles_of_a_transpose_stay_in_place():
    """The tile is transposed, and its block is stored where it came from."""

    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array((16, 17), float32)
        c, r = cuda.threadIdx.x, cuda.threadIdx.y
        left, top = cuda.blockIdx.x * 16, cuda.blockIdx.y * 16
        tile[r, c] = x[top + r, left + c]
        cuda.syncthreads()
        out[top + r, left + c] = tile[c, r]

    kernel[(2, 2), (16, 16)](floats(32, 32), zeros(32, 32))


@planted("idle_atomic")
def minimum_that_begins_with_zero():
    """The minimum of positive numbers begins with 0."""

    @cuda.jit
    def kernel(x, smallest):
        i = cuda.grid(1)
        if i < x.size:
            cuda.atomic.min(smallest, 0, x[i])

    kernel[2, 64](floats(100), zeros(1))


@planted(SILENT)
def arguments_in_the_wrong_order():
    """The launch passes the operands of a difference in the wrong order."""

    @cuda.jit
    def kernel(new, old, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = new[i] - old[i]

    old, new = floats(64), floats(64) + np.float32(1)
    kernel[1, 64](old, new, zeros(64))


@planted("overlap")
def two_arrays_in_one_dynamic_memory():
    """Both arrays begin at the first byte of the dynamic shared memory."""

    @cuda.jit
    def kernel(x, y, out):
        a = cuda.shared.array(0, float32)
        b = cuda.shared.array(0, float32)
        t = cuda.threadIdx.x
        a[t] = x[t]
        b[t] = y[t]
        cuda.syncthreads()
        out[t] = a[63 - t] * b[63 - t]

    kernel[1, 64, 0, 512](floats(64), floats(64) + np.float32(1), zeros(64))


@planted("overflow")
def difference_of_small_pixels():
    """A negative difference becomes a large number of 8 bits."""

    @cuda.jit
    def kernel(before, after, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = uint8(after[i]) - uint8(before[i])

    pixels = np.random.default_rng(5).integers(0, 255, (2, 64)).astype(np.uint8)
    kernel[1, 64](pixels[0], pixels[1], zeros(64, dtype=np.uint8))
