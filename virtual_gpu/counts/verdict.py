"""A trace in one line: the flaws that were found, warnings, and the first of the hints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ..common.errors import Finding
from .hints import Hint

_FLAWS = {
    "race": ("race", "races"),
    "out_of_bounds": ("index out of bounds", "indices out of bounds"),
    "uninitialised": ("read of what nobody wrote", "reads of what nobody wrote"),
    "barrier": ("barrier error", "barrier errors"),
}
_WARNING = ("warning", "warnings")
_HINT = ("more hint", "more hints")


def verdict(
    findings: tuple[Finding, ...], hints: tuple[Hint, ...], names: Mapping[str, str]
) -> str:
    """``1 race, 2 warnings``, say. Findings count once for each line, kind and array.

    ``names``: short names of files, the kernel's first; the name of another one is told.
    Without flaws it is ``no flaw found``: the result that is wanted is not known here.
    """
    kinds = Counter(finding.kind for finding in findings)
    flaws = [_counted(kinds[kind], names) for kind, names in _FLAWS.items() if kinds[kind]]
    warnings = sum(count for kind, count in kinds.items() if kind not in _FLAWS)
    parts = [", ".join(flaws) or "no flaw found"]
    parts += [_counted(warnings, _WARNING)] if warnings else []
    if hints:
        parts.append(f"{hints[0].message}, {_place(hints[0], names)}")
    if len(hints) > 1:
        parts.append(_counted(len(hints) - 1, _HINT))
    return "; ".join(parts)


def _place(hint: Hint, names: Mapping[str, str]) -> str:
    elsewhere = hint.site.file != next(iter(names))
    return f"line {hint.line}" + (f" of {names[hint.site.file]}" if elsewhere else "")


def _counted(number: int, names: tuple[str, str]) -> str:
    return f"{number} {names[number > 1]}"
