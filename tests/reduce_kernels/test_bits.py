"""The experiment that adds the same array again and again, and its record."""

import numpy as np
import pytest

from reduce_kernels import bits
from reduce_kernels.__main__ import COMMANDS
from utils.errors import CourseError
from utils.measuring.command_line import main

RECORDED = bits.recorded_bits()


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(bits, "ELEMENTS", (3000,))


def test_each_kernel_adds_the_array_as_often_as_it_should():
    rows = list(bits.measured("none", runs=2))
    assert [(row.kernel, row.elements, row.runs) for row in rows] == [
        (name, 3000, 2) for name in bits.STEPS
    ]
    assert all(1 <= row.different <= 2 for row in rows)


def test_different_results_are_counted_by_their_bits(monkeypatch):
    sums = iter(np.float32([1, 1, 1 + 2**-23, 1, 1, 1]))
    monkeypatch.setattr(bits, "draw", lambda *_: np.float32([1]))
    monkeypatch.setattr(bits, "_sum", lambda *_: next(sums))
    atomic, ticket = bits.measured("none", runs=3)
    assert (atomic.different, atomic.most_common) == (2, 2)
    assert (ticket.different, ticket.most_common) == (1, 3)
    assert float.fromhex(atomic.highest) - float.fromhex(atomic.lowest) == 2**-23
    assert (atomic.counts, ticket.counts) == ((2, 1), (3,))


def test_a_wrong_sum_is_not_recorded(monkeypatch):
    monkeypatch.setattr(bits, "_sum", lambda *_: np.float32(np.nan))
    with pytest.raises(CourseError, match="sum of reduce_atomic is wrong"):
        list(bits.measured("none", runs=1))


def test_without_a_device_one_sentence_says_so(monkeypatch, capsys):
    monkeypatch.setattr("utils.machine.devices.current", lambda: None)
    assert main("", COMMANDS, ["bits"]) == 2
    assert "bits needs a CUDA device" in capsys.readouterr().err


def test_the_record_has_both_kernels_at_both_lengths():
    assert [(row.kernel, row.elements) for row in RECORDED] == [
        (name, elements) for elements in (2**22, 2**26) for name in bits.STEPS
    ]


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: f"{row.kernel} {row.elements}")
def test_only_atomics_on_the_result_change_its_bits(row):
    assert (row.different > 1) == (row.kernel == "reduce_atomic")
    assert (row.most_common == row.runs) == (row.different == 1)
    low, high, exact = map(float.fromhex, (row.lowest, row.highest, row.exact))
    assert low <= high
    assert (sum(row.counts), max(row.counts)) == (row.runs, row.most_common)
    assert sum(map(bool, row.counts)) == row.different
    assert row.counts[0] > 0
    assert row.counts[-1] > 0
    assert abs(low - exact) < 1e-5 * abs(exact) > abs(high - exact)


def test_a_row_of_the_record_is_found_by_its_kernel_and_length():
    row = bits.recorded_row("reduce9", 2**26)
    assert (row.kernel, row.elements) == ("reduce9", 2**26)
