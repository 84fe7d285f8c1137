"""The sub-command `measure`: verify a ladder's steps, measure them, record the figures."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from utils.errors import CourseError
from utils.ladder.ladder import Ladder
from utils.ladder.shapes import GemmShape, ReduceShape
from utils.ladder.step import Step, Variant
from utils.ladder.tasks import Shape
from utils.machine import devices
from utils.measuring import records
from utils.measuring.command_line import Command, device_for
from utils.measuring.measure import StepRow, measured_rows, recorded_rows
from utils.measuring.records import Record

WRONG = 1


def measure_command(ladder: Ladder) -> Command:
    """Return the sub-command `measure` of a ladder.

    Its exit code is 0 if every step is right and 1 if one is wrong. Without a GPU, the steps of a
    ladder for the GPU are verified on the virtual GPU and shown next to recorded figures.
    """
    return Command(
        "measure",
        "verify each step, measure it, compare it with the library; --record keeps the figures",
        partial(_configure, ladder),
        partial(_run, ladder),
    )


def add_steps(parser: argparse.ArgumentParser, ladder: Ladder) -> None:
    """Add the option --steps to the parser: a list of step names, by default all of the ladder's.

    The parser does not check the names.
    """
    names = [step.name for step in ladder.steps]
    parser.add_argument(
        "--steps", nargs="+", default=names, metavar="STEP",
        help=f"some of {', '.join(names)}; default: all",
    )  # fmt: skip


def add_device(parser: argparse.ArgumentParser) -> None:
    """Add the option --device, the GPU whose records are shown, to the parser."""
    parser.add_argument(
        "--device", default=devices.REFERENCE, metavar="NAME",
        help="whose recorded figures to show without a GPU; default: %(default)s",
    )  # fmt: skip


def _configure(ladder: Ladder, parser: argparse.ArgumentParser) -> None:
    """Add the options of `measure` to a parser.

    They are --n, --steps, --params, --json and --record, and for a ladder on the GPU --device.
    """
    parser.add_argument(
        "--n",
        nargs="+",
        default=[],
        metavar="SIZE",
        help=f"for example {ladder.sizes[0]} or {ladder.sizes[-1]}; default: "
        f"{' '.join(ladder.quick)}, and with --record {' '.join(ladder.sizes)}",
    )
    add_steps(parser, ladder)
    parser.add_argument(
        "--params",
        nargs="+",
        default=[],
        metavar="PARAMS",
        help='constants as records name them, such as "BLOCK=256"; default: all that a step offers',
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--record", action="store_true", help="write the figures to data/measured")
    if ladder.on_gpu:
        add_device(parser)


def _run(ladder: Ladder, options: argparse.Namespace) -> int:
    """Measure or look up the rows that the options ask for, and print them as a table or JSON.

    Returns the exit code: 0, or 1 if a step is wrong. Raises CourseError in the same cases as
    `_rows`, and for a figure above the device's peak.
    """
    rows = _rows(ladder, options, Console(stderr=True))
    if options.json:
        print(json.dumps([_as_json(row) for row in rows], indent=1))
    else:
        # Rich takes anything but a terminal to be 80 columns wide.
        width = None if sys.stdout.isatty() else 120
        print(f"{ladder.title}: {_where(rows)}")
        Console(width=width).print(_table(rows))
    return 0 if all(row.verdict.passed for row in rows) else WRONG


def _rows(ladder: Ladder, options: argparse.Namespace, console: Console) -> list[StepRow]:
    """Return the rows that the options ask for: measured on the device, or else recorded.

    Steps that the device cannot run are left out. With `options.record`, the rows are also written
    to the device's record. A ladder on the CPU is always measured. Without a GPU, the records of
    `options.device` are returned for a ladder on the GPU, and a sentence on stderr says so. The
    progress is shown on `console`. Raises CourseError for an unknown step, shape, device or text in
    `options.params`, and for `options.record` without a GPU if the ladder needs one.
    """
    steps = [ladder.step(name) for name in options.steps]
    variants = _variants(steps, options.params)
    sizes = options.n or (ladder.sizes if options.record else ladder.quick)
    shapes = [ladder.parse(size) for size in sizes]
    device = devices.current() if ladder.on_gpu else None
    if options.record and ladder.on_gpu:
        device = device_for("--record", "Run it on a machine with a GPU, or leave out --record.")
    if device:
        variants = _that_run(variants, device)
    if device or not ladder.on_gpu:
        plan = [(shape, variants) for shape in shapes]
        if options.record and not options.n and not options.params:
            plan = _record_plan(ladder, variants)
        return _measure(ladder, plan, device, options.record, console)
    recorded = devices.find(options.device)
    with console.status(f"{ladder.title} on the virtual GPU"):
        rows = list(recorded_rows(ladder, variants, shapes if options.n else [], recorded))
    print(devices.why_no_device(), _what_is_shown(rows, recorded.name), file=sys.stderr)
    return rows


def _variants(steps: Sequence[Step], params: Sequence[str]) -> list[Variant]:
    """Return the steps' variants whose constants are in `params`; all variants if it is empty.

    Raises CourseError for constants that no variant has.
    """
    variants = [variant for step in steps for variant in step.variants()]
    for wanted in params:
        if wanted not in (variant.params for variant in variants):
            offered = dict.fromkeys(variant.params for variant in variants if variant.params)
            raise CourseError(
                f"No step has the constants '{wanted}': choose some of {', '.join(offered)}."
            )
    return [variant for variant in variants if not params or variant.params in params]


def _that_run(variants: Sequence[Variant], device: devices.Device) -> list[Variant]:
    """Return the variants that the device can run, and name on stderr the steps that it cannot."""
    able = [each for each in variants if each.step.runs_on(device.compute_capability)]
    missing = dict.fromkeys(each.step.name for each in variants if each not in able)
    if missing:
        print(f"{device.name} is too old for {', '.join(missing)}: left out.", file=sys.stderr)
    return able


def _record_plan(
    ladder: Ladder, variants: Sequence[Variant]
) -> list[tuple[Shape, list[Variant]]]:
    """Return (shape, variants to measure) per size of the ladder, for a complete record.

    At the sizes of the ladder's sweep these are all variants, at other sizes those with default
    constants. If the ladder has no sweep, they are all variants at every size.
    """
    defaults = [each for each in variants if each.is_default]
    sweep = ladder.sizes if ladder.sweep is None else ladder.sweep
    return [
        (ladder.parse(size), list(variants) if size in sweep else defaults) for size in ladder.sizes
    ]


def _what_is_shown(rows: list[StepRow], device: str) -> str:
    """Return a sentence that says on which device the figures were recorded.

    If none was recorded, the sentence says so.
    """
    if any(row.recorded_on for row in rows):
        return f"The figures were recorded on {device}."
    return f"Nothing is recorded on {device} for this: run it with --record on such a machine."


def _measure(
    ladder: Ladder,
    plan: Sequence[tuple[Shape, list[Variant]]],
    device: devices.Device | None,
    record: bool,
    console: Console,
) -> list[StepRow]:
    """Measure the variants of each (shape, variants) in `plan` and return all rows, in this order.

    `device` is None for a ladder on the CPU. If `record` is True, write the rows of each shape to
    disk as soon as the shape is finished, except rows with a wrong result. A progress bar is shown
    on `console` meanwhile. Raises CourseError for a figure above the device's peak.
    """
    rows: list[StepRow] = []
    with Progress(console=console, transient=True) as progress:
        bar = progress.add_task(ladder.title, total=sum(len(each) for _, each in plan))
        for shape, variants in plan:
            rows_of_shape = []
            for row in measured_rows(ladder, variants, shape, device):
                rows_of_shape.append(row)
                progress.advance(bar)
            if record:
                _record(ladder, rows_of_shape)
            rows += rows_of_shape
    return rows


def _record(ladder: Ladder, rows: Sequence[StepRow]) -> None:
    """Write the records of the rows with a right result to disk, and print the path on stderr."""
    right = [row.record for row in rows if row.verdict.passed]
    if right:
        path = records.file_of(right[0].device, ladder.name)
        choosing = [step.name for step in ladder.steps if step.choose]
        records.write(right, path, [step.name for step in ladder.steps], choosing)
        print(f"Recorded in {path.relative_to(records.DATA.parent)}.", file=sys.stderr)


def _as_json(row: StepRow) -> dict:
    """Return column -> value of the record, and `verified` (bool), `verified_on`, `recorded_on`."""
    return asdict(row.record) | {
        "verified": row.verdict.passed,
        "verified_on": row.verified_on,
        "recorded_on": row.recorded_on,
    }


def _table(rows: Sequence[StepRow]) -> Table:
    """Return the printed table, one line per row; columns without any value are left out."""
    lines = [_cells(row) for row in rows]
    headers = dict.fromkeys(header for line in lines for header in line)
    table = Table(box=box.SIMPLE)
    for header in headers:
        table.add_column(header, justify="left" if header in ("step", "verified") else "right")
    for line in lines:
        table.add_row(*(line.get(header, "") for header in headers))
    return table


def _where(rows: Sequence[StepRow]) -> str:
    """Return text on where the figures were measured or recorded and the results verified.

    The text is such as "measured on NVIDIA H200; verified on NVIDIA H200". It begins with "no
    figures" if no row has a time. A device and date that several rows share is named once.
    """
    figures = dict.fromkeys(
        f"recorded on {row.recorded_on}" if row.recorded_on else f"measured on {row.record.device}"
        for row in rows
        if row.record.time_ms
    )
    verified = dict.fromkeys(f"verified on {row.verified_on}" for row in rows)
    return "; ".join([*(figures or ["no figures"]), *verified])


def _cells(row: StepRow) -> dict[str, str]:
    """Return the row's cells in the printed table, header -> text; unknown values have no entry.

    The headers are step, shape, ms, spread, GFLOP/s or GB/s, of peak, "of" with the library's name,
    and verified.
    """
    record = row.record
    cells = {"step": f"{record.step} {record.params or ''}".strip()}
    if shape := _shape(record):
        cells["shape"] = shape
    if record.time_ms is not None:
        cells["ms"] = f"{record.time_ms:.4g}"
        cells["spread"] = f"{(record.time_ms_max - record.time_ms_min) / record.time_ms:.1%}"
    if record.gflops is not None:
        cells["GFLOP/s"] = f"{record.gflops:,.1f}"
    if record.gb_per_s is not None:
        cells["GB/s"] = f"{record.gb_per_s:,.1f}"
    if record.efficiency is not None:
        cells["of peak"] = f"{record.efficiency:.1%}"
    if record.library_ratio is not None:
        cells[f"of {record.library}"] = f"{record.library_ratio:.1%}"
    cells["verified"] = "yes" if row.verdict.passed else f"[bold red]FAILED[/]: {row.verdict}"
    return cells


def _shape(record: Record) -> str:
    """Return the shape of a record as text; "" if it has none."""
    if record.m is not None:
        return str(GemmShape(record.m, record.n, record.k))
    return "" if record.elements is None else str(ReduceShape(record.elements))
