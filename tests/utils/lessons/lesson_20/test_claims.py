"""Check the claims of lesson 20 against records, kernels and machine code."""

import csv
import inspect

import nbformat
import numpy as np
import pytest

from gpu_xray import xray
from gpu_xray.widths import GLOBAL_LOADS, widest
from labs import EXERCISES, check
from labs.checking import variants
from labs.checking.variants import cheap_versions
from reduce_kernels import LADDER, reduction
from reduce_kernels.parts.wide_loads import LOADS, total_of_thread
from reduce_kernels.reduction import longest_chain
from utils import lessons as course
from utils.lessons.lesson_20.reduction_comparison import library_ms, needed
from utils.machine import devices
from utils.measuring import as_called, records
from utils.paths import ROOT
from virtual_gpu import trace
from virtual_gpu.tests.kernels import broken

LESSON = ROOT / "notebooks" / "20_reduce_at_the_limit.ipynb"
H200 = devices.find("H200")
STEPS = ("reduce8", "reduce9", "reduce_atomic", "reduce_cooperative")
SIZES = ("2^22", "2^25", "2^28", "2^30")
FRAME = records.measured(H200.name, "reduce")


def ms(step: str, shape: str, **constants: int) -> float:
    ladder_step = LADDER.step(step)
    return course.recorded_ms(ladder_step.variant(**constants) if constants else ladder_step, shape)


# ---- one launch or two ----


def test_the_numbers_of_the_picture_are_those_of_the_prose():
    from utils.lessons.lesson_20.single_pass_reduction import draw_launches, draw_tickets, order_of

    assert order_of()[-1] == 1
    assert "Block 1 leaves its sum and draws number 3: it is the last of 4" in draw_tickets().alt
    assert "block 1, which draws the last one" in draw_launches().alt


def test_two_launches_take_8_80_us_and_one_saves_0_54():
    two, one = (1000 * ms(step, "2^22") for step in ("reduce8", "reduce9"))
    assert (f"{two:.2f}", f"{two - one:.2f}") == ("8.80", "0.54")
    assert needed(LADDER.step("reduce8"), "2^22")[0] == 2
    assert needed(LADDER.step("reduce9"), "2^22")[0] == 1
    saved = 1 - ms("reduce9", "2^30") / ms("reduce8", "2^30")
    assert f"{saved:.1%}" == "0.2%"


@pytest.mark.slow
def test_wide_loads_bring_14_percent_to_the_small_array_and_almost_nothing_to_the_large_one():
    gains = [ms("reduce7", shape) / ms("reduce8", shape) for shape in ("2^22", "2^30")]
    assert [f"{gain:.2f}" for gain in gains] == ["1.14", "1.00"]


@pytest.mark.slow
def test_reduce8_has_four_loads_of_16_bytes_under_way_where_reduce7_has_eight_of_4(compiler):
    loads_by_step = {}
    for name in ("reduce7", "reduce8"):
        step = LADDER.step(name)
        code = xray(step.variant().kernel, step.signature, "sm_90")
        loads_by_step[name] = code.loads_before_use, widest(code.code, GLOBAL_LOADS) // 8
    assert loads_by_step == {"reduce7": (8, 4), "reduce8": (4, 16)}
    assert min(loads * wide for loads, wide in loads_by_step.values()) * 2048 > 12_859


@pytest.mark.slow
def test_the_code_of_a_threads_part_is_as_the_lesson_reads_it():
    from reduce_kernels.parts.operations import SUM_OF_FLOAT32

    lines = inspect.getsource(total_of_thread(SUM_OF_FLOAT32, 1024, 4).py_func).splitlines()
    assert LADDER.step("reduce8").constants() == {"BLOCK": 1024, "TURNS": 4}
    assert LOADS == 4
    ifs = [line.strip() for line in lines if line.strip().startswith("if ")]
    assert len(ifs) == 4
    assert ifs[-3] == "if cuda.blockIdx.x == 0:"
    text = "\n".join(lines)
    assert text.index("stream16(") < text.index("combine(totals[j], values")


@pytest.mark.slow
def test_the_profiler_counted_about_a_quarter_of_the_load_requests():
    with open(records.file_of(H200.name, "counters"), encoding="utf-8") as file:
        rows = {
            row["launch"]: int(row["value"])
            for row in csv.DictReader(file)
            if row["counter"] == "global_load_requests" and row["launch"].startswith("reduce")
        }
    assert rows["reduce8_1024_4"] / rows["reduce7_256_8"] == pytest.approx(1 / 4, rel=0.03)


# ---- the fence ----


@pytest.mark.slow
def test_nvidias_tool_reported_nothing_without_a_fence_and_the_virtual_gpu_does():
    with open(records.file_of(H200.name, "sanitizer"), encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["case"] == "ticket_without_fence"]
    assert [(row["tool"], row["reported"]) for row in rows] == [("racecheck", "false")]
    arguments = broken.ticket_arguments(np.random.default_rng(1))
    kernel = broken.ticket_without_fence.kernel
    findings = trace(kernel, 4, arguments[0].size // 4, *arguments).findings
    assert findings[0].kind == "race"


@pytest.mark.slow
@pytest.mark.parametrize(("fence", "kinds"), [(1, {"race"}), (2, set())])
def test_the_virtual_gpu_asks_for_the_first_fence_alone(fence, kinds):
    reduce9 = LADDER.step("reduce9")
    edited = course.edited(reduce9.file, course.Edit("cuda.threadfence()", "pass", fence))
    run = course.watch(edited.STEP.variant(BLOCK=32, TURNS=1), "10007")
    assert {one.kind for one in run.findings} == kinds
    if kinds:
        assert "total = combine(total, partials[i])" in str(run.findings[0])


def kernel_of_cell(cell: str, name: str, removed: int | None = None):
    """Return a kernel of the lesson, without one of its fences if `removed` is its number."""
    cells = {one.id: one.source for one in nbformat.read(LESSON, 4).cells}
    before, *after = cells[cell].split("cuda.threadfence()")
    fences = ["pass" if number == removed else "cuda.threadfence()" for number in range(len(after))]
    text = before + "".join(map("".join, zip(fences, after, strict=True)))
    return variants.function_in(name, f"from numba import cuda\n{text}")


@pytest.mark.parametrize(
    ("cell", "name", "removed", "kinds"),
    [
        ("hand-over", "hand_over", None, {"race"}),
        ("hand-over-fence", "hand_over_fenced", None, set()),
        ("hand-over-fence", "hand_over_fenced", 0, {"race"}),
        ("hand-over-fence", "hand_over_fenced", 1, set()),
    ],
)
def test_a_hand_over_has_two_fences_of_which_the_virtual_gpu_asks_for_the_first(
    cell, name, removed, kinds
):
    kernel = kernel_of_cell(cell, name, removed)
    words = np.zeros((3, 1), np.int32)
    assert {one.kind for one in trace(kernel, 2, 1, *words).findings} == kinds
    fences = inspect.getsource(kernel.py_func).count("cuda.threadfence()")
    assert fences == (0 if name == "hand_over" else 2 if removed is None else 1)


def test_check_asks_for_the_second_fence_as_well():
    (text,) = (text for what, text in cheap_versions(EXERCISES["ticket"]) if what == "one fence")
    assert text.count("cuda.threadfence()") == 1
    assert not check("ticket", variants.function_in("ticket", text)).passed


@pytest.mark.slow
def test_check_runs_1_to_90_blocks_and_the_counter_begins_elsewhere_too():
    one = EXERCISES["ticket"]
    assert {one.launch(shape).blocks for shape in one.shapes} >= {1, 90}
    assert max(one.launch(shape).blocks for shape in one.shapes) == 90
    assert any("ticket decides" in target.words for target in one.targets)


# ---- the order ----


@pytest.mark.slow
def test_another_order_gives_other_bits_and_ones_stop_at_2_to_the_24():
    rng = np.random.default_rng(20)
    partials = rng.random(4096, dtype=np.float32)
    sums = {float(np.add.accumulate(rng.permutation(partials))[-1]) for _ in range(50)}
    exact = partials.sum(dtype=np.float64)
    assert len(sums) > 5
    assert all(abs(one - exact) < 1e-5 * exact for one in sums)
    assert np.float32(2**24) + np.float32(1) == 2**24
    assert np.spacing(np.float32(2**24)) == 2
    assert np.finfo(np.float32).nmant + 1 == 24


def test_a_value_meets_32_additions_and_58_in_the_large_sum():
    assert (longest_chain(2**25, 4), longest_chain(2**30, 4)) == (32, 58)
    grids = [reduction.blocks(4 * n, 1024, turns) for n, turns in ((2**25, 1), (2**30, 4))]
    assert [grid // 1024 for grid in grids] == [2, 16]
    assert reduction.SHORT_BYTES == 2**28


# ---- four ways ----


@pytest.mark.slow
def test_atomics_are_the_fastest_at_every_size_and_cooperative_launches_the_slowest():
    for shape in SIZES:
        order = sorted(STEPS, key=lambda step: ms(step, shape))
        assert order == ["reduce_atomic", "reduce9", "reduce8", "reduce_cooperative"]
    gains = [ms("reduce9", shape) / ms("reduce_atomic", shape) - 1 for shape in ("2^22", "2^30")]
    assert [f"{gain:.1%}" for gain in gains] == ["5.2%", "0.3%"]


def test_what_each_way_needs():
    by_step = {name: needed(LADDER.step(name), "2^28") for name in STEPS[:3]}
    assert by_step == {"reduce8": (2, 16_384), "reduce9": (1, 16_388), "reduce_atomic": (2, 0)}


@pytest.mark.slow
def test_a_cooperative_launch_of_the_h200_has_528_blocks_and_2112_bytes():
    from reduce_kernels.reduce_cooperative import BLOCKS_PER_SM, THREADS_PER_SM

    best = FRAME[(FRAME["step"] == "reduce_cooperative") & (FRAME["elements"] == 2**28)]
    assert best.loc[best["time_ms"].idxmin(), "params"] == "BLOCK=256"
    assert H200.sms * min(BLOCKS_PER_SM, THREADS_PER_SM // 256) == 528
    assert 528 * 4 == 2112


@pytest.mark.slow
def test_against_cub():
    ratios = [library_ms(FRAME, LADDER, shape) / ms("reduce9", shape) for shape in ("2^22", "2^30")]
    assert [f"{ratios[0]:.1f}", f"{ratios[1]:.2f}"] == ["1.4", "1.01"]


@pytest.mark.slow
def test_from_2_to_the_28_on_three_curves_lie_within_3_percent():
    for shape in ("2^28", "2^30"):
        times = [ms("reduce7", shape), ms("reduce9", shape), library_ms(FRAME, LADDER, shape)]
        assert max(times) / min(times) < 1.03
    assert ms("reduce7", "2^22") / ms("reduce9", "2^22") > 1.2


# ---- as it is called, and what is left ----


def called(function: str, elements: int) -> as_called.CallRow:
    """Return the last recorded call of a function with this number of elements."""
    rows = as_called.read(as_called.file_of(H200.name))
    return [row for row in rows if (row.function, row.elements) == (function, elements)][-1]


@pytest.mark.slow
def test_a_short_call_is_python():
    short, long = called("reduce into out", 1024), called("reduce", 2**30)
    assert (f"{short.time_us:.1f}", f"{short.host_us:.1f}") == ("10.2", "10.1")
    assert short.library == "PyTorch"
    assert short.ratio < 1
    assert long.host_us < 0.02 * long.time_us


@pytest.mark.slow
def test_4_mi_floats_stay_in_the_cache_when_a_function_is_called_again_and_again():
    assert (2**22 * 4 // 2**20, H200.l2_kib // 1024) == (16, 60)
    time_us = called("reduce into out", 2**22).time_us
    assert (f"{time_us:.2f}", f"{1000 * ms('reduce9', '2^22'):.2f}") == ("7.93", "8.26")


@pytest.mark.slow
def test_what_is_left_to_the_data_sheet():
    shares = [
        course.share_of_peak(LADDER.step(one), "2^30") for one in ("reduce9", "reduce_atomic")
    ]
    assert [f"{1 - share:.1%}" for share in shares] == ["2.4%", "2.1%"]
    best = FRAME[FRAME["elements"] == 2**30]["efficiency"].max()
    copy = records.measured(H200.name, "latency").query("step == 'copy'")["efficiency"].max()
    assert best == max(shares) > copy
    reduce9 = LADDER.step("reduce9")
    rest = [1000 * ms("reduce9", one) * (1 - course.share_of_peak(reduce9, one)) for one in SIZES]
    assert rest[0] > 0.5 * 1000 * ms("reduce9", "2^22")
    times = [1000 * ms("reduce9", one) for one in SIZES]
    assert (f"{times[-1] / times[0]:.0f}", f"{rest[-1] / rest[0]:.1f}") == ("111", "4.6")
    assert H200.peak_gb_per_s == 4800


@pytest.mark.slow
def test_many_tickets_cost_6_and_a_half_percent_and_many_partial_sums_little():
    few, many = {"BLOCK": 1024, "TURNS": 4}, {"BLOCK": 1024, "TURNS": 1}
    costs = [ms(step, "2^30", **many) / ms(step, "2^30", **few) for step in ("reduce9", "reduce8")]
    assert [f"{cost - 1:.1%}" for cost in costs] == ["6.5%", "0.4%"]
    shape = LADDER.parse("2^30")
    grids = [LADDER.step("reduce9").variant(**one).launch(shape).blocks for one in (few, many)]
    assert grids == [16_384, 65_536]
