"""A row of `profiled_launches.csv`: one counter of one launch under the profiler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from utils.errors import CourseError
from utils.measuring import rows
from utils.measuring.rows import Date
from utils.paths import DATA

FILE = "profiled_launches.csv"
# What a row's counter is besides the states of a warp, by the profiler's name.
COUNTERS = {
    "gpu__time_duration.sum": "time_ns",
    "sm__cycles_elapsed.max": "cycles",
    "smsp__inst_executed.sum": "instructions",
    "smsp__issue_active.avg.pct_of_peak_sustained_active": "issue_percent",
    "dram__bytes_read.sum": "dram_read_bytes",
    "lts__t_sectors_op_read.sum": "l2_read_sectors",
    "lts__t_sector_op_read_hit_rate.pct": "l2_read_hit_percent",
    "l1tex__t_sector_hit_rate.pct": "l1_hit_percent",
    "l1tex__data_pipe_lsu_wavefronts.sum": "wavefronts",
}


@dataclass(frozen=True)
class ProfiledLaunch:
    """One counter of a launch of a step's own kernel, after one that is not counted.

    kernel: the step and its constants, followed by ", at most N per SM" if the launch asks for so
    much shared memory that an SM holds only N blocks. shape: such as "4096x4096x4096", or the
    number of elements. caches: "cold" if the profiler empties the caches before the launch, else
    "warm". counter: a name in `COUNTERS`, or a state of a warp, such as "barrier". value: the
    count, or for a state the cycles that a warp is in it per instruction that it issues, on
    average.
    """

    device: str
    kernel: str
    shape: str
    caches: str
    counter: str
    value: float
    date: Date


def recorded() -> tuple[ProfiledLaunch, ...]:
    """Return the rows of all devices that have a record, device by device; () if none has one."""
    files = sorted((DATA / "measured").glob(f"*/{FILE}"))
    return tuple(row for file in files for row in rows.read(file, ProfiledLaunch))


def counters_of(kernel: str, shape: str, caches: str = "cold") -> dict[str, float]:
    """Return counter -> value of one launch on the first device that has recorded it.

    Devices are in the order of their folders' names. kernel, shape, caches: the launch, as in the
    fields of `ProfiledLaunch`.

    Raises CourseError if no record has this launch.
    """
    wanted = [
        row for row in recorded() if (row.kernel, row.shape, row.caches) == (kernel, shape, caches)
    ]
    if not wanted:
        raise CourseError(
            f"No record has {kernel} at {shape} with {caches} caches: see {FILE} in data/measured."
        )
    return {row.counter: row.value for row in wanted if row.device == wanted[0].device}


def states_of(counters: Mapping[str, float]) -> dict[str, float]:
    """Return state -> the cycles that a warp is in it per instruction, of one launch's counters.

    counters: what `counters_of` returns.
    """
    return {name: counters[name] for name in counters if name not in COUNTERS.values()}
