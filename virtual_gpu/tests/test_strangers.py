"""Kernels whose threads are ordered by fences and atomics, and by locks: right ones, and the same
with one flaw each.

A line that a finding must name ends in ``# flaw``.
"""

import inspect
import linecache

import numpy as np
import pytest
from numba import boolean, cuda, float32, int32

from virtual_gpu import LimitReached, Unsupported, trace

FULL = 0xFFFFFFFF  # every lane of a warp
RIGHT, BROKEN = {}, {}


def right(grid, block, arguments, reference):
    """Return a decorator that registers a correct kernel with its launch.

    ``arguments`` makes its arguments. ``reference`` gets them as they were before the launch, and
    returns what the last one then holds.
    """

    def register(kernel):
        RIGHT[kernel.py_func.__name__] = (kernel, grid, block, arguments, reference)
        return kernel

    return register


def broken(grid, block, arguments):
    def register(kernel):
        BROKEN[kernel.py_func.__name__] = (kernel, grid, block, arguments)
        return kernel

    return register


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_kernel_is_right_and_is_not_accused(name):
    kernel, grid, block, arguments, reference = RIGHT[name]
    results, before = arguments(), arguments()
    assert trace(kernel, grid, block, *results).findings == ()
    np.testing.assert_allclose(results[-1], reference(*before), rtol=1e-12)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_kernel_is_reported_at_one_of_its_lines(name):
    kernel, grid, block, arguments = BROKEN[name]
    findings = trace(kernel, grid, block, *arguments()).findings
    assert {finding.kind for finding in findings} == {"race"}
    assert {finding.line for finding in findings} <= flawed_lines(kernel.py_func)


def flawed_lines(function):
    text, first = inspect.getsourcelines(function)
    return {first + at for at, line in enumerate(text) if line.endswith("# flaw\n")}


def numbers(size, seed=0):
    return np.random.default_rng(seed).integers(0, 100, size)


def zeros(*shape):
    return np.zeros(shape, np.int64)


def counter(size=1):
    return np.zeros(size, np.int32)


# The last block, thread or warp to come sums up what all have written.


def doubled_sum(x, *_):
    return [2 * x.sum()]


def to_sum():
    return numbers(256), zeros(256), counter(), zeros(1)


@right(4, 64, to_sum, doubled_sum)
@cuda.jit
def last_block_after_a_fence_of_each_thread(x, y, count, total):
    last = cuda.shared.array(1, boolean)
    i, t = cuda.grid(1), cuda.threadIdx.x
    y[i] = 2 * x[i]
    cuda.threadfence()
    cuda.syncthreads()
    if t == 0:
        last[0] = cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0]:
        for j in range(t, y.size, cuda.blockDim.x):
            cuda.atomic.add(total, 0, y[j])


@right(4, 64, to_sum, doubled_sum)
@cuda.jit
def last_block_after_one_fence(x, y, count, total):
    last = cuda.shared.array(1, boolean)
    i, t = cuda.grid(1), cuda.threadIdx.x
    y[i] = 2 * x[i]
    cuda.syncthreads()
    if t == 0:
        cuda.threadfence()
        last[0] = cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0]:
        for j in range(t, y.size, cuda.blockDim.x):
            cuda.atomic.add(total, 0, y[j])


@broken(4, 64, to_sum)
@cuda.jit
def last_block_is_counted_before_its_other_warps_have_written(x, y, count, total):
    last = cuda.shared.array(1, boolean)
    i, t = cuda.grid(1), cuda.threadIdx.x
    y[i] = 2 * x[i]
    cuda.threadfence()
    if t == 0:
        last[0] = cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0]:
        for j in range(t, y.size, cuda.blockDim.x):
            cuda.atomic.add(total, 0, y[j])  # flaw


@right(4, 64, to_sum, doubled_sum)
@cuda.jit
def last_thread_of_all(x, y, count, total):
    i = cuda.grid(1)
    y[i] = 2 * x[i]
    cuda.threadfence()
    if cuda.atomic.add(count, 0, 1) == y.size - 1:
        for j in range(y.size):
            total[0] += y[j]


@broken(4, 64, to_sum)
@cuda.jit
def last_thread_with_the_fence_of_a_block(x, y, count, total):
    i = cuda.grid(1)
    y[i] = 2 * x[i]
    cuda.threadfence_block()
    if cuda.atomic.add(count, 0, 1) == y.size - 1:
        for j in range(y.size):
            total[0] += y[j]  # flaw


@broken(2, 128, to_sum)
@cuda.jit
def a_neighbour_is_not_waited_for(x, y, count, total):
    i = cuda.grid(1)
    y[i] = 2 * x[i]
    cuda.threadfence()
    cuda.atomic.add(count, 0, 1)
    cuda.atomic.add(total, 0, y[(i + 1) % y.size])  # flaw


@right(4, 64, lambda: (numbers(256), zeros(8), counter(), zeros(1)), lambda x, *_: [x.sum()])
@cuda.jit
def last_warp_of_all(x, parts, count, total):
    i = cuda.grid(1)
    value = x[i]
    for distance in (16, 8, 4, 2, 1):
        value += cuda.shfl_xor_sync(FULL, value, distance)
    last = int32(0)
    if cuda.laneid == 0:
        parts[i // 32] = value
        cuda.threadfence()
        last = int32(cuda.atomic.add(count, 0, 1) == parts.size - 1)
    last = cuda.shfl_sync(FULL, last, 0)
    if last and cuda.laneid < parts.size:
        cuda.atomic.add(total, 0, parts[cuda.laneid])


# A tree from its leaves up: of two threads that meet in a node, the second goes on.


def tree():
    return numbers(128, seed=1), counter(127), zeros(255)


def heap_of_sums(leaves, *_):
    level, levels = leaves, [leaves]
    while len(level) > 1:
        level = level[::2] + level[1::2]
        levels.insert(0, level)
    return np.concatenate(levels)


@right(4, 32, tree, heap_of_sums)
@cuda.jit
def tree_of_sums(leaves, visits, nodes):
    at = cuda.grid(1) + leaves.size - 1
    nodes[at] = leaves[cuda.grid(1)]
    while at > 0:
        at = (at - 1) // 2
        cuda.threadfence()
        if cuda.atomic.add(visits, at, 1) == 0:
            return
        nodes[at] = nodes[2 * at + 1] + nodes[2 * at + 2]


@broken(4, 32, tree)
@cuda.jit
def tree_without_fences(leaves, visits, nodes):
    at = cuda.grid(1) + leaves.size - 1
    nodes[at] = leaves[cuda.grid(1)]
    while at > 0:
        at = (at - 1) // 2
        if cuda.atomic.add(visits, at, 1) == 0:
            return
        nodes[at] = nodes[2 * at + 1] + nodes[2 * at + 2]  # flaw


@broken(4, 32, tree)
@cuda.jit
def tree_where_both_go_on(leaves, visits, nodes):
    at = cuda.grid(1) + leaves.size - 1
    nodes[at] = leaves[cuda.grid(1)]
    while at > 0:
        at = (at - 1) // 2
        cuda.threadfence()
        cuda.atomic.add(visits, at, 1)
        nodes[at] = nodes[2 * at + 1] + nodes[2 * at + 2]  # flaw


# Locks that threads of one warp, one block or several blocks take.


def buckets():
    return numbers(96) % 4, counter(4), zeros(4)


def sums_of_positions(bucket, *_):
    return np.bincount(bucket, weights=np.arange(bucket.size), minlength=4)


@right(3, 32, buckets, sums_of_positions)
@cuda.jit
def lock_for_each_bucket(bucket, locks, sums):
    i = cuda.grid(1)
    b = bucket[i]
    waiting = True
    while waiting:
        if cuda.atomic.cas(locks, b, 0, 1) == 0:
            cuda.threadfence()
            sums[b] += i
            cuda.threadfence()
            cuda.atomic.exch(locks, b, 0)
            waiting = False


@broken(3, 32, buckets)
@cuda.jit
def lock_without_fences(bucket, locks, sums):
    i = cuda.grid(1)
    b = bucket[i]
    waiting = True
    while waiting:
        if cuda.atomic.cas(locks, b, 0, 1) == 0:
            sums[b] += i  # flaw
            cuda.atomic.exch(locks, b, 0)
            waiting = False


@right(2, 128, lambda: (zeros(2),), lambda total: [192, 192])
@cuda.jit
def lock_in_shared_memory(total):
    lock, own = cuda.shared.array(1, int32), cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        lock[0] = own[0] = 0
    cuda.syncthreads()
    waiting = t % 32 == 0
    while waiting:
        if cuda.atomic.cas(lock, 0, 0, 1) == 0:
            cuda.threadfence_block()
            own[0] += t
            cuda.threadfence_block()
            cuda.atomic.exch(lock, 0, 0)
            waiting = False
    cuda.syncthreads()
    if t == 0:
        total[cuda.blockIdx.x] = own[0]


@broken(2, 128, lambda: (zeros(2),))
@cuda.jit
def lock_in_shared_memory_without_fences(total):
    lock, own = cuda.shared.array(1, int32), cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        lock[0] = own[0] = 0
    cuda.syncthreads()
    waiting = t % 32 == 0
    while waiting:
        if cuda.atomic.cas(lock, 0, 0, 1) == 0:
            own[0] += t  # flaw
            cuda.atomic.exch(lock, 0, 0)
            waiting = False
    cuda.syncthreads()
    if t == 0:
        total[cuda.blockIdx.x] = own[0]


@right(6, 32, lambda: (counter(), counter(), zeros(1)), lambda *_: [63])
@cuda.jit
def ticket_lock(tickets, serving, x):
    if cuda.threadIdx.x == 0:
        mine = cuda.atomic.add(tickets, 0, 1)
        while cuda.atomic.add(serving, 0, 0) != mine:
            pass
        cuda.threadfence()
        x[0] = x[0] * 2 + 1
        cuda.threadfence()
        cuda.atomic.add(serving, 0, 1)


@broken(6, 32, lambda: (counter(), counter(), zeros(1)))
@cuda.jit
def ticket_lock_without_fences(tickets, serving, x):
    if cuda.threadIdx.x == 0:
        mine = cuda.atomic.add(tickets, 0, 1)
        while cuda.atomic.add(serving, 0, 0) != mine:
            pass
        x[0] = x[0] * 2 + 1  # flaw
        cuda.atomic.add(serving, 0, 1)


# A warp or a block waits for another.


@right(1, 64, lambda: (np.arange(32.0), np.zeros(32)), lambda x, _: 2 * x[::-1])
@cuda.jit
def one_warp_waits_for_another(x, out):
    flag, buffer = cuda.shared.array(1, int32), cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    if t == 0:
        flag[0] = 0
    cuda.syncthreads()
    if t < 32:
        buffer[t] = 2 * x[t]
        cuda.threadfence_block()
        cuda.syncwarp()
        if t == 0:
            cuda.atomic.exch(flag, 0, 1)
    else:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        cuda.threadfence_block()
        out[t - 32] = buffer[63 - t]


def handed_over():
    return zeros(64), counter(), zeros(64)


@right(2, 64, handed_over, lambda *_: np.arange(64) + 1)
@cuda.jit
def one_block_waits_for_another(data, flag, out):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        data[t] = t + 1
        cuda.threadfence()
        cuda.syncthreads()
        if t == 0:
            cuda.atomic.exch(flag, 0, 1)
    else:
        if t == 0:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            cuda.threadfence()
        cuda.syncthreads()
        out[t] = data[t]


@broken(2, 64, handed_over)
@cuda.jit
def the_flag_is_set_before_all_warps_have_written(data, flag, out):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        data[t] = t + 1
        cuda.threadfence()
        if t == 0:
            cuda.atomic.exch(flag, 0, 1)
    else:
        if t == 0:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            cuda.threadfence()
        cuda.syncthreads()
        out[t] = data[t]  # flaw


@broken(2, 64, handed_over)
@cuda.jit
def only_one_warp_waits_for_the_flag(data, flag, out):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        data[t] = t + 1
        cuda.threadfence()
        cuda.syncthreads()
        if t == 0:
            cuda.atomic.exch(flag, 0, 1)
    else:
        if t == 0:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            cuda.threadfence()
        out[t] = data[t]  # flaw


# Barriers of the grid that are made of an atomic.


@cuda.jit(device=True)
def meet(count, goal):
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        cuda.atomic.add(count, 0, 1)
        while cuda.atomic.add(count, 0, 0) < goal:
            pass
        cuda.threadfence()
    cuda.syncthreads()


@cuda.jit(device=True)
def meet_too_soon(count, goal):
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        cuda.atomic.add(count, 0, 1)
        while cuda.atomic.add(count, 0, 0) < goal:
            pass
        cuda.threadfence()
    cuda.syncthreads()


def to_relax():
    return counter(), zeros(192), numbers(192, seed=2)


def relaxed_twice(count, other, x):
    for _ in range(2):
        x = 2 * np.roll(x, -1)
    return x


@right(3, 64, to_relax, relaxed_twice)
@cuda.jit
def barriers_of_the_grid(count, other, x):
    i, all_blocks = cuda.grid(1), cuda.gridDim.x
    for step in range(2):
        other[i] = x[(i + 1) % x.size]
        meet(count, (2 * step + 1) * all_blocks)
        x[i] = 2 * other[i]
        meet(count, (2 * step + 2) * all_blocks)


@broken(3, 64, to_relax)
@cuda.jit
def one_barrier_of_the_grid_is_missing(count, other, x):
    i, all_blocks = cuda.grid(1), cuda.gridDim.x
    for step in range(2):
        other[i] = x[(i + 1) % x.size]  # flaw
        meet(count, (step + 1) * all_blocks)
        x[i] = 2 * other[i]  # flaw


@broken(3, 64, to_relax)
@cuda.jit
def a_barrier_of_the_grid_that_leaves_out_warps(count, other, x):
    i, all_blocks = cuda.grid(1), cuda.gridDim.x
    other[i] = x[i]
    meet_too_soon(count, all_blocks)
    x[i] = other[(i + 100) % x.size]  # flaw


# A block waits for those before it, which the same lines let go on.


def to_scan():
    return counter(6), zeros(6), numbers(192, seed=3).astype(np.int32)


@right(6, 32, to_scan, lambda flags, carry, x: np.cumsum(x))
@cuda.jit
def scan_with_a_carry_from_block_to_block(flags, carry, x):
    before = cuda.shared.array(1, int32)
    i, t, b = cuda.grid(1), cuda.threadIdx.x, cuda.blockIdx.x
    value = x[i]
    for distance in (1, 2, 4, 8, 16):
        other = cuda.shfl_up_sync(FULL, value, distance)
        if t >= distance:
            value += other
    if t == 31:
        before[0] = 0
        if b > 0:
            while cuda.atomic.add(flags, b - 1, 0) == 0:
                pass
            cuda.threadfence()
            before[0] = carry[b - 1]
        carry[b] = before[0] + value
        cuda.threadfence()
        cuda.atomic.add(flags, b, 1)
    cuda.syncthreads()
    x[i] = value + before[0]


def carried():
    return counter(5), numbers(5), zeros(5)


@broken(5, 32, carried)
@cuda.jit
def carry_without_fences(flags, x, carry):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        before = 0
        if b > 0:
            while cuda.atomic.add(flags, b - 1, 0) == 0:
                pass
            before = carry[b - 1]  # flaw
        carry[b] = before + x[b]
        cuda.atomic.add(flags, b, 1)


@broken(5, 32, carried)
@cuda.jit
def carry_after_its_flag(flags, x, carry):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        before = 0
        if b > 0:
            while cuda.atomic.add(flags, b - 1, 0) == 0:
                pass
            cuda.threadfence()
            before = carry[b - 1]  # flaw
        cuda.atomic.add(flags, b, 1)
        cuda.threadfence()
        carry[b] = before + x[b]


def edges(tiles, size):
    table = zeros(tiles * size + 1, tiles * size + 1)
    table[0] = table[:, 0] = 1
    return np.zeros((tiles, tiles), np.int32), size, table


def binomials(done, size, table):
    for row in range(1, len(table)):
        for column in range(1, len(table)):
            table[row, column] = table[row - 1, column] + table[row, column - 1]
    return table


@right((3, 3), 4, lambda: edges(3, 4), binomials)
@cuda.jit
def tiles_that_wait_for_two_neighbours(done, size, table):
    down, along, t = cuda.blockIdx.y, cuda.blockIdx.x, cuda.threadIdx.x
    if t == 0:
        if down > 0:
            while cuda.atomic.add(done, (down - 1, along), 0) == 0:
                pass
        if along > 0:
            while cuda.atomic.add(done, (down, along - 1), 0) == 0:
                pass
        cuda.threadfence()
    cuda.syncthreads()
    for diagonal in range(2 * size - 1):
        r, c = down * size + t + 1, along * size + diagonal - t + 1
        if 0 <= diagonal - t < size:
            table[r, c] = table[r - 1, c] + table[r, c - 1]
        cuda.syncthreads()
    if t == 0:
        cuda.threadfence()
        cuda.atomic.exch(done, (down, along), 1)


def test_a_launch_that_begins_again_is_counted_and_recorded_once():
    grid, block = 6, 32
    kernel = RIGHT["scan_with_a_carry_from_block_to_block"][0]
    run = trace(kernel, grid, block, *to_scan(), record=2)
    assert run.totals["barriers"] == grid
    loads = run.accesses.query("array == 'x' and kind == 'load'")
    assert list(loads["lanes"]) == [grid * block]
    events = run.recording.events
    assert [event.kind for event in events].count("barrier") == 1


@cuda.jit
def keeps_its_lock(lock, x):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    x[0] += 1


def test_a_lock_that_an_earlier_block_keeps_is_told():
    with pytest.raises(LimitReached, match=r"earlier threads have ended.* a lock"):
        trace(keeps_its_lock, 3, 1, counter(), zeros(1))


@cuda.jit
def waits_for_a_later_block(flag, x):
    x[cuda.blockIdx.x] += 1
    if cuda.blockIdx.x == 0:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
    else:
        cuda.atomic.add(flag, 0, 1)


def test_a_block_that_waits_for_a_later_one_is_refused_with_its_line():
    x = zeros(2)
    with pytest.raises(LimitReached) as caught:
        trace(waits_for_a_later_block, 2, 1, counter(), x)
    text = linecache.getline(__file__, waits_for_a_later_block.py_func.__code__.co_firstlineno + 4)
    assert f"`{text.strip()}`" in str(caught.value)
    assert list(x) == [1, 0]


@cuda.jit
def half_of_a_block_meets(x):
    if cuda.threadIdx.x < 32:
        cuda.syncthreads()
    x[cuda.threadIdx.x] = 1


def test_a_barrier_names_its_block_as_the_launch_does():
    (finding,) = trace(half_of_a_block_meets, 1, 64, zeros(64)).findings
    assert "thread (32) of block (0) does not" in finding.message


@cuda.jit
def halved_index(x):
    x[cuda.grid(1) / 2] = 1


def test_an_index_that_is_no_integer_is_refused_with_what_to_do():
    with pytest.raises(Unsupported, match=r"type float64 \(Numba refuses it, too: divide with //"):
        trace(halved_index, 1, 4, zeros(4))


@cuda.jit
def swaps(at, expected, value, cells, seen):
    i = cuda.grid(1)
    seen[i] = cuda.atomic.cas(cells, at[i], expected[i], value[i])


def test_many_threads_swap_one_after_the_other():
    at, expected, value = (numbers(500, seed) % 3 for seed in (4, 5, 6))
    cells, seen, wanted, old = zeros(3), zeros(500), zeros(3), []
    trace(swaps, 1, 500, at, expected, value, cells, seen)
    for place, expects, new in zip(at, expected, value, strict=True):
        old.append(wanted[place])
        wanted[place] = new if wanted[place] == expects else wanted[place]
    np.testing.assert_array_equal(cells, wanted)
    np.testing.assert_array_equal(seen, old)
