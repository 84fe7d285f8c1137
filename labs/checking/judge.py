"""Run a reader's kernel or CPU function, and judge it.

The judge stops at the first cause. It looks, in this order, at the parameters; at whether the
kernel compiles and ends; at its accesses to inputs and result; at the findings of the virtual GPU;
at elements that were never written; at wrong values; at the targets. It adds the mistake behind a
symptom if the source code shows one, or if the exercise's table knows a kernel that behaves alike.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np

from labs.checking import changed_lines
from labs.checking.access_order import read_before_stored
from labs.checking.exercise import KernelExercise
from labs.checking.phrasing import at, counted, element, extent, sentence
from labs.checking.recognise import (
    NOTHING_KNOWN,
    MistakeTable,
    known_mistake,
    similar_mistake,
    table_in,
)
from labs.checking.run import SEED, Run, run_kernel
from labs.checking.submission_checks import no_kernel
from labs.checking.target import Target
from labs.checking.text_mistakes import (
    TEXT_MISTAKES,
    index_never_called,
    never_called,
    never_reached,
    result_renamed,
)
from labs.checking.translated_mistakes import translated
from labs.checking.verdict import Verdict
from utils.errors import CourseError
from utils.translated_findings import translate_message
from utils.translation import translate
from virtual_gpu import Finding, KernelRaised, LimitReached, Site, VirtualGpuError
from virtual_gpu.common.source import Source, read_source

_UNKNOWN = re.compile(r"line (\d+) (`.*?`): .* is not known to (?:this check|the virtual GPU)\.")


def judge(exercise: KernelExercise, kernel, patience: float) -> Verdict:
    """Launch a kernel at all shapes of an exercise and return the verdict on it.

    The launches end at the first shape with a mistake. If all results are right, the targets are
    tested, and once more at another shape that fills all blocks. A submission that is no kernel for
    this task gets a verdict that says why. patience: the seconds that one launch may take.
    """
    cause = no_kernel(exercise, kernel)
    if cause:
        return _refused(exercise, cause)
    runs, cause = run_shapes(exercise, kernel, patience, translated(table_in(exercise.folder)))
    if cause:
        cause = _first(exercise.probes.constants, kernel) or cause
        return _refused(exercise, cause, _notes(runs))
    verdict = by_targets(exercise, runs)
    if verdict.passed:
        verdict = _again_at_a_whole_shape(exercise, kernel, patience) or verdict
    if not verdict.passed:
        return verdict
    return replace(verdict, notes=(*verdict.notes, *changed_lines.notes(exercise, kernel)))


def _again_at_a_whole_shape(exercise: KernelExercise, kernel, patience: float) -> Verdict | None:
    """Return a verdict on a mistake or a missed target at another shape of whole blocks, or None.

    Targets in machine code are not tested again, because the code is the same at all shapes.
    """
    shape = exercise.whole(exercise.shapes[0], Random(SEED))
    run = attempt(exercise, kernel, shape, patience)
    cause = run if isinstance(run, str) else wrong_result(exercise, [run])
    if cause:
        return _refused(exercise, cause)
    targets = tuple(one for one in exercise.targets if not one.of_machine)
    verdict = by_targets(replace(exercise, targets=targets, remarks=()), [run])
    return None if verdict.passed else verdict


def run_shapes(
    exercise: KernelExercise, kernel, patience: float, table: MistakeTable = NOTHING_KNOWN
) -> tuple[list[Run], str | None]:
    """Return (runs, cause): the runs up to the first that goes wrong, and why it is wrong.

    The runs are in the order of the exercise's shapes. The cause is a text of one or more
    sentences, or None if all runs are right. A launch that ends in an error gives a cause and no
    run. patience: the seconds that one launch may take. table: the exercise's known mistakes.
    """
    runs = []
    for shape in exercise.shapes:
        run = attempt(exercise, kernel, shape, patience)
        if isinstance(run, str):
            return runs, run
        runs.append(run)
        cause = wrong_result(exercise, runs, table)
        if cause:
            return runs, cause
    return runs, None


def _refused(exercise: KernelExercise, cause: str, notes: tuple[str, ...] = ()) -> Verdict:
    """Return a verdict that has not passed, with `cause` as its only cause and these notes."""
    return Verdict(exercise.name, exercise.title, (cause,), notes=notes)


def _notes(runs: list[Run]) -> tuple[str, ...]:
    """Return a tuple with a note on printing if a run printed, else an empty tuple."""
    if not any(run.printed for run in runs):
        return ()
    note = runs[0].job.words.say(
        "What your {noun} prints is not shown here: a check runs it several times. Run it by "
        "yourself to see it."
    )
    return (note,)


def attempt(
    exercise: KernelExercise, kernel, shape, patience: float, seed: int = SEED
) -> Run | str:
    """Launch a kernel at one shape and return the run, or sentences on why there is no run.

    There is no run if the kernel cannot be compiled, raises an error or does not end. patience: the
    seconds that the launch may take. seed: the seed of the inputs.
    """
    try:
        return run_kernel(exercise, kernel, shape, patience, seed=seed)
    except LimitReached as error:
        story = _never_ends(exercise, kernel, str(error))
        return _joined(story, _first(exercise.probes.endless, kernel, story))
    except KernelRaised as error:
        why = translate_message(_plain(exercise, error))
        return exercise.words.say("The {noun} raises an error: {why}", why=why)
    except (VirtualGpuError, CourseError) as error:
        why = _plain(exercise, error)  # in English, so that probes can search it
        unknown = _UNKNOWN.search(why)
        if unknown and (cause := _first(exercise.probes.unknown, kernel, why)):
            where = translate("Line {line}, {code}", line=unknown[1], code=unknown[2])
            return f"{where}: {cause}"
        probes = (index_never_called, *exercise.probes.refused)
        return _joined(_does_not_run(exercise, why), _first(probes, kernel, why))
    except Exception as error:  # whatever a kernel's text does to the interpreter
        why = f"{type(error).__name__}: {sentence(str(error))}"
        return exercise.words.say("The {noun} does not run: {why}", why=why)


def _does_not_run(exercise: KernelExercise, why: str) -> str:
    """Return the sentence for a kernel that does not run, or that the check cannot follow.

    It says that the check cannot follow a CPU function if `why` has the words "not known to this
    check". In all other cases it says that the kernel or function does not run. why: the reason, as
    an English sentence.
    """
    told = translate_message(why)
    if exercise.on_cpu and "not known to this check" in why:
        return exercise.words.say("The check cannot follow this {noun}: {why}", why=told)
    return exercise.words.say("The {noun} does not run: {why}", why=told)


def _plain(exercise: KernelExercise, error: Exception) -> str:
    """Return an error's message as an English sentence in the exercise's vocabulary.

    The virtual GPU's list of stores before the error ("Written before: …") is left out.
    """
    return sentence(exercise.words.rephrase(_without_stores(str(error))))


def _without_stores(message: str) -> str:
    """Return a message of the virtual GPU without its list of stores, "Written before: …"."""
    return re.sub(r" Written before: [^.]*\.$", "", message)


def _never_ends(exercise: KernelExercise, kernel, message: str) -> str:
    """Return sentences on a launch that was stopped because it does not end.

    They name the innermost `while` loop around the line of the message. If no such loop is around
    it, they say that the line does far more turns than needed. If the message counts the threads
    that wait in the loop, and no other thread can end it, they say that these threads never leave
    it. Otherwise a message that has no line, or that names no limit and is on a kernel, is returned
    as a translated sentence. message: the virtual GPU's message on the stopped launch.
    """
    where = re.search(r"line (\d+)", message)
    limit = re.search(r"the launch has run (?:for )?more than (\S+ \w+)", message)
    loop = _innermost_while(read_source(kernel.py_func), int(where[1])) if where else None
    stuck = re.search(r"(\d+) threads wait in this loop", message)
    if stuck and loop and not _waits_for_others(kernel, loop.line):
        return exercise.words.say(
            "{where}: {threads} never leave this loop. {endless}",
            where=at(loop),
            threads=translate("{number} threads", number=stuck[1]),
        )
    if where is None or (limit is None and not exercise.on_cpu):
        plain = _without_stores(message)
        told = sentence(re.sub(r"^\w+, line (\d+) `(.*?):?`", r"Line \1, `\2`", plain))
        return translate_message(told)
    late = exercise.words.say("the {noun} does not end")
    if limit:
        late = exercise.words.say(
            "after {limit} the {noun} has not ended", limit=translate_message(limit[1])
        )
    if loop is None:
        return translate(
            "Line {line}: {late}. It does far more turns than the task needs.",
            line=where[1],
            late=late,
        )
    return exercise.words.say("{where}: {late}. {endless}", where=at(loop), late=late)


def _innermost_while(source: Source, line: int) -> Site | None:
    """Return the first line of the innermost `while` loop that holds a line, or None if none does.

    line: the line's number.
    """
    loops = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.While) and node.lineno <= line <= node.end_lineno
    ]
    return source.site(max(loops, key=lambda node: node.lineno)) if loops else None


def _waits_for_others(kernel, line: int) -> bool:
    """Return True if the condition of a `while` loop may depend on other threads.

    That is so if the test reads an array element or calls a function, if a variable of the test is
    set from one in the loop, or if the test has no variable. line: the number of the line on which
    the loop begins.
    """
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
    """Return the names of the variables to which an assignment gives a value.

    Variables in tuples count. An array does not count if only elements are assigned.
    """
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {
        one.id
        for target in targets
        for one in ast.walk(target)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }


def wrong_result(
    exercise: KernelExercise, runs: Sequence[Run], table: MistakeTable = NOTHING_KNOWN
) -> str | None:
    """Return sentences on why the latest run is wrong, or None if it is right.

    A run can be wrong although its result is right, for example if it has a race or changes an
    input. runs: the runs at all shapes so far. table: the exercise's known mistakes.
    """
    return (
        _stores_into_an_input(runs[-1])
        or _reads_early(exercise, runs[-1])
        or _does_nothing(exercise, runs, table)
        or describe_first_flaw(exercise, runs, table)
        or _not_written(exercise, runs, table)
        or _wrong_values(exercise, runs, table)
        or unseen_mistake(exercise, runs[-1])
    )


def misused(run: Run) -> str | None:
    """Return a sentence if the kernel stores into an input or reads the result early, or None.

    A store or atomic into an input that is `scratch` is allowed. `_reads_the_result` says what
    counts as early.
    """
    return _stores_into_an_input(run) or _reads_the_result(run)


def _stores_into_an_input(run: Run) -> str | None:
    """Return a sentence on a store or atomic to an input that is not scratch, or None.

    It is on the first such input in the order of the parameters, and a store comes before an
    atomic.
    """
    job = run.job
    for parameter in (one for one in job.parameters[:-1] if one not in job.scratch):
        for kind in ("store", "atomic"):
            for access in run.accesses(parameter, kind):
                return job.words.say(
                    "{where} changes `{array}`, which is an input. {needed}, and the result "
                    "belongs in `{result}`.",
                    where=at(access.site),
                    array=access.array,
                    result=run.result,
                )
    return None


def _reads_the_result(run: Run) -> str | None:
    """Return a sentence if the kernel reads the result before it stores there, else None.

    A kernel reads it early if the first executed line that accesses the result in global memory is
    a load or an atomic. A CPU function reads it early if it loads any element into which it has
    stored nothing yet.
    """
    if run.job.on_cpu:
        first = read_before_stored(run)
        return _needs_an_old_value(first[0], element(run.result, first[1])) if first else None
    for access in run.trace.access_counts:
        if (access.array, access.space) != (run.result, "global"):
            continue
        if access.kind == "store":
            return None
        return _needs_an_old_value(access.site, f"`{run.result}`")
    return None


def _reads_early(exercise: KernelExercise, run: Run) -> str | None:
    """Return sentences if the kernel reads the result before it stores there, else None.

    The first one names the line. Another one follows it if a probe of the exercise knows the
    mistake.
    """
    story = _reads_the_result(run)
    return story and _joined(story, _first(exercise.probes.early, run))


def _needs_an_old_value(site: Site, what: str) -> str:
    """Return the sentence on a line that reads the result before anything was stored there.

    what: the array or the element that is read, in backticks, such as "`c[0, 1]`".
    """
    return translate(
        "{where} needs the value of {element} before anything was stored there. This check fills "
        "the result with NaN, and NaN plus anything is NaN.",
        where=at(site),
        element=what,
    )


def _does_nothing(exercise: KernelExercise, runs: Sequence[Run], table: MistakeTable) -> str | None:
    """Return sentences on a kernel that stores nothing into the result, or None if it stores.

    Also returns None if the virtual GPU found anything in the last run, even a warning, because
    that says more.
    """
    run, words = runs[-1], exercise.words
    if run.trace.findings or run.accesses(exercise.result, "store"):
        return None
    if not any(one.space == "global" for one in run.trace.access_counts):
        why = None if exercise.on_cpu else never_reached(run)
        return why or words.say("{where} {idle}", where=run.where)
    story = words.say(
        "The {noun} reads its inputs, but {never_stores} into `{result}`.", result=run.result
    )
    return _with_cause(story, runs, table, result_renamed(run))


def describe_first_flaw(
    exercise: KernelExercise, runs: Sequence[Run], table: MistakeTable = NOTHING_KNOWN
) -> str | None:
    """Return sentences on the first flaw that the virtual GPU found in the latest run, or None.

    They include the cause if it is known. Warnings are no flaws. A race on the result is skipped if
    some elements of the result were never written. runs: the runs at all shapes so far. table: the
    exercise's known mistakes.
    """
    finding = _first_flaw(runs[-1])
    return _explained(exercise, runs, table, finding) if finding else None


def has_flaw(run: Run) -> bool:
    """Return True if the virtual GPU found anything wrong in a run, apart from warnings.

    A race on the result does not count if some elements of the result were never written.
    """
    return _first_flaw(run) is not None


def _first_flaw(run: Run) -> Finding | None:
    """Return the first finding of a run that a verdict reports, or None if there is none.

    Warnings are left out, and so are races for which `_is_overlap` is True.
    """
    flaws = (one for one in run.trace.findings if not one.is_warning)
    return next((one for one in flaws if not _is_overlap(run, one)), None)


def unseen_mistake(exercise: KernelExercise, run: Run) -> str | None:
    """Return sentences on a mistake in a run that the virtual GPU does not see, or None.

    They come from the first of the exercise's own probes for such mistakes that finds one.
    """
    return _first(exercise.probes.unseen, run)


def _is_overlap(run: Run, finding: Finding) -> bool:
    """Return True if a finding is a race on the result and some elements were never written.

    Such a race is not reported, because the missing elements say more.
    """
    return finding.kind == "race" and finding.array == run.result and bool(run.unwritten.any())


def _explained(
    exercise: KernelExercise, runs: Sequence[Run], table: MistakeTable, finding: Finding
) -> str:
    """Return sentences on a finding: the line, what happened, and the cause if it is known."""
    run, words = runs[-1], exercise.words
    story = f"{at(finding.site)}: {sentence(words.describe(finding))}"
    parameter = run.parameter(finding.array)
    if finding.kind == "out_of_bounds" and parameter:
        there = extent(finding.array, run.array(parameter).shape)
        story = translate(
            "{line}: {thread} goes to {element}. {where}, {size}.",
            line=at(finding.site),
            thread=words.subject(finding),
            element=element(finding.array, finding.index),
            where=run.where,
            size=there,
        )
    cause = (
        never_called(run, finding)
        or _first(exercise.probes.flaws, run, finding)
        or known_mistake(table, runs)
        or _first(TEXT_MISTAKES, run, finding)
    )
    return _with_cause(story, runs, table, cause)


def _not_written(exercise: KernelExercise, runs: Sequence[Run], table: MistakeTable) -> str | None:
    """Return sentences on elements of the result that were never written, or None if all were.

    Only the last run is looked at; the others help to recognise the mistake.
    """
    run, missing = runs[-1], runs[-1].unwritten
    if not missing.any():
        return None
    story = translate(
        "{where}, {count:,} of {elements} of `{result}` were never written{which}.",
        where=run.where,
        count=missing.sum(),
        elements=counted(missing.size, "element"),
        result=run.result,
        which=_whole_part(missing),
    )
    cause = known_mistake(table, runs) or _first(exercise.probes.missing, run)
    return _with_cause(story, runs, table, cause, exercise.words.say("{missing}"))


def _whole_part(missing: np.ndarray) -> str:
    """Return the end of a sentence that names the first part of the result that was never written.

    The part is the first column of a matrix of which nothing was written, if other columns were; or
    else the first such row, if other rows were; or else the first such element. missing: a boolean
    array of the result's shape, True where nothing was written.
    """
    if missing.ndim == 2:
        columns, rows = (np.flatnonzero(missing.all(axis=axis)) for axis in (0, 1))
        if columns.size and columns.size < missing.shape[1]:
            return translate(", among them all of column {number}", number=columns[0])
        if rows.size and rows.size < missing.shape[0]:
            return translate(", among them all of row {number}", number=rows[0])
    first = ", ".join(str(one) for one in np.argwhere(missing)[0])
    return translate("; the first is [{index}]", index=first)


def _wrong_values(exercise: KernelExercise, runs: Sequence[Run], table: MistakeTable) -> str | None:
    """Return sentences on the result's wrong elements, with the first one, or None if none is.

    Only the last run is looked at; the others help to recognise the mistake.
    """
    run, wrong = runs[-1], runs[-1].wrong
    if not wrong.any():
        return None
    first = tuple(np.argwhere(wrong)[0])
    values = {
        "where": run.where,
        "count": wrong.sum(),
        "elements": counted(wrong.size, "element"),
        "result": run.result,
        "first": element(run.result, first),
        "given": run.out[first],
        "right": run.right[first],
    }
    if wrong.sum() == 1:
        story = translate(
            "{where}, {count:,} of {elements} of `{result}` is wrong; the first is {first}: "
            "{given:g}, and {right:g} is right.",
            **values,
        )
    else:
        story = translate(
            "{where}, {count:,} of {elements} of `{result}` are wrong; the first is {first}: "
            "{given:g}, and {right:g} is right.",
            **values,
        )
    cause = known_mistake(table, runs) or _first(
        (no_number, negative_index, *exercise.probes.wrong), run
    )
    return _with_cause(story, runs, table, cause, exercise.words.say("{wrong}"))


def no_number(run: Run) -> str | None:
    """Return a sentence on the first NaN or infinity whose right value is finite, or None."""
    others = np.argwhere(~np.isfinite(run.out) & np.isfinite(run.right))
    if not len(others):
        return None
    value, name = run.out[tuple(others[0])], element(run.result, others[0])
    if np.isnan(value):
        return translate(
            "{element} is {value:g}: it was computed from what is no number, by 0 divided by 0, "
            "say, or an element that nobody has set.",
            element=name,
            value=value,
        )
    return translate(
        "{element} is {value:g}: it grew beyond the largest float. Is something multiplied that "
        "should be added, or divided by zero, or never set?",
        element=name,
        value=value,
    )


def negative_index(run: Run) -> str | None:
    """Return a sentence on the run's first access with an index below 0, or None.

    Numba counts such an index from the end of the array.
    """
    for finding in run.trace.findings:
        if finding.kind == "wrapped_index":
            return f"{at(finding.site)}: {sentence(run.job.words.describe(finding))}"
    return None


def _with_cause(
    story: str,
    runs: Sequence[Run],
    table: MistakeTable,
    cause: str | None = None,
    question: str = "",
) -> str:
    """Return the description of a symptom, followed by the mistake behind it if one is known.

    story: the description; a mistake that it holds already is not added. cause: the mistake, if the
    source code shows it. Otherwise the mistake is looked up in the table: first a version of
    `wrong.py` that behaves exactly like the runs, then a similar known mistake. question: follows
    the story if no mistake is known.
    """
    cause = cause or known_mistake(table, runs) or similar_mistake(table, runs) or question
    return story if not cause or cause in story else f"{story} {cause}"


def _joined(story: str, cause: str | None) -> str:
    """Return a story followed by its cause, or the story alone if there is no cause."""
    return f"{story} {cause}" if cause else story


def _first(probes, *arguments) -> str | None:
    """Return the answer of the first probe that recognises a mistake, or None.

    probes: functions that take `arguments` and return sentences or None.
    """
    return next((cause for probe in probes if (cause := probe(*arguments))), None)


def by_targets(exercise: KernelExercise, runs: list[Run]) -> Verdict:
    """Return the verdict on a kernel with right results, by its targets.

    If a target is missed, the verdict's cause describes the first such target, and the kernel has
    not passed. Otherwise it has passed. In both cases the verdict's `counts` have, for each target
    tested so far, the largest count of any run. A target that this machine cannot measure gives a
    note. runs: the runs at all shapes.
    """
    counts, notes = {}, list(_notes(runs))
    for target in exercise.targets:
        again = exercise.always_whole and not target.of_machine
        counted_runs = (
            (run, value)
            for number, run in enumerate(runs)
            for value in target.count(run, is_whole=number == 0 or again)
        )
        for run, value in counted_runs:
            if value is None:
                words = translate(target.words)
                notes.append(translate("Not known on this machine: {target}.", target=words))
                break
            counts[target.what] = max(value, counts.get(target.what, value))
            if target.missed(value):
                why = target.cause(run, value)
                cause = translate("The result is right. But {why}", why=why)
                return Verdict(exercise.name, exercise.title, (cause,), (), counts, tuple(notes))
    notes += filter(None, (remark(runs[0]) for remark in exercise.remarks))
    facts = (
        exercise.words.say("Right at {shapes}{nothing_found}.", shapes=counted(len(runs), "shape")),
        translate(exercise.after),
    )
    reached = tuple(
        _reached(target, counts[target.what])
        for target in exercise.targets
        if target.what in counts and exercise.is_main(target)
    )
    return Verdict(exercise.name, exercise.title, (), facts, counts, tuple(notes), reached)


def _reached(target: Target, value: float) -> str:
    """Return a phrase such as "sectors per request: 4 (target: at most 4)".

    If the limit is 0, the phrase ends with "(target: 0)".
    """
    values = {"what": translate(target.what), "value": value, "at_most": target.at_most}
    if target.at_most == 0:
        return translate("{what}: {value:.4g} (target: {at_most:g})", **values)
    return translate("{what}: {value:.4g} (target: at most {at_most:g})", **values)
