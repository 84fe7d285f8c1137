"""Tests of the comparison of two steps, and of its notes about what is missing."""

from itertools import pairwise

import pytest

import gemm_kernels.cpu
import latency_kernels
import reduce_kernels
import tensor_kernels
from gemm_kernels.naive import STEP as NAIVE
from gemm_kernels.tiled import STEP as TILED
from utils.errors import CourseError
from utils.lessons.show_step import curves, show_step
from utils.machine import devices
from utils.measuring import records

COPY = latency_kernels.LADDER.step("copy")


def test_two_steps_are_compared(compiler):
    change = show_step(NAIVE, TILED)
    assert "+        cuda.syncthreads()" in change.lines
    assert change.title == "naive → tiled TILE=32, compiled for sm_90"
    per_ffma = change.figures.loc["bytes from global memory per multiply-add"]
    assert list(per_ffma) == ["8", "0.25"]
    per_ffma = change.figures.loc["bytes from shared memory per multiply-add"]
    assert list(per_ffma) == ["0", "8"]
    per_ffma = change.figures.loc["shared-memory wavefronts per multiply-add of a warp"]
    assert list(per_ffma) == ["0", "2"]
    assert list(change.mix.loc["global memory"]) == ["2.00", "0.06"]
    assert "tiled over naive: " in change.curves.alt_text
    assert change.notes == ()


def test_two_reductions_differ_where_their_lessons_say(compiler):
    """reduce1 keeps whole warps busy, reduce2 has no bank conflict, reduce3 halves the barriers."""
    steps = [reduce_kernels.LADDER.step(f"reduce{number}") for number in range(4)]
    changes = [show_step(*pair).figures for pair in pairwise(steps)]
    busy = changes[0].loc["active lanes per memory instruction"]
    assert float(busy["old"].split()[0]) < 10 < 20 < float(busy["new"].split()[0])
    conflicts = changes[1].loc["bank conflicts per element"]
    assert float(conflicts["old"]) > 0 == float(conflicts["new"])
    barriers = changes[2].loc["barriers of a warp per element"]
    assert float(barriers["new"]) == pytest.approx(float(barriers["old"]) / 2, rel=0.01)


@pytest.mark.slow
def test_steps_on_tensor_cores_differ_in_their_loads_of_fragments(compiler):
    change = show_step(*map(tensor_kernels.LADDER.step, ("mma_shared", "mma_swizzled"))).figures
    assert list(change.loc["shared-memory wavefronts per ldmatrix"]) == ["24", "4"]
    per_multiply_add = change.loc["bytes from global memory per multiply-add"]
    assert list(per_multiply_add) == [f"{2 * 2 / 128:.3g}"] * 2
    products = change.loc["products on tensor cores in the hot loop"]
    assert all(text.startswith("128 of ") for text in products)


def test_the_page_and_the_text_hold_diff_table_and_curves(compiler):
    change = show_step(NAIVE, TILED)
    page, text = change._repr_html_(), str(change)
    assert page.index("lesson-code") < page.index("step-change") < page.index("<img")
    assert "32 of 133: at most 24.1% of the peak" in page
    parts = [text.index(part) for part in ("+def tiled", "registers per", "tiled over naive")]
    assert parts == sorted(parts)


@pytest.mark.slow
def test_rows_about_multiply_adds_are_left_out_where_there_are_none(compiler):
    change = show_step(COPY, COPY)
    assert not any("multiply-add" in name for name in change.figures.index)
    assert list(change.figures.loc["bytes from global memory per element"]) == ["4", "4"]
    assert change.mix.empty
    assert "GB/s" in change.curves.alt_text


def test_steps_of_different_units_have_no_curves_in_common():
    with pytest.raises(CourseError, match="copy and fma_loop are measured in different units"):
        curves(latency_kernels.LADDER, devices.find(devices.REFERENCE), "copy", "fma_loop")


def test_a_step_that_was_not_recorded_is_named_and_the_rest_is_shown(compiler, monkeypatch):
    frame = records.measured(devices.REFERENCE, "gemm")
    monkeypatch.setattr(records, "measured", lambda *_: frame[frame["step"] == "naive"])
    change = show_step(NAIVE, TILED)
    assert change.notes[0].startswith("There is no record of tiled on NVIDIA H200 yet")
    assert not change.figures.empty
    assert "no record of tiled" in change._repr_html_()


def test_without_a_compiler_diff_and_curves_are_shown(monkeypatch):
    monkeypatch.setattr("numba.cuda.cudadrv.nvvm.is_available", lambda: False)
    change = show_step(NAIVE, TILED)
    assert change.figures.empty
    assert "`make setup` installs it" in change.notes[0]
    assert change.curves is not None


def test_steps_of_the_cpu_are_compared_without_machine_code_of_a_gpu():
    naive = gemm_kernels.cpu.LADDER.steps[0]
    change = show_step(naive, naive)
    assert change.figures.empty
    assert "sm_" not in change.title
