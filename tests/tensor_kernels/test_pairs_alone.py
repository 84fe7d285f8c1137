"""The experiment that times loads of a that bring pairs."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

from gpu_xray import xray
from tensor_kernels import pairs_alone
from tensor_kernels.__main__ import COMMANDS
from utils.errors import CourseError
from utils.intrinsics.tensor import load_pair
from utils.ladder.shapes import GemmShape
from utils.ladder.verify import verify_all
from utils.machine import devices
from utils.measuring import measure
from utils.measuring.command_line import main
from utils.measuring.timing import Timing

NAMES = ["single_loads", "pairs", "mma_naive"]


@pytest.fixture
def device(monkeypatch):
    """Stand in for an H200 on which everything takes three milliseconds."""
    monkeypatch.setattr(measure, "time_gpu", lambda rivals: [Timing(3, 2, 4, 7, 9)] * len(rivals))
    monkeypatch.setattr(measure, "_machine_code", lambda variant, shape: {})
    monkeypatch.setattr(devices, "current", lambda: devices.find(devices.REFERENCE))


@settings(max_examples=5, deadline=None)
@given(st.integers(1, 4), st.integers(1, 9), st.integers(1, 9))
def test_the_products_are_right_at_any_shape_that_fits(m, k, n):
    shape = GemmShape(16 * m, 8 * n, 8 * k)
    verdicts = verify_all(pairs_alone.LADDER, pairs_alone.variants(), shape)
    assert all(verdict.passed for verdict in verdicts)


@pytest.mark.parametrize("name, single, pairs", [("single_loads", 6, 0), ("pairs", 2, 2)])
def test_a_pair_is_one_load(compiler, name, single, pairs):
    (variant,) = (one for one in pairs_alone.variants() if one.step.name == name)
    code = xray(variant.kernel, variant.step.signature, "sm_90").code
    opcodes = Counter(one.opcode for one in code)
    mma = opcodes["HMMA.1688.F32"]
    assert (opcodes["LDG.E.U16"], opcodes["LDG.E"]) == (single * mma, pairs * mma)


def test_each_kernel_becomes_a_row(device):
    timed = list(pairs_alone.measured("one", [64]))
    assert [(row.device, row.kernel, row.n, row.time_ms) for row in timed] == [
        ("one", name, 64, 3) for name in NAMES
    ]


@cuda.jit(device=True)
def swapped(of_a, a, y, z):
    for i in range(2):
        of_a[2 * i + 1], of_a[2 * i] = load_pair(a, (y + i * 8, z))


def test_a_wrong_product_is_not_timed(device, monkeypatch):
    monkeypatch.setattr(pairs_alone, "by_pairs", swapped)
    with pytest.raises(CourseError, match="pairs is not timed at 32"):
        list(pairs_alone.measured("one", [32]))


def test_without_a_device_one_sentence_says_so(monkeypatch, capsys):
    monkeypatch.setattr("utils.machine.devices.current", lambda: None)
    assert main("", COMMANDS, ["pairs-alone"]) == 2
    assert "pairs-alone needs a CUDA device" in capsys.readouterr().err


def test_each_record_has_all_kernels_at_each_size():
    recorded = pairs_alone.recorded_times()
    for device in {row.device for row in recorded}:
        assert [(row.kernel, row.n) for row in recorded if row.device == device] == [
            (name, n) for n in pairs_alone.SIZES for name in NAMES
        ]
