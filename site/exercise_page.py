"""The site's page of all exercises: a card for each, with a picture of its solution at work."""

from __future__ import annotations

import html
import warnings
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from labs.checking.exercise import Exercise, KernelExercise
from labs.checking.run import run_kernel
from labs.checking.variants import wrong_versions
from labs.exercises import EXERCISES
from labs.grading.labs import LABS, minutes_of
from labs.numbers.exercise import NumbersExercise
from utils.paths import lessons
from virtual_gpu.pictures import stage
from virtual_gpu.pictures.film import film_of
from virtual_gpu.pictures.layout import layout_of

PATIENCE = 60.0  # seconds of a launch
NAMED = 3  # mistakes on a card
CASES = 3  # calls on the card of a formula
KINDS = {
    "write": "write a kernel",
    "repair": "repair a kernel",
    "order": "order its lines",
    "change": "change a kernel",
}


def cards(titles: dict[str, str]) -> str:
    """Return the page's sections as Markdown: a heading per lesson, with its exercises in HTML.

    A style sheet comes before them. Exercises of no lab are left out; those of a lesson are in the
    order of their minutes. titles: file name of each lesson -> its title, such as "07 · Tiling".
    """
    files = {number: file.name for number, file in lessons().items()}
    order = list(files)
    listed = sorted((one for one in EXERCISES.values() if _labs(one)), key=lambda one: (
        order.index(one.lesson), minutes_of(one.name), one.name
    ))  # fmt: skip
    rules = (Path(stage.__file__).parent / "stage.css").read_text(encoding="utf-8")
    parts = [f"<style>{rules}</style>"]
    for number, group in groupby(listed, key=lambda one: one.lesson):
        file = files[number]
        parts.append(f"## [{titles[file]}](../notebooks/{file})")
        parts.append(f'<div class="exercises">{"".join(map(_card, group))}</div>')
    return "\n\n".join(parts)


def _labs(exercise: Exercise) -> list[str]:
    """Return the names of the course's labs that have an exercise, in the order of the labs."""
    return [
        lab.name for lab in LABS.values() if exercise.name in {one.exercise for one in lab.parts}
    ]


def _card(exercise: Exercise) -> str:
    """Return the HTML of one exercise: title, picture, what it asks, mistakes, and its labs."""
    minutes = max(1, round(minutes_of(exercise.name)))
    labs = ", ".join(
        f'<a href="handouts/{name}.html">{html.escape(LABS[name].title)}</a>'
        for name in _labs(exercise)
    )
    return (
        f'<section class="exercise"><h3 id="{exercise.name}">{html.escape(exercise.title)}</h3>'
        f"<p><code>{exercise.name}</code> · {_kind(exercise)} · about {minutes} min</p>"
        f"{_picture(exercise)}{_mistakes(exercise)}<p>Start it in the lab {labs}.</p></section>"
    )


def _kind(exercise: Exercise) -> str:
    """Return what the reader does, such as "write a kernel", one of the texts in `KINDS`.

    "formula" replaces "kernel" in it for an exercise on numbers, and "function" for a function on
    the host.
    """
    if isinstance(exercise, NumbersExercise):
        return KINDS[exercise.kind].replace("kernel", "formula")
    on_host = not isinstance(exercise, KernelExercise) or exercise.on_cpu
    return KINDS[exercise.kind].replace("kernel", "function" if on_host else "kernel")


def _picture(exercise: Exercise) -> str:
    """Return HTML that shows an exercise.

    For a kernel it is an SVG of one step of the first block of its solution, for any other exercise
    a list of the lines of `_lines`.
    """
    if isinstance(exercise, KernelExercise):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = run_kernel(
                exercise, exercise.solution, exercise.shapes[0], PATIENCE, blocks=1, record=0
            )
        film = film_of(run.trace, exercise.name, "reads")
        drawn = stage.stage(film, layout_of(film, "reads"), "reads", None, exercise.name)
        return f'<div class="vm">{drawn}</div>'
    return f'<ul class="plain">{"".join(f"<li>{line}</li>" for line in _lines(exercise))}</ul>'


def _lines(exercise: Exercise) -> Iterator[str]:
    """Yield the first `CASES` calls of a formula with their results, or a host function's goals.

    Each line is HTML.
    """
    if not isinstance(exercise, NumbersExercise):
        yield from map(html.escape, exercise.goals)
        return
    for case in exercise.all_cases[:CASES]:
        given = ", ".join(map(str, case.given))
        yield f"<code>{exercise.name}({given}) = {case.right:g}</code>"


def _mistakes(exercise: Exercise) -> str:
    """Return an HTML paragraph on the wrong versions that `check` knows; "" if it knows none.

    It has their number, a link to the guide's page on them, and the first `NAMED` of them in words.
    The unchanged starter is not counted.
    """
    whats = [one.what for one in wrong_versions(exercise)]
    known = [html.escape(what) for what in whats if what != "the starter"]
    if not known:
        return ""
    named = "; ".join(known[:NAMED])
    page = f"../labs/guide/mistakes.html#{exercise.name.replace('_', '-')}"
    return f'<p><a href="{page}">{len(known)} known mistakes</a>, such as: {named}.</p>'
