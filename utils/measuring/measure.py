"""The rows of steps at a shape: verify, time and verify a step again, or look up its record."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle, groupby

from utils.division import cdiv
from utils.errors import CourseError
from utils.ladder.ladder import Ladder
from utils.ladder.libraries import Execution
from utils.ladder.problems import Problem, StepVerdict, judge, poisoned
from utils.ladder.step import Step, Variant
from utils.ladder.tasks import Shape, TaskWork
from utils.ladder.verify import execute, verify_all
from utils.machine import devices
from utils.machine.devices import KIB, Device
from utils.machine.versions import versions
from utils.measuring import records
from utils.measuring.records import Record
from utils.measuring.timing import MOST_LAUNCHES, Timing, time_cpu, time_gpu

VIRTUAL_GPU = "virtual GPU"
# The kind of inputs at which steps are timed: a GPU's power, and so its clock, depend on them.
TIMED_INPUTS = "uniform"
# The L2 cache does not always replace the oldest line first: after four times its size was read,
# next to nothing of the first copy is left.
L2_TIMES = 4


@dataclass(frozen=True)
class StepRow:
    """The record of a step at one shape, and the verdict on its kernel from this process.

    `verified_on` is the processor that ran the kernel for the verdict. `recorded_on` is the device
    and the date of an old record as text, or None for a new record and for a step without any.
    """

    record: Record
    verdict: StepVerdict
    verified_on: str
    recorded_on: str | None = None


def measured_rows(
    ladder: Ladder, variants: Sequence[Variant], shape: Shape, device: Device | None
) -> Iterator[StepRow]:
    """Measure the variants at one shape and yield one row per variant, in their order.

    Each variant is timed interleaved with the ladder's library. `device` is the current GPU, or
    None for a ladder that runs on the CPU. A variant whose result is wrong before the timing is not
    timed. If its result is wrong before or after the timing, its record has no figures. Raises
    CourseError for a figure above the device's peak.
    """
    processor = device.name if device else devices.cpu_name()
    for same_task in _by_task(variants):
        exact = verify_all(ladder, same_task, shape, kinds=("integers",))
        problem = same_task[0].step.task.problem(shape, "uniform")
        copies = _cold_copies(ladder, same_task[0].step, problem, device)
        for variant, verdict in zip(same_task, exact):
            times: list[Timing] = []
            if verdict.passed:
                verdict = execute(ladder, variant, problem, copies[0])
            if verdict.passed:
                out = ladder.placed(variant.step, poisoned(problem.reference.shape))
                times = _times(ladder, variant, shape, copies, out)
                verdict = judge(problem, out)
            chosen = variant.at(shape)
            facts = _facts(ladder, chosen, shape, device, times) if verdict.passed else {}
            record = _record(ladder, chosen, device=processor, **asdict(shape), **facts)
            yield StepRow(record, verdict, verified_on=processor)


def race(
    ladder: Ladder, variants: Sequence[Variant], shape: Shape, device: Device | None
) -> tuple[Record, ...]:
    """Time variants of the same task and the ladder's library, interleaved; return their records.

    Each repetition runs every variant and then the library, so that a change of the clock affects
    all of them. The records are in the order of the variants, and each has the library's time if
    the ladder has a library.
    `device` is the current GPU, or None for a ladder that runs on the CPU. Raises CourseError
    before timing if a result is wrong, and for a figure above the device's peak.
    """
    processor, step = device.name if device else devices.cpu_name(), variants[0].step
    exact = verify_all(ladder, variants, shape, kinds=("integers",))
    problem = step.task.problem(shape, TIMED_INPUTS)
    copies = _cold_copies(ladder, step, problem, device)
    rounded = [execute(ladder, one, problem, copies[0]) for one in variants]
    for variant, *verdicts in zip(variants, exact, rounded, strict=True):
        for verdict in verdicts:
            if not verdict.passed:
                raise CourseError(f"{variant} is not timed at {shape}, because it is {verdict}.")
    out = ladder.placed(step, poisoned(problem.reference.shape))
    rivals = [_on_copies(variant, shape, copies, out) for variant in variants]
    *ours, library = _in_turns(ladder, rivals, copies, out)
    return tuple(
        _record(
            ladder,
            variant,
            device=processor,
            **asdict(shape),
            **_facts(ladder, variant, shape, device, [timing, *library]),
        )
        for variant, timing in zip(variants, ours, strict=True)
    )


def recorded_rows(
    ladder: Ladder, variants: Sequence[Variant], shapes: Sequence[Shape], device: Device
) -> Iterator[StepRow]:
    """Verify the variants on the virtual GPU and yield a row per record that `device` has of them.

    The rows are in the order of the variants, and those of a variant in the order of the file.
    `shapes` are the shapes to look up; an empty sequence means all. A variant without a record at
    these shapes gives one row without figures if its constants are the defaults or if it is the
    only requested variant of its step; otherwise it is left out.
    """
    recorded = _recorded(ladder, device)
    by_variant = {each: _records_of(each, recorded, shapes) for each in variants}
    steps = [each.step for each in variants]
    shown = [
        each
        for each in variants
        if by_variant[each] or each.is_default or steps.count(each.step) == 1
    ]
    for same_task in _by_task(shown):
        small = same_task[0].step.task.parse(ladder.small)
        for variant, verdict in zip(same_task, verify_all(ladder, same_task, small)):
            if not by_variant[variant]:
                yield StepRow(_record(ladder, variant), verdict, VIRTUAL_GPU)
            for record in by_variant[variant]:
                yield StepRow(record, verdict, VIRTUAL_GPU, f"{record.device}, {record.date}")


def _records_of(
    variant: Variant, recorded: Sequence[Record], shapes: Sequence[Shape]
) -> list[Record]:
    """Return the records of a variant at the shapes; at all shapes if `shapes` is empty.

    If its step picks its constants itself, return the step's records with any constants.
    """
    wanted = [asdict(shape) for shape in shapes]
    return [
        record
        for record in recorded
        if record.step == variant.step.name
        and (variant.step.choose or (record.params or "") == variant.params)
        and (not wanted or any(asdict(record).items() >= sizes.items() for sizes in wanted))
    ]


def _by_task(variants: Sequence[Variant]) -> Iterator[list[Variant]]:
    """Yield lists of consecutive variants with the same problem and arrays in the same memory."""

    def inputs_of(variant: Variant) -> tuple:
        return variant.step.task.problem, variant.step.place

    return (list(group) for _, group in groupby(variants, inputs_of))


def _cold_copies(
    ladder: Ladder, step: Step, problem: Problem, device: Device | None
) -> list[tuple]:
    """Return copies of the problem's inputs, each a tuple of arrays that the step can read.

    There is one copy on the CPU, and on a GPU for work that is not counted in bytes or whose inputs
    may be in the cache. For other work on a GPU, there are as many as are needed for each launch to
    read from DRAM instead of the L2 cache, but at most `MOST_LAUNCHES`. `device` is None for a
    ladder on the CPU.
    """
    copies, work = 1, step.task.work(problem.shape)
    if device and work.bytes is not None and not work.cached:
        nbytes = sum(array.nbytes for array in problem.inputs)
        copies = min(MOST_LAUNCHES, cdiv(L2_TIMES * device.l2_kib * KIB, nbytes))
    return [tuple(ladder.placed(step, array) for array in problem.inputs) for _ in range(copies)]


def _times(
    ladder: Ladder, variant: Variant, shape: Shape, copies: Sequence[tuple], out
) -> list[Timing]:
    """Time the variant and the library, writing to `out`; return [ours, library's] or [ours].

    copies: several tuples of equal inputs, used in turn.
    """
    ours, library = _in_turns(ladder, [_on_copies(variant, shape, copies, out)], copies, out)
    return [ours, *library]


def _on_copies(variant: Variant, shape: Shape, copies: Sequence[tuple], out) -> Execution:
    """Return a function whose calls run the variant on one copy after the other, in a cycle.

    copies: several tuples of equal inputs.
    """
    return _cycling([variant.at(shape).execution(shape, inputs, out) for inputs in copies])


def _in_turns(
    ladder: Ladder, rivals: Sequence[Execution], copies: Sequence[tuple], out
) -> list[Timing | list[Timing]]:
    """Time the rivals, interleaved with the ladder's library.

    The result has one Timing per rival, and at its end a list with that of the library, which is
    empty without a library. rivals: functions that run a variant once. copies: of the inputs, for
    the library. out: a result array, for its shape.
    """
    library = [ladder.library.bind(inputs, out) for inputs in copies] if ladder.library else [None]
    cycles = [*rivals, *([_cycling(library)] if library[0] else [])]
    times = time_gpu(cycles) if ladder.on_gpu else time_cpu(cycles)
    return [*times[: len(rivals)], times[len(rivals) :]]


def _cycling(executions: Sequence[Execution]) -> Execution:
    """Return a function that makes the next of the executions at each call, in a cycle."""
    if len(executions) == 1:
        return executions[0]
    upcoming = cycle(executions)
    return lambda: next(upcoming)()


def _facts(
    ladder: Ladder, variant: Variant, shape: Shape, device: Device | None, times: list[Timing]
) -> dict:
    """Return the columns of a record that only a measurement fills: column name -> value.

    `times` holds the variant's timing and, if there is one, the library's. `device` is None on the
    CPU, where a record has no peak and no machine code. Raises CourseError for a speed above the
    device's peak.
    """
    ours, *library = times
    facts = {
        "inputs": TIMED_INPUTS,
        "time_ms": ours.median_ms,
        "time_ms_min": ours.min_ms,
        "time_ms_max": ours.max_ms,
        "sm_clock_mhz": ours.sm_clock_mhz,
    }
    work = variant.step.task.work(shape)
    facts |= _rates(work, ours.median_ms)
    if library:
        facts["library"] = ladder.library.name
        facts["library_ms"] = library[0].median_ms
    if device:
        facts["compute_capability"] = ".".join(map(str, device.compute_capability))
        if not work.cached:
            facts["peak"] = _peak(work, facts, device, f"{variant} at {shape}")
        facts |= _machine_code(variant, shape)
    return facts


def _rates(work: TaskWork, milliseconds: float) -> dict[str, float]:
    """Return {"gflops": 10^9 operations per second}, or {"gb_per_s": 10^9 bytes per second}.

    It is the former if the number of operations of the work is known.
    """
    if work.flops is not None:
        return {"gflops": work.flops / milliseconds / 1e6}
    return {"gb_per_s": work.bytes / milliseconds / 1e6}


def _peak(work: TaskWork, facts: dict, device: Device, what: str) -> float | None:
    """Return the device's peak in the unit of the speed in `facts`; None if it is not known.

    Raises CourseError, with `what` as its subject, if the speed is above the peak.
    """
    if "gflops" in facts:
        speed, peak = facts["gflops"], device.tensor_gflops if work.tensor else device.peak_gflops
    else:
        speed, peak = facts["gb_per_s"], device.peak_gb_per_s
    if peak is not None:
        devices.fraction_of_peak(speed, peak, what)
    return peak


def _machine_code(variant: Variant, shape: Shape) -> dict[str, int]:
    """Return the registers per thread, shared bytes per block and spilled bytes per thread.

    The keys are the columns of a record; the figures come from the driver and the launch.
    """
    kernel, signature = variant.kernel, variant.step.signature
    static = kernel.get_shared_mem_per_block(signature)
    return {
        "registers": kernel.get_regs_per_thread(signature),
        "shared_bytes": static + variant.launch(shape).shared_bytes,
        "spill_bytes": kernel.get_local_mem_per_thread(signature),
    }


def _record(ladder: Ladder, variant: Variant, **facts) -> Record:
    """Return a record of a variant with the columns in `facts`; all other columns are None.

    If `facts` has a time, the record also gets today's date and the software versions.
    """
    empty = dict.fromkeys(records.COLUMNS)
    today = datetime.date.today().isoformat()
    own = {"ladder": ladder.name, "step": variant.step.name, "params": variant.params or None}
    measured = {"date": today, **asdict(versions())} if "time_ms" in facts else {}
    return Record(**empty | own | measured | facts)


def _recorded(ladder: Ladder, device: Device) -> tuple[Record, ...]:
    """Return all records of the ladder on the device; an empty tuple if there are none."""
    if device.name not in records.recorded_devices(ladder.name):
        return ()
    return records.records_of(device.name, ladder.name)
