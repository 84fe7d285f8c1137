"""Measure how many unseen mistakes `check` can name: `python -m tools.recognition tiling`.

Unseen kernels are of two kinds. *Another spelling*: mutants of a version in `right.py`, judged with
a table that has no mutant of that version. *Other rules*: mutants by rules that no table uses, of
the solution and of every right version, judged with the whole table. A kernel counts as named if
`check` says more than what was observed: a sentence of the table, a target that is missed, or why
the kernel does not run. `--experiment` builds the table from only the wrong versions and the basic
mutants of the solution. `--read 50` prints 50 named kernels, drawn at random, with their changes,
for a person to judge.
"""

from __future__ import annotations

import argparse
import ast
import copy
import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

from labs.checking import judge
from labs.checking.exercise import KernelExercise
from labs.checking.placeholders import first_flaw
from labs.checking.recognise import MistakeTable, goes_wrong
from labs.checking.run import Run
from labs.checking.submission_checks import no_kernel
from labs.checking.text_mistakes import TEXT_MISTAKES, never_called
from labs.checking.variants import function_in, right_versions, wrong_versions
from labs.exercises import EXERCISES
from labs.grading.mutants import mutants_by, sample
from labs.grading.mutation_rules import RULES
from tools.mistakes import OF_A_RIGHT_ONE, PATIENCE, Known, known, table_of
from tools.mutant_sentences import sentence_of

UNSEEN = 8  # mutants per version, for each of the two kinds


@dataclass(frozen=True)
class Unseen:
    """A wrong kernel that is not in the table, with the checker's sentence on it.

    exercise: the exercise's name. kind: "another spelling" or "other rules". what: the change in
    words. text: the kernel's text. said: the sentence. named: True if the sentence names a cause.
    """

    exercise: str
    kind: str
    what: str
    text: str
    said: str
    named: bool


def unseen_in(name: str, experiment: bool) -> list[Unseen]:
    """Let the checker judge unseen kernels of one exercise; return those that it does not accept.

    They are mutants of each version of `right.py`, judged with a table that has no mutants of that
    version, and mutants by other rules, judged with the whole table. experiment: True for tables of
    only the wrong versions and the basic mutants of the solution.
    """
    warnings.simplefilter("ignore")
    exercise = EXERCISES[name]
    listed = [
        one
        for wrong in wrong_versions(exercise)
        for one in known(exercise, wrong.what, wrong.text, wrong.says, listed=True)
    ]
    judged, mutants = [], _known_mutants(exercise, experiment)
    right_texts = list(right_versions(exercise))
    for what, text in right_texts:
        others = [one for version, ones in mutants.items() if version != what for one in ones]
        table = table_of([*listed, *others])
        changes = [(one.what, one.text) for one in sample(text, UNSEEN)]
        judged += _judged(exercise, "another spelling", changes, table)
    whole = table_of([*listed, *(one for ones in mutants.values() for one in ones)])
    for _, text in [("", exercise.solution_text), *right_texts]:
        changes = [(one.what, one.text) for one in mutants_by(text, OTHER_RULES, UNSEEN)]
        judged += _judged(exercise, "other rules", changes, whole)
    return judged


def _known_mutants(exercise: KernelExercise, experiment: bool) -> dict[str, list[Known]]:
    """Return a dict from a right version to its mutants that a table has.

    A version is the words on it in `right.py`, or "" for the solution. experiment: True for mutants
    of the solution only, by the basic rules.
    """
    texts = {"": exercise.solution_text} | ({} if experiment else dict(right_versions(exercise)))
    known_by_version = {}
    for version, text in texts.items():
        made = mutants_by(text, RULES) if experiment else sample(
            text, OF_A_RIGHT_ONE if version else None
        )  # fmt: skip
        known_by_version[version] = [
            one
            for mutant in made
            for one in known(
                exercise, mutant.what, mutant.text, sentence_of(mutant, exercise), listed=False
            )
        ]
    return known_by_version


def _judged(
    exercise: KernelExercise, kind: str, changes: Sequence[tuple[str, str]], table: MistakeTable
) -> Iterator[Unseen]:
    """Yield the wrong kernels among changed ones, as the checker judges them with a table.

    A kernel that is right and reaches all targets is left out, and so is a text that defines no
    kernel. kind: the kind of the results. changes: (change in words, text of the kernel).
    """
    for what, text in changes:
        try:
            kernel = function_in(exercise.name, text)
        except Exception:  # a mutant that cannot even be defined
            continue
        refusal = no_kernel(exercise, kernel)
        if refusal:
            yield Unseen(exercise.name, kind, what, text, refusal, True)
            continue
        runs, cause = judge.run_shapes(exercise, kernel, PATIENCE)
        constant = next((c for probe in exercise.probes.constants if (c := probe(kernel))), None)
        if cause and constant:
            yield Unseen(exercise.name, kind, what, text, constant, True)
            continue
        if cause is None:
            missed = judge.by_targets(exercise, runs).causes
            if missed:
                yield Unseen(exercise.name, kind, what, text, missed[0], True)
            continue
        said = judge.wrong_result(exercise, runs, table) if runs else None
        named = (bool(said) and said != cause) or _names_it(exercise, runs)
        yield Unseen(exercise.name, kind, what, text, said or cause, named)


def _names_it(exercise: KernelExercise, runs: Sequence[Run]) -> bool:
    """Return True if the checker can name the cause of a wrong result without a table.

    It can if the kernel does not run, changes an input or stores no result, or if its text or the
    values of its result show the cause. runs: one per shape, up to the first wrong one.
    """
    if not runs or not goes_wrong(runs[-1]):
        return True
    run, flaw = runs[-1], first_flaw(runs[-1])
    if judge.misused(run) or not (flaw or run.accesses(exercise.result, "store")):
        return True  # an input is changed, or the result is never stored
    if flaw is not None:
        return any(probe(run, flaw) for probe in (never_called, *TEXT_MISTAKES))
    values = (judge.no_number, judge.negative_index, *exercise.probes.wrong)
    return not run.unwritten.any() and any(probe(run) for probe in values)


# ------------------------------------------------------------------ rules that no table uses


def begins_at_one(node: ast.AST) -> bool:
    """Change a node `range(n)` to `range(1, n)` in place; return True if it was changed."""
    if not _is_range(node, 1):
        return False
    node.args.insert(0, ast.Constant(1))
    return True


def step_of_one(node: ast.AST) -> bool:
    """Change a node `range(a, n, s)` to `range(a, n)` in place; return True if it was changed."""
    if not _is_range(node, 3):
        return False
    del node.args[2]
    return True


def _is_range(node: ast.AST, arguments: int) -> bool:
    """Return True for a call of `range` with this number of arguments."""
    is_range = isinstance(node, ast.Call) and ast.unparse(node.func) == "range"
    return is_range and len(node.args) == arguments


def constant_doubled(node: ast.AST) -> bool:
    """Double an integer constant of at least 2 in place; return True if it was changed."""
    if not isinstance(node, ast.Constant) or type(node.value) is not int or node.value < 2:
        return False
    node.value *= 2
    return True


def test_turned_round(node: ast.AST) -> bool:
    """Negate a comparison `<`, `>=` or `==` in place; return True if it was changed."""
    others = {ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq}
    if not isinstance(node, ast.Compare) or type(node.ops[0]) not in others:
        return False
    node.ops = [others[type(node.ops[0])]()]
    return True


def never_taken(node: ast.AST) -> bool:
    """Replace the condition of an `if` by False in place; return True if it was changed.

    An `if` that begins with a return is left unchanged.
    """
    if not isinstance(node, ast.If) or isinstance(node.body[0], ast.Return):
        return False
    node.test = ast.Constant(False)
    return True


def statements_swapped(node: ast.AST) -> bool:
    """Exchange the final two statements of a loop's or function's body in place.

    Returns True if they were exchanged, False for another node or a body of one statement.
    """
    body = getattr(node, "body", None)
    if not isinstance(node, ast.For | ast.While | ast.FunctionDef) or len(body) < 2:
        return False
    body[-2:] = body[:-3:-1]
    return True


def other_input(node: ast.AST) -> bool:
    """Change a loaded `a[…]` to `b[…]`, or the reverse, in place; return True if it was changed."""
    others = {"a": "b", "b": "a"}
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return False
    if node.value.id not in others or isinstance(node.ctx, ast.Store):
        return False
    node.value.id = others[node.value.id]
    return True


def index_repeated(node: ast.AST) -> bool:
    """Change a node `x[i, …, j]` to `x[i, …, i]` in place.

    Return True for a node with several indices, and False for another one.
    """
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple):
        return False
    node.slice.elts[-1] = copy.deepcopy(node.slice.elts[0])
    return True


def index_of_zero(node: ast.AST) -> bool:
    """Replace the final index of an element by 0 in place; return True if it was replaced.

    A single index that is a constant is left unchanged.
    """
    if not isinstance(node, ast.Subscript):
        return False
    if isinstance(node.slice, ast.Tuple):
        node.slice.elts[-1] = ast.Constant(0)
        return True
    if isinstance(node.slice, ast.Constant):
        return False
    node.slice = ast.Constant(0)
    return True


OTHER_RULES: tuple[Callable[[ast.AST], bool], ...] = (
    begins_at_one,
    step_of_one,
    constant_doubled,
    test_turned_round,
    never_taken,
    statements_swapped,
    other_input,
    index_repeated,
    index_of_zero,
)


# -------------------------------------------------------------------------------- the command


def _share(judged: Sequence[Unseen]) -> str:
    """Return text such as "3 of 4, 75%"; "none" if no kernel was judged."""
    named = sum(one.named for one in judged)
    return f"{named} of {len(judged)}, {named / len(judged):.0%}" if judged else "none"


def main() -> None:
    """Print, for each exercise and for all, the share of unseen mistakes that `check` names.

    The arguments are names of exercises, by default all with kernels. With --unnamed the mistakes
    that are not named are printed, too, with --read N some that are. --experiment uses small
    tables.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.recognition", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="EXERCISE", help="default: all with kernels")
    parser.add_argument("--experiment", action="store_true", help="the small table")
    parser.add_argument("--read", type=int, default=0, metavar="N", help="print N named kernels")
    parser.add_argument("--unnamed", action="store_true", help="print those that are not named")
    options = parser.parse_args()
    kernels = [name for name, one in EXERCISES.items() if isinstance(one, KernelExercise)]
    for name in options.names:
        if name not in kernels:
            parser.error(f"{name} has no kernel: choose one of {', '.join(kernels)}")
    names = options.names or kernels
    all_judged: list[Unseen] = []
    with ProcessPoolExecutor() as pool:
        judge_one = partial(unseen_in, experiment=options.experiment)
        for name, judged in zip(names, pool.map(judge_one, names), strict=True):
            all_judged += judged
            _print(name, judged)
    _print("all", all_judged)
    if options.unnamed:
        for one in (one for one in all_judged if not one.named):
            print(f"\n{one.exercise}, {one.kind}: {one.what}\n  {one.said}")
    named = [one for one in all_judged if one.named]
    for one in random.Random(1).sample(named, min(options.read, len(named))):
        print(f"\n{one.exercise}, {one.kind}: {one.what}\n  {one.said}")


def _print(name: str, judged: Sequence[Unseen]) -> None:
    """Print the shares of named kernels, by kind."""
    kinds = dict.fromkeys(one.kind for one in judged)
    shares = [f"{kind} {_share([one for one in judged if one.kind == kind])}" for kind in kinds]
    print(f"{name}: {'; '.join(shares) or _share(judged)}", flush=True)


if __name__ == "__main__":
    main()
