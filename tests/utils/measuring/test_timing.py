"""Timings: what is counted, what is not, and in which order rivals run."""

import sys
from types import ModuleType

import numpy as np
import pytest
import threadpoolctl

from utils.errors import CourseError
from utils.ladder import libraries
from utils.machine import versions
from utils.measuring import timing
from utils.measuring.timing import time_cpu, time_gpu


class FakeClock:
    """A replacement for the module `time` whose clock advances only while a rival works."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now

    def work(self, *milliseconds: float):
        """Return a rival that takes these times, one per call; the last one repeats."""
        left = list(milliseconds)

        def execute():
            self.now += (left.pop(0) if len(left) > 1 else left[0]) / 1e3

        return execute


@pytest.fixture
def clock(monkeypatch):
    fake = FakeClock()
    monkeypatch.setattr(timing, "time", fake)
    return fake


def test_a_timing_is_the_median_between_minimum_and_maximum_of_seven(clock):
    # The first call compiles, and the second tells how many calls fill a repetition.
    (result,) = time_cpu([clock.work(0, 12, 15, 11, 12, 13, 30, 14, 12)])
    assert result.repetitions == 7
    figures = result.min_ms, result.median_ms, result.max_ms
    assert figures == pytest.approx((11, 13, 30))


def test_the_first_execution_which_compiles_is_not_timed(clock):
    (result,) = time_cpu([clock.work(300, 10)])
    assert result.max_ms == pytest.approx(10)


def test_a_short_execution_is_repeated_until_the_clock_can_see_it(clock):
    short, long = time_cpu([clock.work(0.2), clock.work(20)])
    assert (short.launches, long.launches) == (50, 1)
    assert short.median_ms == pytest.approx(0.2)


def test_rivals_take_turns(clock):
    order = []

    def rival(name):
        work = clock.work(11)
        return lambda: (order.append(name), work())

    time_cpu([rival("ours"), rival("library")])
    assert order[-14:] == ["ours", "library"] * 7


def test_blas_is_held_to_one_thread(clock):
    thread_counts = []
    a = np.ones((4, 4), np.float32)

    def look():
        a @ a
        thread_counts.extend(pool["num_threads"] for pool in threadpoolctl.threadpool_info())
        clock.now += 0.011

    time_cpu([look])
    assert set(thread_counts) == {1}


class FakeGpu:
    """A replacement for numba.cuda: a queue of launches of two milliseconds each."""

    def __init__(self):
        self.log = []
        self.now = 0.0

    def launch(self):
        self.log.append("launch")
        self.now += 2.0

    def synchronize(self):
        self.log.append("synchronize")

    def event(self):
        return FakeEvent(self)


class FakeEvent:
    def __init__(self, gpu):
        self.gpu = gpu

    def record(self):
        self.gpu.log.append("record")
        self.at = self.gpu.now

    def synchronize(self):
        self.gpu.log.append("wait")

    def elapsed_time(self, end):
        return end.at - self.at


@pytest.fixture
def gpu(monkeypatch):
    fake = FakeGpu()
    monkeypatch.setattr(timing, "cuda", fake)
    monkeypatch.setattr(timing, "hold_gpu", lambda microseconds: fake.log.append("hold"))

    def read_clock():
        fake.log.append("clock")
        return 1980.0

    monkeypatch.setattr(timing, "clock_reader", lambda: read_clock)
    return fake


def test_gpu_time_is_divided_by_the_launches_between_the_events(gpu):
    (result,) = time_gpu([gpu.launch])
    assert (result.median_ms, result.launches) == (2.0, 5)


def test_a_repetition_is_queued_behind_a_hold_and_the_clock_is_read_while_it_runs(gpu):
    time_gpu([gpu.launch])
    assert gpu.log[-10:] == ["hold", "record", *["launch"] * 5, "record", "clock", "wait"]


def test_the_clock_that_was_seen_is_kept(gpu):
    (result,) = time_gpu([gpu.launch])
    assert result.sm_clock_mhz == 1980


def test_without_nvml_there_is_no_clock(monkeypatch):
    monkeypatch.setattr(timing, "nvml", lambda: None)
    assert timing.clock_reader()() is None


def test_libraries_on_the_gpu_are_left_out_where_cupy_is_missing(monkeypatch):
    monkeypatch.setattr(libraries, "cupy", lambda: None)
    x = np.ones(3, np.float32)
    assert libraries.CUBLAS.bind((x, x), x) is None
    assert libraries.CUB.bind((x,), x) is None


def test_numpy_is_a_rival_that_does_the_same_work():
    a, b = np.ones((2, 3), np.float32), np.ones((3, 4), np.float32)
    out = np.zeros((2, 4), np.float32)
    assert (libraries.NUMPY_BLAS.bind((a, b), out)() == 3).all()
    assert (out == 0).all()


def test_a_baseline_in_tf32_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", ModuleType("cupy"))
    monkeypatch.setattr(versions.cuda, "is_available", lambda: True)
    monkeypatch.setenv("CUPY_TF32", "0")
    assert versions.cupy.__wrapped__() is sys.modules["cupy"]
    monkeypatch.setenv("CUPY_TF32", "1")
    with pytest.raises(CourseError, match="CUPY_TF32 is set"):
        versions.cupy.__wrapped__()
