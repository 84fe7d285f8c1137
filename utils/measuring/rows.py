"""Read and write the rows of a CSV file as dataclasses.

The fields of the dataclass are the columns, in order; a field that is itself a dataclass is
replaced by its own fields. Values are numbers, text, dates, and tuples and mappings of them, which
one cell holds separated by spaces. Only a field of type `... | None` may be empty.
"""

from __future__ import annotations

import csv
import datetime
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, lru_cache
from io import StringIO
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, NewType, TypeVar, get_args, get_origin, get_type_hints

from utils.errors import CourseError

Row = TypeVar("Row")
# An ISO date such as 2026-11-21.
Date = NewType("Date", str)
DIGITS = 6
FILES = 64  # the number of files that are kept in memory


def read(path: Path, kind: type[Row]) -> tuple[Row, ...]:
    """Return the rows of a CSV file as instances of the dataclass `kind`, in the file's order.

    The file is parsed again only after it has changed. Raises CourseError if the file does not
    exist, is no CSV or has no rows, if its columns are not those of `kind`, or for a value that its
    column cannot hold. Only columns with a default may be missing; they then have the default.
    """
    return _read(path, kind, version(path))


def read_if_any(path: Path, kind: type[Row]) -> tuple[Row, ...]:
    """Return the rows of a CSV file as dataclasses; an empty tuple if the file does not exist.

    kind: the dataclass of a row. Raises CourseError for a file that `read` refuses.
    """
    return read(path, kind) if path.exists() else ()


def version(path: Path) -> tuple[int, int]:
    """Return (time of change in ns, size in bytes) of a file, which identify its state.

    Raises CourseError if the file does not exist.
    """
    try:
        status = path.stat()
    except FileNotFoundError:
        raise CourseError(f"There is no {path}: nothing has been recorded there yet.") from None
    return status.st_mtime_ns, status.st_size


def write(path: Path, rows: Iterable[object], kind: type, digits: int = DIGITS) -> None:
    """Replace the CSV file by these rows of the dataclass `kind`, as a whole or not at all.

    Missing folders are created. Floats get `digits` significant digits. Raises CourseError for a
    value that `read` would refuse, and then leaves the file unchanged.
    """
    lines = [[_text(value, digits) for value in _values(row)] for row in rows]
    for number, line in enumerate(lines, start=1):
        _row(kind, dict(zip(_columns(kind), line, strict=True)), f"Row {number} for {path}")
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows([_columns(kind), *lines])
    write_text(path, text.getvalue())


def write_text(path: Path, text: str) -> None:
    """Replace the text of a file as a whole or not at all; create missing folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # In the same folder, because a rename is atomic only within one file system.
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, encoding="utf-8", newline="")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


@lru_cache(FILES)
def _read(path: Path, kind: type[Row], version: tuple[int, int]) -> tuple[Row, ...]:
    """Return the rows of a CSV file as instances of the dataclass `kind`, in the file's order.

    The result is cached per `version` of the file. Raises CourseError for a file that is no CSV,
    has no rows or other columns, or has a value that its column cannot hold.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file, strict=True)
            header = next(reader, [])
            _check_columns(path, header, kind)
            rows = tuple(_row(kind, line, origin) for line, origin in _lines(path, header, reader))
    except (csv.Error, UnicodeDecodeError) as error:
        raise CourseError(f"{path} is no CSV file ({error}): record it again.") from None
    if not rows:
        raise CourseError(f"{path} holds no rows: record it again.")
    return rows


def _lines(path: Path, header: list[str], reader) -> Iterator[tuple[dict[str, str], str]]:
    """Yield each line as (column -> text, "FILE, line N" for error messages).

    Raises CourseError for a line with another number of cells than the header.
    """
    for cells in reader:
        origin = f"{path}, line {reader.line_num}"
        if len(cells) != len(header):
            raise CourseError(
                f"{origin}, column {header[min(len(cells), len(header) - 1)]}: the line has "
                f"{len(cells)} cells and the first one {len(header)}; mend it or record it again."
            )
        yield dict(zip(header, cells, strict=True)), origin


def _check_columns(path: Path, header: list[str], kind: type) -> None:
    """Raise CourseError for unknown columns, and for missing ones without a default."""
    missing = [name for name in _columns(kind) if name not in (*header, *_with_default(kind))]
    unknown = [name for name in header if name not in _columns(kind)]
    if missing or unknown:
        raise CourseError(
            f"{path}, line 1, has other columns than its rows need: missing "
            f"{', '.join(missing) or 'none'}, not known {', '.join(unknown) or 'none'}; mend it or "
            "record it again."
        )


@cache
def _columns(kind: type) -> tuple[str, ...]:
    """Return the names of the columns; a nested dataclass is replaced by its own columns."""
    hints = get_type_hints(kind)
    names = (
        _columns(hints[field.name]) if is_dataclass(hints[field.name]) else (field.name,)
        for field in fields(kind)
    )
    return tuple(name for part in names for name in part)


def _with_default(kind: type) -> list[str]:
    """Return the names of the fields that have a default value, in order.

    A field with a default factory is not among them.
    """
    return [field.name for field in fields(kind) if field.default is not MISSING]


def _row(kind: type[Row], line: Mapping[str, str], origin: str) -> Row:
    """Return an instance of `kind` with the values of a line; `origin` names the line in errors.

    Raises CourseError for a text that its column cannot hold.
    """
    values = {}
    for name, read in _readers(kind):
        if is_dataclass(read):
            values[name] = _row(read, line, origin)
        elif name in line:
            try:
                values[name] = read(line[name])
            except ValueError as error:
                raise CourseError(
                    f"{origin}, column {name}: '{line[name]}' {error}; mend it or record it again."
                ) from None
    return kind(**values)


@cache
def _readers(kind: type) -> tuple[tuple[str, Any], ...]:
    """Return (field name, reader) per field of the dataclass `kind`.

    A reader is the field's own dataclass, or the function that converts a cell's text to its value.
    """
    hints = get_type_hints(kind)
    typed = ((field.name, hints[field.name]) for field in fields(kind))
    return tuple((name, hint if is_dataclass(hint) else _reader(hint)) for name, hint in typed)


def _reader(hint: Any) -> Callable[[str], object]:
    """Return the function that converts a cell's text to a value of this type.

    The function raises ValueError for other text. If the type may be None, "" is read as None.
    """
    if get_origin(hint) is UnionType:
        (inner,) = set(get_args(hint)) - {NoneType}
        read = _reader(inner)
        return lambda text: read(text) if text else None
    if get_origin(hint) is tuple:
        read = _reader(get_args(hint)[0])
        return lambda text: tuple(map(read, text.split()))
    if get_origin(hint) is Mapping:
        key, value = map(_reader, get_args(hint))

        def parts(text: str) -> dict:
            pairs = (part.partition(":")[::2] for part in text.split())
            return {key(name): value(amount) for name, amount in pairs}

        return parts
    return READERS[hint]


def _words(text: str) -> str:
    """Return a text unchanged; raise ValueError if it is empty."""
    if not text:
        raise ValueError("must not be empty")
    return text


def _whole(text: str) -> int:
    """Return the integer in a text; raise ValueError for other text."""
    try:
        return int(text)
    except ValueError:
        raise ValueError("is no whole number") from None


def _number(text: str) -> float:
    """Return the finite number in a text; raise ValueError for other text."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError("is no number")
    return value


def _date(text: str) -> str:
    """Return a text unchanged; raise ValueError unless it is an ISO date."""
    try:
        if datetime.date.fromisoformat(text).isoformat() == text:
            return text
    except ValueError:
        pass
    raise ValueError("is no date such as 2026-11-21")


READERS: Mapping[Any, Callable[[str], object]] = {
    str: _words, int: _whole, float: _number, Date: _date
}  # fmt: skip


def _values(row: object) -> Iterator[object]:
    """Yield the values of a row's fields, those of nested dataclasses included."""
    for field in fields(row):
        value = getattr(row, field.name)
        if is_dataclass(value):
            yield from _values(value)
        else:
            yield value


def _text(value: object, digits: int) -> str:
    """Return a value as the text of a cell; floats get `digits` significant digits.

    None gives "". The parts of a tuple are separated by spaces, and so are the entries of a
    mapping, which are written "name:value".
    """
    if isinstance(value, tuple):
        return " ".join(_text(part, digits) for part in value)
    if isinstance(value, Mapping):
        return " ".join(f"{name}:{_text(part, digits)}" for name, part in value.items())
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    return "" if value is None else str(value)
