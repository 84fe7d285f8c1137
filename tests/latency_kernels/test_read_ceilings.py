"""The micro-benchmarks of shared memory and of the L2 cache read what they claim to read."""

import pytest

from latency_kernels import LADDER, l2_read, shared_read
from latency_kernels.parts.workloads import L2_READS, PER_TURN, TURNS
from utils.errors import CourseError
from utils.ladder.shapes import ReduceShape
from utils.ladder.verify import verify_all
from utils.lessons.edits import Edit, edited
from utils.machine import devices
from utils.measuring import measure
from utils.measuring.timing import Timing

READS = {"shared_read": PER_TURN, "l2_read": L2_READS}


@pytest.mark.slow
@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("threads", [1, 33, 300])
def test_every_sum_is_right(name, threads):
    shape = ReduceShape(READS[name] * threads)
    (verdict,) = verify_all(LADDER, [LADDER.step(name).variant()], shape)
    assert verdict.passed, verdict


@pytest.mark.parametrize(
    "module, edit",
    [
        (shared_read, Edit("rows[first + j * LANES]", "rows[first]")),
        (shared_read, Edit("while turn < TURNS", "while turn < TURNS - 1")),
        (l2_read, Edit("uint32(turn * STRIDE)", "uint32(turn)")),
        (l2_read, Edit("(p + q) + (r + s)", "(p + q) + (r + r)")),
    ],
    ids=lambda each: each.new if isinstance(each, Edit) else "",
)
def test_a_read_that_is_missing_would_be_found(module, edit):
    wrong = edited(module, edit).STEP.variant()
    (verdict,) = verify_all(LADDER, [wrong], ReduceShape(4096), kinds=("integers",))
    assert not verdict.passed


def test_the_bytes_are_those_that_are_read():
    shape = ReduceShape(2**20)
    shared, l2 = (LADDER.step(name).task.work(shape) for name in ("shared_read", "l2_read"))
    assert shared.bytes == 4 * TURNS * 2**20
    assert l2.bytes == 4 * 2**20
    # No data sheet has a peak for them, and a record of them has no efficiency.
    assert shared.cached
    assert l2.cached


def test_a_rate_above_that_of_dram_is_no_error_for_what_stays_in_a_cache(monkeypatch):
    monkeypatch.setattr(measure, "_machine_code", lambda variant, shape: {})
    times = [Timing(median_ms=0.1, min_ms=0.1, max_ms=0.1, repetitions=7, launches=1)]
    shape, h200 = ReduceShape(2**28), devices.find("H200")
    facts = measure._facts(LADDER, LADDER.step("l2_read").variant(), shape, h200, times)
    assert facts["gb_per_s"] > h200.peak_gb_per_s
    assert "efficiency" not in facts
    with pytest.raises(CourseError, match="of the peak, which no kernel reaches"):
        measure._facts(LADDER, LADDER.step("copy").variant(), shape, h200, times)
