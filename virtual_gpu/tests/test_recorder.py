"""The events of one block are recorded in order, as they can be written down by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from numba import cuda, float32, int32

from utils.intrinsics.wide_memory import load2
from virtual_gpu import LaunchError, trace
from virtual_gpu.counts.counters import Uncounted

TILE = 4
PADDED = (TILE, TILE + 1)


@cuda.jit
def row_sums(a, out):
    tile = cuda.shared.array(PADDED, float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + y
    total = float32(0)
    for t in range(2):
        tile[y, x] = a[row, t * TILE + x]
        cuda.syncthreads()
        total += tile[x, y] + tile[y, x]
        cuda.syncthreads()
    out[cuda.blockIdx.x, row, x] = total


def recorded(kernel, grid, block, *arguments, **options):
    run = trace(kernel, grid, block, *arguments, **options)
    assert run.findings == ()
    return run.recording


def event_texts(recording):
    """Return each event as text: its kind, and the array that it accesses."""
    return [f"{e.kind} {e.array}".strip() for e in recording.events]


def rows_of_tile():
    a = np.arange(3 * TILE * 2 * TILE, dtype=np.float32).reshape(3 * TILE, 2 * TILE)
    return a, np.zeros((2, 3 * TILE, TILE), np.float32)


def test_the_walk_of_a_tile_by_a_block_in_the_middle():
    a, out = rows_of_tile()
    recording = recorded(row_sums, (2, 3), (TILE, TILE), a, out, record=(1, 1), values=True)
    assert (recording.block, recording.shape, recording.left_out) == ((1, 1, 0), (4, 4, 1), 0)
    turn = ["load a", "store tile", "barrier", "load tile", "load tile", "barrier"]
    assert event_texts(recording) == [*turn, *turn, "store out"]
    first = TILE * a.shape[1] + np.add.outer(a.shape[1] * np.arange(TILE), np.arange(TILE)).ravel()
    loads = [e for e in recording.events if e.array == "a"]
    for number, event in enumerate(loads):
        assert (event.first == first + number * TILE).all()
        assert (event.values == a.ravel()[event.first]).all()
    down, across = recording.events[3:5]
    assert (down.first == np.add.outer(np.arange(TILE), 5 * np.arange(TILE)).ravel()).all()
    assert (across.first == np.add.outer(5 * np.arange(TILE), np.arange(TILE)).ravel()).all()
    assert (recording.events[-1].values == out[1, TILE : 2 * TILE].ravel()).all()


def test_two_places_of_one_line_are_two_operations_and_the_next_round_the_same():
    recording = recorded(row_sums, (2, 3), (TILE, TILE), *rows_of_tile(), record=(0, 2))
    operations = [e.operation for e in recording.events]
    assert operations == [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 6]
    down, across = recording.events[3:5]
    assert down.line == across.line == row_sums.py_func.__code__.co_firstlineno + 9
    assert down.file == "virtual_gpu/tests/test_recorder.py"
    assert down.values is None


def test_arrays_have_their_shapes():
    recording = recorded(row_sums, (2, 3), (TILE, TILE), *rows_of_tile(), record=(1, 0))
    arrays = {a.name: (a.space, a.shape, a.strides, a.itemsize) for a in recording.arrays}
    assert arrays == {
        "a": ("global", (12, 8), (8, 1), 4),
        "tile": ("shared", (4, 5), (5, 1), 4),
        "out": ("global", (2, 12, 4), (48, 4, 1), 4),
    }


@cuda.jit
def warp_total(x, out):
    i = cuda.threadIdx.x
    value = x[cuda.grid(1)]
    delta = 2
    while delta > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, delta)
        delta //= 2
    if cuda.any_sync(0xFFFFFFFF, value > 100) and i == 0:
        cuda.atomic.add(out, 0, value)
    cuda.syncwarp()


def test_shuffles_and_votes_are_events():
    x, out = np.arange(96, dtype=np.int32), np.zeros(1, np.int32)
    recording = recorded(warp_total, 3, 32, x, out, record=1, values=True)
    expected = ["load x", "shuffle", "shuffle", "vote", "atomic out", "syncwarp"]
    assert event_texts(recording) == expected
    lanes = np.arange(32)
    _, two, one, vote, atomic, together = recording.events
    assert (two.sources == np.where(lanes < 30, lanes + 2, lanes)).all()
    assert (one.sources == np.where(lanes < 31, lanes + 1, lanes)).all()
    assert (two.values == 32 + two.sources).all()
    assert two.operation == one.operation != vote.operation
    assert vote.values.all()
    assert list(atomic.first) == [0] + [-1] * 31
    assert atomic.values[0] == sum(sum(range(n, n + 4)) for n in (0, 32, 64))  # all three blocks
    assert (together.first == 0).all()


@cuda.jit
def guarded(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + 1


def test_threads_that_take_no_part_are_marked():
    x, out = np.arange(40, dtype=np.float32), np.zeros(40, np.float32)
    (load, store) = recorded(guarded, 3, 16, x, out, record=2, values=True).events
    assert list(load.first) == [*range(32, 40), *[-1] * 8]
    assert list(store.values) == [*range(33, 41), *[0] * 8]


def test_a_sample_holds_the_block_that_is_recorded():
    x, out = np.arange(40, dtype=np.float32), np.zeros(40, np.float32)
    run = trace(guarded, 10, 4, x, out, blocks=1, record=7)
    assert (run.recording.events[0].first == np.arange(28, 32)).all()
    assert (out != 0).sum() == 4


@cuda.jit
def by_pairs(x, out):
    i = cuda.grid(1)
    first, second = load2(x, 2 * i)
    out[i] = first * second


def test_a_wide_load_has_all_its_values():
    x = np.arange(16, dtype=np.float32)
    load, _ = recorded(by_pairs, 1, 8, x, np.zeros(8, np.float32), record=0, values=True).events
    assert (load.width, load.values.shape) == (2, (8, 2))
    assert (load.first == 2 * np.arange(8)).all()
    assert (load.values == x.reshape(8, 2)).all()


@cuda.jit(device=True)
def swapped(value):
    tile = cuda.shared.array(2, int32)
    i = cuda.threadIdx.x
    tile[1 - i] = value
    cuda.syncthreads()
    return tile[i]


@cuda.jit
def swaps(out):
    tile = cuda.shared.array(2, int32)
    i = cuda.threadIdx.x
    tile[i] = i
    out[i] = swapped(tile[i])


def test_two_arrays_of_one_name_stay_apart():
    recording = recorded(swaps, 1, 2, np.zeros(2, np.int32), record=0)
    assert event_texts(recording) == [
        *("store tile", "load tile", "store tile (2)", "barrier", "load tile (2)", "store out")
    ]


def test_events_beyond_the_limit_are_counted():
    arguments = rows_of_tile()
    recording = recorded(row_sums, (2, 3), (TILE, TILE), *arguments, record=(1, 1), events=5)
    assert (len(recording.events), recording.left_out) == (5, 8)
    assert repr(recording) == "<Recording of block (1, 1, 0): 5 events and 8 left out>"


@cuda.jit
def every_thread_adds(x, out):
    cuda.atomic.max(out, 1, x[cuda.threadIdx.x])
    out[0] = out[0] + x[cuda.threadIdx.x]


@pytest.mark.parametrize(
    ("kernel", "launch", "record", "arguments"),
    [
        (row_sums, ((2, 3), (TILE, TILE)), (1, 1), rows_of_tile()),
        (warp_total, (3, 32), 1, (np.arange(96, dtype=np.int32), np.zeros(1, np.int32))),
        (every_thread_adds, (1, 64), 0, (np.ones(64, np.float32), np.zeros(2, np.float32))),
    ],
    ids=lambda one: getattr(one, "__name__", None),
)
def test_without_counts_the_result_the_findings_and_the_events_are_the_same(
    kernel, launch, record, arguments
):
    runs = []
    for counts in (True, False):
        own = [array.copy() for array in arguments]
        run = trace(kernel, *launch, *own, record=record, values=True, counts=counts)
        runs.append((run, own))
    (counted, result), (uncounted, same) = runs
    assert all(np.array_equal(one, other) for one, other in zip(result, same, strict=True))
    assert uncounted.findings == counted.findings
    assert bool(counted.findings) == (kernel is every_thread_adds)
    events, again = (run.recording.events for run in (counted, uncounted))
    assert len(events) == len(again) > 0
    for one, other in zip(events, again, strict=True):
        for name, value in vars(one).items():
            assert np.array_equal(value, getattr(other, name)), name
    assert counted.access_counts
    assert counted.footprint_bytes
    assert (uncounted.access_counts, uncounted.counts, uncounted.turns) == ((), {}, {})
    assert (uncounted.footprint_bytes, uncounted.hints) == (0, ())


def test_without_counts_a_product_of_fragments_is_an_event():
    noted = []
    recorder = SimpleNamespace(meeting=lambda *event: noted.append(event))
    Uncounted(recorder).mma("mask", "site", 16)
    Uncounted(None).mma("mask", "site", 16)
    assert noted == [("mma", "mask", "site")]


@pytest.mark.parametrize("block", [3, (0, 1), -1, 1.5, (0, 0, 0, 0)])
def test_a_block_that_the_grid_does_not_have_is_refused(block):
    with pytest.raises(LaunchError, match="it must be the coordinates of a block of the grid"):
        trace(guarded, 3, 16, np.zeros(4), np.zeros(4), record=block)


def test_nothing_is_recorded_unless_asked_for():
    assert trace(guarded, 3, 16, np.zeros(4), np.zeros(4)).recording is None
