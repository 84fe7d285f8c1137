"""The counts of a trace as tables: by source line, and by source line and array."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from ..common.errors import Site
from .counters import AccessCount, LineCount

if TYPE_CHECKING:  # importing pandas takes half a second, so only tables do
    import pandas as pd

NO_COUNTS = ("file", "line", "source", "lanes_per_warp")
_LOCATION = {"file": "object", "line": "int64", "source": "object"}
_ACCESS_COLUMNS = {
    **_LOCATION,
    "array": "object",
    "space": "object",
    "kind": "object",
    "instruction": "object",
    "requests": "int64",
    "sectors": "Int64",
    "cache_lines": "Int64",
    "wavefronts": "Int64",
    "words": "int64",
    "bytes": "int64",
    "lanes": "int64",
}


def lines_table(counts: Mapping[Site, LineCount], names: Mapping[str, str]) -> pd.DataFrame:
    """Return a table with one row per source line, sorted by file and line.

    The columns are ``file`` (a short name), ``line``, ``source``, the fields of LineCount and
    ``lanes_per_warp``, which is NaN where a line has no memory instruction. ``names`` maps each
    file to its short name; the files are in the order of its keys.
    """
    import pandas as pd

    ordered = sorted(counts, key=_order(names))
    rows = [{**_location(site, names), **asdict(counts[site])} for site in ordered]
    frame = pd.DataFrame(rows, columns=[*_LOCATION, *asdict(LineCount())])
    frame["lanes_per_warp"] = frame["lanes"] / frame["warps"].where(frame["warps"] > 0)
    return frame


def accesses_table(accesses: tuple[AccessCount, ...], names: Mapping[str, str]) -> pd.DataFrame:
    """Return a table with one row per source line, array, kind and instruction of an access.

    The columns are ``file`` (a short name), ``line``, ``source``, ``array``, ``space``, ``kind``,
    ``instruction`` ("ldmatrix", "cp.async" or the same as ``kind``), ``requests``, ``sectors``,
    ``cache_lines``, ``wavefronts``, ``words``, ``bytes`` and ``lanes``; a count that a kind of
    access lacks is ``pandas.NA``. The rows are sorted by file and line.
    ``names`` maps each file to its short name; the files are in the order of its keys.
    """
    import pandas as pd

    position = _order(names)
    ordered = sorted(accesses, key=lambda access: position(access.site))
    rows = [{**_location(access.site, names), **_figures(access)} for access in ordered]
    return pd.DataFrame(rows, columns=list(_ACCESS_COLUMNS)).astype(_ACCESS_COLUMNS)


def _order(names: Mapping[str, str]):
    """Return a function that maps a Site to its sort key (position of its file, line number).

    The files are in the order of the keys of ``names``.
    """
    files = list(names)
    return lambda site: (files.index(site.file), site.line)


def _location(site: Site, names: Mapping[str, str]) -> dict:
    """Return the columns ``file``, ``line`` and ``source`` of a Site as a dict.

    ``names`` maps each file to its short name.
    """
    return {"file": names[site.file], "line": site.line, "source": site.source}


def _figures(access: AccessCount) -> dict:
    """Return a dict from column to value for the columns after ``source`` of an access.

    Counts that this kind of access lacks are left out: sectors and cache lines except for loads and
    stores of global memory, wavefronts except for those of shared memory.
    """
    figures = {name: getattr(access, name) for name in _ACCESS_COLUMNS if name not in _LOCATION}
    is_transfer = access.kind != "atomic"
    if not is_transfer or access.space != "global":
        del figures["sectors"], figures["cache_lines"]
    if not is_transfer or access.space != "shared":
        del figures["wavefronts"]
    return figures
