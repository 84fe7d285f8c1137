"""Run steps into outputs full of NaN and judge the results."""

from __future__ import annotations

from collections.abc import Sequence

from utils.ladder.ladder import Ladder
from utils.ladder.problems import KINDS, Problem, StepVerdict, judge, poisoned
from utils.ladder.shapes import GemmShape, ReduceShape
from utils.ladder.step import Variant


def execute(ladder: Ladder, variant: Variant, problem: Problem, inputs: tuple) -> StepVerdict:
    """Run a step once into an output full of NaN and return the verdict on its result.

    `inputs` are arrays in memory that the step can read.
    """
    out = ladder.placed(variant.step, poisoned(problem.reference.shape))
    variant.at(problem.shape).execution(problem.shape, inputs, out)()
    return judge(problem, out)


def verify_all(
    ladder: Ladder,
    variants: Sequence[Variant],
    shape: GemmShape | ReduceShape,
    kinds: Sequence[str] = KINDS,
) -> list[StepVerdict]:
    """Return one verdict per variant: its first failure, or its last pass.

    Each variant runs with each kind of inputs until it fails. The variants must have the same task
    and keep their arrays in the same memory. Only one kind of inputs is in memory at a time.
    """
    verdicts: list[StepVerdict | None] = [None] * len(variants)
    for kind in kinds:
        problem = variants[0].step.task.problem(shape, kind)
        inputs = tuple(ladder.placed(variants[0].step, array) for array in problem.inputs)
        for index, variant in enumerate(variants):
            if verdicts[index] is None or verdicts[index].passed:
                verdicts[index] = execute(ladder, variant, problem, inputs)
    return verdicts
