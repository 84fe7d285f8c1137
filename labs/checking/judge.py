"""Run a reader's kernel, or function, and say what is wrong with it, or what it reached.

In this order, and it stops at the first cause: is it a kernel of the right parameters; does it
compile and end; what it stores and loads; what the virtual GPU found; elements that nobody wrote;
wrong values; the targets. To what was seen it adds the mistake behind it: what the text shows, or
what behaves like this by the exercise's table.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

import numpy as np

from labs.checking.access_order import read_before_stored
from labs.checking.exercise import KernelExercise
from labs.checking.phrasing import at, counted, element, extent, sentence
from labs.checking.recognise import (
    NOTHING_KNOWN,
    Table,
    known_mistake,
    similar_mistake,
    table_in,
)
from labs.checking.run import SEED, Run, run
from labs.checking.submission_checks import no_kernel
from labs.checking.text_mistakes import TEXT_MISTAKES, never_called
from labs.checking.verdict import Verdict
from utils.errors import CourseError
from virtual_gpu import Finding, KernelRaised, LimitReached, Site, VirtualGpuError
from virtual_gpu.common.source import Source, read_source


def judge(asked: KernelExercise, kernel, patience: float) -> Verdict:
    """Run a kernel at the shapes of an exercise. patience: seconds that one launch may take."""
    cause = no_kernel(asked, kernel)
    if cause:
        return _refused(asked, cause)
    runs, cause = observed(asked, kernel, patience, table_in(asked.folder))
    if cause:
        cause = _first(asked.probes.constants, kernel) or cause
        return _refused(asked, cause, _notes(runs))
    return by_targets(asked, runs)


def observed(
    asked: KernelExercise, kernel, patience: float, table: Table = NOTHING_KNOWN
) -> tuple[list[Run], str | None]:
    """Return the runs up to the first that goes wrong, and why it does; None where none does.

    A launch that ends in an error gives no run. table: of the mistakes that are known by what they
    do.
    """
    runs = []
    for shape in asked.shapes:
        seen = attempt(asked, kernel, shape, patience)
        if isinstance(seen, str):
            return runs, seen
        runs.append(seen)
        cause = wrong_result(asked, runs, table)
        if cause:
            return runs, cause
    return runs, None


def _refused(asked: KernelExercise, cause: str, notes: tuple[str, ...] = ()) -> Verdict:
    return Verdict(asked.name, asked.title, (cause,), notes=notes)


def _notes(runs: list[Run]) -> tuple[str, ...]:
    if not any(one.printed for one in runs):
        return ()
    return (
        f"What your {runs[0].job.kind.noun} prints is not shown here: a check runs it several "
        "times. Run it by yourself to see it.",
    )


def attempt(asked: KernelExercise, kernel, shape, patience: float, seed: int = SEED) -> Run | str:
    """The run, or why there is none. seed: of the inputs."""
    try:
        return run(asked, kernel, shape, patience, seed=seed)
    except LimitReached as error:
        return _never_ends(asked, kernel, str(error))
    except KernelRaised as error:
        return f"The {asked.kind.noun} raises an error: {_plain(asked, error)}"
    except (VirtualGpuError, CourseError) as error:
        story = _does_not_run(asked, _plain(asked, error))
        unknown = re.search(r"line (\d+) (`.*?`): .* is not known to this check\.", story)
        if unknown and (cause := _first(asked.probes.unknown, kernel, story)):
            return f"Line {unknown[1]}, {unknown[2]}: {cause}"
        cause = _first(asked.probes.refused, kernel, story)
        return f"{story} {cause}" if cause else story
    except Exception as error:  # whatever a kernel's text does to the interpreter
        return f"The {asked.kind.noun} does not run: {type(error).__name__}: {sentence(str(error))}"


def _does_not_run(asked: KernelExercise, why: str) -> str:
    """Numba runs much on the CPU that a check cannot follow."""
    if asked.on_cpu and "not known to this check" in why:
        return f"The check cannot follow this {asked.kind.noun}: {why}"
    return f"The {asked.kind.noun} does not run: {why}"


def _plain(asked: KernelExercise, error: Exception) -> str:
    """The virtual GPU's sentence without what the failed launch has written."""
    told = re.sub(r" Written before: [^.]*\.$", "", str(error))
    return sentence(asked.kind.said(told))


def _never_ends(asked: KernelExercise, kernel, message: str) -> str:
    where = re.search(r"line (\d+)", message)
    limit = re.search(r"the launch has run (?:for )?more than (\S+ \w+)", message)
    loop = _innermost_while(read_source(kernel.py_func), int(where[1])) if where else None
    stuck = re.search(r"(\d+ threads) wait in this loop", message)
    if stuck and loop and not _waits_for_others(kernel, loop.line):
        return f"{at(loop)}: {stuck[1]} never leave this loop. {asked.kind.endless}"
    if where is None or (limit is None and not asked.on_cpu):
        return sentence(re.sub(r"^\w+, line (\d+) `(.*?):?`", r"Line \1, `\2`", message))
    late = f"the {asked.kind.noun} does not end"
    if limit:
        late = f"after {limit[1]} the {asked.kind.noun} has not ended"
    if loop is None:
        return f"Line {where[1]}: {late}. It does far more turns than the task needs."
    return f"{at(loop)}: {late}. {asked.kind.endless}"


def _innermost_while(source: Source, line: int) -> Site | None:
    """The last `while` loop that begins before a line and holds it."""
    loops = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.While) and node.lineno <= line <= node.end_lineno
    ]
    return source.site(max(loops, key=lambda node: node.lineno)) if loops else None


def _waits_for_others(kernel, line: int) -> bool:
    """Whether another thread can end the `while` loop of a line: by an element, or in a call."""
    loop = next(
        node
        for node in ast.walk(read_source(kernel.py_func).tree)
        if isinstance(node, ast.While) and node.lineno == line
    )
    tested = {one.id for one in ast.walk(loop.test) if isinstance(one, ast.Name)}
    changes = [node for node in ast.walk(loop) if isinstance(node, ast.Assign | ast.AugAssign)]
    changes = [one for one in changes if tested.intersection(_set_by(one))]
    decides = [loop.test, *(one.value for one in changes)]
    parts = [one for value in decides for one in ast.walk(value)]
    return not tested or any(isinstance(one, ast.Subscript | ast.Call) for one in parts)


def _set_by(node: ast.Assign | ast.AugAssign) -> set[str]:
    """The variables that a statement sets."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {
        one.id
        for target in targets
        for one in ast.walk(target)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }


def wrong_result(
    asked: KernelExercise, runs: Sequence[Run], table: Table = NOTHING_KNOWN
) -> str | None:
    """Why the last result is wrong, or was computed in a way that no device would bear; else None.

    runs: at the shapes up to this one. table: of the mistakes that are known by what they do.
    """
    return (
        misused(runs[-1])
        or _does_nothing(asked, runs, table)
        or found(asked, runs, table)
        or _not_written(asked, runs, table)
        or _wrong_values(asked, runs, table)
    )


def misused(seen: Run) -> str | None:
    """An input that the kernel changes, or a result that it reads; else None."""
    return _stores_into_an_input(seen) or _reads_the_result(seen)


def _stores_into_an_input(seen: Run) -> str | None:
    job = seen.job
    for parameter in (one for one in job.parameters[:-1] if one not in job.scratch):
        for kind in ("store", "atomic"):
            for access in seen.accesses(parameter, kind):
                return (
                    f"{at(access.site)} changes `{access.array}`, which is an input. "
                    f"{job.kind.needed}, and the result belongs in `{seen.result}`."
                )
    return None


def _reads_the_result(seen: Run) -> str | None:
    """Whether the first access to the result needs what stands there before the launch."""
    if seen.job.on_cpu:
        first = read_before_stored(seen)
        return _needs_what_was_there(first[0], element(seen.result, first[1])) if first else None
    for access in seen.trace.access_counts:
        if (access.array, access.space) != (seen.result, "global"):
            continue
        if access.kind == "store":
            return None
        return _needs_what_was_there(access.site, f"`{seen.result}`")
    return None


def _needs_what_was_there(site: Site, what: str) -> str:
    return (
        f"{at(site)} needs the value of {what} before anything was stored there. This check fills "
        "the result with NaN, and NaN plus anything is NaN."
    )


def _does_nothing(asked: KernelExercise, runs: Sequence[Run], table: Table) -> str | None:
    seen, kind = runs[-1], asked.kind
    if seen.trace.findings or seen.accesses(asked.result, "store"):
        return None
    if not any(one.space == "global" for one in seen.trace.access_counts):
        return f"{seen.where} {kind.idle}"
    story = f"The {kind.noun} reads its inputs, but {kind.never_stores} into `{seen.result}`."
    return _with_cause(story, runs, table)


def found(
    asked: KernelExercise, runs: Sequence[Run], table: Table = NOTHING_KNOWN
) -> str | None:
    """The first flaw that the virtual GPU found, with its cause."""
    seen = runs[-1]
    for finding in seen.trace.findings:
        if not finding.is_warning and not _is_overlap(seen, finding):
            return _explained(asked, runs, table, finding)
    return None


def _is_overlap(seen: Run, finding: Finding) -> bool:
    """Two threads store one element of the result, while others are missing: that says more."""
    return finding.kind == "race" and finding.array == seen.result and bool(seen.unwritten.any())


def _explained(
    asked: KernelExercise, runs: Sequence[Run], table: Table, finding: Finding
) -> str:
    seen, kind = runs[-1], asked.kind
    story = f"{at(finding.site)}: {sentence(kind.told(finding))}"
    parameter = seen.parameter(finding.array)
    if finding.kind == "out_of_bounds" and parameter:
        there = extent(finding.array, seen.array(parameter).shape)
        story = (
            f"{at(finding.site)}: {kind.who(finding)} goes to "
            f"{element(finding.array, finding.index)}. {seen.where}, {there}."
        )
    cause = (
        never_called(seen, finding)
        or known_mistake(table, runs)
        or _first(TEXT_MISTAKES, seen, finding)
    )
    return _with_cause(story, runs, table, cause)


def _not_written(asked: KernelExercise, runs: Sequence[Run], table: Table) -> str | None:
    seen, missing = runs[-1], runs[-1].unwritten
    if not missing.any():
        return None
    story = (
        f"{seen.where}, {missing.sum():,} of "
        f"{counted(missing.size, 'element')} of `{seen.result}` were never written"
        f"{_whole_part(missing)}."
    )
    return _with_cause(story, runs, table, question=asked.kind.missing)


def _whole_part(missing: np.ndarray) -> str:
    """The first column, row or element that is missing."""
    if missing.ndim == 2:
        for axis, what in ((0, "column"), (1, "row")):
            whole = np.flatnonzero(missing.all(axis=axis))
            if whole.size and whole.size < missing.shape[1 - axis]:
                return f", among them all of {what} {whole[0]}"
    first = ", ".join(str(one) for one in np.argwhere(missing)[0])
    return f"; the first is [{first}]"


def _wrong_values(asked: KernelExercise, runs: Sequence[Run], table: Table) -> str | None:
    seen, wrong = runs[-1], runs[-1].wrong
    if not wrong.any():
        return None
    first = tuple(np.argwhere(wrong)[0])
    story = (
        f"{seen.where}, {wrong.sum():,} of {counted(wrong.size, 'element')} of "
        f"`{seen.result}` {'is' if wrong.sum() == 1 else 'are'} wrong; the first is "
        f"{element(seen.result, first)}: {seen.out[first]:g}, and {seen.right[first]:g} is right."
    )
    cause = known_mistake(table, runs) or _first(
        (no_number, negative_index, *asked.probes.wrong), seen
    )
    return _with_cause(story, runs, table, cause, asked.kind.wrong)


def no_number(seen: Run) -> str | None:
    """Infinite or NaN where the right result is finite."""
    others = np.argwhere(~np.isfinite(seen.out) & np.isfinite(seen.right))
    if not len(others):
        return None
    value = seen.out[tuple(others[0])]
    why = (
        "it was computed from what is no number, by 0 divided by 0, say, or an element that nobody "
        "has set."
        if np.isnan(value)
        else "it grew beyond the largest float. Is something multiplied that should be added, or "
        "divided by zero, or never set?"
    )
    return f"{element(seen.result, others[0])} is {value:g}: {why}"


def negative_index(seen: Run) -> str | None:
    for finding in seen.trace.findings:
        if finding.kind == "wrapped_index":
            return f"{at(finding.site)}: {sentence(seen.job.kind.told(finding))}"
    return None


def _with_cause(
    story: str,
    runs: Sequence[Run],
    table: Table,
    cause: str | None = None,
    question: str = "",
) -> str:
    """The story of what was seen, and the mistake behind it.

    cause: what the text shows. Otherwise a mistake that `wrong.py` lists is known by what it does;
    what behaves alike is next. question: asked where nothing is known.
    """
    cause = cause or known_mistake(table, runs) or similar_mistake(table, runs) or question
    return story if not cause or cause in story else f"{story} {cause}"


def _first(probes, *known) -> str | None:
    """The answer of the first probe that recognises something."""
    return next((cause for probe in probes if (cause := probe(*known))), None)


def by_targets(asked: KernelExercise, runs: list[Run]) -> Verdict:
    """The verdict on a kernel whose result is right: the first target that it misses, or none."""
    counts, notes = {}, list(_notes(runs))
    for target in asked.targets:
        for seen in runs if target.every_shape else runs[:1]:
            value = target.measure(seen)
            if value is None:
                notes.append(f"Not known on this machine: {target.words}.")
                break
            counts[target.what] = max(value, counts.get(target.what, value))
            if target.missed(value):
                cause = f"The result is right. But {target.cause(seen, value)}"
                return Verdict(asked.name, asked.title, (cause,), (), counts, tuple(notes))
    facts = (
        f"Right at {counted(len(runs), 'shape')}{asked.kind.nothing_found}.",
        f"Counted: {'; '.join(f'{what} {value:.4g}' for what, value in counts.items())}.",
        asked.after,
    )
    return Verdict(asked.name, asked.title, (), facts, counts, tuple(notes))
