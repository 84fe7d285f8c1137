"""The counts of a trace as tables: by source line, and by source line and array."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from ..common.errors import Site
from .counters import AccessCount, LineCount

if TYPE_CHECKING:  # pandas takes half a second to import: only who asks for a table waits for it
    import pandas as pd

NO_COUNTS = ("file", "line", "source", "lanes_per_warp")
_PLACE = {"file": "object", "line": "int64", "source": "object"}
_ACCESS = {
    **_PLACE,
    "array": "object",
    "space": "object",
    "kind": "object",
    "requests": "int64",
    "sectors": "Int64",
    "cache_lines": "Int64",
    "wavefronts": "Int64",
    "words": "int64",
    "bytes": "int64",
    "lanes": "int64",
}


def lines_table(counts: Mapping[Site, LineCount], names: Mapping[str, str]) -> pd.DataFrame:
    """One row per source line; ``names`` gives each file's short name, in the order of the rows."""
    import pandas as pd

    ordered = sorted(counts, key=_order(names))
    rows = [{**_place(site, names), **asdict(counts[site])} for site in ordered]
    frame = pd.DataFrame(rows, columns=[*_PLACE, *asdict(LineCount())])
    frame["lanes_per_warp"] = frame["lanes"] / frame["warps"].where(frame["warps"] > 0)
    return frame


def accesses_table(accesses: tuple[AccessCount, ...], names: Mapping[str, str]) -> pd.DataFrame:
    """One row per source line, array and kind of access."""
    import pandas as pd

    position = _order(names)
    ordered = sorted(accesses, key=lambda access: position(access.site))
    rows = [{**_place(access.site, names), **_figures(access)} for access in ordered]
    return pd.DataFrame(rows, columns=list(_ACCESS)).astype(_ACCESS)


def _order(names: Mapping[str, str]):
    files = list(names)
    return lambda site: (files.index(site.file), site.line)


def _place(site: Site, names: Mapping[str, str]) -> dict:
    return {"file": names[site.file], "line": site.line, "source": site.source}


def _figures(access: AccessCount) -> dict:
    """The counts of an access; what is not counted is left out."""
    figures = {name: getattr(access, name) for name in _ACCESS if name not in _PLACE}
    moved = access.kind != "atomic"
    if not moved or access.space != "global":
        del figures["sectors"], figures["cache_lines"]
    if not moved or access.space != "shared":
        del figures["wavefronts"]
    return figures
