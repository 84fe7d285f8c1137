"""The records of the exercise `wide_tiles`, and of the profiler's counts of its rivals."""

import pytest

from gemm_kernels import wide_alone
from gemm_kernels.wide_alone import recorded_counters
from tools.records import wide_counters, wide_tiles
from utils.machine.devices import REFERENCE
from utils.measuring import rows
from utils.measuring.kernel_times import ProductTime
from utils.paths import DATA

FILES = sorted((DATA / "measured").glob("*/wide_tiles.csv"))
NAMES = [variant.step.name for variant in wide_alone.variants()[:4]]


def test_the_solution_is_timed_beside_both_steps_with_its_own_launch():
    *_, solution = wide_tiles.variants()
    launch = solution.step.launch(wide_tiles.VERIFIED[1])
    assert (launch.grid, launch.block) == ((1, 2), (256,))


def test_there_is_a_record():
    assert FILES


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_a_record_has_all_kernels(file):
    recorded = [(row.kernel, row.n) for row in rows.read(file, ProductTime)]
    assert recorded == [(str(one), wide_tiles.SIZE) for one in wide_tiles.variants()]


def test_the_output_of_the_profiler_has_a_row_per_kernel():
    lines = ['==PROF== words', '"ID","Kernel Name","Metric Name","Metric Value"']
    for number, name in enumerate(NAMES):
        for which, metric in enumerate(wide_counters.METRICS):
            lines.append(f'"{number}","{name}[v1](A)","{metric}","{which + 1},00{number}"')
    found = list(wide_counters.rows_of("\n".join(lines), "GPU"))
    assert [row.kernel for row in found] == NAMES
    assert (found[2].instructions, found[2].shared_wavefronts, found[2].wavefronts) == (
        1002, 2002, 3002
    )  # fmt: skip


def test_the_record_of_the_profiler_has_all_kernels():
    assert list(recorded_counters(REFERENCE)) == NAMES
