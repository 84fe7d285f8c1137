"""From a step and a shape to a row: verified before, timed, verified after; or looked up."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle, groupby

from utils.ladder.ladder import Ladder
from utils.ladder.libraries import Execution
from utils.ladder.problems import Problem, Verdict, judge, poisoned
from utils.ladder.step import Step, Variant
from utils.ladder.tasks import Shape, Work
from utils.ladder.verify import execute, verify_all
from utils.machine import devices
from utils.machine.devices import KIB, Device
from utils.machine.versions import versions
from utils.measuring import records
from utils.measuring.records import Record
from utils.measuring.timing import MOST_LAUNCHES, Timing, time_cpu, time_gpu

VIRTUAL_GPU = "virtual GPU"
# The L2 cache does not replace strictly the oldest line first: after four times its size has gone
# by, next to nothing of the first copy is left.
L2_TIMES = 4


@dataclass(frozen=True)
class Row:
    """A record, new or old, and whether the kernel was right where this process runs.

    recorded_on: the device and the date of an old record; None for what was measured here.
    """

    record: Record
    verdict: Verdict
    verified_on: str
    recorded_on: str | None = None


def measured_rows(
    ladder: Ladder, variants: Sequence[Variant], shape: Shape, device: Device | None
) -> Iterator[Row]:
    """Measure the variants at one shape, each interleaved with the ladder's library.

    device: the GPU at hand; None for a ladder that runs on the CPU. A variant that is wrong is not
    timed. Raises CourseError for a figure above the device's peak.
    """
    place = device.name if device else devices.cpu_name()
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
            record = _record(ladder, chosen, device=place, **asdict(shape), **facts)
            yield Row(record, verdict, verified_on=place)


def recorded_rows(
    ladder: Ladder, variants: Sequence[Variant], shapes: Sequence[Shape], device: Device
) -> Iterator[Row]:
    """Verify the variants on the virtual GPU and look up what was recorded for them on a device.

    shapes: the ones to look up; none stands for all. A step without a record gives one row without
    figures, with its default constants; other constants only appear where they were recorded, or
    where nothing else of their step was asked for.
    """
    recorded = _recorded(ladder, device)
    found = {each: _records_of(each, recorded, shapes) for each in variants}
    asked = [each.step for each in variants]
    shown = [
        each for each in variants if found[each] or each.is_default or asked.count(each.step) == 1
    ]
    for same_task in _by_task(shown):
        small = same_task[0].step.task.parse(ladder.small)
        for variant, verdict in zip(same_task, verify_all(ladder, same_task, small)):
            if not found[variant]:
                yield Row(_record(ladder, variant), verdict, VIRTUAL_GPU)
            for record in found[variant]:
                yield Row(record, verdict, VIRTUAL_GPU, f"{record.device}, {record.date}")


def _records_of(
    variant: Variant, recorded: Sequence[Record], shapes: Sequence[Shape]
) -> list[Record]:
    """Those of the variant at the shapes; of a step that decides by itself, whatever it chose."""
    wanted = [asdict(shape) for shape in shapes]
    return [
        record
        for record in recorded
        if record.step == variant.step.name
        and (variant.step.choose or (record.params or "") == variant.params)
        and (not wanted or any(asdict(record).items() >= sizes.items() for sizes in wanted))
    ]


def _by_task(variants: Sequence[Variant]) -> Iterator[list[Variant]]:
    """Neighbours that solve the same problem with arrays in the same place."""

    def inputs_of(variant: Variant) -> tuple:
        return variant.step.task.problem, variant.step.place

    return (list(group) for _, group in groupby(variants, inputs_of))


def _cold_copies(
    ladder: Ladder, step: Step, problem: Problem, device: Device | None
) -> list[tuple]:
    """The inputs where the steps run, as often as bandwidth needs them to come from memory.

    Work that is counted in bytes of memory takes the next copy in each execution, our steps and the
    library alike. There are no more copies than launches in a repetition, so inputs below half a
    MiB stay in the L2 cache of a large GPU; the time of so small a problem is that of its launches.
    """
    copies, work = 1, step.task.work(problem.shape)
    if device and work.bytes is not None and not work.cached:
        held = sum(array.nbytes for array in problem.inputs)
        copies = min(MOST_LAUNCHES, -(-L2_TIMES * device.l2_kib * KIB // held))
    return [tuple(ladder.placed(step, array) for array in problem.inputs) for _ in range(copies)]


def _times(
    ladder: Ladder, variant: Variant, shape: Shape, copies: Sequence[tuple], out
) -> list[Timing]:
    """The variant's timing and, where there is a library, the library's."""
    rivals = [[variant.at(shape).execution(shape, inputs, out) for inputs in copies]]
    library = [ladder.library.bind(inputs, out) for inputs in copies] if ladder.library else [None]
    if library[0]:
        rivals.append(library)
    timed = [_in_turn(executions) for executions in rivals]
    return time_gpu(timed) if ladder.on_gpu else time_cpu(timed)


def _in_turn(executions: Sequence[Execution]) -> Execution:
    """Each call makes the next of the executions."""
    if len(executions) == 1:
        return executions[0]
    turns = cycle(executions)
    return lambda: next(turns)()


def _facts(
    ladder: Ladder, variant: Variant, shape: Shape, device: Device | None, times: list[Timing]
) -> dict:
    """The columns of a record that only a measurement fills."""
    ours, *library = times
    facts = {
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
            facts["peak"] = _peak(facts, device, f"{variant} at {shape}")
        facts |= _machine_code(variant, shape)
    return facts


def _rates(work: Work, milliseconds: float) -> dict[str, float]:
    """10^9 operations or bytes a second, in the column that the work belongs to."""
    if work.flops is not None:
        return {"gflops": work.flops / milliseconds / 1e6}
    return {"gb_per_s": work.bytes / milliseconds / 1e6}


def _peak(facts: dict, device: Device, what: str) -> float | None:
    """In the unit of the speed; CourseError for a speed above it."""
    of_flops = "gflops" in facts
    peak = device.peak_gflops if of_flops else device.peak_gb_per_s
    if peak is not None:
        devices.fraction_of_peak(facts["gflops" if of_flops else "gb_per_s"], peak, what)
    return peak


def _machine_code(variant: Variant, shape: Shape) -> dict[str, int]:
    """What the driver says of the compiled kernel. Local memory is where registers spill to."""
    kernel, signature = variant.kernel, variant.step.signature
    static = kernel.get_shared_mem_per_block(signature)
    return {
        "registers": kernel.get_regs_per_thread(signature),
        "shared_bytes": static + variant.launch(shape).shared_bytes,
        "spill_bytes": kernel.get_local_mem_per_thread(signature),
    }


def _record(ladder: Ladder, variant: Variant, **facts) -> Record:
    """A record of today and of this process's software; what is not given stays empty."""
    empty = dict.fromkeys(records.COLUMNS)
    today = datetime.date.today().isoformat()
    own = {"ladder": ladder.name, "step": variant.step.name, "params": variant.params or None}
    measured = {"date": today, **asdict(versions())} if "time_ms" in facts else {}
    return Record(**empty | own | measured | facts)


def _recorded(ladder: Ladder, device: Device) -> tuple[Record, ...]:
    """Everything that was recorded for the ladder on the device; empty if nothing was."""
    if device.name not in records.recorded_devices(ladder.name):
        return ()
    return records.records_of(device.name, ladder.name)
