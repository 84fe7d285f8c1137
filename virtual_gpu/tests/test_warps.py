"""Warps, atomics, fences and the whole grid on the virtual GPU."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda, float32, int32, int64

import virtual_gpu
from virtual_gpu import BarrierError, Unsupported, trace
from virtual_gpu.programs.advice import advice

FULL = 0xFFFFFFFF
BLOCK = 64


def kinds_found(kernel, *arguments, grid=1, block=BLOCK):
    return {f.kind for f in trace(kernel, grid, block, *arguments).findings}


@cuda.jit
def warp_sums(x, out):
    i = cuda.grid(1)
    value = x[i]
    for distance in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(FULL, value, distance)
    if i % 32 == 0:
        out[i // 32] = value


@cuda.jit
def shuffles(x, out):
    i = cuda.threadIdx.x
    out[0, i] = cuda.shfl_sync(FULL, x[i], i + 5)
    out[1, i] = cuda.shfl_up_sync(FULL, x[i], 3)
    out[2, i] = cuda.shfl_down_sync(FULL, x[i], 3)
    out[3, i] = cuda.shfl_xor_sync(FULL, x[i], 5)


def test_shuffles():
    x = np.arange(100, 164, dtype=np.int64)
    out = np.zeros((4, BLOCK), np.int64)
    assert kinds_found(shuffles, x, out) == set()
    lane, warp = np.arange(BLOCK) % 32, np.arange(BLOCK) // 32 * 32
    up, down = np.where(lane >= 3, lane - 3, lane), np.where(lane < 29, lane + 3, lane)
    for row, source in enumerate([(lane + warp + 5) % 32, up, down, lane ^ 5]):
        assert (out[row] == x[warp + source]).all()
    sums = np.zeros(2)
    assert kinds_found(warp_sums, x.astype(float), sums) == set()
    assert (sums == x.reshape(2, 32).sum(axis=1)).all()


@cuda.jit
def votes(x, out):
    i = cuda.threadIdx.x
    out[0, i] = cuda.all_sync(FULL, x[i] > 0)
    out[1, i] = cuda.any_sync(FULL, x[i] > 0)
    out[2, i] = cuda.eq_sync(FULL, x[i] > 0)
    out[3, i] = cuda.popc(cuda.ballot_sync(FULL, x[i] > 0))
    out[4, i] = cuda.popc(cuda.match_any_sync(FULL, x[i]))
    _lanes, same = cuda.match_all_sync(FULL, x[i])
    out[5, i] = same
    out[6, i] = cuda.laneid
    out[7, i] = cuda.syncthreads_count(1 if x[i] > 0 else 0)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(-1, 1), min_size=BLOCK, max_size=BLOCK))
def test_votes_and_matches(values):
    x = np.array(values, np.int32)
    out = np.zeros((8, BLOCK), np.int64)
    assert kinds_found(votes, x, out) == set()
    for warp in (slice(0, 32), slice(32, 64)):
        positive = x[warp] > 0
        assert (out[0, warp] == positive.all()).all()
        assert (out[1, warp] == positive.any()).all()
        assert (out[2, warp] == (positive.all() or not positive.any())).all()
        assert (out[3, warp] == positive.sum()).all()
        assert out[4, warp].tolist() == [(x[warp] == v).sum() for v in x[warp]]
        assert (out[5, warp] == (x[warp] == x[warp][0]).all()).all()
        assert out[6, warp].tolist() == list(range(32))
    assert (out[7] == (x > 0).sum()).all()


@cuda.jit
def bit_functions(x, out):
    i = cuda.threadIdx.x
    out[0, i] = cuda.popc(x[i])
    out[1, i] = cuda.clz(x[i])
    out[2, i] = cuda.ffs(x[i])
    out[3, i] = cuda.brev(x[i])


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 2**32 - 1), min_size=32, max_size=32))
def test_bit_functions(values):
    x = np.array(values, np.uint32)
    out = np.zeros((4, 32), np.uint32)
    assert kinds_found(bit_functions, x, out, block=32) == set()
    assert out[0].tolist() == [v.bit_count() for v in values]
    assert out[1].tolist() == [32 - v.bit_length() for v in values]
    assert out[2].tolist() == [(v & -v).bit_length() for v in values]
    assert out[3].tolist() == [int(f"{v:032b}"[::-1], 2) for v in values]


@cuda.jit
def shuffle_in_a_branch(x):
    i = cuda.threadIdx.x
    if i < 16:
        x[i] = cuda.shfl_down_sync(FULL, x[i], 1)


@cuda.jit
def shuffle_from_an_absent_lane(x):
    i = cuda.threadIdx.x
    if i < 16:
        x[i] = cuda.shfl_down_sync(0xFFFF, x[i], 1)


@cuda.jit
def shuffle_among_half(x):
    i = cuda.threadIdx.x
    if i < 16:
        x[i] = cuda.shfl_xor_sync(0xFFFF, x[i], 1)


def test_a_shuffle_that_names_or_reads_absent_lanes_is_reported():
    x = np.zeros(32, np.float32)
    with pytest.raises(BarrierError, match=r"names the lanes 0xffffffff.*0x0000ffff take part"):
        shuffle_in_a_branch[1, 32](x)
    with pytest.raises(BarrierError, match="reads from lane 16"):
        shuffle_from_an_absent_lane[1, 32](x)
    assert kinds_found(shuffle_among_half, x, block=32) == set()


@cuda.jit
def last_warp(x, out, synced):
    tile = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncthreads()
    if i < 32:
        distance = 32
        while distance > 0:
            value = tile[i + distance] if i + distance < 64 else float32(0)
            if synced:
                cuda.syncwarp()
            tile[i] += value
            if synced:
                cuda.syncwarp()
            distance //= 2
    if i == 0:
        out[0] = tile[0]


def test_syncwarp_orders_a_warp_and_its_absence_is_a_race():
    x = np.random.default_rng(3).random(64, np.float32)
    out = np.zeros(1, np.float32)
    assert kinds_found(last_warp, x, out, True) == set()
    assert np.isclose(out[0], x.sum())
    assert kinds_found(last_warp, x, out, False) == {"race"}


@cuda.jit
def waits_in_an_if(x):
    i = cuda.threadIdx.x
    if i % 32 < 16:
        cuda.syncwarp()  # flaw


@cuda.jit
def waits_in_a_loop_that_some_leave(x):
    i = cuda.threadIdx.x % 32
    stride = 32
    while stride > i:
        stride //= 2
        cuda.syncwarp()  # flaw
    x[i] = stride


@cuda.jit
def waits_behind_a_continue(x):
    i = cuda.threadIdx.x % 32
    for k in range(4):
        if i >= 16:
            if k == 3:
                return
            continue
        cuda.syncwarp()  # flaw


@cuda.jit
def waits_and_returns(x):
    """The upper lanes go on alone, because the lower ones have returned."""
    i = cuda.threadIdx.x % 32
    if i < 16:
        cuda.syncwarp()  # flaw
        return
    x[i] = 1


@cuda.jit
def waits_in_a_nested_if(x):
    """The upper lanes return, but half of the lower ones go on."""
    i = cuda.threadIdx.x % 32
    if i < 20:
        if i < 16:
            cuda.syncwarp(0xFFFFF)  # flaw
        x[i] = 1
        return


@cuda.jit(device=True)
def waited(i):
    if i >= 16:
        return 1
    cuda.syncwarp()  # flaw
    return 2


@cuda.jit
def waits_in_a_function(x):
    i = cuda.threadIdx.x % 32
    x[i] = waited(i) if i < 24 else 3


@pytest.mark.parametrize(
    "kernel, mask, absent, line",
    [
        (waits_in_an_if, FULL, "lanes 16 to 31", "if i % 32 < 16:"),
        (waits_in_a_loop_that_some_leave, FULL, "lanes 16 to 31", "while stride > i:"),
        (waits_behind_a_continue, FULL, "lanes 16 to 31", "for k in range(4):"),
        (waits_and_returns, FULL, "lanes 16 to 31", "if i < 16:"),
        (waits_in_a_nested_if, 0xFFFFF, "lanes 16 to 19", "if i < 16:"),
        (waits_in_a_function, FULL, "lanes 16 to 31", "x[i] = waited(i) if i < 24 else 3"),
    ],
)
def test_lanes_that_pass_by_a_syncwarp_that_names_them_are_reported(kernel, mask, absent, line):
    with pytest.raises(BarrierError) as caught:
        kernel[1, 64](np.zeros(64))
    finding = caught.value.finding
    assert finding.site.source.endswith("# flaw")
    assert finding.message.startswith(
        f"thread (0) of block (0) waits for the lanes of the mask {mask:#010x}, but {absent} of "
        f"its warp go past line {finding.other_line} `{line}` without it. Put the call outside"
    )


@cuda.jit
def waits_after_a_return(x):
    i = cuda.threadIdx.x
    if i >= 16:
        return
    if x[0] == 0:
        cuda.syncwarp()
    x[i] = 1


@cuda.jit
def returns_in_the_else(x):
    i = cuda.threadIdx.x
    if i % 32 < 16:
        cuda.syncwarp()
    else:
        if i > 40:
            x[i] = 2
        return
    x[i] = 1


@cuda.jit
def leaves_from_the_loop(x):
    i = cuda.threadIdx.x
    for k in range(4):
        if i % 32 > 8 * k:
            return
        cuda.syncwarp()
        x[i] = k


@cuda.jit
def names_the_lanes_of_the_branch(x):
    i = cuda.threadIdx.x
    lanes = cuda.ballot_sync(FULL, i % 3 == 0)
    if i % 3 == 0:
        cuda.syncwarp(lanes)
    x[i] = 1


@cuda.jit
def names_the_lanes_of_the_iteration(x):
    i, stride = cuda.threadIdx.x % 32, 32
    while stride > i:
        cuda.syncwarp(FULL >> (32 - stride))
        stride //= 2
    x[i] = stride


@cuda.jit
def waits_after_the_loop(x):
    i, stride = cuda.threadIdx.x % 32, 32
    while stride > i:
        stride //= 2
    cuda.syncwarp()
    x[i] = stride


@cuda.jit
def waits_in_an_if_of_whole_warps(x):
    i = cuda.threadIdx.x
    if i < 32:
        cuda.syncwarp()
    x[i] = 1


@pytest.mark.parametrize(
    "kernel",
    [
        waits_after_a_return, returns_in_the_else, leaves_from_the_loop,
        names_the_lanes_of_the_branch, names_the_lanes_of_the_iteration, waits_after_the_loop,
        waits_in_an_if_of_whole_warps,
    ],
    ids=lambda kernel: kernel.py_func.__name__,
)  # fmt: skip
@pytest.mark.parametrize("block", [48, 64])
def test_a_syncwarp_to_which_all_living_lanes_of_its_mask_come_is_right(kernel, block):
    assert "barrier" not in kinds_found(kernel, np.zeros(64), grid=3, block=block)


@cuda.jit
def a_warp_of_its_own_kind(x):
    """In the first warp lanes return instead; in the second one they go on."""
    i = cuda.threadIdx.x
    if i % 32 < 16:
        cuda.syncwarp()  # flaw
    elif i < 32:
        return
    x[i] = 1


def test_only_the_warps_whose_lanes_go_on_are_accused():
    (finding,) = trace(a_warp_of_its_own_kind, 1, 64, np.zeros(64)).findings
    assert finding.threads[0].thread[0] == 32
    assert finding.count == 16


@cuda.jit
def waits_in_both_branches(x):
    if cuda.threadIdx.x % 2:
        cuda.syncwarp()  # odd
    else:
        cuda.syncwarp()  # even


@cuda.jit
def waits_for_the_block_in_the_other_branch(x):
    if cuda.threadIdx.x < 16:
        cuda.syncwarp()
    else:
        cuda.syncthreads()


@cuda.jit
def names_lane_0_alone(x):
    cuda.syncwarp(1)


@pytest.mark.parametrize(
    "kernel, said",
    [
        (waits_in_both_branches, r"# odd`.*lanes 0, 2, 4.* come to line \d+ `.*# even` instead"),
        (waits_for_the_block_in_the_other_branch, r"to 31.*`cuda.syncthreads\(\)` instead"),
        (names_lane_0_alone, "lane 1 of its warp, and its mask 0x00000001 does not name this lane"),
    ],
)
def test_the_message_of_a_syncwarp_names_the_other_barrier_or_the_mask(kernel, said):
    with pytest.raises(BarrierError, match=said) as caught:
        kernel[1, 32](np.zeros(32))
    assert advice(caught.value.finding) == ""


@cuda.jit
def syncwarp_between_warps(x, out):
    tile = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncwarp()
    out[i] = tile[63 - i]


def test_syncwarp_does_not_order_two_warps():
    x, out = np.ones(64), np.zeros(64)
    (finding,) = trace(syncwarp_between_warps, 1, 64, x, out).findings
    assert finding.kind == "race"
    assert finding.count == 64


@cuda.jit
def neighbours_before_a_barrier(x, out):
    tile = cuda.shared.array(128, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    distance = 1
    while distance <= x[0]:
        out[i] = tile[i ^ distance]
        distance *= 8
    cuda.syncthreads()


@pytest.mark.parametrize(
    "last, barrier", [(8, "syncwarp() or syncthreads()"), (64, "syncthreads()")]
)
def test_a_race_names_the_barrier_of_all_warps_that_meet(last, barrier):
    """The first race is within a warp; a later one at the same line is between two warps."""
    x, out = np.full(128, last), np.zeros(128)
    (finding,) = trace(neighbours_before_a_barrier, 1, 128, x, out).findings
    assert "thread (0) of block (0) reads tile[1]" in finding.message
    assert finding.message.endswith(f" with no {barrier} between.")


@cuda.jit
def histogram(x, bins):
    local = cuda.shared.array(8, int32)
    i = cuda.threadIdx.x
    if i < 8:
        local[i] = 0
    cuda.syncthreads()
    cuda.atomic.add(local, x[cuda.grid(1)], 1)
    cuda.syncthreads()
    if i < 8:
        cuda.atomic.add(bins, i, local[i])


@cuda.jit
def histogram_read_too_early(x, bins):
    local = cuda.shared.array(8, int32)
    i = cuda.threadIdx.x
    if i < 8:
        local[i] = 0
    cuda.syncthreads()
    cuda.atomic.add(local, x[cuda.grid(1)], 1)
    if i < 8:
        cuda.atomic.add(bins, i, local[i])


def test_atomics_do_not_race_with_each_other_but_with_plain_accesses():
    x = np.random.default_rng(5).integers(0, 8, 256)
    bins = np.zeros(8, np.int32)
    assert kinds_found(histogram, x, bins, grid=4) == set()
    assert (bins == np.bincount(x, minlength=8)).all()
    assert kinds_found(histogram_read_too_early, x, bins, grid=4) == {"race"}


@cuda.jit
def all_atomics(x, out, tickets, order):
    i = cuda.grid(1)
    cuda.atomic.max(out, 0, x[i])
    cuda.atomic.min(out, 1, x[i])
    cuda.atomic.sub(out, 2, x[i])
    cuda.atomic.xor(out, 3, x[i])
    cuda.atomic.or_(out, 4, x[i])
    cuda.atomic.and_(out, 5, x[i])
    order[i] = cuda.atomic.inc(tickets, 0, 99)
    while True:
        old = out[6]
        if cuda.atomic.cas(out, 6, old, old + 1) == old:
            break


def test_every_atomic_operation():
    x = np.random.default_rng(8).integers(0, 1000, 64)
    out = np.array([0, 5000, 0, 0, 0, -1, 0], np.int64)
    tickets, order = np.zeros(1, np.uint32), np.zeros(64, np.uint32)
    trace(all_atomics, 1, 64, x, out, tickets, order)
    assert out[:3].tolist() == [x.max(), x.min(), -x.sum()]
    assert out[3:6].tolist() == [np.bitwise_xor.reduce(x), np.bitwise_or.reduce(x),
                                 np.bitwise_and.reduce(x)]  # fmt: skip
    assert out[6] == 64
    assert sorted(order) == list(range(64))
    assert tickets[0] == 64


def test_an_integer_atomic_on_floats_is_refused():
    @cuda.jit
    def kernel(x):
        cuda.atomic.xor(x, 0, 1)

    with pytest.raises(Unsupported, match=r"atomic\.xor on float64"):
        kernel[1, 1](np.zeros(1))


def single_pass_sum(with_fence, by_the_last=True):
    @cuda.jit
    def kernel(x, partial, ticket, out):
        is_last = cuda.shared.array(1, int32)
        tile = cuda.shared.array(BLOCK, float32)
        i = cuda.threadIdx.x
        tile[i] = x[cuda.grid(1)]
        cuda.syncthreads()
        if i == 0:
            total = float32(0)
            for k in range(BLOCK):
                total += tile[k]
            partial[cuda.blockIdx.x] = total
            if with_fence:
                cuda.threadfence()
            is_last[0] = cuda.atomic.add(ticket, 0, 1) == cuda.gridDim.x - 1
        cuda.syncthreads()
        if (is_last[0] or not by_the_last) and i == 0:
            total = float32(0)
            for k in range(cuda.gridDim.x):
                total += partial[k]
            out[0] = total

    return kernel


@pytest.mark.parametrize("lanes_per_batch", [64, 16384])
def test_the_last_block_may_read_what_others_published_and_only_that(monkeypatch, lanes_per_batch):
    from virtual_gpu.launching import launch

    monkeypatch.setattr(launch, "LANES_PER_BATCH", lanes_per_batch)
    x = np.random.default_rng(1).random(BLOCK * 8, np.float32)

    def arrays():
        return x, np.zeros(8, np.float32), np.zeros(1, np.int32), np.zeros(1, np.float32)

    arguments = arrays()
    assert kinds_found(single_pass_sum(True), *arguments, grid=8) == set()
    assert np.isclose(arguments[3][0], x.sum())
    assert kinds_found(single_pass_sum(False), *arrays(), grid=8) == {"race"}
    assert kinds_found(single_pass_sum(True, by_the_last=False), *arrays(), grid=8) == {"race"}


@cuda.jit
def two_phases(x, out):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    x[i] = i
    grid.sync()
    out[i] = x[x.size - 1 - i]


@cuda.jit
def two_phases_unsynchronised(x, out):
    i = cuda.grid(1)
    x[i] = i
    cuda.syncthreads()
    out[i] = x[x.size - 1 - i]


@cuda.jit
def half_the_grid(x):
    if cuda.blockIdx.x == 0:
        cuda.cg.this_grid().sync()
    x[cuda.grid(1)] = 1


def test_a_barrier_of_the_whole_grid():
    x, out = np.zeros(1024), np.zeros(1024)
    assert kinds_found(two_phases, x, out, grid=16) == set()
    assert (out == np.arange(1024)[::-1]).all()
    assert kinds_found(two_phases_unsynchronised, x, out, grid=16) == {"race"}
    with pytest.raises(BarrierError, match="of the grid's 128 live threads"):
        half_the_grid[2, 64](np.zeros(128))


@cuda.jit
def many_types(i8, u8, i16, f16, c64, flags):
    i = cuda.threadIdx.x
    i8[i] += 100
    u8[i] -= 1
    i16[i] = i8[i] * u8[i]
    f16[i] = f16[i] + f16[i]
    c64[i] = c64[i] * 1j + c64[i].real
    flags[i] = not flags[i]


def test_small_integers_half_complex_and_bool_arrays():
    i8, u8 = np.full(32, 100, np.int8), np.zeros(32, np.uint8)
    i16, f16 = np.zeros(32, np.int16), np.full(32, 0.1, np.float16)
    c64, flags = np.full(32, 1 + 2j, np.complex64), np.arange(32) % 2 == 0
    expected = ~flags
    assert kinds_found(many_types, i8, u8, i16, f16, c64, flags, block=32) == {"overflow"}
    assert (i8[0], u8[0], i16[0]) == (-56, 255, -56 * 255)
    assert f16[0] == np.float16(0.1) * 2
    assert c64[0] == (1 + 2j) * 1j + 1
    assert (flags == expected).all()


@cuda.jit
def unsigned_sixty_four(x):
    x[0] = int64(x[0]) + 1


def test_a_64_bit_unsigned_array():
    x = np.array([2**63], np.uint64)
    assert kinds_found(unsigned_sixty_four, x, block=1) == set()
    assert x[0] == 2**63 + 1


def warp_total(x):
    """A function that needs all lanes of a warp, as an example of one that Numba does not have."""


def _warp_total(machine, x):
    machine.need_whole_warps()
    return np.repeat(machine.by_warp(x).sum(axis=1), 32).astype(x.dtype)


virtual_gpu.register(warp_total, _warp_total)


@cuda.jit
def total_of_all(x, out):
    out[cuda.grid(1)] = warp_total(x[cuda.grid(1)])


@cuda.jit
def total_of_some(x, out):
    if cuda.threadIdx.x != 40:
        out[cuda.grid(1)] = warp_total(x[cuda.grid(1)])


def test_a_registered_function_sees_its_warp_and_needs_all_of_it():
    x, out = np.arange(BLOCK, dtype=np.float32), np.zeros(BLOCK, np.float32)
    assert kinds_found(total_of_all, x, out) == set()
    assert set(out[:32]) == {x[:32].sum()}
    assert set(out[32:]) == {x[32:].sum()}
    (finding,) = trace(total_of_some, 1, BLOCK, x, out).findings
    assert finding.kind == "barrier"
    assert "without lane 8 of its warp: all 32 lanes must take part" in str(finding)
