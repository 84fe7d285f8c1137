"""The files that the grader writes: a table of the class, and pages for each student."""

from __future__ import annotations

import csv
import hashlib
import html
import io
import json
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path

from labs.grading.grade import Mark, failure
from labs.grading.labs import Lab, Part
from labs.grading.marks import MarkRow, total
from labs.grading.submissions import as_bytes, printable
from labs.host.exercise import HostExercise
from virtual_gpu.pictures.svg import in_code

_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
NO_TEXT = "The reason cannot be shown here: ask your instructor."
LATER = "The reason is shown when the grades are published, because it names hidden tests."
MOST_NAME_BYTES = 120  # of a student's name in the name of a folder, before its hash
HASH_DIGITS = 16
_HASHED = re.compile(rf"-[0-9a-f]{{{HASH_DIGITS}}}$", re.IGNORECASE)
_SEPARATOR = re.compile(r"([,;|\t\r\n])")  # what a spreadsheet may take for the end of a cell
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
.group {border-bottom: 1px solid rgba(128,128,128,.35); padding: .8rem 0}
.group p {margin: .35rem 0}
.share {height: .5rem; background: rgba(128,128,128,.15); border-radius: 3px}
.share span {display: block; height: 100%; background: #d9730d; border-radius: 3px}
.missed, .partly {color: #c4320a; font-weight: bold}
@media (prefers-color-scheme: dark) {.missed, .partly {color: #ff9466}}
"""


def to_stderr(sentence: str) -> None:
    """Print a sentence to standard error, without characters that change a terminal."""
    print(printable(sentence), file=sys.stderr)


def csv_of(
    headings: Sequence[str],
    rows: Iterable[tuple[str, Callable[[], Sequence[str | int]]]],
    tell: Callable[[str], None] = to_stderr,
) -> str:
    """Return the text of a CSV file with a line of headings and one line per row.

    Cells are changed by `as_cell`, so that no spreadsheet takes one for a formula. rows: pairs of a
    student's name and a function that returns the cells. If that function fails, the row has the
    student's name, quoted as by `ascii`, and empty cells, and `tell` is called with a sentence that
    has the name and the cause.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([as_cell(one) for one in headings])
    for student, made in rows:
        try:
            cells = [as_cell(one) if isinstance(one, str) else one for one in made()]
            writer.writerow(cells)
        except Exception as error:  # costs this row alone
            name = ascii(student)
            writer.writerow([name, *("" for _ in headings[1:])])
            tell(f"{name}: the table has no points for this student. {failure(error)}")
    return text.getvalue()


def as_csv(lab: Lab, marks: Sequence[Mark], tell: Callable[[str], None] = to_stderr) -> str:
    """Return the table of a class as the text of a CSV file: one row per student, sorted by name.

    The columns are the student, the points, their maximum, and the points of each part. tell: is
    called with a sentence for each row that cannot be made; by default it prints the sentence to
    standard error.
    """
    parts = [part.exercise for part in lab.parts]
    ordered = sorted(marks, key=lambda mark: mark.student)
    rows = [(mark.student, partial(_line, mark, parts)) for mark in ordered]
    return csv_of(["student", "points", "of", *parts], rows, tell)


def _line(mark: Mark, parts: Sequence[str]) -> list[str | int]:
    """Return the cells of one student's row: name, points, maximum, and the points of each part."""
    return [mark.student, mark.points, mark.of, *points_by_part(mark, parts)]


def points_by_part(mark: Mark, parts: Sequence[str]) -> list[int]:
    """Return a list of the points of each part. parts: the names of the exercises, in order."""
    return [sum(row.points for row in mark.rows if row.part == part) for part in parts]


def without_texts(mark: Mark, why: str) -> Mark:
    """Return a copy of a mark with the same points, in which `why` replaces each row's reason.

    The copy has no sentences about whole exercises (`Mark.told`). It is for a mark whose own texts
    cannot be written.
    """
    rows = tuple(replace(row, told=why if row.told else "") for row in mark.rows)
    return replace(mark, rows=rows, told=())


def as_cell(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula; most texts are returned unchanged.

    An apostrophe is put before a sign with which a formula begins. A spreadsheet may drop spaces,
    invisible characters, quotes and line ends at the beginning, may read a full-width sign as the
    usual one, and may end a cell at `;` or a tab instead of a comma. So the text after each of
    these characters is treated as a cell of its own. A character that could change what a terminal
    shows becomes "?".
    """
    pieces = _SEPARATOR.split(text)  # texts and separators alternate
    whole = "".join(one if number % 2 else _as_text(one) for number, one in enumerate(pieces))
    usual = unicodedata.normalize("NFKC", text)
    hides = bool(usual) and not _is_seen(usual[0]) and usual[0] not in ' "'
    return printable(f"'{whole}" if hides and not whole.startswith("'") else whole)


def _as_text(piece: str) -> str:
    """Return the text, after an apostrophe if its first visible character is =, +, -, @ or "−".

    "−" is the minus sign of Unicode.
    """
    usual = unicodedata.normalize("NFKC", piece)
    first = next((one for one in usual if _is_seen(one)), "")
    return f"'{piece}" if first and first in "=+-@\u2212" else piece


def _is_seen(character: str) -> bool:
    """Return True for a visible character other than `"`; spaces and line ends are not visible."""
    return character != '"' and unicodedata.category(character) not in (
        "Zs", "Zl", "Zp", "Cc", "Cf",
    )  # fmt: skip


def as_markdown(lab: Lab, mark: Mark) -> str:
    """Return one student's feedback page as Markdown text.

    It has the points and, per part, the checker's sentences and a table of the rows with reasons.
    """
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
    """Return one line of a Markdown table: points, maximum, what they are for, and the outcome."""
    signed = f"{_SIGNS[_outcome(row)]} {reason}".rstrip()
    cells = (_plain(text).replace("|", r"\|") for text in (row.what, signed))
    return f"| {row.points} | {row.of} | {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """Return a sentence with Markdown's characters escaped; text in backticks stays code.

    Line ends become spaces.
    """
    pieces = _CODE.split(text.replace("\n", " "))  # words and code alternate
    words = [re.sub(r"([\\`<>*_\[\]#])", r"\\\1", one) for one in pieces[::2]]
    code = [f"`{one}`" for one in pieces[1::2]] + [""]
    return "".join(word + one for word, one in zip(words, code, strict=True))


def as_html(lab: Lab, mark: Mark) -> str:
    """Return one student's feedback page as HTML, which loads nothing from the network.

    It has the points and, per part, the checker's sentences and a table of the rows with reasons.
    """
    sections = "".join(
        f"<h2>{html.escape(part.definition.title)}: {_points(_rows(mark, part.exercise))}</h2>"
        f"{part_as_html(part, mark)}"
        for part in lab.parts
    )
    points = f"<strong>{mark.points} of {mark.of}</strong>"
    body = f"<p>{html.escape(mark.student)}: {points}</p>{sections}"
    return page(lab.title, body, f"{lab.title}: {mark.student}")


def page(heading: str, body: str, title: str = "") -> str:
    """Return a whole HTML page, which loads nothing from the network.

    heading, title: as plain text; without a title, the browser shows the heading. body: the HTML
    below the heading.
    """
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title or heading)}</title><style>{_STYLE}</style></head><body>"
        f"<h1>{html.escape(heading)}</h1>{body}</body></html>\n"
    )


def part_as_html(part: Part, mark: Mark) -> str:
    """Return an HTML fragment on one part: the checker's sentences and a table of its rows."""
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
    """Return HTML for a row's outcome: a sign, and a word that a screen reader reads aloud."""
    outcome = _outcome(row)
    return f'<span class="{outcome}" role="img" aria-label="{outcome}">{_SIGNS[outcome]}</span>'


def _outcome(row: MarkRow) -> str:
    """Return "reached" for a row without a reason, "partly" if it has points, else "missed"."""
    if not row.told:
        return "reached"
    return "partly" if row.points else "missed"


def as_gradescope(lab: Lab, mark: Mark) -> str:
    """Return the text of Gradescope's `results.json` for one student.

    Points are visible at once. Reasons that may name hidden shapes or cases become visible when the
    grades are published, because a student may hand in again until then.
    """
    tests = [test for part, rows in _by_part(mark) for test in _tests(lab, mark, part, rows)]
    at_once = [cause for part, cause in mark.told if _may_be_shown(lab, mark, part)]
    whole = {"score": mark.points, "output": "\n".join(dict.fromkeys(at_once))}
    whole |= {"visibility": "visible", "stdout_visibility": "hidden"}
    return json.dumps({**whole, "tests": tests}, indent=1) + "\n"


def _tests(lab: Lab, mark: Mark, part: str, rows: Sequence[MarkRow]) -> Iterable[dict]:
    """Yield Gradescope's tests for one part: one per row, and one with the reasons held back.

    The last one has no points and is yielded only if there are such reasons. part: the exercise's
    name. rows: the mark's rows of this part.
    """
    sentences, shown = _sentences(mark, part), _may_be_shown(lab, mark, part)
    reasons = _reasons(rows, sentences)
    for row, reason in zip(rows, reasons, strict=True):
        yield {
            "name": f"{row.part}: {row.what}",
            "score": row.points,
            "max_score": row.of,
            "status": "passed" if not row.told else "failed",
            "output": reason if shown or not row.told else LATER,
            "visibility": "visible",
        }
    told = [f"{row.what}: {why}" for row, why in zip(rows, reasons, strict=True) if why]
    if not shown and (sentences or told):
        output = "\n".join((*sentences, *told))
        yield {"name": f"{part}: reasons", "output": output, "visibility": "after_published"}


def _may_be_shown(lab: Lab, mark: Mark, part: str) -> bool:
    """Return True if the reasons of a part cannot name shapes or cases drawn from the secret.

    That is so if the grader failed, if the part's function was refused before it ran, or if the
    part is a host function. part: the exercise's name.
    """
    exercise = next(one.definition for one in lab.parts if one.exercise == part)
    return bool(mark.failed) or part in mark.refused or isinstance(exercise, HostExercise)


def _by_part(mark: Mark) -> Iterable[tuple[str, list[MarkRow]]]:
    """Yield (name of the exercise, its rows) for each part of a mark, in order."""
    return ((part, list(rows)) for part, rows in groupby(mark.rows, key=lambda row: row.part))


def _rows(mark: Mark, part: str) -> list[MarkRow]:
    """Return a mark's rows of one part, in order."""
    return [row for row in mark.rows if row.part == part]


def _points(rows: Sequence[MarkRow]) -> str:
    """Return a phrase such as "3 of 5 points" with the sums over these rows."""
    points, of = total(rows)
    return f"{points} of {of} points"


def _sentences(mark: Mark, part: str) -> list[str]:
    """Return a mark's sentences about one whole part, in order."""
    return [cause for exercise, cause in mark.told if exercise == part]


def _reasons(rows: Sequence[MarkRow], sentences: Sequence[str]) -> list[str]:
    """Return a list with the reason why each row lost points, in the rows' order.

    The reason is "" for a row that lost none. sentences: those that the page shows above the table;
    they are removed from the ends of the reasons. A reason that equals the one before it becomes
    "as above".
    """
    reasons = [row.told for row in rows]
    for sentence in reversed(sentences):
        reasons = [reason.removesuffix(sentence).rstrip() for reason in reasons]
    return [
        "as above" if reason and reason == last else reason
        for last, reason in pairwise(["", *reasons])
    ]


def write(folder: Path, lab: Lab, mark: Mark, name: str = "") -> None:
    """Write one student's feedback.md, feedback.html and results.json.

    They are written to a folder in `folder` that is named after the mark's `student` and is
    created. name: the student's name for the pages; "" for the mark's `student`. Raises OSError if
    that fails.
    """
    own = folder_of(folder, mark.student)
    own.mkdir(parents=True, exist_ok=True)
    shown = replace(mark, student=name or mark.student)
    (own / "feedback.md").write_text(as_markdown(lab, shown), encoding="utf-8")
    (own / "feedback.html").write_text(as_html(lab, shown), encoding="utf-8")
    (own / "results.json").write_text(as_gradescope(lab, mark), encoding="utf-8")


def folder_of(folder: Path, student: str) -> Path:
    """Return the path of the folder in `folder` that has a student's pages."""
    return folder / _folder_name(student)


def _folder_name(student: str) -> str:
    """Return the name of a student's folder, which no other student's folder has.

    It is the student's name if that is a plain file name. Otherwise other characters become "_", a
    long name is shortened, and a hash of the name is appended.
    """
    plain = re.sub(r"[^\w.@-]", "_", student)
    short = plain.encode(errors="replace")[:MOST_NAME_BYTES].decode(errors="ignore")
    if short == student and not _HASHED.search(student) and student.strip("."):
        return short
    return f"{short}-{hashlib.sha256(as_bytes(student)).hexdigest()[:HASH_DIGITS]}"
