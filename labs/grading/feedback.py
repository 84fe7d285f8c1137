"""What an instructor and each student get: a table of the class, a page for each student."""

from __future__ import annotations

import csv
import hashlib
import html
import io
import json
import re
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from pathlib import Path

from labs.grading.grade import Graded
from labs.grading.labs import Lab, Part
from labs.grading.marks import Row, total
from virtual_gpu.pictures.svg import in_code

_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
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
.missed {color: #c4320a; font-weight: bold}
@media (prefers-color-scheme: dark) {.missed {color: #ff9466}}
"""


def shown(hundredths: int) -> str:
    """Points as a table shows them: 8.4, 10."""
    return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".")


def as_csv(lab: Lab, found: Sequence[Graded]) -> str:
    """One row for each student, in the order of their names: points, and points of each part."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    parts = [part.exercise for part in lab.parts]
    writer.writerow(["student", "points", "of", *parts])
    for one in sorted(found, key=lambda graded: graded.student):
        by_part = [sum(row.points for row in one.rows if row.part == part) for part in parts]
        writer.writerow([as_cell(one.student), *map(shown, (one.points, one.of, *by_part))])
    return text.getvalue()


def as_cell(text: str) -> str:
    """A name that a spreadsheet does not take for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t") else text


def as_markdown(lab: Lab, found: Graded) -> str:
    """The page of one student."""
    whole = f"{_plain(found.student)}: {shown(found.points)} of {shown(found.of)}."
    lines = [f"# {lab.title}", "", whole]
    for part, rows in _by_part(found):
        asked = next(one.asked for one in lab.parts if one.exercise == part)
        said = _said(found, part)
        lines += ["", f"## {asked.title}: {_points(rows)}", ""]
        lines += [f"> {_plain(one)}\n" for one in said]
        lines += ["| points | of | what | |", "| ---: | ---: | --- | --- |"]
        lines += map(_row, rows, _reasons(rows, said))
    return "\n".join(lines) + "\n"


def _row(row: Row, reason: str) -> str:
    signed = f"{'✗' if row.told else '✓'} {reason}".rstrip()
    cells = (_plain(text).replace("|", r"\|") for text in (row.what, signed))
    return f"| {shown(row.points)} | {shown(row.of)} | {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """A sentence in Markdown: what stands between backticks is code, and all else is no markup."""
    pieces = _CODE.split(text.replace("\n", " "))  # words and code take turns
    words = [re.sub(r"([\\`<>*_\[\]#])", r"\\\1", one) for one in pieces[::2]]
    code = [f"`{one}`" for one in pieces[1::2]] + [""]
    return "".join(word + one for word, one in zip(words, code, strict=True))


def as_html(lab: Lab, found: Graded) -> str:
    """The same as a page of its own, which asks no other host for anything."""
    sections = "".join(
        f"<h2>{html.escape(part.asked.title)}: {_points(_rows(found, part.exercise))}</h2>"
        f"{part_as_html(part, found)}"
        for part in lab.parts
    )
    title = html.escape(f"{lab.title}: {found.student}")
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head><body><h1>{html.escape(lab.title)}"
        f"</h1><p>{html.escape(found.student)}: <strong>{shown(found.points)} of "
        f"{shown(found.of)}</strong></p>{sections}</body></html>\n"
    )


def part_as_html(part: Part, found: Graded) -> str:
    """What the checker says of one part, and its rows, as a piece of a page."""
    said, rows = _said(found, part.exercise), _rows(found, part.exercise)
    above = "".join(f'<p class="said">{in_code(one)}</p>' for one in said)
    lines = "".join(
        f"<tr><td>{_sign(row)} {shown(row.points)} of {shown(row.of)}</td><td>{in_code(row.what)}"
        f'<div class="told">{in_code(reason)}</div></td></tr>'
        for row, reason in zip(rows, _reasons(rows, said), strict=True)
    )
    return (  # the table's class is for the pages of nbgrader, which have Bootstrap
        f'{above}<table class="table"><thead><tr><th>points</th><th>for</th></tr></thead>'
        f"<tbody>{lines}</tbody></table>"
    )


def _sign(row: Row) -> str:
    """Seen as a sign, read aloud as a word."""
    if row.told:
        return '<span class="missed" role="img" aria-label="missed">✗</span>'
    return '<span class="reached" role="img" aria-label="reached">✓</span>'


def as_gradescope(lab: Lab, found: Graded) -> str:
    """Gradescope's `results.json`."""
    tests = [
        {
            "name": f"{row.part}: {row.what}",
            "score": row.points / 100,
            "max_score": row.of / 100,
            "status": "passed" if not row.told else "failed",
            "output": reason,
            "visibility": "visible",
        }
        for part, rows in _by_part(found)
        for row, reason in zip(rows, _reasons(rows, _said(found, part)), strict=True)
    ]
    said = "\n".join(dict.fromkeys(cause for _, cause in found.told))
    whole = {"score": found.points / 100, "output": said, "stdout_visibility": "hidden"}
    return json.dumps({**whole, "visibility": "visible", "tests": tests}, indent=1) + "\n"


def _by_part(found: Graded) -> Iterable[tuple[str, list[Row]]]:
    return ((part, list(rows)) for part, rows in groupby(found.rows, key=lambda row: row.part))


def _rows(found: Graded, part: str) -> list[Row]:
    return [row for row in found.rows if row.part == part]


def _points(rows: Sequence[Row]) -> str:
    points, of = total(rows)
    return f"{shown(points)} of {shown(of)} points"


def _said(found: Graded, part: str) -> list[str]:
    return [cause for one, cause in found.told if one == part]


def _reasons(rows: Sequence[Row], said: Sequence[str]) -> list[str]:
    """Why points are missing in each row, without what stands above the table or in the last row.

    said: the sentences above the table.
    """
    own = [row.told for row in rows]
    for one in said:
        own = [told.removesuffix(one).rstrip() for told in own]
    return ["as above" if told and told == last else told for last, told in pairwise(["", *own])]


def write(folder: Path, lab: Lab, found: Graded) -> None:
    """The pages of one student: Markdown, HTML and results.json below their name."""
    own = folder / _folder_name(found.student)
    own.mkdir(parents=True, exist_ok=True)
    (own / "feedback.md").write_text(as_markdown(lab, found), encoding="utf-8")
    (own / "feedback.html").write_text(as_html(lab, found), encoding="utf-8")
    (own / "results.json").write_text(as_gradescope(lab, found), encoding="utf-8")


def _folder_name(student: str) -> str:
    """No two students share one: where a name cannot be kept whole, a hash of it follows."""
    plain = re.sub(r"[^\w.@-]", "_", student)
    if plain == student:
        return plain
    return f"{plain}-{hashlib.sha256(student.encode()).hexdigest()[:8]}"
