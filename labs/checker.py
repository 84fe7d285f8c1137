"""Runs a reader's kernel, or function, and says what is wrong with it, or what it reached.

In this order, and it stops at the first cause: is it a kernel of the right parameters; does it
compile and end; what it stores and loads; what the virtual GPU found; elements that nobody wrote;
wrong values; the targets. What every exercise shares stands here; what a family of kernels knows of
its own mistakes are the exercise's probes.
"""

from __future__ import annotations

import ast
import re

import numpy as np

from labs.exercise import Exercise
from labs.given import no_kernel
from labs.run import SEED, Run, run
from labs.verdict import Verdict
from labs.walks import read_before_stored
from labs.words import at, counted, element, extent, sentence
from utils.errors import CourseError
from utils.virtual_gpu import Finding, KernelRaised, LimitReached, Site, VirtualGpuError
from utils.virtual_gpu.source import Source, read_source


def judge(asked: Exercise, kernel, patience: float) -> Verdict:
    """Run a kernel at the shapes of an exercise. patience: seconds that one launch may take."""
    cause = no_kernel(asked, kernel)
    if cause:
        return _refused(asked, cause)
    runs = []
    for shape in asked.shapes:
        seen = attempt(asked, kernel, shape, patience)
        if isinstance(seen, str):
            return _refused(asked, _first(asked.probes.constants, kernel) or seen)
        runs.append(seen)
        cause = wrong_result(seen)
        if cause:
            cause = _first(asked.probes.constants, kernel) or cause
            return _refused(asked, cause, _notes(runs))
    return _by_targets(asked, runs)


def _refused(asked: Exercise, cause: str, notes: tuple[str, ...] = ()) -> Verdict:
    return Verdict(asked.name, asked.title, (cause,), notes=notes)


def _notes(runs: list[Run]) -> tuple[str, ...]:
    if not any(one.printed for one in runs):
        return ()
    return (
        f"What your {runs[0].exercise.kind.noun} prints is not shown here: a check runs it several "
        "times. Run it by yourself to see it.",
    )


def attempt(asked: Exercise, kernel, shape, patience: float, seed: int = SEED) -> Run | str:
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


def _does_not_run(asked: Exercise, why: str) -> str:
    """Numba runs much on the CPU that a check cannot follow."""
    if asked.on_cpu and "not known to this check" in why:
        return f"The check cannot follow this {asked.kind.noun}: {why}"
    return f"The {asked.kind.noun} does not run: {why}"


def _plain(asked: Exercise, error: Exception) -> str:
    """The virtual GPU's sentence without what the failed launch has written."""
    told = re.sub(r" Written before: [^.]*\.$", "", str(error))
    return sentence(asked.kind.said(told))


def _never_ends(asked: Exercise, kernel, message: str) -> str:
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


def wrong_result(seen: Run) -> str | None:
    """Why the result is wrong, or was computed in a way that no device would bear; else None."""
    return (
        misused(seen)
        or _does_nothing(seen)
        or found(seen)
        or _not_written(seen)
        or _wrong_values(seen)
    )


def misused(seen: Run) -> str | None:
    """An input that the kernel changes, or a result that it reads; else None."""
    return _stores_into_an_input(seen) or _reads_the_result(seen)


def _stores_into_an_input(seen: Run) -> str | None:
    asked = seen.exercise
    for parameter in (one for one in asked.parameters[:-1] if one not in asked.scratch):
        for kind in ("store", "atomic"):
            for access in seen.accesses(parameter, kind):
                return (
                    f"{at(access.site)} changes `{access.array}`, which is an input. "
                    f"{asked.kind.needed}, and the result belongs in `{seen.result}`."
                )
    return None


def _reads_the_result(seen: Run) -> str | None:
    """Whether the first access to the result needs what stands there before the launch."""
    if seen.exercise.on_cpu:
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


def _does_nothing(seen: Run) -> str | None:
    kind = seen.exercise.kind
    if seen.trace.findings or seen.accesses(seen.exercise.result, "store"):
        return None
    if not any(one.space == "global" for one in seen.trace.access_counts):
        return f"{seen.where} {kind.idle}"
    story = f"The {kind.noun} reads its inputs, but {kind.never_stores} into `{seen.result}`."
    cause = _first(seen.exercise.probes.idle, seen)
    return f"{story} {cause}" if cause else story


def found(seen: Run) -> str | None:
    """The first flaw that the virtual GPU found, with its cause."""
    for finding in seen.trace.findings:
        if not finding.is_warning and not _is_overlap(seen, finding):
            return _explained(seen, finding)
    return None


def _is_overlap(seen: Run, finding: Finding) -> bool:
    """Two threads store one element of the result, while others are missing: that says more."""
    return finding.kind == "race" and finding.array == seen.result and bool(seen.unwritten.any())


def _explained(seen: Run, finding: Finding) -> str:
    kind = seen.exercise.kind
    story = f"{at(finding.site)}: {sentence(kind.told(finding))}"
    parameter = seen.parameter(finding.array)
    if finding.kind == "out_of_bounds" and parameter:
        there = extent(finding.array, seen.array(parameter).shape)
        story = (
            f"{at(finding.site)}: {kind.who(finding)} goes to "
            f"{element(finding.array, finding.index)}. {seen.where}, {there}."
        )
    cause = _first(seen.exercise.probes.findings, seen, finding)
    return f"{story} {cause}" if cause else story


def _not_written(seen: Run) -> str | None:
    missing = seen.unwritten
    if not missing.any():
        return None
    story = (
        f"{seen.where}, {missing.sum():,} of "
        f"{counted(missing.size, 'element')} of `{seen.result}` were never written"
        f"{_whole_part(missing)}."
    )
    cause = _first(seen.exercise.probes.unwritten, seen)
    return f"{story} {cause or seen.exercise.kind.missing}"


def _whole_part(missing: np.ndarray) -> str:
    """The first column, row or element that is missing."""
    if missing.ndim == 2:
        for axis, what in ((0, "column"), (1, "row")):
            whole = np.flatnonzero(missing.all(axis=axis))
            if whole.size and whole.size < missing.shape[1 - axis]:
                return f", among them all of {what} {whole[0]}"
    first = ", ".join(str(one) for one in np.argwhere(missing)[0])
    return f"; the first is [{first}]"


def _wrong_values(seen: Run) -> str | None:
    wrong = seen.wrong
    if not wrong.any():
        return None
    first = tuple(np.argwhere(wrong)[0])
    story = (
        f"{seen.where}, {wrong.sum():,} of {counted(wrong.size, 'element')} of "
        f"`{seen.result}` {'is' if wrong.sum() == 1 else 'are'} wrong; the first is "
        f"{element(seen.result, first)}: {seen.out[first]:g}, and {seen.right[first]:g} is right."
    )
    cause = _no_number(seen) or _negative_index(seen) or _first(seen.exercise.probes.wrong, seen)
    return f"{story} {cause or seen.exercise.kind.wrong}"


def _no_number(seen: Run) -> str | None:
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


def _negative_index(seen: Run) -> str | None:
    for finding in seen.trace.findings:
        if finding.kind == "wrapped_index":
            return f"{at(finding.site)}: {sentence(seen.exercise.kind.told(finding))}"
    return None


def _first(probes, *known) -> str | None:
    """The answer of the first probe that recognises something."""
    return next((cause for probe in probes if (cause := probe(*known))), None)


def _by_targets(asked: Exercise, runs: list[Run]) -> Verdict:
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
