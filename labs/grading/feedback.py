"""Files that the grader writes: a table of the class, and pages for each student."""

from __future__ import annotations

import csv
import hashlib
import html
import io
import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from pathlib import Path

from labs.grading.grade import Mark
from labs.grading.labs import Lab, Part
from labs.grading.marks import MarkRow, total
from labs.grading.submissions import as_bytes
from virtual_gpu.pictures.svg import in_code

_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
NO_TEXT = "The reason cannot be shown here: ask your instructor."
MOST_NAME_BYTES = 120  # of a student's name in the name of a folder, before its hash
HASH_DIGITS = 16
_HASHED = re.compile(rf"-[0-9a-f]{{{HASH_DIGITS}}}$", re.IGNORECASE)
_SIGNS = {"reached": "✓", "partly": "◐", "missed": "✗"}
_STYLE = """
:root {color-scheme: light dark}
body {font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem}
table {border-collapse: collapse; width: 100%}
th, td {text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0;
 border-bottom: 1px solid rgba(128,128,128,.35)}
td:first-child {white-space: nowrap; font-variant-numeric: tabular-nums}
code {background: rgba(128,128,128,.18); border-radius: 3px; padding: 0 .2em;
 overflow-wrap: anywhere}
.said {border-left: 4px solid #d9730d; padding: .2rem .8rem; background: rgba(128,128,128,.1)}
.told {font-size: .92em}
.missed, .partly {color: #c4320a; font-weight: bold}
@media (prefers-color-scheme: dark) {.missed, .partly {color: #ff9466}}
"""


def as_csv(lab: Lab, marks: Sequence[Mark]) -> str:
    """Return the table of a class as CSV: one row per student, sorted by name.

    The columns are the student, the points, their maximum, and the points of each part.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    parts = [part.exercise for part in lab.parts]
    writer.writerow(["student", "points", "of", *parts])
    for mark in sorted(marks, key=lambda mark: mark.student):
        try:
            writer.writerow(_line(mark, parts))
        except Exception:  # costs this row alone, which names its student
            writer.writerow([ascii(mark.student), "", lab.points, *("" for _ in parts)])
    return text.getvalue()


def _line(mark: Mark, parts: Sequence[str]) -> list[str | int]:
    return [as_cell(mark.student), mark.points, mark.of, *points_by_part(mark, parts)]


def points_by_part(mark: Mark, parts: Sequence[str]) -> list[int]:
    """Return the points of each part, in the order of these names."""
    return [sum(row.points for row in mark.rows if row.part == part) for part in parts]


def without_texts(mark: Mark, why: str) -> Mark:
    """Return a mark with the same points and none of its sentences, which cannot be written."""
    rows = tuple(replace(row, told=why if row.told else "") for row in mark.rows)
    return replace(mark, rows=rows, told=())


def as_cell(text: str) -> str:
    """Return text that no spreadsheet takes for a formula.

    A spreadsheet may drop blanks, invisible characters and line ends at the beginning, and take a
    full-width sign for the usual one.
    """
    usual = unicodedata.normalize("NFKC", text)
    first = next((one for one in usual if _is_seen(one)), "")
    hides = bool(usual) and not _is_seen(usual[0]) and usual[0] != " "
    return f"'{text}" if first in tuple("=+-@\u2212") or hides else text


def _is_seen(character: str) -> bool:
    """Return True unless a character is a blank, a line end, or invisible."""
    return unicodedata.category(character) not in ("Zs", "Zl", "Zp", "Cc", "Cf")


def as_markdown(lab: Lab, mark: Mark) -> str:
    """Return one student's page as Markdown."""
    whole = f"{_plain(mark.student)}: {mark.points} of {mark.of}."
    lines = [f"# {lab.title}", "", whole]
    for part, rows in _by_part(mark):
        exercise = next(lab_part.definition for lab_part in lab.parts if lab_part.exercise == part)
        sentences = _sentences(mark, part)
        lines += ["", f"## {exercise.title}: {_points(rows)}", ""]
        lines += [f"> {_plain(sentence)}\n" for sentence in sentences]
        lines += ["| points | of | what | |", "| ---: | ---: | --- | --- |"]
        lines += map(_row, rows, _reasons(rows, sentences))
    return "\n".join(lines) + "\n"


def _row(row: MarkRow, reason: str) -> str:
    signed = f"{_SIGNS[_outcome(row)]} {reason}".rstrip()
    cells = (_plain(text).replace("|", r"\|") for text in (row.what, signed))
    return f"| {row.points} | {row.of} | {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """Escape a sentence for Markdown; what is between backticks becomes code."""
    pieces = _CODE.split(text.replace("\n", " "))  # words and code alternate
    words = [re.sub(r"([\\`<>*_\[\]#])", r"\\\1", one) for one in pieces[::2]]
    code = [f"`{one}`" for one in pieces[1::2]] + [""]
    return "".join(word + one for word, one in zip(words, code, strict=True))


def as_html(lab: Lab, mark: Mark) -> str:
    """Return one student's page as self-contained HTML, which loads nothing from the network."""
    sections = "".join(
        f"<h2>{html.escape(part.definition.title)}: {_points(_rows(mark, part.exercise))}</h2>"
        f"{part_as_html(part, mark)}"
        for part in lab.parts
    )
    title = html.escape(f"{lab.title}: {mark.student}")
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head><body><h1>{html.escape(lab.title)}"
        f"</h1><p>{html.escape(mark.student)}: <strong>{mark.points} of "
        f"{mark.of}</strong></p>{sections}</body></html>\n"
    )


def part_as_html(part: Part, mark: Mark) -> str:
    """Return an HTML fragment with the checker's sentences and the rows of one part."""
    sentences, rows = _sentences(mark, part.exercise), _rows(mark, part.exercise)
    above = "".join(f'<p class="said">{in_code(sentence)}</p>' for sentence in sentences)
    lines = "".join(
        f"<tr><td>{_sign(row)} {row.points} of {row.of}</td><td>{in_code(row.what)}"
        f'<div class="told">{in_code(reason)}</div></td></tr>'
        for row, reason in zip(rows, _reasons(rows, sentences), strict=True)
    )
    return (  # nbgrader's pages have Bootstrap, which styles this class
        f'{above}<table class="table"><thead><tr><th>points</th><th>for</th></tr></thead>'
        f"<tbody>{lines}</tbody></table>"
    )


def _sign(row: MarkRow) -> str:
    """Return a mark in HTML that is seen as a sign and read aloud as a word."""
    outcome = _outcome(row)
    return f'<span class="{outcome}" role="img" aria-label="{outcome}">{_SIGNS[outcome]}</span>'


def _outcome(row: MarkRow) -> str:
    """Return "reached", "partly" or "missed"."""
    if not row.told:
        return "reached"
    return "partly" if row.points else "missed"


def as_gradescope(lab: Lab, mark: Mark) -> str:
    """Return the content of Gradescope's `results.json`."""
    tests = [
        {
            "name": f"{row.part}: {row.what}",
            "score": row.points,
            "max_score": row.of,
            "status": "passed" if not row.told else "failed",
            "output": reason,
            "visibility": "visible",
        }
        for part, rows in _by_part(mark)
        for row, reason in zip(rows, _reasons(rows, _sentences(mark, part)), strict=True)
    ]
    sentences = "\n".join(dict.fromkeys(cause for _, cause in mark.told))
    whole = {"score": mark.points, "output": sentences, "stdout_visibility": "hidden"}
    return json.dumps({**whole, "visibility": "visible", "tests": tests}, indent=1) + "\n"


def _by_part(mark: Mark) -> Iterable[tuple[str, list[MarkRow]]]:
    return ((part, list(rows)) for part, rows in groupby(mark.rows, key=lambda row: row.part))


def _rows(mark: Mark, part: str) -> list[MarkRow]:
    return [row for row in mark.rows if row.part == part]


def _points(rows: Sequence[MarkRow]) -> str:
    points, of = total(rows)
    return f"{points} of {of} points"


def _sentences(mark: Mark, part: str) -> list[str]:
    return [cause for exercise, cause in mark.told if exercise == part]


def _reasons(rows: Sequence[MarkRow], sentences: Sequence[str]) -> list[str]:
    """Return why each row lost points, without repetition.

    sentences: those above the table, which are left out. A reason that equals the row above becomes
    "as above".
    """
    reasons = [row.told for row in rows]
    for sentence in reversed(sentences):
        reasons = [reason.removesuffix(sentence).rstrip() for reason in reasons]
    return [
        "as above" if reason and reason == last else reason
        for last, reason in pairwise(["", *reasons])
    ]


def write(folder: Path, lab: Lab, mark: Mark) -> None:
    """Write one student's Markdown, HTML and results.json into a folder of the student's name."""
    own = folder / _folder_name(mark.student)
    own.mkdir(parents=True, exist_ok=True)
    (own / "feedback.md").write_text(as_markdown(lab, mark), encoding="utf-8")
    (own / "feedback.html").write_text(as_html(lab, mark), encoding="utf-8")
    (own / "results.json").write_text(as_gradescope(lab, mark), encoding="utf-8")


def _folder_name(student: str) -> str:
    """Return a folder name that no other student has.

    If the student's name cannot be kept unchanged, or looks as if a hash were appended already, a
    hash of it is appended. A long name is shortened, since file systems take 255 bytes.
    """
    plain = re.sub(r"[^\w.@-]", "_", student)
    short = plain.encode(errors="replace")[:MOST_NAME_BYTES].decode(errors="ignore")
    if short == student and not _HASHED.search(student) and student.strip("."):
        return short
    return f"{short}-{hashlib.sha256(as_bytes(student)).hexdigest()[:HASH_DIGITS]}"
