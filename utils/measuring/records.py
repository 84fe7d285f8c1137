"""Measured numbers on disk: one row per kernel and shape, in `data/measured/<device>/`.

Plots, tables and lessons read these files, so whatever is unreadable or impossible in one is
refused here, by file, line and column.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from operator import attrgetter
from pathlib import Path

import pandas as pd

from utils.errors import CourseError
from utils.machine.devices import fraction_of_peak, slug
from utils.measuring import rows
from utils.measuring.rows import Date
from utils.paths import DATA


@dataclass(frozen=True)
class Record:
    """One row. None where a column does not apply.

    params: the constants as "TILE=32 GRAIN=2". gflops, gb_per_s: 10^9 a second. peak: the data
    sheet's, in the unit of the row's speed. library_ms: the median time of the library in the same
    run. From these two follow efficiency, the fraction of the peak, and library_ratio, the
    library's time over ours; rows that were recorded before there were these columns have the
    ratios alone.
    """

    device: str
    compute_capability: str | None
    driver: str | None
    python: str | None
    numba: str | None
    numba_cuda: str | None
    toolkit: str | None
    date: Date
    ladder: str
    step: str
    params: str | None
    m: int | None
    n: int | None
    k: int | None
    elements: int | None
    time_ms: float | None
    time_ms_min: float | None
    time_ms_max: float | None
    gflops: float | None
    gb_per_s: float | None
    efficiency: float | None
    library: str | None
    library_ratio: float | None
    registers: int | None
    shared_bytes: int | None
    spill_bytes: int | None
    sm_clock_mhz: float | None
    peak: float | None = None
    library_ms: float | None = None

    def __post_init__(self):
        if self.peak is not None:
            speed = self.gb_per_s if self.gflops is None else self.gflops
            object.__setattr__(self, "efficiency", speed / self.peak)
        if self.library_ms is not None:
            object.__setattr__(self, "library_ratio", self.library_ms / self.time_ms)


COLUMNS = tuple(field.name for field in fields(Record))
INTEGERS = tuple(field.name for field in fields(Record) if field.type == "int | None")
FLOATS = tuple(field.name for field in fields(Record) if field.type == "float | None")
TEXTS = tuple(name for name in COLUMNS if name not in (*INTEGERS, *FLOATS))
# Two rows that agree in these measure the same thing: the newer replaces the older.
IDENTITY = ("device", "ladder", "step", "params", "m", "n", "k", "elements")
SHAPE = ("m", "n", "k", "elements")


def to_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Records as a table: integers Int64 with NA where empty, floats with NaN, text with "".

    Where a record has a ratio alone, peak and library_ms are what the ratio makes of its speed and
    time. They are no better known than it is, and `write` never stores them.
    """
    frame = pd.DataFrame([vars(record) for record in records], columns=COLUMNS, dtype=object)
    frame[[*TEXTS]] = frame[[*TEXTS]].where(frame[[*TEXTS]].notna(), "")
    kinds = dict.fromkeys(INTEGERS, "Int64") | dict.fromkeys(FLOATS, float)
    frame = frame.astype(kinds | dict.fromkeys(TEXTS, str))
    speed = frame["gflops"].fillna(frame["gb_per_s"])
    return frame.assign(
        peak=frame["peak"].fillna(speed / frame["efficiency"]),
        library_ms=frame["library_ms"].fillna(frame["library_ratio"] * frame["time_ms"]),
    )


def write(
    records: Iterable[Record],
    path: Path,
    steps: Sequence[str] = (),
    choosing: Collection[str] = (),
) -> None:
    """Merge records into the CSV file at `path`, which is made if it does not exist.

    A row with the same device, ladder, step, params and shape is replaced; all others stay. Of
    steps in `choosing` other params are replaced, too: what they chose before is out of date.
    Rows are sorted by step, then shape; `steps` gives the ladder's order, and steps that it does
    not name keep the order in which they came. The file is replaced as a whole or not at all.
    Floats keep 6 significant digits.
    """
    added = list(records)
    _check_shares(added, "The records given")
    merged = [*_kept(rows.read_if_any(path, Record), added, choosing), *added]
    newest = {_identity(record): record for record in merged}.values()
    named = [*steps, *(record.step for record in merged)]
    order = {step: place for place, step in reversed([*enumerate(named)])}

    def place(record: Record) -> tuple:
        sizes = ((size is None, size) for size in (getattr(record, name) for name in SHAPE))
        return record.ladder, order[record.step], *sizes, record.params or ""

    rows.write(path, sorted(newest, key=place), Record)


def _kept(
    old: Iterable[Record], added: Iterable[Record], choosing: Collection[str]
) -> list[Record]:
    """The old rows without those for which steps in `choosing` have chosen again."""
    of_what = attrgetter(*(name for name in IDENTITY if name != "params"))
    again = {of_what(record) for record in added if record.step in choosing}
    return [record for record in old if of_what(record) not in again]


_identity = attrgetter(*IDENTITY)


def read(path: Path) -> pd.DataFrame:
    """The rows of a CSV file of records, as `to_frame` gives them.

    CourseError if the file is missing, empty, has other columns, or holds a value that cannot be.
    A lesson asks for single numbers of one file many times: a file is read again when it changes.
    """
    return _frame(path, rows.version(path)).copy()


@lru_cache(rows.FILES)
def _frame(path: Path, version: tuple[int, int]) -> pd.DataFrame:
    return to_frame(_checked(path, version))


@lru_cache(rows.FILES)
def _checked(path: Path, version: tuple[int, int]) -> tuple[Record, ...]:
    records = rows.read(path, Record)
    _check_shares(records, str(path))
    return records


def _check_shares(records: Iterable[Record], origin: str) -> None:
    """CourseError for more than a peak."""
    for record in records:
        if record.efficiency is not None:
            fraction_of_peak(record.efficiency, 1.0, f"{origin}: efficiency")


def file_of(device: str, ladder: str) -> Path:
    """Where the records of a ladder ("gemm", "reduce", ...) on a device lie; any of its names."""
    return DATA / "measured" / slug(device) / f"{ladder}.csv"


def measured(device: str, ladder: str) -> pd.DataFrame:
    """What was recorded for a ladder on a device."""
    return read(file_of(device, ladder))


def records_of(device: str, ladder: str) -> tuple[Record, ...]:
    """The rows of `measured` as they stand in the file."""
    path = file_of(device, ladder)
    return _checked(path, rows.version(path))


def repeated(device: str, ladder: str) -> pd.DataFrame:
    """As `measured`, on another device of the same kind."""
    return read(DATA / "repeated" / slug(device) / f"{ladder}.csv")


def recorded_devices(ladder: str) -> tuple[str, ...]:
    """Names of the devices on which this ladder was recorded, in alphabetical order."""
    files = (DATA / "measured").glob(f"*/{ladder}.csv")
    found = (_checked(file, rows.version(file)) for file in files)
    return tuple(sorted({record.device for records in found for record in records}))


def fastest(frame: pd.DataFrame, of: Sequence[str] = ("step", *SHAPE)) -> pd.DataFrame:
    """Of each group of rows the one with the least time: a step with its best constants.

    of: the columns that a group agrees in. Groups stay in the order of their first rows.
    """
    timed = frame.dropna(subset=["time_ms"]).reset_index(drop=True)
    groups = timed.groupby(list(of), sort=False, dropna=False)
    return timed.loc[groups["time_ms"].idxmin()]


def published(name: str) -> pd.DataFrame:
    """A table of the sources ("gemm_gpu", "transfers", ...); `source` names the document."""
    folder = DATA / "published"
    path = folder / f"{name}.csv"
    if not path.exists():
        raise CourseError(
            f"There is no published table '{name}': choose"
            f" {_names(sorted(file.stem for file in folder.glob('*.csv')))}."
        )
    return pd.read_csv(path).convert_dtypes()


def _names(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
