"""Recorded times of steps, on this GPU if it has records, else on the reference device.

The times of the CPU ladder are always those of `CPU`, because a processor's name does not identify
its model. The parameter `on` names another device or processor that has records.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import pandas as pd

from utils.errors import CourseError
from utils.figures.look import number
from utils.ladder.ladder import Ladder, is_of_a_ladder, ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Table, table
from utils.lessons.counting import as_step, as_variant, name_of
from utils.lessons.lesson import device_shown
from utils.machine.devices import REFERENCE, slug
from utils.measuring import records, rows
from utils.measuring.records import Record
from utils.paths import DATA

Row = TypeVar("Row")

# A Zen 5 with two cores, see gemm_kernels/cpu/tuning/TUNING.md.
CPU = "AMD EPYC"
# The host of the H200, where every step of the CPU ladder is recorded, and oneDNN too.
XEON = "Intel(R) Xeon(R) Processor"
NOTHING = "–"  # the cell of a table for what is not recorded


def recorded_ms(step: Step | Variant, shape: str = "4096", on: str | None = None) -> float:
    """Return the recorded time in ms; for a Step that of its fastest constants at this shape.

    shape: as on the command line. on: the device or processor of the record, by default
    `device_shown` or, for a CPU step, `CPU`. Raises CourseError if there is no record.
    """
    return record_of(step, shape, on).time_ms


def record_of(step: Step | Variant, shape: str, on: str | None = None) -> Record:
    """Return the record with the shortest time; for a Step that of its fastest constants.

    shape: as on the command line. on: the device or processor of the record, by default
    `device_shown` or, for a CPU step, `CPU`. Raises CourseError if there is no record, and for the
    reader's own kernel.
    """
    step = step if isinstance(step, Step) else as_variant(step)
    ladder, device = _ladder(step), on or _device(_ladder(step))
    name, params = (step.name, None) if isinstance(step, Step) else (step.step.name, step.params)
    if not is_of_a_ladder(as_step(step)):
        raise CourseError(
            f"There is no recorded time of {name}, because it is not the course's own kernel: on a "
            "GPU, course.race(…) times your kernel."
        )
    size = vars(ladder.parse(shape)).items()
    matches = [
        record
        for record in records.records_of(device, ladder.name)
        if record.step == name
        and params in (None, record.params or "")
        and record.time_ms is not None
        and size <= vars(record).items()
    ]
    if not matches:
        raise CourseError(
            f"There is no recorded time of {step if params else name} at {ladder.parse(shape)} on "
            f"{device}: `--record` on the ladder's command line makes one."
        )
    return min(matches, key=lambda record: record.time_ms)


def record_if_any(step: Step | Variant, shape: str, on: str | None = None) -> Record | None:
    """Return the record with the shortest time, or None if there is no record.

    For a Step, it is that of the fastest constants. The result is also None for a shape that cannot
    be read, and for the reader's own kernel. shape: as on the command line. on: the device or
    processor of the record, by default `device_shown` or, for a CPU step, `CPU`. Raises CourseError
    for an argument that is no step.
    """
    step = step if isinstance(step, Step) else as_variant(step)  # raises for what is no step
    try:
        return record_of(step, shape, on)
    except CourseError:
        return None


def ms_if_any(step: Step | Variant, shape: str, on: str | None = None) -> float | None:
    """Return the recorded time in ms, or None if there is no record.

    For a Step, it is that of the fastest constants. The result is also None for a shape that cannot
    be read, and for the reader's own kernel. shape: as on the command line. on: the device or
    processor of the record, by default `device_shown` or, for a CPU step, `CPU`. Raises CourseError
    for an argument that is no step.
    """
    record = record_if_any(step, shape, on)
    return record and record.time_ms


def share_of_peak(step: Step | Variant, shape: str = "4096", on: str | None = None) -> float:
    """Return the recorded speed as a fraction of the data sheet's peak.

    For a Step, it is that of the fastest constants. shape: as on the command line. on: the device
    or processor of the record, by default `device_shown` or, for a CPU step, `CPU`. The result is
    None for a record without a peak, as on a CPU. Raises CourseError if there is no record.
    """
    return record_of(step, shape, on).efficiency


def share_of_library(step: Step | Variant, shape: str = "4096") -> float:
    """Return the recorded speed as a fraction of the library's speed in the same run.

    For a Step, it is that of the fastest constants. The fraction is above 1 if the step is faster,
    and None if no library ran. shape: as on the command line. Raises CourseError if there is no
    record.
    """
    return record_of(step, shape).library_ratio


def rows_of(file: str, kind: type[Row]) -> tuple[Row, ...]:
    """Return the rows of an experiment's record on the device shown.

    They are those of the reference device if the device shown has no such record. file: its name in
    the folder of a device. kind: the dataclass of a row. Raises CourseError if both have none.
    """
    own, reference = (
        DATA / "measured" / slug(name) / file for name in (device_shown().name, REFERENCE)
    )
    return rows.read_if_any(own, kind) or rows.read(reference, kind)


def row_with(among: Iterable[Row], **values: object) -> Row:
    """Return the first row whose fields have these values; raise CourseError if there is none."""
    for row in among:
        if values.items() <= vars(row).items():
            return row
    said = ", ".join(f"{name} {value}" for name, value in values.items())
    raise CourseError(f"Nothing is recorded for {said}: run the experiment with `--record`.")


def times(*steps: Step | Variant, shape: str = "4096", on: str | None = None) -> Table:
    """Return a table of recorded times, speedups, and shares of the peak, one row per step.

    A step without a record has "–" in its cells. The speedups are those over the first step with a
    record. On a CPU, whose peak is not recorded, the last column has GFLOP/s instead of the share.
    shape: as on the command line. on: the device or processor of the records, by default
    `device_shown` or, for CPU steps, `CPU`. Raises CourseError if no step has a record.
    """
    ladder = _ladder(steps[0])
    rows = [(name_of(step), record_if_any(step, shape, on)) for step in steps]
    recorded = [record for _, record in rows if record]
    if not recorded:
        record_of(steps[0], shape, on)  # raises CourseError
    first = recorded[0].time_ms
    cells = [
        (
            f"`{name}`",
            duration(record.time_ms),
            _faster(first / record.time_ms),
            f"{record.efficiency:.1%}" if ladder.on_gpu else f"{record.gflops:.3g}",
        )
        if record
        else (f"`{name}`", NOTHING, NOTHING, NOTHING)
        for name, record in rows
    ]
    caption = f"{ladder.parse(shape)}, recorded on one {on or _device(ladder)}"
    last = "of the peak" if ladder.on_gpu else "GFLOP/s"
    return table(caption, ("", "time", "faster", last), cells)


def _faster(ratio: float) -> str:
    """Return a speedup as text, such as "2.50×"; from 10 on such as "12.3×"."""
    return f"{ratio:.2f}×" if ratio < 10 else f"{number(ratio)}×"


def duration(ms: float) -> str:
    """Return a time in ms as text such as "4.56 ms"; in us below 0.1 ms and in s from 1000 ms."""
    if ms < 0.1:
        return f"{1000 * ms:.3g} us"
    return f"{ms:.3g} ms" if ms < 1000 else f"{ms / 1000:.3g} s"


def one_thread(steps: Sequence[str], peak: float) -> pd.DataFrame:
    """Return the records of single-threaded steps on `CPU`, as the table that `plots.curve` draws.

    The columns are those of `records.measured`, with `peak`, and with `efficiency` as the fraction
    of it. steps: names of steps that run on one thread. peak: that of one core, in GFLOP/s.
    """
    frame = records.measured(CPU, "cpu")
    frame = frame[frame["step"].isin(steps)]
    return frame.assign(efficiency=frame["gflops"] / peak, peak=peak)


def _device(ladder: Ladder) -> str:
    """Return the name of the device or processor whose records are used by default.

    It is the device shown for a ladder of GPU kernels, and `CPU` for the CPU ladder.
    """
    return device_shown().name if ladder.on_gpu else CPU


def _ladder(step: Step | Variant) -> Ladder:
    """Return the ladder of a step or a variant."""
    return ladder_of(as_step(step))
