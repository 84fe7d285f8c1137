"""Kernels that are wrong. The docstring of each names its flaw."""

import numpy as np
from numba import cuda, float32, int32, uint64

from . import KernelCase, case, in_place, same_shape, vectors

BLOCK = 64
TILE = 8
PADDED = TILE + 1
HALOED = BLOCK + 2
BINS = 16
FULL = 0xFFFFFFFF
HALF = 0xFFFF
TABLE = np.arange(10, dtype=np.float32)


def indices(count: int, below: int):
    """Return a maker of (x, bins): ``count`` random int64 below a limit, and one zero per value."""
    return lambda rng: (rng.integers(0, below, count), np.zeros(below, np.int64))


def matrices(m: int, n: int, k: int):
    """Return a maker of float32 arguments (a, b, c) of a matrix product."""
    return lambda rng: (
        rng.random((m, k), np.float32),
        rng.random((k, n), np.float32),
        np.zeros((m, n), np.float32),
    )


# --- races in shared memory -------------------------------------------------------------------


@case("race", vectors(BLOCK))
@cuda.jit
def reverse_without_barrier(x, out):
    """No barrier between filling the tile and reading another thread's element."""
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    out[i] = tile[BLOCK - 1 - i]


@case("race", matrices(TILE, TILE, 3 * TILE), block=(TILE, TILE))
@cuda.jit
def product_without_first_barrier(a, b, c):
    """The tiles are read before all of their elements are loaded."""
    sa = cuda.shared.array((TILE, TILE), float32)
    sb = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0)
    for t in range(a.shape[1] // TILE):
        sa[ty, tx] = a[ty, t * TILE + tx]
        sb[ty, tx] = b[t * TILE + ty, tx]
        for k in range(TILE):
            acc += sa[ty, k] * sb[k, tx]
        cuda.syncthreads()
    c[ty, tx] = acc


@case("race", matrices(TILE, TILE, 3 * TILE), block=(TILE, TILE))
@cuda.jit
def product_without_second_barrier(a, b, c):
    """The next tiles are loaded while slower warps still read the old ones."""
    sa = cuda.shared.array((TILE, TILE), float32)
    sb = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0)
    for t in range(a.shape[1] // TILE):
        sa[ty, tx] = a[ty, t * TILE + tx]
        sb[ty, tx] = b[t * TILE + ty, tx]
        cuda.syncthreads()
        for k in range(TILE):
            acc += sa[ty, k] * sb[k, tx]
    c[ty, tx] = acc


@case("race", vectors(4 * BLOCK, BLOCK))
@cuda.jit
def double_buffer_without_barrier(x, out):
    """Two buffers, but no barrier between filling one and reading it."""
    tile = cuda.shared.array((2, BLOCK), float32)
    i = cuda.threadIdx.x
    tile[0, i] = x[i]
    cuda.syncthreads()
    total = float32(0)
    for t in range(4):
        if t + 1 < 4:
            tile[(t + 1) % 2, i] = x[(t + 1) * BLOCK + i]
        total += tile[t % 2, BLOCK - 1 - i]
    out[i] = total


@case("race", vectors(4 * BLOCK, BLOCK))
@cuda.jit
def race_in_the_last_tile_only(x, out):
    """The barrier is left out in the last round, where a tile is filled and read as well."""
    tile = cuda.shared.array((4, BLOCK), float32)
    i = cuda.threadIdx.x
    total = float32(0)
    for t in range(4):
        tile[t, i] = x[t * BLOCK + i]
        if t + 1 < 4:
            cuda.syncthreads()
        total += tile[t, BLOCK - 1 - i]
    out[i] = total


@case("race", vectors(BLOCK, 1))
@cuda.jit
def tree_without_barrier(x, out):
    """A tree reduction whose levels are not separated."""
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncthreads()
    distance = BLOCK // 2
    while distance > 0:
        if i < distance:
            tile[i] += tile[i + distance]
        distance //= 2
    if i == 0:
        out[0] = tile[0]


@case("race", vectors(BLOCK, 1))
@cuda.jit
def last_warp_without_syncwarp(x, out):
    """The last warp relies on its lanes running in step."""
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncthreads()
    if i < 32:
        tile[i] += tile[i + 32]
        tile[i] += tile[i + 16]
        tile[i] += tile[i + 8]
        tile[i] += tile[i + 4]
        tile[i] += tile[i + 2]
        tile[i] += tile[i + 1]
    if i == 0:
        out[0] = tile[0]


@case("race", vectors(BLOCK))
@cuda.jit
def syncwarp_instead_of_barrier(x, out):
    """A syncwarp orders one warp; the element comes from another."""
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncwarp()
    out[i] = tile[(i + 32) % BLOCK]


@case("race", vectors(128, 1), block=128)
@cuda.jit
def warp_sums_read_too_early(x, out):
    """The first thread adds the warps' sums without waiting for the other warps."""
    sums = cuda.shared.array(4, float32)
    i = cuda.threadIdx.x
    value = x[i]
    for distance in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(FULL, value, distance)
    if i % 32 == 0:
        sums[i // 32] = value
    if i == 0:
        out[0] = sums[0] + sums[1] + sums[2] + sums[3]


@case("race", vectors(BLOCK, 2))
@cuda.jit
def scratch_of_two_sums(x, out):
    """The second sum overwrites the scratch array that the first is still read from."""
    scratch = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    for power in range(2):
        scratch[i] = x[i] ** (power + 1)
        cuda.syncthreads()
        if i == 0:
            total = float32(0)
            for k in range(BLOCK):
                total += scratch[k]
            out[power] = total


@case("race", vectors(BLOCK))
@cuda.jit
def scan_in_place(x, out):
    """Each thread adds its neighbour's element before the neighbour's old value is surely read."""
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncthreads()
    distance = 1
    while distance < BLOCK:
        if i >= distance:
            tile[i] += tile[i - distance]
        cuda.syncthreads()
        distance *= 2
    out[i] = tile[i]


@case("race", vectors(BLOCK))
@cuda.jit
def ping_pong_scan_without_barrier(x, out):
    """A scan between two buffers whose rounds are not separated."""
    tile = cuda.shared.array((2, BLOCK), float32)
    i = cuda.threadIdx.x
    tile[0, i] = x[i]
    cuda.syncthreads()
    source, distance = 0, 1
    while distance < BLOCK:
        value = tile[source, i]
        if i >= distance:
            value += tile[source, i - distance]
        source = 1 - source
        tile[source, i] = value
        distance *= 2
    out[i] = tile[source, i]


@case("race", vectors(BLOCK + 2, BLOCK))
@cuda.jit
def stencil_without_barrier(x, out):
    """The halo is loaded by the edge threads, and read by their neighbours at once."""
    tile = cuda.shared.array(HALOED, float32)
    i = cuda.threadIdx.x
    tile[i + 1] = x[i + 1]
    if i == 0:
        tile[0] = x[0]
        tile[BLOCK + 1] = x[BLOCK + 1]
    out[i] = tile[i] + tile[i + 1] + tile[i + 2]


@case("race", vectors(BLOCK))
@cuda.jit
def race_at_the_edge_only(x, out):
    """After the barrier one thread rewrites the last element, which its neighbour reads."""
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncthreads()
    if i == BLOCK - 1:
        tile[i] = 0
    out[i] = tile[min(i + 1, BLOCK - 1)]


@case("race", same_shape(32, 32), block=(32, 8))
@cuda.jit
def transpose_without_barrier(x, out):
    """The tile is read by columns before its rows are all written."""
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    for row in range(ty, 32, 8):
        tile[row, tx] = x[row, tx]
    for row in range(ty, 32, 8):
        out[row, tx] = tile[tx, row]


@case("race", indices(BLOCK, BINS))
@cuda.jit
def shared_histogram_by_store(x, bins):
    """The bins are read, raised and stored without an atomic."""
    local = cuda.shared.array(BINS, int32)
    i = cuda.threadIdx.x
    if i < BINS:
        local[i] = 0
    cuda.syncthreads()
    local[x[i]] += 1
    cuda.syncthreads()
    if i < BINS:
        bins[i] = local[i]


@case("race", indices(BLOCK, BINS))
@cuda.jit
def histogram_read_too_early(x, bins):
    """No barrier between the atomics and reading the bins."""
    local = cuda.shared.array(BINS, int32)
    i = cuda.threadIdx.x
    if i < BINS:
        local[i] = 0
    cuda.syncthreads()
    cuda.atomic.add(local, x[i], 1)
    if i < BINS:
        bins[i] = local[i]


@case("race", indices(BLOCK, BINS))
@cuda.jit
def histogram_cleared_too_late(x, bins):
    """No barrier between clearing the bins and the atomics."""
    local = cuda.shared.array(BINS, int32)
    i = cuda.threadIdx.x
    if i < BINS:
        local[i] = 0
    cuda.atomic.add(local, x[i], 1)
    cuda.syncthreads()
    if i < BINS:
        bins[i] = local[i]


@case("race", vectors(BLOCK))
@cuda.jit
def total_read_by_the_last_thread(x, out):
    """All threads add to one number; the last one reads it without waiting for the others."""
    total = cuda.shared.array(1, float32)
    i = cuda.threadIdx.x
    if i == 0:
        total[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(total, 0, x[i])
    if i == BLOCK - 1:
        out[0] = total[0]


@case("race", vectors(BLOCK))
@cuda.jit
def flag_raised_by_the_last_thread(x, out):
    """All threads clear a flag and one raises it, with no barrier between the two."""
    flag = cuda.shared.array(1, int32)
    i = cuda.threadIdx.x
    flag[0] = 0
    if i == BLOCK - 1:
        flag[0] = 1
    cuda.syncthreads()
    out[i] = flag[0]


@case("race", lambda rng: (np.zeros(1, np.int32),))
@cuda.jit
def everyone_writes_its_number(out):
    """All threads store to one shared element, each another value."""
    winner = cuda.shared.array(1, int32)
    winner[0] = cuda.threadIdx.x
    cuda.syncthreads()
    out[0] = winner[0]


@case("race", vectors(BLOCK))
@cuda.jit
def broadcast_without_barrier(x, out):
    """One thread stores what all others read at once."""
    scale = cuda.shared.array(1, float32)
    i = cuda.threadIdx.x
    if i == 0:
        scale[0] = x[0]
    out[i] = x[i] * scale[0]


@case("race", vectors(BLOCK))
@cuda.jit
def broadcast_reused_too_early(x, out):
    """The next value is broadcast while slower threads still read the last one."""
    scale = cuda.shared.array(1, float32)
    i = cuda.threadIdx.x
    for r in range(4):
        if i == r:
            scale[0] = x[i]
        cuda.syncthreads()
        out[i] += x[i] * scale[0]


@case("race", vectors(32), block=32)
@cuda.jit
def halves_of_a_warp(x, out):
    """One branch of a warp writes what the other reads; nothing says which runs first."""
    tile = cuda.shared.array(16, float32)
    i = cuda.threadIdx.x
    if i < 16:
        tile[i] = x[i]
    else:
        out[i] = tile[i - 16]


@case("race", vectors(32), block=32)
@cuda.jit
def half_a_warp_rewrites_what_the_other_reads(x, out):
    """The syncwarp names the lower half only, but the upper half has read the element as well."""
    first = cuda.shared.array(1, float32)
    i = cuda.threadIdx.x
    if i == 0:
        first[0] = x[0]
    cuda.syncthreads()
    if i >= 16:
        out[i] = first[0]
    else:
        out[i] = first[0]
        cuda.syncwarp(HALF)
        if i == 0:
            first[0] = 2 * x[0]


@case("race", vectors(BLOCK))
@cuda.jit
def race_in_one_lane(x, out):
    """Only the last lane of the first warp reads an element of the second, and waits for none."""
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    if i == 31:
        out[i] = tile[32]
    else:
        out[i] = tile[i]


@case("race", in_place(128), block=128)
@cuda.jit
def bitonic_sort_without_inner_barrier(x):
    """The steps of one stage of the sorting network are not separated."""
    tile = cuda.shared.array(128, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    size = 2
    while size <= 128:
        cuda.syncthreads()
        distance = size // 2
        while distance > 0:
            other = i ^ distance
            if other > i and (tile[i] > tile[other]) == (i & size == 0):
                tile[i], tile[other] = tile[other], tile[i]
            distance //= 2
        size *= 2
    cuda.syncthreads()
    x[i] = tile[i]


@cuda.jit(device=True)
def take_from(tile, i):
    """The element of the opposite thread."""
    return tile[BLOCK - 1 - i]


@case("race", vectors(BLOCK))
@cuda.jit
def race_in_a_device_function(x, out):
    """The device function reads what the kernel has just stored, with no barrier between."""
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    out[i] = take_from(tile, i)


@case("race", in_place(TILE, TILE), block=(TILE, TILE))
@cuda.jit
def smoothing_in_place(x):
    """Each element is replaced while the rows beside it still read its old value."""
    tile = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = x[ty, tx]
    cuda.syncthreads()
    if 0 < ty < TILE - 1:
        tile[ty, tx] = (tile[ty - 1, tx] + tile[ty + 1, tx]) / float32(2)
    cuda.syncthreads()
    x[ty, tx] = tile[ty, tx]


@case("race", vectors(BLOCK), shared_bytes=4 * 2 * BLOCK)
@cuda.jit
def regions_of_dynamic_shared_overlap(x, out):
    """The second region of the dynamic memory starts one element too early."""
    dynamic = cuda.shared.array(0, float32)
    first, second = dynamic[:BLOCK], dynamic[BLOCK - 1 :]
    i = cuda.threadIdx.x
    first[i] = x[i]
    second[i] = -x[i]
    cuda.syncthreads()
    out[i] = first[BLOCK - 1 - i] + second[i]


@case("race", vectors(BLOCK), shared_bytes=4 * BLOCK)
@cuda.jit
def types_of_dynamic_shared_overlap(x, out):
    """Both views of the dynamic memory start at its first byte, so one overwrites the other."""
    numbers = cuda.shared.array(0, float32)
    counts = cuda.shared.array(0, int32)
    i = cuda.threadIdx.x
    numbers[i] = x[i]
    counts[BLOCK - 1 - i] = i
    cuda.syncthreads()
    out[i] = numbers[i] + counts[i]


# --- races in global memory -------------------------------------------------------------------


@case("race", indices(4 * BLOCK, BINS), grid=4)
@cuda.jit
def histogram_by_store(x, bins):
    """The bins in global memory are read, raised and stored without an atomic."""
    bins[x[cuda.grid(1)]] += 1


@case("race", in_place(BLOCK))
@cuda.jit
def neighbours_in_place(x):
    """Each thread replaces its element, which its neighbour still reads."""
    i = cuda.threadIdx.x
    if i + 1 < x.size:
        x[i] = (x[i] + x[i + 1]) / float32(2)


@case("race", in_place(4 * BLOCK), grid=4)
@cuda.jit
def neighbours_in_place_between_blocks(x):
    """A barrier orders the threads of one block, but the last one reads from the next block."""
    i = cuda.grid(1)
    right = x[min(i + 1, x.size - 1)]
    cuda.syncthreads()
    x[i] = (x[i] + right) / float32(2)


@case(
    "race", lambda rng: (rng.random(4 * BLOCK, np.float32), *np.zeros((2, 4), np.float32)), grid=4
)
@cuda.jit
def another_blocks_result(x, sums, out):
    """Each block reads the sum of the block before it without a barrier of the grid."""
    block = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        total = float32(0)
        for k in range(BLOCK):
            total += x[block * BLOCK + k]
        sums[block] = total
    cuda.syncthreads()
    if cuda.threadIdx.x == 0 and block > 0:
        out[block] = sums[block - 1]


def ticket_arguments(rng):
    """Return arguments (x, partial, ticket, out) for 4 blocks."""
    x = rng.random(4 * BLOCK, np.float32)
    return x, np.zeros(4, np.float32), np.zeros(1, np.int32), np.zeros(1, np.float32)


@case("race", ticket_arguments, grid=4)
@cuda.jit
def ticket_without_fence(x, partial, ticket, out):
    """The last block adds the partial sums, but no fence comes before the tickets."""
    if cuda.threadIdx.x == 0:
        total = float32(0)
        for k in range(BLOCK):
            total += x[cuda.blockIdx.x * BLOCK + k]
        partial[cuda.blockIdx.x] = total
        if cuda.atomic.add(ticket, 0, 1) == cuda.gridDim.x - 1:
            total = float32(0)
            for k in range(cuda.gridDim.x):
                total += partial[k]
            out[0] = total


@case("race", ticket_arguments, grid=4)
@cuda.jit
def fence_before_the_store(x, partial, ticket, out):
    """The fence comes before the partial sum is stored, so it does not publish it."""
    if cuda.threadIdx.x == 0:
        total = float32(0)
        for k in range(BLOCK):
            total += x[cuda.blockIdx.x * BLOCK + k]
        cuda.threadfence()
        partial[cuda.blockIdx.x] = total
        if cuda.atomic.add(ticket, 0, 1) == cuda.gridDim.x - 1:
            total = float32(0)
            for k in range(cuda.gridDim.x):
                total += partial[k]
            out[0] = total


@case(
    "race",
    lambda rng: (
        rng.random(4 * BLOCK, np.float32),
        np.zeros(4 * BLOCK, np.float32),
        np.zeros(1, np.int32),
        np.zeros(1, np.float32),
    ),
    grid=4,
)
@cuda.jit
def ticket_without_barrier(x, squares, ticket, out):
    """One thread's fence publishes only what it has seen; the others may not have stored yet."""
    i = cuda.threadIdx.x
    squares[cuda.grid(1)] = x[cuda.grid(1)] ** 2
    if i == 0:
        cuda.threadfence()
        if cuda.atomic.add(ticket, 0, 1) == cuda.gridDim.x - 1:
            cuda.threadfence()
            for k in range(squares.size):
                out[0] += squares[k]


@case("race", lambda rng: (np.zeros(1, np.int32), np.zeros(1, np.int64)), grid=8, block=32)
@cuda.jit
def lock_without_fences(lock, total):
    """A lock lets one block in at a time, but nothing publishes what the last one stored."""
    if cuda.threadIdx.x == 0:
        waiting = True
        while waiting:
            if cuda.atomic.cas(lock, 0, 0, 1) == 0:
                total[0] += cuda.blockIdx.x
                cuda.atomic.exch(lock, 0, 0)
                waiting = False


@case("race", lambda rng: (np.zeros(1, np.int32), np.zeros(1, np.int64)), grid=8, block=32)
@cuda.jit
def lock_by_plain_store(lock, total):
    """The lock is tested and taken in two steps, so that several blocks find it free."""
    if cuda.threadIdx.x == 0 and lock[0] == 0:
        lock[0] = cuda.blockIdx.x + 1
        total[0] += cuda.blockIdx.x


@case("race", vectors(4 * BLOCK, 1), grid=4)
@cuda.jit
def maximum_by_store(x, out):
    """Compare and store are two steps: a smaller value can overwrite a greater one."""
    i = cuda.grid(1)
    if x[i] > out[0]:
        out[0] = x[i]


@case(
    "race",
    lambda rng: (rng.random(BLOCK, np.float32), np.zeros(1, np.int64), np.zeros(BLOCK, np.float32)),
)
@cuda.jit
def compaction_by_store(x, count, out):
    """Places in the output are handed out by a plain load and store."""
    i = cuda.threadIdx.x
    if x[i] > 0.5:
        place = count[0]
        count[0] = place + 1
        out[place] = x[i]


@case("race", vectors(4 * BLOCK, 1), grid=4)
@cuda.jit
def total_cleared_by_the_kernel(x, out):
    """One thread clears the total while the other blocks already add to it."""
    i = cuda.grid(1)
    if i == 0:
        out[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(out, 0, x[i])


@case("race", vectors(4 * BLOCK), grid=4)
@cuda.jit
def blocks_overlap_by_one(x, out):
    """The blocks' pieces of the output are one element too close together."""
    i = cuda.threadIdx.x
    out[cuda.blockIdx.x * (BLOCK - 1) + i] = x[cuda.grid(1)]


@case("race", vectors(4 * BLOCK, 1), grid=4)
@cuda.jit
def the_last_thread_wins(x, out):
    """All threads of the grid store to one element, each another value."""
    out[0] = x[cuda.grid(1)]


@case("race", lambda rng: (rng.random((4, BLOCK), np.float32), np.zeros(BLOCK, np.float32)), grid=4)
@cuda.jit
def column_sums_by_store(x, out):
    """Each block adds its row to the same sums without an atomic."""
    i = cuda.threadIdx.x
    out[i] += x[cuda.blockIdx.x, i]


# --- out of bounds ----------------------------------------------------------------------------


@case("out_of_bounds", vectors(BLOCK - 24))
@cuda.jit
def guard_with_greater(x, out):
    """The guard lets i == n pass: it must be >=."""
    i = cuda.grid(1)
    if i > x.size:
        return
    out[i] = 2 * x[i]


@case("out_of_bounds", vectors(100), grid=2)
@cuda.jit
def no_guard(x, out):
    """The grid is rounded up to whole blocks and nothing stops the threads past the end."""
    i = cuda.grid(1)
    out[i] = 2 * x[i]


@case("out_of_bounds", vectors(BLOCK))
@cuda.jit
def neighbour_past_the_end(x, out):
    """The last thread reads an element after the last."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i + 1] - x[i]


@case(
    "out_of_bounds",
    lambda rng: (rng.random((TILE, BLOCK), np.float32), np.zeros(TILE, np.float32)),
    block=TILE,
)
@cuda.jit
def row_end_by_one(x, out):
    """The sum of a row runs one element too far, into the next row."""
    row = cuda.threadIdx.x
    if row < x.shape[0] - 1:
        for k in range(x.shape[1] + 1):
            out[row] += x[row, k]


@case("out_of_bounds", lambda rng: (rng.random((4, 48), np.float32), np.zeros(BLOCK, np.float32)))
@cuda.jit
def columns_of_a_narrow_matrix(x, out):
    """A block is wider than the matrix: the last threads read the next row."""
    i = cuda.threadIdx.x
    out[i] = x[0, i]


@case(
    "out_of_bounds",
    lambda rng: (rng.random((TILE - 1, TILE), np.float32), np.zeros((TILE, TILE), np.float32)),
    block=(TILE, TILE),
)
@cuda.jit
def one_row_too_many(x, out):
    """The guard looks at the columns only."""
    col, row = cuda.grid(2)
    if col < x.shape[1]:
        out[row, col] = x[row, col]


@case("out_of_bounds", same_shape(4, 16), block=(16, 4))
@cuda.jit
def row_and_column_swapped(x, out):
    """The indices are given in the order x, y to an array that is indexed by row, column."""
    i, j = cuda.grid(2)
    if i < x.shape[1] and j < x.shape[0]:
        out[i, j] = x[i, j]


@case("out_of_bounds", vectors(BLOCK))
@cuda.jit
def before_the_array(x, out):
    """The offset to the left is greater than the array, so it does not even wrap."""
    i = cuda.threadIdx.x
    out[i] = x[i - 2 * x.size]


@case("out_of_bounds", vectors(BLOCK))
@cuda.jit
def unsigned_index_below_zero(x, out):
    """Zero minus one is a huge unsigned number, which Numba does not count from the end."""
    i = uint64(cuda.threadIdx.x)
    out[i] = x[i - uint64(1)]


@case("out_of_bounds", lambda rng: (rng.random(BLOCK, np.float32), 2, np.zeros(BLOCK, np.float32)))
@cuda.jit
def shared_array_too_small(x, stride, out):
    """The elements are stored two apart in an array that has room for them side by side."""
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    tile[i] = 0
    cuda.syncthreads()
    tile[i * stride] = x[i]
    cuda.syncthreads()
    out[i] = tile[i]


@case("out_of_bounds", same_shape(TILE, TILE), block=(TILE, TILE))
@cuda.jit
def shared_row_end_by_one(x, out):
    """The right neighbour of a shared tile's last column is the next row's first element."""
    tile = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = x[ty, tx]
    cuda.syncthreads()
    if ty < TILE - 1:
        out[ty, tx] = tile[ty, tx] + tile[ty, tx + 1]


@case("out_of_bounds", vectors(BLOCK), shared_bytes=4 * (BLOCK - 8))
@cuda.jit
def dynamic_shared_too_small(x, out):
    """The launch asks for fewer bytes of dynamic shared memory than the kernel uses."""
    tile = cuda.shared.array(0, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncthreads()
    out[i] = tile[BLOCK - 1 - i]


@case("out_of_bounds", lambda rng: (rng.random(BLOCK, np.float32), 6, np.zeros(BLOCK, np.float32)))
@cuda.jit
def local_array_too_small(x, count, out):
    """The loop stores more numbers than the local array holds."""
    mine = cuda.local.array(4, float32)
    i = cuda.threadIdx.x
    for k in range(count):
        mine[k] = x[i] * k
    out[i] = mine[i % 4]


@case("out_of_bounds", lambda rng: (np.arange(BLOCK), np.zeros(BLOCK, np.float32)))
@cuda.jit
def past_the_constant_table(x, out):
    """The table in constant memory has fewer entries than the indices reach."""
    table = cuda.const.array_like(TABLE)
    i = cuda.threadIdx.x
    out[i] = table[x[i] // 4]


@case(
    "out_of_bounds",
    lambda rng: (rng.integers(0, BINS + 1, 4 * BLOCK), np.zeros(BINS, np.int64)),
    grid=4,
)
@cuda.jit
def value_on_the_upper_edge(x, bins):
    """A value on the upper edge of the range belongs to no bin."""
    cuda.atomic.add(bins, x[cuda.grid(1)], 1)


@case("out_of_bounds", vectors(BLOCK - 1), block=BLOCK // 4)
@cuda.jit
def four_at_a_time(x, out):
    """Each thread takes four elements, of a number that four does not divide."""
    first = 4 * cuda.grid(1)
    for k in range(4):
        out[first + k] = x[first + k]


@case("out_of_bounds", vectors(BLOCK, 2 * BLOCK - 1))
@cuda.jit
def wrong_stride(x, out):
    """Two results for each thread are stored two apart, in an array that is one too short."""
    i = cuda.threadIdx.x
    out[2 * i] = x[i]
    out[2 * i + 1] = -x[i]


@case("out_of_bounds", vectors(100), grid=2)
@cuda.jit
def test_after_the_load(x, out):
    """The value is looked at before the index is."""
    i = cuda.grid(1)
    if x[i] > 0 and i < x.size:
        out[i] = x[i]


@case("out_of_bounds", vectors(10 * BLOCK, 10 * BLOCK), grid=2)
@cuda.jit
def one_stride_too_many(x, out):
    """The grid-stride loop makes a round more than the array has."""
    step = cuda.gridsize(1)
    for i in range(cuda.grid(1), x.size + step, step):
        out[i] = x[i]


@case("out_of_bounds", same_shape(4, 48), grid=4)
@cuda.jit
def past_the_end_of_a_row_view(x, out):
    """A row taken as a view of its own ends where the row ends."""
    row = x[cuda.blockIdx.x]
    i = cuda.threadIdx.x
    if i <= row.size:
        out[cuda.blockIdx.x, i] = row[i]


@case("out_of_bounds", same_shape(3, 4, 16), block=(16, 4, 3))
@cuda.jit
def plane_above(x, out):
    """The top plane has no plane above it."""
    i, j, k = cuda.grid(3)
    out[k, j, i] = x[k + 1, j, i] - x[k, j, i]


@case(
    "out_of_bounds",
    lambda rng: (
        rng.integers(0, 2 * BLOCK, BLOCK),
        rng.random(BLOCK, np.float32),
        np.zeros(BLOCK, np.float32),
    ),
)
@cuda.jit
def indices_from_memory(chosen, x, out):
    """The indices that are read belong to a longer array."""
    i = cuda.threadIdx.x
    out[i] = x[chosen[i]]


# --- uninitialised ----------------------------------------------------------------------------


@case("uninitialised", vectors(BLOCK))
@cuda.jit
def halo_never_loaded(x, out):
    """The two cells of the halo are read, and nobody loads them."""
    tile = cuda.shared.array(HALOED, float32)
    i = cuda.threadIdx.x
    tile[i + 1] = x[i]
    cuda.syncthreads()
    out[i] = tile[i] + tile[i + 1] + tile[i + 2]


@case("uninitialised", vectors(BLOCK - 14, BLOCK))
@cuda.jit
def partial_tile(x, out):
    """The last tile is only partly loaded, and read as a whole."""
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    if i < x.size:
        tile[i] = x[i]
    cuda.syncthreads()
    out[i] = tile[BLOCK - 1 - i]


@case("uninitialised", vectors(BLOCK - 14, 1))
@cuda.jit
def tree_over_a_partial_block(x, out):
    """Threads past the end load nothing, and the tree adds their elements all the same."""
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    if i < x.size:
        tile[i] = x[i]
    cuda.syncthreads()
    distance = BLOCK // 2
    while distance > 0:
        if i < distance:
            tile[i] += tile[i + distance]
        cuda.syncthreads()
        distance //= 2
    if i == 0:
        out[0] = tile[0]


@case("uninitialised", vectors(4 * BLOCK, BLOCK))
@cuda.jit
def accumulators_not_cleared(x, out):
    """The local accumulators start with whatever is there."""
    acc = cuda.local.array(4, float32)
    i = cuda.threadIdx.x
    for k in range(4):
        acc[k] += x[k * BLOCK + i]
    out[i] = acc[0] + acc[1] + acc[2] + acc[3]


@case("uninitialised", vectors(BLOCK))
@cuda.jit
def local_array_set_in_one_branch(x, out):
    """Threads with a small value read a local element that they never set."""
    mine = cuda.local.array(2, float32)
    i = cuda.threadIdx.x
    mine[0] = x[i]
    if x[i] > 0.5:
        mine[1] = x[i]
    out[i] = mine[0] + mine[1]


@case("uninitialised", vectors(12 * BLOCK, BLOCK))
@cuda.jit
def window_read_before_it_is_full(x, out):
    """A moving window of four is averaged from the first round on."""
    window = cuda.local.array(4, float32)
    i = cuda.threadIdx.x
    for t in range(12):
        window[t % 4] = x[t * BLOCK + i]
        out[i] += window[0] + window[1] + window[2] + window[3]


@case("uninitialised", indices(BLOCK, BINS), shared_bytes=4 * BINS)
@cuda.jit
def dynamic_bins_not_cleared(x, bins):
    """The dynamic shared bins are raised without being cleared first."""
    local = cuda.shared.array(0, int32)
    i = cuda.threadIdx.x
    cuda.atomic.add(local, x[i], 1)
    cuda.syncthreads()
    if i < BINS:
        bins[i] = local[i]


@case("uninitialised", indices(BLOCK, BINS))
@cuda.jit
def half_of_the_bins_cleared(x, bins):
    """Only the first half of the shared bins is cleared."""
    local = cuda.shared.array(BINS, int32)
    i = cuda.threadIdx.x
    if i < BINS // 2:
        local[i] = 0
    cuda.syncthreads()
    cuda.atomic.add(local, x[i], 1)
    cuda.syncthreads()
    if i < BINS:
        bins[i] = local[i]


@case("uninitialised", vectors(BLOCK, 1))
@cuda.jit
def more_warp_sums_than_warps(x, out):
    """The first warp adds 32 sums of warps; the block has two."""
    sums = cuda.shared.array(32, float32)
    i = cuda.threadIdx.x
    value = x[i]
    for distance in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(FULL, value, distance)
    if i % 32 == 0:
        sums[i // 32] = value
    cuda.syncthreads()
    if i < 32:
        value = sums[i]
        for distance in (16, 8, 4, 2, 1):
            value += cuda.shfl_down_sync(FULL, value, distance)
        if i == 0:
            out[0] = value


@case(
    "uninitialised",
    lambda rng: (rng.random((TILE, TILE), np.float32), np.zeros(TILE, np.float32)),
    block=(TILE, TILE),
)
@cuda.jit
def padding_read(x, out):
    """The sum of a row includes the column that only pads it."""
    tile = cuda.shared.array((TILE, PADDED), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = x[ty, tx]
    cuda.syncthreads()
    if tx == 0:
        for k in range(TILE + 1):
            out[ty] += tile[ty, k]


@case("uninitialised", same_shape(TILE, TILE), block=(TILE, TILE))
@cuda.jit
def upper_triangle_not_loaded(x, out):
    """Only the lower triangle is loaded, and the tile is read by columns."""
    tile = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if tx <= ty:
        tile[ty, tx] = x[ty, tx]
    cuda.syncthreads()
    out[ty, tx] = tile[tx, ty]


@case("uninitialised", vectors(BLOCK), unset=(1,))
@cuda.jit
def device_array_added_to(x, out):
    """The result was allocated and never cleared, and the kernel adds to it."""
    i = cuda.grid(1)
    out[i] += x[i]


@case("uninitialised", vectors(BLOCK), unset=(0,))
@cuda.jit
def device_array_never_filled(x, out):
    """The input was allocated, and the copy from the host was forgotten."""
    i = cuda.grid(1)
    out[i] = 2 * x[i]


# --- barriers ---------------------------------------------------------------------------------


@case("barrier", vectors(BLOCK))
@cuda.jit
def barrier_in_a_divergent_if(x, out):
    """Some lanes of a warp go to the barrier, the others do not."""
    i = cuda.threadIdx.x
    if i < 40:
        cuda.syncthreads()
    out[i] = x[i]


@case("barrier", vectors(BLOCK))
@cuda.jit
def barrier_for_one_warp(x, out):
    """The first warp goes to the barrier, the second does not."""
    i = cuda.threadIdx.x
    if i < 32:
        cuda.syncthreads()
    out[i] = x[i]


@case("barrier", vectors(BLOCK))
@cuda.jit
def barrier_in_each_branch(x, out):
    """Even and odd lanes wait at two different barriers."""
    i = cuda.threadIdx.x
    if i % 2 == 0:
        out[i] = x[i]
        cuda.syncthreads()
    else:
        out[i] = -x[i]
        cuda.syncthreads()


@case("barrier", vectors(BLOCK))
@cuda.jit
def barrier_after_break(x, out):
    """Lanes leave the loop at different rounds, so the later barriers miss some of them."""
    i = cuda.threadIdx.x
    total = float32(0)
    for _ in range(8):
        total += x[i]
        if total > 2:
            break
        cuda.syncthreads()
    out[i] = total


@case("barrier", vectors(BLOCK))
@cuda.jit
def barrier_skipped_by_continue(x, out):
    """Some lanes go on to the next round without passing the barrier."""
    i = cuda.threadIdx.x
    for k in range(4):
        if (i + k) % 3 == 0:
            continue
        out[i] += x[i]
        cuda.syncthreads()


@case("barrier", vectors(BLOCK))
@cuda.jit
def rounds_by_lane(x, out):
    """The number of barriers differs from lane to lane."""
    i = cuda.threadIdx.x
    for _ in range(i % 3 + 1):
        out[i] += x[i]
        cuda.syncthreads()


@case("barrier", vectors(BLOCK))
@cuda.jit
def barrier_until_converged(x, out):
    """Each lane stops by its own value, though the loop holds a barrier for all."""
    i = cuda.threadIdx.x
    value = x[i]
    while value > 0.1:
        value /= float32(2)
        cuda.syncthreads()
    out[i] = value


@case("barrier", vectors(BLOCK, 1))
@cuda.jit
def vote_of_the_block_in_a_branch(x, out):
    """A vote of the whole block is a barrier too, and half of each warp misses it."""
    i = cuda.threadIdx.x
    if i % 32 < 16:
        count = cuda.syncthreads_count(int32(x[i] > 0.5))
        if i == 0:
            out[0] = count


@cuda.jit(device=True)
def publish(tile, i, value):
    """Store, then wait for the whole block."""
    tile[i] = value
    cuda.syncthreads()


@case("barrier", vectors(BLOCK))
@cuda.jit
def barrier_in_a_device_function(x, out):
    """Only some threads call the device function that holds the barrier."""
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    if x[i] > 0.5:
        publish(tile, i, x[i])
        out[i] = tile[i]


@case("barrier", lambda rng: (np.zeros(4 * BLOCK, np.float32),), grid=4)
@cuda.jit
def grid_barrier_for_some_blocks(out):
    """The first block does not come to the barrier of the grid."""
    if cuda.blockIdx.x > 0:
        cuda.cg.this_grid().sync()
    out[cuda.grid(1)] = 1


@case("barrier", vectors(32), block=32)
@cuda.jit
def shuffle_in_a_branch(x, out):
    """The mask names all lanes, and half of them take part."""
    i = cuda.threadIdx.x
    if i < 16:
        out[i] = cuda.shfl_xor_sync(FULL, x[i], 1)


@case("barrier", vectors(32), block=32)
@cuda.jit
def shuffle_after_half_has_left(x, out):
    """The lower lanes read from lanes that have returned."""
    i = cuda.threadIdx.x
    if i >= 16:
        return
    value = x[i]
    for distance in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(FULL, value, distance)
    out[i] = value


@case("barrier", vectors(32), block=32)
@cuda.jit
def shuffle_from_outside_the_mask(x, out):
    """Lane 15 reads from lane 16, which is not in the mask."""
    i = cuda.threadIdx.x
    if i < 16:
        out[i] = cuda.shfl_down_sync(HALF, x[i], 1)


@case("barrier", vectors(32), block=32)
@cuda.jit
def lane_not_in_its_own_mask(x, out):
    """All lanes call, and the mask leaves the upper half out."""
    i = cuda.threadIdx.x
    out[i] = cuda.shfl_xor_sync(HALF, x[i], 1)


@case("barrier", vectors(48), block=48)
@cuda.jit
def shuffle_in_a_partial_warp(x, out):
    """The second warp has 16 lanes, and they read from lanes that do not exist."""
    i = cuda.threadIdx.x
    out[i] = cuda.shfl_xor_sync(FULL, x[i], 16)


@case("barrier", vectors(32), block=32)
@cuda.jit
def shuffle_with_rounds_by_lane(x, out):
    """Lanes leave the loop at different rounds, and the mask names them all in each."""
    i = cuda.threadIdx.x
    value = x[i]
    for _ in range(i % 4 + 1):
        value += cuda.shfl_xor_sync(FULL, value, 1)
    out[i] = value


@case("barrier", lambda rng: (rng.random(32, np.float32), np.zeros(32, np.int64)), block=32)
@cuda.jit
def ballot_in_a_branch(x, out):
    """A vote of all lanes is called by those with a great value only."""
    i = cuda.threadIdx.x
    if x[i] > 0.5:
        out[i] = cuda.ballot_sync(FULL, x[i] > 0.75)


@case(
    "barrier",
    lambda rng: (rng.integers(0, 4, 32).astype(np.int32), np.zeros(32, np.int64)),
    block=32,
)
@cuda.jit
def match_in_a_branch(x, out):
    """Lanes with a zero do not take part in the match that names them."""
    i = cuda.threadIdx.x
    if x[i] > 0:
        out[i] = cuda.match_any_sync(FULL, x[i])


@case("barrier", vectors(32), block=32)
@cuda.jit
def syncwarp_in_a_branch(x, out):
    """A syncwarp of all lanes is reached by the even ones; the odd ones meet them at the next."""
    i = cuda.threadIdx.x
    if i % 2 == 0:
        cuda.syncwarp()
    out[i] = x[i]
    cuda.syncwarp()


CASES = tuple(value for value in list(vars().values()) if isinstance(value, KernelCase))
