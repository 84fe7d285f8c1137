"""Run steps into a poisoned output and judge what they wrote."""

from __future__ import annotations

from collections.abc import Sequence

from utils.ladder.ladder import Ladder
from utils.ladder.problems import KINDS, Problem, Verdict, judge, poisoned
from utils.ladder.shapes import GemmShape, ReduceShape
from utils.ladder.step import Variant


def execute(ladder: Ladder, variant: Variant, problem: Problem, inputs: tuple) -> Verdict:
    """Run a step once into a poisoned output and judge it; the inputs lie where the step runs."""
    out = ladder.placed(variant.step, poisoned(problem.reference.shape))
    variant.at(problem.shape).execution(problem.shape, inputs, out)()
    return judge(problem, out)


def verify_all(
    ladder: Ladder,
    variants: Sequence[Variant],
    shape: GemmShape | ReduceShape,
    kinds: Sequence[str] = KINDS,
) -> list[Verdict]:
    """One verdict per variant: the first that failed on a kind of inputs, or the last.

    The variants must have the same task and keep arrays in the same place. One kind of inputs is in
    memory at a time.
    """
    verdicts: list[Verdict | None] = [None] * len(variants)
    for kind in kinds:
        problem = variants[0].step.task.problem(shape, kind)
        inputs = tuple(ladder.placed(variants[0].step, array) for array in problem.inputs)
        for index, variant in enumerate(variants):
            if verdicts[index] is None or verdicts[index].passed:
                verdicts[index] = execute(ladder, variant, problem, inputs)
    return verdicts
