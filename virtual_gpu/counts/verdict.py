"""A one-line summary of a trace: its flaws, its warnings, and the first of its hints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ..common.errors import Finding
from ..common.wording import translate
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
    """Return a summary such as ``1 race, 1 barrier error; 2 warnings``.

    ``findings`` has one entry per line, kind and array. The summary continues with the message and
    the line of the first hint, and with the number of further hints. ``names`` maps files to their
    short names, the kernel's first; a hint in another file mentions that file. Without flaws the
    text begins with ``no flaw found``, because the intended result is not known here.
    """
    kinds = Counter(finding.kind for finding in findings)
    flaws = [_counted(kinds[kind], names) for kind, names in _FLAWS.items() if kinds[kind]]
    warnings = sum(count for kind, count in kinds.items() if kind not in _FLAWS)
    parts = [", ".join(flaws) or translate("no flaw found")]
    parts += [_counted(warnings, _WARNING)] if warnings else []
    if hints:
        parts.append(f"{hints[0].message}, {_location(hints[0], names)}")
    if len(hints) > 1:
        parts.append(_counted(len(hints) - 1, _HINT))
    return "; ".join(parts)


def _location(hint: Hint, names: Mapping[str, str]) -> str:
    """Return the position of a hint, such as ``line 4``, or ``line 4 of helpers.py``.

    The file is named if it is not the first key of ``names``, which is the kernel's file.
    """
    other_file = hint.site.file != next(iter(names))
    return f"line {hint.line}" + (f" of {names[hint.site.file]}" if other_file else "")


def _counted(number: int, names: tuple[str, str]) -> str:
    """Return a number with its noun; ``names`` are the noun's singular and plural."""
    return f"{number} {names[number > 1]}"
