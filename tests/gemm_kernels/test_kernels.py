"""Every step of the GPU ladder of SGEMM, on the GPU if there is one and on the virtual GPU."""

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda
from numba.cuda.cudadrv.devicearray import ManagedNDArray

from gemm_kernels import LADDER, run
from gemm_kernels.parts import lane_maps
from utils.division import cdiv
from utils.errors import CourseError
from utils.ladder.explain import trace_step
from utils.ladder.problems import draw
from utils.ladder.shapes import GemmShape
from utils.ladder.verify import verify_all
from utils.lessons.edits import Edit, edited
from utils.machine import devices

DEFAULTS = [step.variant() for step in LADDER.steps]
OTHERS = [
    pytest.param(variant, marks=pytest.mark.slow)
    for step in LADDER.steps
    for variant in step.variants()[1:]
]
# Long in one direction at a time, so that every edge is met and the virtual GPU stays quick.
EDGES = [(1, 1, 1), (17, 19, 23), (2, 3, 63), (3, 2, 64), (2, 3, 65)]
EDGES += [(m, n, 3) for size in (255, 256, 257) for m, n in ((size, 2), (2, size))]

every_step = pytest.mark.parametrize("variant", DEFAULTS, ids=str)
every_variant = pytest.mark.parametrize("variant", [*DEFAULTS, *OTHERS], ids=str)


def nearest(variant, m: int, n: int, k: int) -> GemmShape:
    """Return the shape, or with n and k rounded up to sizes that the step accepts."""
    shape = GemmShape(m, n, k)
    try:
        variant.launch(shape)
    except CourseError:
        shape = GemmShape(m, cdiv(n, 4) * 4, cdiv(k, 4) * 4)
    return shape


@every_step
@pytest.mark.parametrize("m, n, k", EDGES)
def test_every_element_is_right_for_any_shape(variant, m, n, k):
    (verdict,) = verify_all(LADDER, [variant], nearest(variant, m, n, k))
    assert verdict.passed, verdict


@pytest.mark.parametrize("variant", OTHERS, ids=str)
def test_every_element_is_right_with_other_constants(variant):
    """Return a shape slightly larger than one block, with k longer than the deepest tile."""
    (verdict,) = verify_all(LADDER, [variant], nearest(variant, 131, 133, 35), kinds=("integers",))
    assert verdict.passed, verdict


@every_step
@settings(max_examples=5, deadline=None)
@given(size=st.tuples(*[st.integers(1, 40)] * 3))
def test_shapes_that_nobody_thought_of_are_right(variant, size):
    shape = nearest(variant, *size)
    (verdict,) = verify_all(LADDER, [variant], shape, kinds=("integers",))
    assert verdict.passed, verdict


@every_step
@pytest.mark.parametrize("m, n, k", [(0, 3, 2), (3, 0, 2), (0, 0, 0), (3, 4, 0)])
def test_an_empty_side_gives_an_empty_product_and_an_empty_sum_zeros(variant, m, n, k):
    a, b = np.empty((m, k), np.float32), np.empty((k, n), np.float32)
    c = run(variant.step.name, a, b, **variant.constants)
    np.testing.assert_array_equal(c, np.zeros((m, n), np.float32), strict=True)


def test_the_sources_own_workload_of_2000_by_2000_by_600_is_right():
    """Return a shape with edges in n and 1.2 million threads; without a GPU a tenth of k."""
    tiled = LADDER.step("tiled").variant(TILE=32)
    shape = GemmShape(2000, 600, 2000 if devices.current() else 200)
    (verdict,) = verify_all(LADDER, [tiled], shape, kinds=("uniform",))
    assert verdict.passed, verdict


def traced(variant, m, n, k):
    """Return the virtual GPU's trace of one product."""
    return trace_step(variant, GemmShape(m, n, k))


@every_variant
def test_no_variant_computes_in_float64_or_has_a_finding(variant):
    result = traced(variant, 33, 20, 12)
    assert result.findings == ()
    assert result.totals["float64_ops"] == 0


def test_an_accumulator_of_0_0_is_seen_by_the_virtual_gpu_too():
    naive = LADDER.step("naive")
    wrong = edited(naive.file, Edit("float32(0)", "0.0")).STEP
    assert traced(wrong.variant(), 33, 17, 9).totals["float64_ops"] > 0


def test_device_arrays_are_taken_as_they_are():
    a, b = draw("integers", (5, 6), 1), draw("integers", (6, 7), 2)
    c = run("tiled", cuda.to_device(a), b, TILE=8)
    np.testing.assert_array_equal(c, a @ b, strict=True)


def test_the_result_in_managed_memory_is_read_as_numba_hands_it_out(monkeypatch):
    """Numba's class for managed arrays is half a NumPy array and half a device array."""

    def managed_array(shape, dtype):
        return np.ndarray.view(np.empty(shape, dtype), type=ManagedNDArray)

    monkeypatch.setattr(cuda, "managed_array", managed_array)
    out = LADDER.placed(LADDER.step("unified_memory"), draw("integers", (5, 6), 1))
    assert isinstance(out, ManagedNDArray)
    host = LADDER.to_host(out)
    assert type(host) is np.ndarray
    np.testing.assert_array_equal(host, draw("integers", (5, 6), 1), strict=True)


def test_nan_and_infinity_pass_through():
    a, b = draw("integers", (3, 4), 1), draw("integers", (4, 8), 2)
    a[0, 0], a[1, 1] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        expected = a @ b
    for step in LADDER.steps:
        np.testing.assert_array_equal(run(step.name, a, b), expected, err_msg=step.name)


A = np.zeros((3, 4), np.float32)
B = np.zeros((4, 5), np.float32)
REFUSED = {
    "shapes that do not chain": (A, A, "a is 3×4 and b is 3×4.* give a b of 4×4 or an a of 3×3"),
    "another dtype": (A.astype(float), B, r"a holds float64.* use a.astype\(np.float32\)"),
    "columns side by side": (
        A,
        np.asfortranarray(B),
        r"b is not contig.*np.ascontiguousarray\(b\)",
    ),
    "every other row": (A, np.zeros((8, 5), np.float32)[::2], r"use np.ascontiguousarray\(b\)"),
    "one dimension": (A[0], B, r"a has the shape \(4,\), and 2 dimensions are needed"),
    "a list": ([[1.0]], B, r"a is a list, and an array is needed"),
}


@pytest.mark.parametrize("a, b, sentence", REFUSED.values(), ids=REFUSED)
def test_inputs_that_do_not_fit_are_refused_with_what_to_do(a, b, sentence):
    with pytest.raises(CourseError, match=sentence):
        run("naive", a, b)


WIDE = (
    *("vectorized", "double_buffered", "prefetch", "warp_tiled", "maxwell64", "maxwell256"),
    *("async_copy", "guard_free", "register_banks", "split_k", "autotuned"),
)


@pytest.mark.parametrize("step", WIDE)
def test_rows_that_128_bits_do_not_fit_are_refused_with_the_nearest_shape(step):
    a, b = np.zeros((5, 6), np.float32), np.zeros((6, 8), np.float32)
    with pytest.raises(CourseError, match=f"{step} .* multiples of 4, .* 5×8×6: pad .* 5×8×8"):
        run(step, a, b)


def per_request(frame, kind: str) -> float:
    """Return the sectors or wavefronts per request of that kind, over the lines given."""
    space = kind.split("_")[0]
    unit = "sectors" if space == "global" else "wavefronts"
    return frame[f"{kind}_{unit}"].sum() / frame[f"{kind}_requests"].sum()


def lines_with(result, text: str):
    return result.lines[result.lines["source"].str.contains(text, regex=False)]


def variant(name: str, **constants):
    return LADDER.step(name).variant(**constants)


@pytest.mark.parametrize("step, from_a, from_b", [("naive_strided", 32, 1), ("naive", 1, 4)])
def test_sectors_that_a_warp_asks_for_in_a_step_of_k(step, from_a, from_b):
    line = lines_with(traced(variant(step), 32, 32, 32), "total += a[row, i] * b[i, col]")
    assert per_request(line, "global_load") == (from_a + from_b) / 2


@pytest.mark.parametrize("multi", [1, 2, 4, 8])
def test_adjacent_columns_need_multi_times_the_sectors_of_columns_a_warp_apart(multi):
    for apart, sectors in ((32, 4), (1, 4 * multi)):
        result = traced(variant("multi_output", MULTI=multi, APART=apart), 8, 256, 4)
        assert per_request(lines_with(result, "totals[j] += from_a"), "global_load") == sectors


@pytest.mark.parametrize("multi", [1, 2, 4, 8])
def test_column_by_column_saves_no_load_and_spreads_those_of_b(multi):
    accesses = traced(variant("multi_output_by_column", MULTI=multi), 16, 128, 4).accesses
    of_a, of_b = (accesses.query("array == @name").iloc[0] for name in "ab")
    assert of_a.words == of_b.words == 16 * 128 * 4
    assert of_b.sectors == 2 * multi * of_b.requests


def test_testing_the_first_column_alone_as_the_source_does_is_found_at_the_edge():
    step = LADDER.step("multi_output_by_column")
    wrong = edited(step.file, Edit("if col + j < n", "if col < n")).STEP.variant(MULTI=4)
    assert {finding.kind for finding in traced(wrong, 2, 8, 3).findings} == set()
    assert {finding.kind for finding in traced(wrong, 2, 9, 3).findings} == {"out_of_bounds"}


@pytest.mark.parametrize(
    "step, wavefronts", [("tiled", 1), ("tiled_transposed", 32), ("tiled_padded", 1)]
)
def test_wavefronts_that_a_read_of_bs_tile_needs(step, wavefronts):
    line = lines_with(traced(variant(step), 32, 32, 32), "total += sa[")
    # One of the two reads of the line is of a's tile, where all lanes read one element.
    assert per_request(line, "shared_load") == (1 + wavefronts) / 2


def test_grain_divides_the_reads_of_a_from_global_memory():
    reads = [
        lines_with(traced(variant("granularity", GRAIN=grain, TILE=16), 16, 64, 16), "sa[ty, tx] =")
        for grain in (1, 2, 4)
    ]
    requests = [line["global_load_requests"].sum() for line in reads]
    assert requests == [4 * requests[2], 2 * requests[2], requests[2]]


def test_a_block_tile_reads_global_memory_as_often_as_the_lesson_says():
    size, bm, bn = 128, 64, 128
    result = traced(variant("register_blocked", BM=bm, BN=bn, TM=8, TN=8), size, size, size)
    elements = result.totals["global_load_bytes"] / 4
    assert elements == size**3 * (1 / bm + 1 / bn)


def test_two_buffers_need_one_barrier_a_tile_where_one_needs_two():
    tiles, warps = 4, 8
    size = 128, 128, 8 * tiles
    constants = {"BM": 128, "BN": 128, "BK": 8}
    assert traced(variant("vectorized", **constants), *size).totals["barriers"] == 2 * tiles * warps
    for step in ("double_buffered", "prefetch"):
        result = traced(variant(step, **constants), *size)
        assert result.totals["barriers"] == (1 + tiles) * warps


@pytest.mark.parametrize(
    "name", ["prefetch", "warp_tiled", "maxwell64", "maxwell256", "guard_free", "split_k"]
)
def test_without_the_barrier_of_the_loop_a_race_is_found(name):
    in_loop = "    cuda.syncthreads()\n            read"
    wrong = edited(LADDER.step(name).file, Edit(in_loop, "    read"))
    findings = traced(wrong.STEP.variant(), 8, 64, 24).findings
    assert {finding.kind for finding in findings} == {"race"}


# Reads of 128 bits from shared memory, per request. Counted by the profiler on an H200, 2026-11-21,
# at 256×256×256: 98688, 98688 and 65792 wavefronts for 32896 requests, 164480 for prefetch. The
# fourth map came later: counters.csv.
@pytest.mark.parametrize(
    "step, constants, wavefronts",
    [
        ("warp_tiled", {"LANES": 0}, 3),
        ("warp_tiled", {"LANES": 1}, 3),
        ("warp_tiled", {"LANES": 2}, 2),
        ("warp_tiled", {"LANES": 3}, 2),
        ("prefetch", {}, 5),
    ],
)
def test_lane_maps_differ_in_the_wavefronts_of_a_read(step, constants, wavefronts):
    result = traced(variant(step, **constants), 128, 128, 16)
    assert per_request(result.lines, "shared_load") == wavefronts


def test_the_zig_zag_is_the_published_map_in_words_and_that_of_maxwell256():
    """With a and b exchanged: tile_index_b of Gray and others 2022 is the row here, in elements."""
    source = LADDER.step("maxwell256").file.build.__wrapped__
    bits = next(line for line in inspect.getsource(source).splitlines() if "across, down =" in line)
    for t in range(256):
        names = {"t": t}
        exec(bits.strip(), names)
        down, across = lane_maps.zig_zag.py_func(t)
        assert (down, across) == (names["down"], names["across"])
        warp, lane = t // 32, t % 32
        assert down * 4 == warp % 4 * 16 + lane // 16 * 8 + lane % 2 * 4
        assert across * 4 == warp // 4 * 32 + lane % 16 // 2 * 4


@pytest.mark.parametrize("lanes", lane_maps.LANE_MAPS)
def test_every_lane_map_gives_each_quad_to_one_thread(lanes):
    assert len({lanes.py_func(t) for t in range(256)}) == 256
    assert {max(place) for place in zip(*map(lanes.py_func, range(256)), strict=True)} == {15}


@pytest.mark.parametrize("name", ["maxwell64", "maxwell256"])
def test_c_goes_through_shared_memory_to_coalesced_stores(name):
    result = traced(variant(name), 128, 128, 8)
    assert per_request(result.lines, "global_store") == 4
