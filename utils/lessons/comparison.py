"""The card after `check`: the reader's kernel beside the course's step and the step before it.

`own_functions.toml` in a lesson's folder names the function that shows the reader's answer to an
exercise that is no kernel of a GPU, such as a benchmark, or that the lesson counts in its own way.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module

from utils.errors import CourseError
from utils.figures import kernel_bars
from utils.figures.kernel_bars import Bar
from utils.figures.look import number
from utils.ladder import kept_functions
from utils.ladder.step import Variant
from utils.lessons.bounds import DRAM, L2, Compiled, Memory, bounds_of, compiled_of, memory_of
from utils.lessons.cards import Card, Stack, Table, table
from utils.lessons.folders import read_in_all
from utils.lessons.lesson import device_shown
from utils.lessons.own_kernels import Twin, mine, twins
from utils.lessons.recorded import duration, ms_if_any
from utils.translation import translate
from virtual_gpu.pictures.svg import Picture

FUNCTIONS = "own_functions.toml"


def compare(name: str) -> Stack | Card:
    """Return tables and pictures that compare the reader's right kernel with the course's.

    The course's step and the step before it are shown with it: a table of their counts, and a
    picture of the bounds in ms that follow from the counts and of the recorded times. For a
    function that is no kernel of a GPU, the lesson has a comparison of its own. If the notebook's
    kernel of this name has changed since `check` found it right, a card above says so.

    Parameters
    ----------
    name : str
        The name of the exercise, such as "tree".

    Returns
    -------
    Stack or Card
        The tables and pictures. A card with one sentence if there is no right kernel yet, nothing
        to compare it with, or if one of the kernels cannot be executed or counted here.
    """
    if not kept_functions.kept_text(name):
        return nothing_yet(name)
    try:
        return Stack((*_changed_since(name), *_parts(name)))
    except CourseError as error:
        return Card("ask", (str(error),))


def nothing_yet(name: str) -> Card:
    """Return the card that tells the reader to write a right kernel for an exercise first."""
    sentence = translate(
        "Your `{name}` is shown here once `check` finds it right: write it, run its check, and run "
        "this cell again.",
        name=name,
    )
    return Card("ask", (sentence,))


def _changed_since(name: str) -> tuple[Card, ...]:
    """Return (card,) if the notebook's kernel of this name is not the one that is kept, else ().

    The result is also () if the notebook has no function of this name, or one whose text cannot be
    read. name: the name of the exercise.
    """
    function = getattr(sys.modules["__main__"], name, None)
    try:
        if not callable(function) or kept_functions.is_kept(name, function):
            return ()
    except (CourseError, OSError, TypeError):  # no text can be made of it
        return ()
    sentence = translate(
        "Your `{name}` has changed since `check` found it right. The version from then is shown "
        "here: run its check, and then this cell again.",
        name=name,
    )
    return (Card("ask", (sentence,)),)


def variants_of(name: str) -> dict[str, Variant]:
    """Return role -> kernel: "before" if there is a step before, then "mine" and "course".

    "mine" is the reader's kernel, "course" is the course's step, and "before" is the course's step
    before that one.

    name: an exercise for which the course has a step that does the same work, and for which a right
    kernel of the reader's is kept.
    """
    twin = twins()[name]
    before = {"before": twin.before} if twin.before else {}
    return {**before, "mine": mine(name), "course": twin.variant}


def words_of(name: str, variants: Mapping[str, Variant]) -> dict[str, str]:
    """Return role -> words of a legend, such as "your tree" or "reduce2, the course's step".

    name: the exercise's name. variants: role -> kernel.
    """
    return {role: _words(role, one.step.name) for role, one in variants.items()}


def _words(role: str, step: str) -> str:
    """Return the words of a legend for a kernel: "your tree" for the role "mine", and so on.

    role: "before", "mine" or "course". step: the name of the kernel's step.
    """
    if role == "before":
        return translate("{step}, the step before", step=step)
    if role == "mine":
        return translate("your {step}", step=step)
    return translate("{step}, the course's step", step=step)


def _parts(name: str) -> list[Table | Picture | Card]:
    """Return the tables, pictures and cards of `compare`, from top to bottom.

    They are a table of counts, a picture of the bounds and, if there are notes on these two, a card
    with the notes. For an exercise in `_counterparts`, they are those of its own comparison. Raises
    CourseError, with a sentence for the reader, if there is nothing to compare.
    """
    if shown := _counterparts().get(name):
        result = shown(mine(name))
        return list(result.parts) if isinstance(result, Stack) else [result]
    if name not in twins():
        raise CourseError(
            translate(
                "Your `{name}` is right and kept. The course has no step that does the same work, "
                "so there are no counts to compare.",
                name=name,
            )
        )
    twin, variants = twins()[name], variants_of(name)
    words = words_of(name, variants)
    notes = [translate(twin.note)] if twin.note else []
    counted = _counts(twin, variants, words, notes)
    picture = _bounds(twin, variants, words, notes)
    return [counted, picture, *([Card("ask", tuple(notes))] if notes else [])]


@cache
def _counterparts() -> dict:
    """Return exercise's name -> function that compares the reader's function with the course's.

    Only exercises in a lesson's own_functions.toml are in it. Each function takes the reader's own
    function as a Variant, and returns a Stack or a single table, picture or card. The result is
    cached.
    """
    found = {}
    for lesson, rows in read_in_all(FUNCTIONS).items():
        for name, shown in rows.items():
            module, _, function = shown.rpartition(".")
            home = import_module(f"utils.lessons.lesson_{lesson}.{module}")
            found[name] = getattr(home, function)
    return found


def _counts(
    twin: Twin, variants: Mapping[str, Variant], words: Mapping[str, str], notes: list[str]
) -> Table:
    """Return the table of counts of one full block, one row per kernel.

    The columns are counts of memory accesses, then of the compiled kernel. If a kernel cannot be
    compiled, the latter are left out for all kernels, and a sentence is appended to `notes`.
    variants: role -> kernel. words: role -> the name of its row.
    """
    memory = {role: memory_of(one, twin.shape) for role, one in variants.items()}
    try:
        compiled = {role: compiled_of(one) for role, one in variants.items()}
    except CourseError as error:
        compiled = {}
        notes.append(translate("Registers are not known: {why}", why=str(error)))
    columns = _memory_columns(memory) | _compiled_columns(compiled, memory)
    rows = [(words[role], *(cells[role] for cells in columns.values())) for role in variants]
    return table("Counted on the virtual GPU, one full block", ("", *columns), rows)


def _memory_columns(memory: Mapping[str, Memory]) -> dict[str, dict[str, str]]:
    """Return title -> role -> text for the counts that apply to at least one of the kernels.

    memory: role -> the kernel's counts. The titles are the table's columns, from left to right.
    """
    is_product = any(one.words is not None for one in memory.values())
    per = "per multiply-add of a warp" if is_product else "per 32 elements"
    columns = {}
    if is_product:
        columns["global loads per multiply-add"] = {
            role: number(one.words) for role, one in memory.items()
        }
    columns["sectors per request"] = {role: number(one.sectors) for role, one in memory.items()}
    if any(one.wavefronts for one in memory.values()):
        columns[f"shared wavefronts {per}"] = {
            role: number(one.wavefronts) for role, one in memory.items()
        }
    if any(one.barriers for one in memory.values()):
        columns[f"barriers of a warp {per}"] = {
            role: number(one.barriers) for role, one in memory.items()
        }
    return columns


def _compiled_columns(
    compiled: Mapping[str, Compiled], memory: Mapping[str, Memory]
) -> dict[str, dict[str, str]]:
    """Return title -> role -> cell for loads before the first use, then for registers and spills.

    Registers and spilled bytes are in one cell. The loads are left out if any of the kernels uses
    shared memory. Return {} if `compiled` is empty.
    """
    if not compiled:
        return {}
    arch = device_shown().arch
    columns = {}
    if not any(one.wavefronts for one in memory.values()):
        columns["loads before the first use"] = {
            role: str(one.loads) for role, one in compiled.items()
        }
    columns[f"registers, spilled bytes ({arch})"] = {
        role: f"{one.registers}, {one.spilled}" for role, one in compiled.items()
    }
    return columns


def _title_of(resource: str) -> str:
    """Return the translated title above the bars of a resource."""
    titles = {DRAM: translate("bytes from DRAM, by the data sheet"), L2: translate("bytes from L2")}
    return titles.get(resource) or translate(resource)


def _bounds(
    twin: Twin, variants: Mapping[str, Variant], words: Mapping[str, str], notes: list[str]
) -> Picture:
    """Return the picture of the bounds and of the recorded times, a group of bars per resource.

    A resource with the bound of one kernel alone is left out. variants: role -> kernel. words: role
    -> words of the legend. Appends sentences on upper bounds and missing counts to `notes`.
    """
    bounds = {role: bounds_of(one, twin.shape) for role, one in variants.items()}
    resources = dict.fromkeys(name for each in bounds.values() for name in each)
    groups = {}
    for resource in resources:
        known = {role: each[resource] for role, each in bounds.items() if resource in each}
        missing = "; ".join(words[role] for role in variants if role not in known)
        if len(known) == 1:  # a bar beside nothing compares nothing
            notes.append(
                translate(
                    "Instructions are not compared, because those of some kernels cannot be "
                    "counted here: {missing}.",
                    missing=missing,
                )
            )
            continue
        groups[_title_of(resource)] = [
            Bar(role, bound.ms, f"{'≤ ' * bound.at_most}{duration(bound.ms)}")
            for role, bound in known.items()
        ]
        if any(bound.at_most for bound in known.values()):
            notes.append(
                translate(
                    "“≤” marks an upper bound: the machine code of this kernel has jumps, so some "
                    "warps skip instructions that are counted here."
                )
            )
        if missing:
            notes.append(
                translate("Instructions that cannot be counted here: {missing}.", missing=missing)
            )
    recorded = {role: ms_if_any(one, twin.shape) for role, one in variants.items()}
    groups[translate("recorded time of the course's kernels")] = [
        Bar(role, ms, duration(ms)) for role, ms in recorded.items() if ms
    ]
    where = translate(
        "at {shape}, one {device}",
        shape=twin.step.task.parse(twin.shape),
        device=device_shown().name,
    )
    title = translate("Time that each resource needs, and recorded times")
    return kernel_bars.draw_groups(title, where, words, groups)
