"""The virtual GPU counts what the profiler counted on an H200, launch by launch, exactly.

The truth is data/measured/nvidia_h200/counters.csv, made by ``python -m
virtual_gpu.tests.kernels.profile``.
"""

import functools

import numpy as np
import pandas as pd
import pytest

from utils.paths import DATA
from virtual_gpu import trace
from virtual_gpu.tests.kernels.counted import launches

LAUNCHES = {launch.name: launch for launch in launches()}
TRUTH = pd.read_csv(DATA / "measured" / "nvidia_h200" / "counters.csv", keep_default_na=False)


@functools.cache
def counted(name):
    launch = LAUNCHES[name]
    shared = launch.shared_bytes
    result = trace(
        launch.kernel, launch.grid, launch.block, *launch.arguments(), shared_bytes=shared
    )
    assert result.findings == ()
    return result.totals


RECORDED = list(TRUTH["launch"].unique())


def test_every_recorded_launch_can_still_be_made():
    """Steps that were added since the profiler ran have no recorded counts yet."""
    assert set(RECORDED) <= set(LAUNCHES)
    assert len(RECORDED) >= 20


@pytest.mark.parametrize("name", RECORDED)
def test_every_counter_equals_the_profilers(name):
    """If a reason is given, the figures must differ: a reason must not outlive its cause."""
    for row in TRUTH[TRUTH["launch"] == name].itertuples():
        ours = counted(name)[row.counter]
        assert (ours == row.value) == (row.reason == ""), (row.counter, ours, row.value)


def test_a_wrong_stride_would_be_noticed():
    launch = LAUNCHES["copy_stride_2_offset_0_float32_block_128"]
    other = LAUNCHES["copy_stride_3_offset_0_float32_block_128"]
    size = max(a.size for a in other.arguments())
    x, out = np.zeros(size, np.float32), launch.arguments()[1]
    wrong = trace(other.kernel, launch.grid, launch.block, x, out).totals
    truth = TRUTH[(TRUTH["launch"] == launch.name) & (TRUTH["counter"] == "global_load_sectors")]
    assert wrong["global_load_sectors"] != truth["value"].item()


class OnADevice:
    """An array on a real device as Numba returns it, as far as `trace` needs it."""

    def __init__(self, values):
        self.memory = values.copy()

    def copy_to_host(self):
        return self.memory.copy()

    def copy_to_device(self, values):
        self.memory[...] = values


def test_arrays_of_a_real_device_are_read_and_written():
    launch = LAUNCHES["copy_stride_1_offset_0_float32_block_128"]
    x, out = map(OnADevice, launch.arguments())
    assert trace(launch.kernel, launch.grid, launch.block, x, out).totals["global_load_requests"]
    np.testing.assert_array_equal(out.memory, x.memory)
