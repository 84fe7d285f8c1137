"""Kernels that are right, though they look wrong. The docstring of each says why it is right."""

import math

import numpy as np
from numba import cuda, float32, int32

from . import KernelCase, case, in_place, same_shape, vectors

BLOCK = 64
TILE = 8
PADDED = TILE + 1
HALOED = BLOCK + 2
BINS = 16
FULL = 0xFFFFFFFF
HALF = 0xFFFF


def histogram_arguments(rng):
    """Return arguments (x, bins)."""
    return rng.integers(0, BINS, 4 * BLOCK), np.zeros(BINS, np.int64)


def copied(x, out):
    return x


def doubled(x, out):
    return 2 * x


def total(x, out):
    return x.sum(dtype=np.float64)


def reversed_copy(x, out):
    return x[::-1]


def counted(x, bins):
    return np.bincount(x, minlength=BINS)


def running_sum(x, out):
    return np.cumsum(x)


def right_difference(x, out):
    return np.append(np.diff(x), 0)


# --- suspected of a race: shared memory -------------------------------------------------------


@case("race", vectors(BLOCK), reference=reversed_copy)
@cuda.jit
def reverse_with_barrier(x, out):
    """A barrier stands between filling the tile and reading another thread's element."""
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncthreads()
    out[i] = tile[BLOCK - 1 - i]


def product_arguments(rng):
    a, b = rng.random((TILE, 3 * TILE), np.float32), rng.random((3 * TILE, TILE), np.float32)
    return a, b, np.zeros((TILE, TILE), np.float32)


@case("race", product_arguments, block=(TILE, TILE), reference=lambda a, b, c: a @ b)
@cuda.jit
def product_with_both_barriers(a, b, c):
    """One barrier before the tiles are read, and one before they are overwritten."""
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
        cuda.syncthreads()
    c[ty, tx] = acc


def reversed_tiles(x, out):
    return x.reshape(4, BLOCK)[:, ::-1].sum(axis=0)


@case("race", vectors(4 * BLOCK, BLOCK), reference=reversed_tiles)
@cuda.jit
def double_buffer_with_one_barrier(x, out):
    """One barrier a round is enough: a buffer is overwritten a barrier after it was read."""
    tile = cuda.shared.array((2, BLOCK), float32)
    i = cuda.threadIdx.x
    tile[0, i] = x[i]
    acc = float32(0)
    for t in range(4):
        cuda.syncthreads()
        if t + 1 < 4:
            tile[(t + 1) % 2, i] = x[(t + 1) * BLOCK + i]
        acc += tile[t % 2, BLOCK - 1 - i]
    out[i] = acc


@case("race", vectors(BLOCK, 1), reference=total)
@cuda.jit
def last_warp_with_syncwarp(x, out):
    """The last warp's levels are separated by syncwarp, reads from writes too."""
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncthreads()
    if i < 32:
        value = tile[i] + tile[i + 32]
        cuda.syncwarp()
        distance = 16
        while distance > 0:
            tile[i] = value
            cuda.syncwarp()
            if i < distance:
                value += tile[i + distance]
            cuda.syncwarp()
            distance //= 2
        if i == 0:
            out[0] = value


@case("race", vectors(4 * 32), block=4 * 32, reference=copied)
@cuda.jit
def each_warp_has_its_row(x, out):
    """Every warp uses a row of its own, so syncwarp is all that it needs."""
    rows = cuda.shared.array((4, 32), float32)
    i = cuda.threadIdx.x
    warp, lane = i // 32, i % 32
    rows[warp, 31 - lane] = x[i]
    cuda.syncwarp()
    value = rows[warp, lane]
    cuda.syncwarp()
    rows[warp, 31 - lane] = value
    cuda.syncwarp()
    out[i] = rows[warp, lane]


@case("race", vectors(32), block=32, reference=lambda x, out: np.concatenate([x[15::-1], x[16:]]))
@cuda.jit
def half_a_warp_meets(x, out):
    """The lower half of a warp exchanges elements, and its syncwarp names just that half."""
    tile = cuda.shared.array(16, float32)
    i = cuda.threadIdx.x
    if i < 16:
        tile[i] = x[i]
        cuda.syncwarp(HALF)
        out[i] = tile[15 - i]
    else:
        out[i] = x[i]


def reversed_and_added(x, out):
    return np.append(x[31::-1], np.zeros(BLOCK - 32)) + x[:32].sum()


@case("race", vectors(BLOCK), reference=reversed_and_added)
@cuda.jit
def one_warp_rewrites_what_all_have_read(x, out):
    """Both warps read the elements before a barrier; after it one warp alone deals with them."""
    shared = cuda.shared.array(32, float32)
    i = cuda.threadIdx.x
    if i < 32:
        shared[i] = x[i]
    cuda.syncthreads()
    acc = float32(0)
    for k in range(32):
        acc += shared[k]
    cuda.syncthreads()
    if i < 32:
        value = shared[31 - i]
        cuda.syncwarp()
        shared[i] = value
        acc += shared[i]
    out[i] = acc


@case("race", vectors(BLOCK), reference=running_sum)
@cuda.jit
def ping_pong_scan(x, out):
    """The scan goes to and fro between two buffers with one barrier a round."""
    tile = cuda.shared.array((2, BLOCK), float32)
    i = cuda.threadIdx.x
    tile[0, i] = x[i]
    source, distance = 0, 1
    while distance < BLOCK:
        cuda.syncthreads()
        value = tile[source, i]
        if i >= distance:
            value += tile[source, i - distance]
        source = 1 - source
        tile[source, i] = value
        distance *= 2
    out[i] = tile[source, i]


@case("race", vectors(BLOCK), reference=running_sum)
@cuda.jit
def scan_in_place_with_two_barriers(x, out):
    """The old value is read before a barrier, and the new one stored after it."""
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    distance = 1
    while distance < BLOCK:
        cuda.syncthreads()
        before = tile[i - distance] if i >= distance else float32(0)
        cuda.syncthreads()
        tile[i] += before
        distance *= 2
    out[i] = tile[i]


@case("race", vectors(BLOCK + 2, BLOCK), reference=lambda x, out: x[:-2] + x[1:-1] + x[2:])
@cuda.jit
def stencil_with_barrier(x, out):
    """The halo is loaded before the barrier and read after it."""
    tile = cuda.shared.array(HALOED, float32)
    i = cuda.threadIdx.x
    for k in range(i, HALOED, BLOCK):
        tile[k] = x[k]
    cuda.syncthreads()
    out[i] = tile[i] + tile[i + 1] + tile[i + 2]


@case("race", same_shape(32, 32), block=(32, 8), reference=lambda x, out: x.T)
@cuda.jit
def transpose_with_padding(x, out):
    """Rows are written before the barrier, columns read after it; the padding is never touched."""
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    for row in range(ty, 32, 8):
        tile[row, tx] = x[row, tx]
    cuda.syncthreads()
    for row in range(ty, 32, 8):
        out[row, tx] = tile[tx, row]


@case("race", vectors(BLOCK, 2), reference=lambda x, out: np.array([x.sum(), (x**2).sum()]))
@cuda.jit
def shared_memory_used_twice(x, out):
    """The scratch array serves a second sum, after a barrier that ends the first."""
    scratch = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    for power in range(2):
        scratch[i] = x[i] ** (power + 1)
        cuda.syncthreads()
        if i == 0:
            acc = float32(0)
            for k in range(BLOCK):
                acc += scratch[k]
            out[power] = acc
        cuda.syncthreads()


@case("race", vectors(BLOCK), reference=doubled)
@cuda.jit
def shared_array_as_private_memory(x, out):
    """Every thread uses only its own element, so no barrier is needed."""
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    tile[i] += tile[i]
    out[i] = tile[i]


@case("race", vectors(BLOCK), reference=lambda x, out: np.full(BLOCK, 1 if x.max() > 0.5 else 0))
@cuda.jit
def many_raise_one_flag(x, out):
    """Several threads store to one element, but all the same value."""
    flag = cuda.shared.array(1, int32)
    i = cuda.threadIdx.x
    flag[0] = 0
    cuda.syncthreads()
    if x[i] > 0.5:
        flag[0] = 1
    cuda.syncthreads()
    out[i] = flag[0]


def primes(out):
    numbers = range(len(out))
    return np.array([n > 1 and all(n % k for k in range(2, math.isqrt(n) + 1)) for n in numbers])


@case("race", lambda rng: (np.zeros(100, np.int32),), reference=primes)
@cuda.jit
def sieve(out):
    """A multiple of two numbers is crossed out twice, with the same zero."""
    prime = cuda.shared.array(100, int32)
    i = cuda.threadIdx.x
    for k in range(i, 100, BLOCK):
        prime[k] = 1 if k > 1 else 0
    cuda.syncthreads()
    if i > 1:
        for multiple in range(2 * i, 100, i):
            prime[multiple] = 0
    cuda.syncthreads()
    for k in range(i, 100, BLOCK):
        out[k] = prime[k]


@case("race", histogram_arguments, grid=4, reference=counted)
@cuda.jit
def privatised_histogram(x, bins):
    """Atomics in shared memory, a barrier, plain reads, and atomics in global memory."""
    local = cuda.shared.array(BINS, int32)
    i = cuda.threadIdx.x
    if i < BINS:
        local[i] = 0
    cuda.syncthreads()
    cuda.atomic.add(local, x[cuda.grid(1)], 1)
    cuda.syncthreads()
    if i < BINS:
        cuda.atomic.add(bins, i, local[i])


def warp_counts(x, out):
    return np.repeat((x.reshape(-1, 32) > 0.5).sum(axis=1), 32)


@case("race", vectors(128), block=128, reference=warp_counts)
@cuda.jit
def counter_of_a_warp(x, out):
    """Each warp has a counter of its own: atomics, a syncwarp, and plain reads."""
    counters = cuda.shared.array(4, int32)
    i = cuda.threadIdx.x
    if i % 32 == 0:
        counters[i // 32] = 0
    cuda.syncwarp()
    if x[i] > 0.5:
        cuda.atomic.add(counters, i // 32, 1)
    cuda.syncwarp()
    out[i] = counters[i // 32]


@case("race", in_place(128), block=128, reference=np.sort)
@cuda.jit
def bitonic_sort(x):
    """Every step of the sorting network is separated from the next by a barrier."""
    tile = cuda.shared.array(128, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    size = 2
    while size <= 128:
        distance = size // 2
        while distance > 0:
            cuda.syncthreads()
            other = i ^ distance
            if other > i and (tile[i] > tile[other]) == (i & size == 0):
                tile[i], tile[other] = tile[other], tile[i]
            distance //= 2
        size *= 2
    cuda.syncthreads()
    x[i] = tile[i]


@case("race", vectors(BLOCK), reference=reversed_copy)
@cuda.jit
def vote_of_the_block_as_barrier(x, out):
    """A vote of the whole block is a barrier as well."""
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    if cuda.syncthreads_count(int32(x[i] >= 0)) == BLOCK:
        out[i] = tile[BLOCK - 1 - i]


@case(
    "race",
    vectors(BLOCK),
    shared_bytes=8 * BLOCK,
    reference=lambda x, out: x[::-1] + np.arange(BLOCK)[::-1],
)
@cuda.jit
def two_regions_of_dynamic_shared(x, out):
    """Two types share the dynamic memory, each in a half of its own."""
    numbers = cuda.shared.array(0, float32)[:BLOCK]
    counts = cuda.shared.array(0, int32)[BLOCK:]
    i = cuda.threadIdx.x
    numbers[i] = x[i]
    counts[i] = i
    cuda.syncthreads()
    out[i] = numbers[BLOCK - 1 - i] + counts[BLOCK - 1 - i]


@case(
    "race",
    vectors(BLOCK),
    shared_bytes=4 * BLOCK,
    reference=lambda x, out: x[::-1] + np.arange(BLOCK)[::-1],
)
@cuda.jit
def dynamic_shared_used_twice(x, out):
    """The same bytes hold floats first, and integers after a barrier."""
    numbers = cuda.shared.array(0, float32)
    counts = cuda.shared.array(0, int32)
    i = cuda.threadIdx.x
    numbers[i] = x[i]
    cuda.syncthreads()
    other = numbers[BLOCK - 1 - i]
    cuda.syncthreads()
    counts[i] = i
    cuda.syncthreads()
    out[i] = other + counts[BLOCK - 1 - i]


# --- suspected of a race: global memory -------------------------------------------------------


@case("race", in_place(4 * BLOCK), grid=4, reference=lambda x: np.sqrt(x) + 1)
@cuda.jit
def own_element_in_place(x):
    """Each thread reads and writes its own element only."""
    i = cuda.grid(1)
    x[i] = math.sqrt(x[i])
    x[i] += 1


@case("race", in_place(BLOCK), reference=lambda x: x[::-1])
@cuda.jit
def reverse_in_place_with_barrier(x):
    """All elements are read before the barrier and written after it."""
    i = cuda.threadIdx.x
    value = x[x.size - 1 - i]
    cuda.syncthreads()
    x[i] = value


@case("race", in_place(4 * BLOCK), grid=2, reference=lambda x: x[::-1])
@cuda.jit
def reverse_in_place_by_pairs(x):
    """One thread swaps both elements of a pair, and no other touches them."""
    i = cuda.grid(1)
    if i < x.size // 2:
        x[i], x[x.size - 1 - i] = x[x.size - 1 - i], x[i]


@case("race", vectors(4 * BLOCK), grid=4, reference=doubled)
@cuda.jit
def interleaved_outputs(x, out):
    """Block b writes the elements b, b + 4, b + 8 ...: neighbours, but never the same."""
    i = cuda.threadIdx.x * 4 + cuda.blockIdx.x
    out[i] = 2 * x[i]


@case(
    "race",
    in_place(4 * BLOCK),
    grid=4,
    reference=lambda x: x + np.roll(x, -1) * (np.arange(4 * BLOCK) % 2 == 0),
)
@cuda.jit
def even_threads_read_odd_elements(x):
    """Only even elements are written; their odd neighbours are only read."""
    i = cuda.grid(1)
    if i % 2 == 0:
        x[i] += x[i + 1]


@case(
    "race", vectors(4 * BLOCK), grid=4, reference=lambda x, out: x.reshape(4, -1)[:, ::-1].ravel()
)
@cuda.jit
def exchange_within_a_block_through_global(x, out):
    """The elements are exchanged through global memory, but only within a block."""
    start, i = cuda.blockIdx.x * BLOCK, cuda.threadIdx.x
    out[start + BLOCK - 1 - i] = x[start + i]
    cuda.syncthreads()
    value = out[start + i]
    cuda.syncthreads()
    out[start + i] = value


@case("race", vectors(4 * BLOCK, 1), grid=4, reference=lambda x, out: x.max() > 0.5)
@cuda.jit
def blocks_raise_one_flag(x, out):
    """Threads of several blocks store to one element, but all the same value."""
    if x[cuda.grid(1)] > 0.5:
        out[0] = 1


@case("race", vectors(4 * BLOCK, 1), grid=4, reference=lambda x, out: x.max())
@cuda.jit
def maximum_by_atomics(x, out):
    """Every thread updates one element, always with an atomic."""
    cuda.atomic.max(out, 0, x[cuda.grid(1)])


@case(
    "race",
    lambda rng: (
        rng.random(4 * BLOCK, np.float32),
        np.zeros(4 * BLOCK, np.float32),
        np.zeros(1, np.int64),
    ),
    grid=4,
    reference=lambda x, out, count: np.count_nonzero(x > 0.5),
)
@cuda.jit
def compaction_by_atomics(x, out, count):
    """An atomic hands out each place of the output once."""
    i = cuda.grid(1)
    if x[i] > 0.5:
        out[cuda.atomic.add(count, 0, 1)] = x[i]


def ticket_arguments(rng):
    """Return arguments (x, partial, ticket, out) for 4 blocks."""
    x = rng.random(4 * BLOCK, np.float32)
    return x, np.zeros(4, np.float32), np.zeros(1, np.int32), np.zeros(1, np.float32)


@case("race", ticket_arguments, grid=4, reference=lambda x, partial, ticket, out: x.sum())
@cuda.jit
def ticket_with_fences(x, partial, ticket, out):
    """Each partial sum is published by a fence before its ticket; the last block then adds them."""
    is_last = cuda.shared.array(1, int32)
    i = cuda.threadIdx.x
    if i == 0:
        acc = float32(0)
        for k in range(BLOCK):
            acc += x[cuda.blockIdx.x * BLOCK + k]
        partial[cuda.blockIdx.x] = acc
        cuda.threadfence()
        is_last[0] = cuda.atomic.add(ticket, 0, 1) == cuda.gridDim.x - 1
        cuda.threadfence()
    cuda.syncthreads()
    if is_last[0] and i == 0:
        acc = float32(0)
        for k in range(cuda.gridDim.x):
            acc += partial[k]
        out[0] = acc
        ticket[0] = 0


def scaled_by_the_first(x, ticket, scale):
    return scale + 1


@case(
    "race",
    lambda rng: (rng.random(4 * BLOCK, np.float32), np.zeros(1, np.int32), np.ones(1, np.float32)),
    grid=4,
    reference=scaled_by_the_first,
)
@cuda.jit
def last_block_rewrites_what_all_have_read(x, ticket, scale):
    """All blocks read the scale before their fence and ticket; the last one then changes it."""
    i = cuda.threadIdx.x
    x[cuda.grid(1)] *= scale[0]
    cuda.syncthreads()
    if i == 0:
        cuda.threadfence()
        if cuda.atomic.add(ticket, 0, 1) == cuda.gridDim.x - 1:
            cuda.threadfence()
            scale[0] += 1


@case(
    "race",
    lambda rng: (np.zeros(1, np.int32), np.zeros(1, np.int64)),
    grid=8,
    block=32,
    reference=lambda lock, total: 36,
)
@cuda.jit
def lock_with_fences(lock, total):
    """Plain updates of one number by all blocks, one block at a time: a lock and two fences."""
    if cuda.threadIdx.x == 0:
        waiting = True
        while waiting:
            if cuda.atomic.cas(lock, 0, 0, 1) == 0:
                cuda.threadfence()
                total[0] += cuda.blockIdx.x + 1
                cuda.threadfence()
                cuda.atomic.exch(lock, 0, 0)
                waiting = False


@case("race", vectors(4 * BLOCK), grid=4, reference=reversed_copy)
@cuda.jit
def reverse_with_a_barrier_of_the_grid(x, out):
    """A barrier of the whole grid orders all blocks."""
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    out[i] = x[i]
    grid.sync()
    value = out[out.size - 1 - i]
    grid.sync()
    out[i] = value


@case(
    "race",
    lambda rng: (
        rng.random(4 * BLOCK, np.float32),
        np.zeros(1, np.int32),
        np.zeros(4 * BLOCK, np.float32),
    ),
    grid=4,
    reference=lambda x, arrived, out: x[::-1],
)
@cuda.jit
def barrier_of_the_grid_by_hand(x, arrived, out):
    """Blocks that all fit on the device may wait for each other with fences and atomics."""
    i = cuda.grid(1)
    x[i] += 1
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        cuda.atomic.add(arrived, 0, 1)
        while cuda.atomic.add(arrived, 0, 0) < cuda.gridDim.x:
            pass
        cuda.threadfence()
    cuda.syncthreads()
    out[i] = x[x.size - 1 - i] - 1


# --- suspected of leaving an array ------------------------------------------------------------


@case("out_of_bounds", vectors(BLOCK - 24), reference=doubled)
@cuda.jit
def guard_with_greater_or_equal(x, out):
    """The guard lets the last element pass and nothing beyond it."""
    i = cuda.grid(1)
    if i >= x.size:
        return
    out[i] = 2 * x[i]


@case("out_of_bounds", vectors(100), grid=2, reference=copied)
@cuda.jit
def guard_by_short_circuit(x, out):
    """The right side of `and` is not evaluated where the left side is false."""
    i = cuda.grid(1)
    if i < x.size and x[i] > 0:
        out[i] = x[i]


@case("out_of_bounds", vectors(50, 1), reference=total)
@cuda.jit
def guard_by_conditional_expression(x, out):
    """Threads past the end take a zero instead of an element."""
    i = cuda.grid(1)
    cuda.atomic.add(out, 0, x[i] if i < x.size else float32(0))


@case("out_of_bounds", vectors(BLOCK), reference=right_difference)
@cuda.jit
def clamped_index(x, out):
    """The right neighbour of the last element is the last element."""
    i = cuda.threadIdx.x
    out[i] = x[min(i + 1, x.size - 1)] - x[i]


@case("out_of_bounds", vectors(BLOCK), reference=lambda x, out: np.roll(x, 5))
@cuda.jit
def index_modulo_size(x, out):
    """The remainder brings every index back into the array, negative ones too."""
    i = cuda.threadIdx.x
    out[i] = x[(i - 5) % x.size]


@case("out_of_bounds", vectors(BLOCK), reference=lambda x, out: x - x[-1])
@cuda.jit
def last_element_from_the_end(x, out):
    """Numba counts a negative index from the end, as Python does."""
    i = cuda.threadIdx.x
    out[i] = x[i] - x[-1]


@case("out_of_bounds", vectors(BLOCK), reference=lambda x, out: x - np.append([0] * 5, x[:-5]))
@cuda.jit
def negative_index_not_used(x, out):
    """An index below zero is computed, and used only where it is not."""
    i = cuda.threadIdx.x
    left = i - 5
    before = float32(0)
    if left >= 0:
        before = x[left]
    out[i] = x[i] - before


@case("out_of_bounds", same_shape(5, 13), grid=(2, 1), block=(TILE, TILE), reference=doubled)
@cuda.jit
def guard_in_both_dimensions(x, out):
    """The block overhangs the matrix on two sides, and both are guarded."""
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        out[row, col] = 2 * x[row, col]


@case("out_of_bounds", same_shape(4, 48), grid=4, reference=copied)
@cuda.jit
def row_as_a_view(x, out):
    """A row is taken as a view and used within its own length."""
    row = x[cuda.blockIdx.x]
    i = cuda.threadIdx.x
    if i < row.size:
        out[cuda.blockIdx.x, i] = row[i]


@case("out_of_bounds", vectors(10 * BLOCK + 7), grid=2, reference=copied)
@cuda.jit
def grid_stride_loop(x, out):
    """The number of rounds differs by thread, and each stops at the end of the array."""
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = x[i]


# --- suspected of reading what nobody wrote ---------------------------------------------------


@case("uninitialised", same_shape(TILE, TILE), block=(TILE, TILE), reference=lambda x, out: x.T)
@cuda.jit
def padding_never_read(x, out):
    """Nobody writes the padding column, and nobody reads it."""
    tile = cuda.shared.array((TILE, PADDED), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = x[ty, tx]
    cuda.syncthreads()
    out[ty, tx] = tile[tx, ty]


@case("uninitialised", vectors(BLOCK - 14, 1), reference=total)
@cuda.jit
def partial_tile_filled_up_with_zeros(x, out):
    """Threads past the end write a zero, which the tree then adds."""
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    distance = BLOCK // 2
    while distance > 0:
        if i < distance:
            tile[i] += tile[i + distance]
        cuda.syncthreads()
        distance //= 2
    if i == 0:
        out[0] = tile[0]


@case(
    "uninitialised",
    vectors(BLOCK - 14),
    reference=lambda x, out: np.roll(x, -1) * (np.arange(BLOCK - 14) < BLOCK - 15),
)
@cuda.jit
def partial_tile_read_under_the_same_guard(x, out):
    """The tile is only partly loaded, and the guard of the reads is as narrow."""
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    if i < x.size:
        tile[i] = x[i]
    cuda.syncthreads()
    if i + 1 < x.size:
        out[i] = tile[i + 1]


@case(
    "uninitialised",
    vectors(4 * BLOCK, BLOCK),
    reference=lambda x, out: x.reshape(4, BLOCK).sum(axis=0),
)
@cuda.jit
def accumulators_cleared_first(x, out):
    """The local accumulators are set to zero before anything is added."""
    acc = cuda.local.array(4, float32)
    i = cuda.threadIdx.x
    for k in range(4):
        acc[k] = 0
    for k in range(4):
        acc[k] += x[k * BLOCK + i]
    out[i] = acc[0] + acc[1] + acc[2] + acc[3]


@case("uninitialised", vectors(BLOCK), reference=lambda x, out: np.where(x > 0.5, x, -x))
@cuda.jit
def local_element_chosen_by_lane(x, out):
    """Each thread writes one of two local elements, and reads the one that it wrote."""
    mine = cuda.local.array(2, float32)
    i = cuda.threadIdx.x
    side = 1 if x[i] > 0.5 else 0
    mine[side] = x[i] if side == 1 else -x[i]
    out[i] = mine[side]


@case("uninitialised", vectors(BLOCK), shared_bytes=4 * BLOCK, reference=copied)
@cuda.jit
def bits_through_a_second_type(x, out):
    """The floats were written; reading their bits as integers is reading what was written."""
    numbers = cuda.shared.array(0, float32)
    bits = cuda.shared.array(0, int32)
    i = cuda.threadIdx.x
    numbers[i] = x[BLOCK - 1 - i]
    cuda.syncthreads()
    value = bits[BLOCK - 1 - i]
    cuda.syncthreads()
    bits[i] = value
    out[i] = numbers[i]


@case("uninitialised", vectors(BLOCK), unset=(1,), reference=doubled)
@cuda.jit
def device_array_written_before_read(x, out):
    """The result was never cleared, but each thread writes its element before reading it."""
    i = cuda.grid(1)
    out[i] = x[i]
    out[i] += x[i]


# --- suspected of a barrier that is not reached by all ----------------------------------------


@case("barrier", vectors(40), reference=reversed_copy)
@cuda.jit
def barrier_after_some_have_left(x, out):
    """A barrier waits for the threads that are still there; the others have returned."""
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    if i >= x.size:
        return
    tile[i] = x[i]
    cuda.syncthreads()
    out[i] = tile[x.size - 1 - i]


@case(
    "barrier",
    vectors(4 * BLOCK),
    grid=4,
    reference=lambda x, out: x * (np.arange(4 * BLOCK) // BLOCK + 1),
)
@cuda.jit
def rounds_by_block(x, out):
    """The number of barriers differs from block to block, but not within one."""
    i = cuda.grid(1)
    for _ in range(cuda.blockIdx.x + 1):
        out[i] += x[i]
        cuda.syncthreads()


@case("barrier", vectors(4 * BLOCK), grid=4, reference=copied)
@cuda.jit
def barrier_in_a_branch_by_block(x, out):
    """The condition is the same for all threads of a block."""
    i = cuda.grid(1)
    if cuda.blockIdx.x % 2 == 0:
        cuda.syncthreads()
    out[i] = x[i]


def halved_together(x, out):
    rounds = 0
    while (x / 2**rounds > 0.1).any():
        rounds += 1
    return x / 2**rounds


@case("barrier", vectors(BLOCK), reference=halved_together)
@cuda.jit
def loop_until_all_agree(x, out):
    """The vote gives all threads the same answer, so they leave the loop together."""
    i = cuda.threadIdx.x
    value = x[i]
    while cuda.syncthreads_or(int32(value > 0.1)):
        value /= float32(2)
    out[i] = value


@case("barrier", vectors(BLOCK), reference=lambda x, out: x + x[0])
@cuda.jit
def condition_from_shared_memory(x, out):
    """All threads read the same number of rounds from shared memory."""
    rounds = cuda.shared.array(1, int32)
    i = cuda.threadIdx.x
    if i == 0:
        rounds[0] = 3
    cuda.syncthreads()
    for _ in range(rounds[0]):
        cuda.syncthreads()
    out[i] = x[i] + x[0]


@case("barrier", vectors(48), block=48, reference=reversed_copy)
@cuda.jit
def barrier_with_a_partial_warp(x, out):
    """The second warp has 16 lanes, and all of them reach the barrier."""
    tile = cuda.shared.array(48, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncthreads()
    out[i] = tile[47 - i]


@case(
    "barrier",
    vectors(BLOCK),
    reference=lambda x, out: np.append(x[1:], 0) - x * (np.arange(BLOCK) < BLOCK - 1),
)
@cuda.jit
def neighbours_by_shuffle(x, out):
    """Lanes pass their element on; the last one of a warp reads its neighbour's from memory."""
    i = cuda.threadIdx.x
    right = cuda.shfl_down_sync(FULL, x[i], 1)
    if i % 32 == 31 and i + 1 < x.size:
        right = x[i + 1]
    if i + 1 < x.size:
        out[i] = right - x[i]


@case(
    "barrier",
    vectors(32),
    block=32,
    reference=lambda x, out: np.where(np.arange(32) < 16, x[np.arange(32) ^ 1], 0),
)
@cuda.jit
def shuffle_among_half_a_warp(x, out):
    """The mask names the lanes that take part, and they read from each other only."""
    i = cuda.threadIdx.x
    if i < 16:
        out[i] = cuda.shfl_xor_sync(HALF, x[i], 1)


@case(
    "barrier",
    vectors(32),
    block=32,
    reference=lambda x, out: x[np.arange(32) ^ np.where(np.arange(32) < 16, 1, 2)],
)
@cuda.jit
def each_half_with_its_own_mask(x, out):
    """Both branches shuffle, each with the mask of its own lanes."""
    i = cuda.threadIdx.x
    if i < 16:
        out[i] = cuda.shfl_xor_sync(HALF, x[i], 1)
    else:
        out[i] = cuda.shfl_xor_sync(FULL ^ HALF, x[i], 2)


@case(
    "barrier",
    vectors(48),
    block=48,
    reference=lambda x, out: np.add.reduceat(x, [0, 32]).repeat([32, 16]),
)
@cuda.jit
def shuffles_of_a_partial_warp(x, out):
    """The warp with 16 lanes uses a mask of 16 and distances below 16."""
    i = cuda.threadIdx.x
    value = x[i]
    if i < 32:
        for distance in (16, 8, 4, 2, 1):
            value += cuda.shfl_xor_sync(FULL, value, distance)
    else:
        for distance in (8, 4, 2, 1):
            value += cuda.shfl_xor_sync(HALF, value, distance)
    out[i] = value


@case(
    "barrier",
    vectors(32),
    block=32,
    reference=lambda x, out: np.where(x > 0.5, np.count_nonzero(x > 0.5), 0),
)
@cuda.jit
def mask_from_a_ballot(x, out):
    """All lanes vote who takes part, and only those call with that mask."""
    i = cuda.threadIdx.x
    chosen = cuda.ballot_sync(FULL, x[i] > 0.5)
    if x[i] > 0.5:
        out[i] = cuda.popc(cuda.ballot_sync(chosen, True))


@case("barrier", vectors(32), block=32, reference=lambda x, out: np.full(32, x[:16].sum()))
@cuda.jit
def shuffle_after_half_has_returned(x, out):
    """The lanes that are left name each other only."""
    i = cuda.threadIdx.x
    if i < 16:
        value = x[i]
        for distance in (8, 4, 2, 1):
            value += cuda.shfl_xor_sync(HALF, value, distance)
        out[i] = value
        out[i + 16] = value


@case(
    "barrier",
    same_shape(4, 16),
    block=(16, 4),
    reference=lambda x, out: x.sum(axis=1, keepdims=True) + 0 * x,
)
@cuda.jit
def row_sums_by_shuffle(x, out):
    """A row of the block is half a warp, and the distances stay within it."""
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    value = x[ty, tx]
    for distance in (8, 4, 2, 1):
        value += cuda.shfl_xor_sync(FULL, value, distance)
    out[ty, tx] = value


CASES = tuple(value for value in list(vars().values()) if isinstance(value, KernelCase))
