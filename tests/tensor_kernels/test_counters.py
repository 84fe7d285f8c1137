"""The virtual GPU counts in the steps on tensor cores what the profiler counted on an H200.

The truth is data/measured/nvidia_h200/tensor_counters.csv, made by ``python -m
tools.records.tensor_counters``.
"""

from functools import cache

import pytest

from tensor_kernels import LADDER
from tools.records.tensor_counters import (
    METRICS,
    SHAPE,
    TensorCount,
    memory_counters,
    opcode_counters,
)
from utils.ladder.explain import trace_step
from utils.measuring import rows
from utils.paths import DATA
from virtual_gpu.tests.kernels.profile import COPIED

FILE = DATA / "measured" / "nvidia_h200" / "tensor_counters.csv"
RECORDED = rows.read_if_any(FILE, TensorCount)
LDSM = "the profiler counts ldmatrix (LDSM) apart from other loads of shared memory"
SECTORS = "the profiler counts 10 of 3504 sectors less in copies than in loads; the rule is unknown"
COPYING = ("mma_pipelined", "mma_bfloat16")
LOADING = ("mma_shared", "mma_swizzled", *COPYING)
READS = ("shared_load_requests", "shared_load_wavefronts")
STORES = ("shared_store_requests", "shared_store_wavefronts")
# Why the virtual GPU counts another number.
REASONS = {
    **{(step, counter): LDSM for step in LOADING for counter in READS},
    **{(step, counter): COPIED for step in COPYING for counter in STORES},
    **{(step, "global_load_sectors"): SECTORS for step in COPYING},
}


@cache
def counted(step: str):
    """Return the virtual GPU's counts, and those of ncu's own metrics under their names."""
    totals = trace_step(LADDER.step(step).variant(), SHAPE, "integers").totals
    return dict(totals) | {
        "ldmatrix_requests": totals["ldmatrix"],
        "ldmatrix_and_load_wavefronts": totals["shared_load_wavefronts"],
    }


@pytest.mark.skipif(not RECORDED, reason="the profiler has not counted the steps yet")
@pytest.mark.parametrize("row", RECORDED, ids=lambda row: f"{row.kernel}-{row.counter}")
def test_every_counter_equals_the_profilers(row):
    """If a reason is given, the figures must differ: a reason must not outlive its cause."""
    ours, reason = counted(row.kernel)[row.counter], REASONS.get((row.kernel, row.counter), "")
    assert (ours == row.value) == (reason == ""), (ours, row.value)


@pytest.mark.skipif(not RECORDED, reason="the profiler has not counted the steps yet")
def test_the_profiler_counted_every_step():
    assert {row.kernel for row in RECORDED} == {step.name for step in LADDER.steps}


def test_the_profilers_page_of_metrics_has_a_row_per_kernel():
    header = '"ID","Kernel Name",' + ",".join(f'"{name}"' for name in METRICS.values())
    units = '"",""' + ',"unit"' * len(METRICS)
    values = '"0","mma_naive[abi:v1,cw51](Array)"' + ',"1,000"' * len(METRICS)
    text = "\n".join(("==PROF== Disconnected", header, units, values, ""))
    assert memory_counters(text) == {"mma_naive": dict.fromkeys(METRICS, 1000)}


def test_the_profilers_page_of_instructions_is_counted_by_opcode():
    rows_of_code = (
        '"0","7f","@P0 HMMA.1688.F32 R1, R2","1,024"',
        '"1","80","LDSM.16.M88.4 R1","3"',
        '"2","81","HMMA.1688.F32 R1, R2","1"',
    )
    header = '"#","Address","Source","# Instructions Executed"'
    name = '"Kernel Name","module::mma_naive[abi:v1](Array)"'
    text = "\n".join(("==PROF==", name, "", header, *rows_of_code, ""))
    found = {"mma": 1025, "ldmatrix": 3, "async_copies": 0}
    assert opcode_counters(text) == {"mma_naive": found}
