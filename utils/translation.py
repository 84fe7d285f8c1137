"""Translation of the course's sentences into the reader's language.

Sentences are written in English in the code that shows them.
`locale/LANGUAGE/LC_MESSAGES/course.po` has their translations; `python -m tools.messages` collects
the sentences. A sentence without a translation stays English.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from numbers import Real
from pathlib import Path

from utils.paths import ROOT, tag

LOCALE = ROOT / "locale"
LANGUAGE = "COURSE_LANGUAGE"  # environment variable: the language, such as "de"
ENGLISH = "en"
# For the environment of commands and of graders, whose records must not depend on a language.
IN_ENGLISH = {LANGUAGE: ENGLISH}

_PLACEHOLDER, _NAME = re.compile(r"\{[^{}]*\}"), re.compile(r"\{(\w*)")
_EXPONENT = re.compile(r"-?\d(\.\d+)?e\+\d+")
LONGEST = 1e9  # numbers from here on keep their exponent
_TAG = re.compile(r"[a-z]{2,3}([_-][A-Za-z0-9]+)?")


def language() -> str:
    """Return the reader's language, such as "de" or "pt_BR"; "en" if none is chosen.

    The environment variable `COURSE_LANGUAGE` chooses it, else the name of the open notebook: the
    language of `07_tiling.de.ipynb` is "de". JupyterLab and VS Code tell a notebook's name to its
    kernel; elsewhere, as in Colab, only the environment variable can choose a language.
    """
    chosen = os.environ.get(LANGUAGE) or tag(Path(_open_notebook()))
    return chosen.replace("-", "_") if _TAG.fullmatch(chosen) else ENGLISH


@contextmanager
def in_language(tag: str) -> Iterator[None]:
    """Set the language within this context, or in a function that it decorates.

    It changes the environment variable `COURSE_LANGUAGE` and restores it at the end. tag: such as
    "es".
    """
    chosen = os.environ.get(LANGUAGE)
    os.environ[LANGUAGE] = tag
    try:
        yield
    finally:
        if chosen is None:
            del os.environ[LANGUAGE]
        else:
            os.environ[LANGUAGE] = chosen


def in_english() -> AbstractContextManager[None]:
    """Set the language to English, as `in_language` does."""
    return in_language(ENGLISH)


def translate(message: str, /, **values: object) -> str:
    """Return a sentence in the reader's language, with its placeholders filled.

    It is English if the language has no translation of it. Without values it is not formatted, so
    braces stay. message: the English sentence, with a `str.format` placeholder per value. It is the
    key of the catalogue, so it must be a constant, which `python -m tools.messages` can find.
    """
    chosen = language()
    sentence = message if chosen == ENGLISH else _catalogue(chosen).get(message, message)
    return _filled(sentence, values) if values else sentence


def _filled(sentence: str, values: Mapping[str, object]) -> str:
    """Return a sentence with its placeholders filled from `values`, as `str.format` does.

    A number below 1e9 that its format would write with an exponent, such as 1.02e+03, is written as
    1,024.
    """
    filled = sentence.format(**values)
    if "e+" not in filled or "{{" in sentence:
        return filled
    return _PLACEHOLDER.sub(lambda one: _without_exponent(one[0], values), sentence)


def _without_exponent(placeholder: str, values: Mapping[str, object]) -> str:
    """Return a placeholder's text; a number below 1e9 has thousands separators, no exponent."""
    filled, value = placeholder.format(**values), values.get(_NAME.match(placeholder)[1])
    if _EXPONENT.fullmatch(filled) and isinstance(value, Real) and abs(value) < LONGEST:
        return f"{value:,.0f}"
    return filled


def placeholders(message: str) -> set[str]:
    """Return the placeholders of a sentence, with braces and formats, such as {"{size:.1f}"}."""
    return set(_PLACEHOLDER.findall(message))


def fits(message: str, translation: str) -> bool:
    """Return True if a translation has the same placeholders as its message and no other braces."""
    rest = _PLACEHOLDER.sub("", translation)
    return placeholders(message) == placeholders(translation) and not set("{}") & set(rest)


def _catalogue(chosen: str) -> Mapping[str, str]:
    """Return English sentence -> translation for a language.

    "pt_BR" falls back to "pt". The mapping is empty for a language without a catalogue.
    """
    for name in (chosen, chosen.partition("_")[0]):
        file = LOCALE / name / "LC_MESSAGES" / "course.po"
        if file.exists():
            return _read(file)
    return {}


@cache
def _read(file: Path) -> Mapping[str, str]:
    """Return English sentence -> translation from a .po file; the result is cached.

    Entries without a translation, fuzzy ones and those with other placeholders are left out.
    """
    from babel.messages.pofile import read_po  # English needs no catalogue

    with file.open("rb") as opened:
        entries = list(read_po(opened))
    return {
        one.id: one.string
        for one in entries
        if one.id and one.string and not one.fuzzy and fits(one.id, one.string)
    }


def _open_notebook() -> str:
    """Return the name of the open notebook from VS Code or JupyterLab; "" if there is none."""
    in_vs_code = getattr(sys.modules["__main__"], "__vsc_ipynb_file__", "")
    name = in_vs_code or os.environ.get("JPY_SESSION_NAME", "")
    return name if name.endswith(".ipynb") else ""
