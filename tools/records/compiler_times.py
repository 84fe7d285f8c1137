"""Time the GPU steps, and `sgemm` and `reduce` as called, with two compilers in turns in one run.

    python -m tools.records.compiler_times --compiler both --record

takes about a quarter of an hour, most of it for compiling; ``--of gemm`` times the steps of that
ladder alone, and leaves the other rows of the record as they are. The command needs a CUDA device
and both compilers in one environment (`pip install --constraint constraints.txt --editable
".[compiler,next-compiler]"`). It writes `compiler_times.csv` and `compiler_calls.csv` into the
folder of the device in `data/measured`. ``data/README.md`` describes their rows.
"""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from gpu_xray.versions import toolkit
from tools.records import compiler_calls
from utils.compilers.choice import COMPILERS, Compiler, named
from utils.compilers.imports import ladder_of
from utils.errors import CourseError
from utils.ladder.ladder import Ladder
from utils.ladder.libraries import Execution
from utils.ladder.memory import on_device
from utils.ladder.problems import Problem, judge, poisoned
from utils.ladder.step import Variant
from utils.lessons.lesson_16.compiler_times import (
    CALLS,
    MEASURED,
    TIMES,
    CompilerCall,
    CompilerTime,
)
from utils.machine.devices import slug
from utils.measuring import rows
from utils.measuring.command_line import Command, device_for, main
from utils.measuring.rows import Date
from utils.measuring.timing import time_gpu

NAME = "compiler-times"
BOTH = "both"
# The name of each ladder -> its package; the kernels that compile fastest come first.
PACKAGES = {"latency": "latency_kernels", "reduce": "reduce_kernels", "gemm": "gemm_kernels"}
CALLED = "calls"
# What can be timed alone, in the order of the records.
PARTS = (CALLED, *PACKAGES)
# The size of each ladder at which its steps are timed.
SIZES = {"gemm": "4096", "reduce": "2^28", "latency": "2^28"}


def seen_by(compiler: Compiler, array):
    """Return a device array as an array of this compiler's `cuda`, over the same memory.

    An array of the host, which managed memory is as well, is returned unchanged.
    """
    return array if isinstance(array, np.ndarray) else compiler.cuda.as_cuda_array(array)


def execution(compiler: Compiler, variant: Variant, problem: Problem, inputs, out) -> Execution:
    """Return a function that runs a variant, made by this compiler, from `inputs` into `out`."""

    def allocate(size, dtype, fill=None):
        return seen_by(compiler, on_device(size, dtype, fill))

    arrays = tuple(seen_by(compiler, array) for array in inputs)
    variant = variant.at(problem.shape)
    return variant.execution(problem.shape, arrays, seen_by(compiler, out), allocate)


def verified(
    compilers: Sequence[Compiler], ladder: Ladder, variants: Sequence[Variant], shape
) -> None:
    """Raise CourseError if a variant's result is wrong at this shape.

    variants: the same step once per compiler. ladder: places and reads the arrays.
    """
    problem = variants[0].step.task.problem(shape, "integers")
    inputs = tuple(ladder.placed(variants[0].step, array) for array in problem.inputs)
    for compiler, variant in zip(compilers, variants, strict=True):
        out = ladder.placed(variant.step, poisoned(problem.reference.shape))
        execution(compiler, variant, problem, inputs, out)()
        verdict = judge(problem, out)
        if not verdict.passed:
            raise CourseError(
                f"{variant} of {compiler.name} is {verdict} at {shape}, so it is not timed."
            )


def measured(
    device: str, capability: tuple[int, int], compilers: Sequence[Compiler], package: str,
    sizes=SIZES,
) -> Iterator[CompilerTime]:  # fmt: skip
    """Yield a row per step and compiler, for each step of a ladder that the device can run.

    The rows are step by step, and those of a step in the order of `compilers`. The kernels of a
    step are timed in turns, after their results were found right at a small size. device,
    capability: its name and compute capability. package: that of the kernels, such as
    "gemm_kernels". sizes: a dict from the ladder's name to the size of the problem. Raises
    CourseError if a result is wrong.
    """
    ladders = [ladder_of(package, compiler) for compiler in compilers]
    ladder = ladders[0]
    shape = ladder.parse(sizes[ladder.name])
    for steps in zip(*(each.steps for each in ladders), strict=True):
        if not steps[0].runs_on(capability):
            continue
        variants = [step.variant() for step in steps]
        verified(compilers, ladder, variants, ladder.parse(ladder.small))
        problem = steps[0].task.problem(shape, "uniform")
        inputs = tuple(ladder.placed(steps[0], array) for array in problem.inputs)
        out = ladder.placed(steps[0], poisoned(problem.reference.shape))
        rivals = [
            execution(compiler, variant, problem, inputs, out)
            for compiler, variant in zip(compilers, variants, strict=True)
        ]
        for compiler, timing in zip(compilers, time_gpu(rivals), strict=True):
            yield CompilerTime(
                device=device, ladder=ladder.name, step=str(variants[0]), size=str(shape),
                compiler=compiler.name, version=compiler.version, toolkit=toolkit(),
                time_ms=timing.median_ms, time_ms_min=timing.min_ms,
                time_ms_max=timing.max_ms, sm_clock_mhz=timing.sm_clock_mhz,
                date=Date(datetime.date.today().isoformat()),
            )  # fmt: skip


def _configure(parser: argparse.ArgumentParser) -> None:
    """Add the options --compiler, --of and --record to a parser."""
    parser.add_argument("--compiler", choices=(*COMPILERS, BOTH), default=BOTH)
    parser.add_argument("--of", nargs="+", choices=PARTS, default=PARTS, help="these alone")
    parser.add_argument("--record", action="store_true", help="write the figures to data/measured")


def _run(options: argparse.Namespace) -> int:
    """Time calls and steps, print a line per row, and write them with --record; return 0.

    The files are written after each row, so that a run which is cut off leaves what it has timed.
    Raises CourseError without a device, or if a compiler is not installed.
    """
    names = COMPILERS if options.compiler == BOTH else (options.compiler,)
    compilers = [named(name) for name in names]
    device = device_for(NAME)
    folder = MEASURED / slug(device.name)
    for part in options.of:
        file, kind = (CALLS, CompilerCall) if part == CALLED else (TIMES, CompilerTime)
        if part == CALLED:
            timed = compiler_calls.measured(device.name, compilers)
        else:
            package = PACKAGES[part]
            timed = measured(device.name, device.compute_capability, compilers, package)
        others, written = _of_other_parts(folder / file, kind, part), []
        for row in timed:
            print(row, flush=True)
            written.append(row)
            if options.record:
                rows.write(folder / file, sorted([*others, *written], key=_place), kind)
    return 0


def _part(row: CompilerCall | CompilerTime) -> str:
    """Return the part of `PARTS` to which a row belongs."""
    return CALLED if isinstance(row, CompilerCall) else row.ladder


def _place(row: CompilerCall | CompilerTime) -> int:
    """Return the position in `PARTS` of the part to which a row belongs."""
    return PARTS.index(_part(row))


def _of_other_parts(path: Path, kind: type, part: str) -> list[CompilerCall | CompilerTime]:
    """Return the rows of a record, of this dataclass, that belong to other parts than this one.

    The list is empty if there is no such file.
    """
    return [row for row in rows.read(path, kind) if _part(row) != part] if path.exists() else []


COMMAND = Command(
    NAME, "time every step and function with the kernels of each compiler", _configure, _run
)

if __name__ == "__main__":
    sys.exit(main("Two compilers", (COMMAND,)))
