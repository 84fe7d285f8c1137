"""Measured figures on disk: one row per kernel and shape, in `data/measured/<device>/`.

Plots, tables and lessons read these files, so an unreadable or impossible value is refused here,
with file, line and column.
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
    """One row of a record. Columns that do not apply are None.

    device, compute_capability: where it was measured. driver … toolkit: software versions.
    ladder, step: names. date: the day of the measurement.
    params: the constants, such as "TILE=32 GRAIN=2".
    m, n, k, elements: the shape.
    time_ms, time_ms_min, time_ms_max: median, minimum and maximum of the repetitions.
    gflops, gb_per_s: 10^9 operations or bytes per second.
    registers, spill_bytes: per thread. shared_bytes: per block.
    sm_clock_mhz: the SM clock during the measurement.
    peak: the data sheet's peak, in the unit of the row's speed.
    library, library_ms: the library's name, and its median time in the same run.
    inputs: the kind of inputs, one of `problems.KINDS`.

    `efficiency`, the fraction of the peak, follows from `peak`. `library_ratio`, the library's time
    over ours, follows from `library_ms`. Rows that were recorded before the columns `peak` and
    `library_ms` existed have only these ratios. Rows without `inputs` are older than this column,
    and their inputs were uniform.
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
    inputs: str | None = None

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
# Two rows that agree in these columns measure the same thing: the newer replaces the older.
IDENTITY = ("device", "ladder", "step", "params", "m", "n", "k", "elements")
SHAPE = ("m", "n", "k", "elements")


def to_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Return a DataFrame with a row per record and `COLUMNS` as columns.

    Integers are Int64 with NA for None, floats have NaN, and text has "". For a record that has
    only the ratios, `peak` and `library_ms` are computed from them. They are no more precise than
    the ratio, and `write` never stores them.
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

    A row with the same device, ladder, step, params and shape is replaced; all others stay. For
    steps in `choosing`, which pick their own constants, rows with other params are replaced, too.
    Rows are sorted by ladder, step, shape and params; `steps` gives the ladder's order, and steps
    that it does not name follow in the order in which they came. The file is replaced as a whole or
    not at all. Floats keep 6 significant digits. Raises CourseError for a speed above the peak.
    """
    added = list(records)
    _check_shares(added, "The records given")
    merged = [*_kept(rows.read_if_any(path, Record), added, choosing), *added]
    newest = {_identity(record): record for record in merged}.values()
    named = [*steps, *(record.step for record in merged)]
    order = {step: index for index, step in reversed([*enumerate(named)])}

    def sort_key(record: Record) -> tuple:
        sizes = ((size is None, size) for size in (getattr(record, name) for name in SHAPE))
        return record.ladder, order[record.step], *sizes, record.params or ""

    rows.write(path, sorted(newest, key=sort_key), Record)


def _kept(
    old: Iterable[Record], added: Iterable[Record], choosing: Collection[str]
) -> list[Record]:
    """Return the old records without those that new records of steps in `choosing` replace.

    Such a new record replaces old records of the same device, ladder, step and shape, whatever
    their constants.
    """
    identity = attrgetter(*(name for name in IDENTITY if name != "params"))
    replaced = {identity(record) for record in added if record.step in choosing}
    return [record for record in old if identity(record) not in replaced]


_identity = attrgetter(*IDENTITY)


def read(path: Path) -> pd.DataFrame:
    """Return the rows of a CSV file of records as a DataFrame with `COLUMNS` as columns.

    Integers are Int64 with NA for None, floats have NaN, and text has "". Raises CourseError if the
    file is missing, empty, has other columns, or holds an impossible value. The file is parsed
    again only if it has changed, because a lesson reads many single numbers of it. The DataFrame is
    a copy that the caller may change.
    """
    return _frame(path, rows.version(path)).copy()


@lru_cache(rows.FILES)
def _frame(path: Path, version: tuple[int, int]) -> pd.DataFrame:
    """Return the rows of a CSV file as a DataFrame; cached per `version` of the file."""
    return to_frame(_checked(path, version))


@lru_cache(rows.FILES)
def _checked(path: Path, version: tuple[int, int]) -> tuple[Record, ...]:
    """Return the records of a CSV file; cached per `version` of the file.

    Raises CourseError if a record's speed is above its peak.
    """
    records = rows.read(path, Record)
    _check_shares(records, str(path))
    return records


def _check_shares(records: Iterable[Record], origin: str) -> None:
    """Raise CourseError if a record's speed is above its peak; `origin` begins the message."""
    for record in records:
        if record.efficiency is not None:
            fraction_of_peak(record.efficiency, 1.0, f"{origin}: efficiency")


def file_of(device: str, ladder: str) -> Path:
    """Return the path of the CSV file with the records of a ladder, such as "gemm", on a device."""
    return DATA / "measured" / slug(device) / f"{ladder}.csv"


def measured(device: str, ladder: str) -> pd.DataFrame:
    """Return the records of a ladder on a device as a DataFrame with `COLUMNS` as columns.

    Raises CourseError if there are none.
    """
    return read(file_of(device, ladder))


def records_of(device: str, ladder: str) -> tuple[Record, ...]:
    """Return the records of a ladder on a device as `Record`s, in the order of the file.

    Raises CourseError if there are none.
    """
    path = file_of(device, ladder)
    return _checked(path, rows.version(path))


def repeated(device: str, ladder: str) -> pd.DataFrame:
    """Return the records of a ladder that were repeated on a second device with this name.

    They are a DataFrame with `COLUMNS` as columns. Raises CourseError if there are none.
    """
    return read(DATA / "repeated" / slug(device) / f"{ladder}.csv")


def recorded_devices(ladder: str) -> tuple[str, ...]:
    """Return the names of the devices with records of this ladder, in alphabetical order."""
    files = (DATA / "measured").glob(f"*/{ladder}.csv")
    read_files = (_checked(file, rows.version(file)) for file in files)
    return tuple(sorted({record.device for records in read_files for record in records}))


def fastest(frame: pd.DataFrame, of: Sequence[str] = ("step", *SHAPE)) -> pd.DataFrame:
    """Return the row with the least time of each group: by default, of each step at each shape.

    The rows of a group agree in the columns `of` and differ in others, such as the constants. Rows
    without a time are dropped. Groups keep the order of their first rows.
    """
    timed = frame.dropna(subset=["time_ms"]).reset_index(drop=True)
    groups = timed.groupby(list(of), sort=False, dropna=False)
    return timed.loc[groups["time_ms"].idxmin()]


def published(name: str) -> pd.DataFrame:
    """Return `data/published/NAME.csv` as a DataFrame, for a name such as "gemm_gpu".

    Its column `source` names the document from which a row was taken. Raises CourseError for an
    unknown name.
    """
    folder = DATA / "published"
    path = folder / f"{name}.csv"
    if not path.exists():
        raise CourseError(
            f"There is no published table '{name}': choose"
            f" {_names(sorted(file.stem for file in folder.glob('*.csv')))}."
        )
    return pd.read_csv(path).convert_dtypes()


def _names(names: Sequence[str]) -> str:
    """Return names joined by commas; "none" without any."""
    return ", ".join(names) or "none"
