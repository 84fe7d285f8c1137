"""Measured numbers on disk: one row per kernel and shape, in `data/measured/<device>/`.

Plots, tables and lessons read these files, so whatever is unreadable or impossible in one is
refused here, by file, line and column.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from utils.errors import CourseError
from utils.machine.devices import fraction_of_peak, slug
from utils.paths import DATA


@dataclass(frozen=True)
class Record:
    """One row. None where a column does not apply.

    date: ISO, as in 2026-11-21. params: the constants as "TILE=32 GRAIN=2".
    gflops, gb_per_s: 10^9 a second. efficiency: fraction of the data sheet's peak.
    library_ratio: the library's time over ours, in the same run.
    """

    device: str
    compute_capability: str | None
    driver: str | None
    python: str | None
    numba: str | None
    numba_cuda: str | None
    toolkit: str | None
    date: str
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


COLUMNS = tuple(field.name for field in fields(Record))
INTEGERS = tuple(field.name for field in fields(Record) if field.type == "int | None")
FLOATS = tuple(field.name for field in fields(Record) if field.type == "float | None")
REQUIRED = tuple(field.name for field in fields(Record) if field.type == "str")
# Two rows that agree in these measure the same thing: the newer replaces the older.
IDENTITY = ("device", "ladder", "step", "params", "m", "n", "k", "elements")
SHAPE = ("m", "n", "k", "elements")


def to_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Records as the DataFrame that `read` returns for a file of them."""
    rows = pd.DataFrame([asdict(record) for record in records], columns=COLUMNS, dtype=object)
    return _typed(rows.where(rows.notna(), ""), "The records given", first_row=1)


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
    added = to_frame(records)
    merged = pd.concat([_kept(read(path), added, choosing), added]) if path.exists() else added
    order = pd.Index([*steps, *merged["step"]]).unique()
    merged = merged.drop_duplicates(list(IDENTITY), keep="last").sort_values(
        ["ladder", "step", *SHAPE, "params"],
        key=lambda column: order.get_indexer(column) if column.name == "step" else column,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    # Beside the file, because a rename is atomic only within one file system.
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        merged.to_csv(unfinished, index=False, float_format="%.6g", lineterminator="\n")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _kept(old: pd.DataFrame, added: pd.DataFrame, choosing: Collection[str]) -> pd.DataFrame:
    """The old rows without those for which steps in `choosing` have chosen again."""
    place = [column for column in IDENTITY if column != "params"]
    again = pd.MultiIndex.from_frame(old[place]).isin(pd.MultiIndex.from_frame(added[place]))
    return old[~(again & old["step"].isin(list(choosing)))]


def read(path: Path) -> pd.DataFrame:
    """The rows of a CSV file of records, with `COLUMNS` as columns.

    Integers are Int64 with NA where empty, floats float64 with NaN, text str with "".
    CourseError if the file is missing, empty, has other columns, or holds a value that cannot be.
    A lesson asks for single numbers of one file many times: a file is read again when it changes.
    """
    if not path.exists():
        raise CourseError(f"There is no {path}: nothing has been recorded there yet.")
    state = path.stat()
    return _read(path, state.st_mtime_ns, state.st_size, state.st_ino).copy()


@lru_cache(maxsize=32)
def _read(path: Path, *_state: int) -> pd.DataFrame:
    try:
        text = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (pd.errors.EmptyDataError, pd.errors.ParserError, UnicodeDecodeError) as error:
        raise CourseError(f"{path} is no CSV file of records ({error}): record it again.") from None
    missing = [column for column in COLUMNS if column not in text]
    extra = [column for column in text if column not in COLUMNS]
    if missing or extra:
        raise CourseError(
            f"{path} has other columns than a file of records: missing {_names(missing)},"
            f" not known {_names(extra)}; record it again or mend its first line."
        )
    if text.empty:
        raise CourseError(f"{path} holds no rows: record it again.")
    # Rows are numbered as an editor numbers lines: the first is the header.
    return _typed(text[list(COLUMNS)], str(path), first_row=2)


def file_of(device: str, ladder: str) -> Path:
    """Where the records of a ladder ("gemm", "reduce", ...) on a device lie; any of its names."""
    return DATA / "measured" / slug(device) / f"{ladder}.csv"


def measured(device: str, ladder: str) -> pd.DataFrame:
    """What was recorded for a ladder on a device."""
    return read(file_of(device, ladder))


def repeated(device: str, ladder: str) -> pd.DataFrame:
    """As `measured`, on another device of the same kind."""
    return read(DATA / "repeated" / slug(device) / f"{ladder}.csv")


def recorded_devices(ladder: str) -> tuple[str, ...]:
    """Names of the devices on which this ladder was recorded, in alphabetical order."""
    files = (DATA / "measured").glob(f"*/{ladder}.csv")
    return tuple(sorted({name for file in files for name in read(file)["device"]}))


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


def _typed(text: pd.DataFrame, origin: str, first_row: int) -> pd.DataFrame:
    """Give the columns their types; `text` holds numbers or strings, "" where empty.

    origin, first_row: where a value that cannot be is said to stand.
    """

    def refuse(wrong: pd.Series, column: str, why: str) -> None:
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise CourseError(
                f"{origin}, row {row + first_row}, column {column}: '{text[column].iloc[row]}'"
                f" {why}; mend it or record it again."
            )

    frame = text.copy()
    for column in (*INTEGERS, *FLOATS):
        numbers = pd.to_numeric(text[column], errors="coerce").astype(float)
        wrong = (text[column] != "") & ~np.isfinite(numbers)
        if column in INTEGERS:
            wrong |= numbers.notna() & (numbers % 1 != 0)
        kind = "whole number" if column in INTEGERS else "number"
        refuse(wrong, column, f"is no {kind}")
        frame[column] = numbers.astype("Int64") if column in INTEGERS else numbers
    for column in REQUIRED:
        refuse(text[column] == "", column, "must not be empty")
    dates = pd.to_datetime(text["date"], format="%Y-%m-%d", errors="coerce")
    refuse(dates.dt.strftime("%Y-%m-%d") != text["date"], "date", "is no date such as 2026-11-21")
    for efficiency in frame["efficiency"].dropna():
        fraction_of_peak(efficiency, 1.0, f"{origin}: efficiency")
    texts = [column for column in COLUMNS if column not in (*INTEGERS, *FLOATS)]
    return frame.astype(dict.fromkeys(texts, str))


def _names(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
