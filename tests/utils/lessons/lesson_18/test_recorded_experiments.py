"""Test the records of an experiment among those of the ladder."""

import pytest

from reduce_kernels.remainder import recorded_times
from utils.lessons.lesson_18.recorded_experiments import with_experiment
from utils.machine.devices import REFERENCE
from utils.measuring import records


def test_the_rows_of_an_experiment_have_its_times_and_bandwidths():
    frame = records.measured(REFERENCE, "reduce")
    added = with_experiment(frame, recorded_times(), "warps_leave").iloc[len(frame) :]
    ms = {row.elements: row.time_ms for row in recorded_times() if row.kernel == "warps_leave"}
    assert dict(zip(added["elements"], added["time_ms"], strict=True)) == ms
    for row in added.itertuples():
        assert row.gb_per_s == pytest.approx(4 * row.elements / row.time_ms / 1e6, rel=1e-3)
        assert row.efficiency == pytest.approx(row.gb_per_s / row.peak, rel=1e-3)


def test_a_device_without_the_experiment_keeps_its_records():
    frame = records.measured(REFERENCE, "reduce").assign(device="another")
    shown = with_experiment(frame, recorded_times(), "warps_leave")
    assert list(shown["step"]) == list(frame["step"])
