"""Test how the profiler's output becomes rows of `profiled_launches.csv`."""

import pytest

from gemm_kernels import LADDER
from tools.records import profiled_launches
from tools.records.profiled_launches import Profiled, rows_of
from utils.errors import CourseError
from utils.ladder.shapes import GemmShape, ReduceShape
from utils.measuring import rows
from utils.measuring.profiled_launches import COUNTERS, ProfiledLaunch
from utils.paths import DATA

FILES = sorted((DATA / "measured").glob("*/profiled_launches.csv"))
HEAD = '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"'
NAIVE = LADDER.step("naive").variant()
LAUNCHES = [
    Profiled("naive", NAIVE, GemmShape(2, 3, 4)),
    Profiled("reduce3 BLOCK=256", NAIVE, ReduceShape(1024)),
]


def output(*launches: dict[str, str]) -> str:
    """Return what the profiler prints for launches, each with metric -> value."""
    lines = ["==PROF== log", HEAD]
    for number, values in enumerate(launches, start=9):  # 10 comes after 9, but "10" before "9"
        lines += [f'"{number}","a","{name}","unit","{value}"' for name, value in values.items()]
    return "\n".join(lines)


def test_a_row_has_our_name_of_a_counter_or_the_state_of_a_warp():
    metric = "smsp__average_warps_issue_stalled_barrier_per_issue_active"
    first = {
        "smsp__inst_executed.sum": "1,234",
        f"{metric}.ratio": "2.5",
        f"{metric}.pct": "7",
        "launch__registers": "8",
    }
    second = {"gpu__time_duration.sum": "99"}
    found = list(rows_of(output(first, second), LAUNCHES, "cold", "one"))
    assert [(row.kernel, row.shape, row.counter, row.value) for row in found] == [
        ("naive", "2x3x4", "barrier", 2.5),
        ("naive", "2x3x4", "instructions", 1234),
        ("reduce3 BLOCK=256", "1024", "time_ns", 99),
    ]
    assert {(row.device, row.caches) for row in found} == {("one", "cold")}


def test_a_launch_that_the_profiler_did_not_see_ends_in_a_sentence():
    text = output({"gpu__time_duration.sum": "99"})
    with pytest.raises(CourseError, match="saw 1 launches where 2 were made"):
        list(rows_of(text, LAUNCHES, "cold", "one"))


def test_the_launches_that_are_missing_are_those_without_a_row(monkeypatch):
    monkeypatch.setattr(profiled_launches, "profiled", lambda: LAUNCHES)
    text = output({"gpu__time_duration.sum": "99"})
    (row,) = rows_of(text, LAUNCHES[:1], "cold", "one")
    assert profiled_launches.wanted([row]) == LAUNCHES[1:]
    assert profiled_launches.wanted([]) == LAUNCHES


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_a_record_has_each_launch_with_cold_and_with_warm_caches(file, monkeypatch):
    monkeypatch.setattr(profiled_launches, "with_blocks", lambda variant, most: [variant] * most)
    found = rows.read(file, ProfiledLaunch)
    wanted = {(one.kernel, one.shape_text) for one in profiled_launches.profiled()}
    for caches in ("cold", "warm"):
        assert {(row.kernel, row.shape) for row in found if row.caches == caches} == wanted
    launches = {(row.kernel, row.shape, row.caches) for row in found}
    for launch in launches:
        counters = {row.counter for row in found if (row.kernel, row.shape, row.caches) == launch}
        assert counters > set(COUNTERS.values())
