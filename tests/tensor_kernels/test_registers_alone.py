"""The experiment that times mma whose fragments stay in registers."""

from dataclasses import replace

import pytest
from numba import float32, uint32, void

from gpu_xray import xray
from tensor_kernels import registers_alone
from tensor_kernels.__main__ import COMMANDS
from tensor_kernels.registers_alone import INSTRUCTIONS, OF_A_WARP, TURNS, UNROLL, Case
from utils.errors import CourseError
from utils.ladder.tasks import LARGEST_DRAWN, LARGEST_EXACT
from utils.lessons.edits import Edit, edited
from utils.machine import devices
from utils.measuring.command_line import main
from utils.measuring.timing import Timing

SMALL = replace(devices.find(devices.REFERENCE), sms=2)
FEW = 2 * UNROLL  # turns
CASES = [Case(name, count, 4) for name in INSTRUCTIONS for count in OF_A_WARP]


@pytest.fixture
def device(monkeypatch):
    """Stand in for a GPU of two SMs on which every launch takes half a millisecond."""

    def time_gpu(rivals):
        for rival in rivals:
            rival()
        return [Timing(0.5, 0.4, 0.6, 7, 9, 1980.0)] * len(rivals)

    monkeypatch.setattr(registers_alone, "time_gpu", time_gpu)
    monkeypatch.setattr(devices, "current", lambda: SMALL)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_case_becomes_a_row_with_its_rate(device, case):
    (row,) = registers_alone.measured("one", [case], FEW)
    assert (row.kernel, row.accumulators, row.warps) == (case.kernel, case.accumulators, 4)
    # Two SMs, four warps each, and 2·16·8·16 operations per mma.
    tflops = 2 * 4 * FEW * case.accumulators * 4096 / 0.5e-3 / 1e12
    assert row.tflops == pytest.approx(tflops)
    assert row.efficiency == pytest.approx(tflops / 989.4)


@pytest.mark.parametrize(
    "edit",
    [
        Edit("i // 2 % 2 * 8", "i // 2 % 2"),
        Edit("j * N + group", "group"),
        Edit("while turn < turns", "while turn + UNROLL < turns"),
        Edit("row, 0, lane", "row ^ 16, 0, lane"),
    ],
    ids=lambda edit: edit.new,
)
def test_a_wrong_sum_is_not_timed(device, edit):
    wrong = edited(registers_alone, edit)
    with pytest.raises(CourseError, match=r"wrong: error .* nothing is measured with it"):
        list(wrong.measured("one", [wrong.Case("mma_m16n8k16", 2, 4)], FEW))


def test_a_sum_that_is_missing_after_the_timing_is_no_row(device, monkeypatch):
    monkeypatch.setattr(registers_alone, "time_gpu", lambda rivals: [Timing(1, 1, 1, 7, 9)])
    with pytest.raises(CourseError, match="elements are NaN"):
        list(registers_alone.measured("one", CASES[:1], FEW))


def test_a_rate_above_the_peak_is_an_error(device, monkeypatch):
    monkeypatch.setattr(devices, "current", lambda: replace(SMALL, tensor_gflops=0.1))
    with pytest.raises(CourseError, match="mma_m16n8k16 with 1 accumulators and 4 warps is"):
        list(registers_alone.measured("one", CASES[:1], FEW))


def test_sums_of_integers_are_exact():
    assert TURNS * LARGEST_DRAWN**2 * registers_alone.K < LARGEST_EXACT
    assert TURNS % UNROLL == 0


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_loop_has_no_access_to_memory(compiler, case):
    of_inputs = INSTRUCTIONS[case.kernel][1][:, ::1]
    signature = void(of_inputs, of_inputs, float32[:, ::1], uint32)
    kernel = registers_alone.build(case.kernel, case.accumulators)
    loop = xray(kernel, signature, "sm_90").hot
    opcodes = loop.instructions
    assert opcodes["HMMA"] == UNROLL * case.accumulators
    assert not {"LDG", "LDS", "LDL", "STL", "MOV"} & {*opcodes}


def test_without_a_device_one_sentence_says_so(monkeypatch, capsys):
    monkeypatch.setattr("utils.machine.devices.current", lambda: None)
    assert main("", COMMANDS, ["registers-alone"]) == 2
    assert "registers-alone needs a CUDA device" in capsys.readouterr().err


def test_each_record_has_all_cases():
    recorded = registers_alone.recorded_rates()
    for device in {row.device for row in recorded}:
        assert [
            (row.kernel, row.accumulators, row.warps) for row in recorded if row.device == device
        ] == [(case.kernel, case.accumulators, case.warps) for case in registers_alone.CASES]
