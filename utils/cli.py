"""The command line of every ladder: verify its steps, measure them, record what was measured."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from utils import devices, plots, records
from utils.errors import CourseError
from utils.measure import Row, measured_rows, recorded_rows
from utils.records import Record
from utils.shapes import GemmShape, ReduceShape
from utils.steps import Ladder, Step, Variant
from utils.tasks import Shape
from utils.versions import explained

WRONG = 1
REFUSED = 2
INTERRUPTED = 130


def main(ladder: Ladder, arguments: Sequence[str] | None = None, epilog: str = "") -> int:
    """Run the command line of a ladder; returns the exit code.

    0: every step is right, or the figures are drawn. 1: a step is wrong. 2: the request cannot be
    met, and one sentence on stderr says why. 130: stopped with Ctrl-C; what was measured until then
    is recorded. epilog: the last lines of --help.
    """
    options = _parse(ladder, arguments, epilog)
    console = Console(stderr=True)
    try:
        if options.plot:
            return _plot(ladder, options)
        with explained():
            rows = _rows(ladder, options, console)
    except CourseError as error:
        print(error, file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        kept = "The shapes that were finished are recorded." if options.record else ""
        print(f"Stopped. {kept}".rstrip(), file=sys.stderr)
        return INTERRUPTED
    if options.json:
        print(json.dumps([_as_json(row) for row in rows], indent=1))
    else:
        # Rich takes anything but a terminal to be 80 columns wide.
        width = None if sys.stdout.isatty() else 120
        print(f"{ladder.title}: {_where(rows)}")
        Console(width=width).print(_table(rows))
    return 0 if all(row.verdict.passed for row in rows) else WRONG


def _parse(ladder: Ladder, arguments: Sequence[str] | None, epilog: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=_program(),
        description=f"{ladder.title}: verify each step, measure it, compare it with the library.",
        epilog=epilog,
    )
    parser.add_argument(
        "--n",
        nargs="+",
        default=[],
        metavar="SIZE",
        help=f"for example {ladder.sizes[0]} or {ladder.sizes[-1]}; default: "
        f"{' '.join(ladder.quick)}, and with --record {' '.join(ladder.sizes)}",
    )
    names = [step.name for step in ladder.steps]
    parser.add_argument(
        "--steps",
        nargs="+",
        default=names,
        metavar="STEP",
        help=f"some of {', '.join(names)}; default: all",
    )
    parser.add_argument(
        "--params",
        nargs="+",
        default=[],
        metavar="PARAMS",
        help='constants as records name them, such as "BLOCK=256"; default: all that a step offers',
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--record", action="store_true", help="write the figures to data/measured")
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="FOLDER",
        help="measure nothing: draw what is recorded into PNG files in this folder",
    )
    if ladder.on_gpu:
        parser.add_argument(
            "--device",
            default="NVIDIA H200",
            metavar="NAME",
            help="whose recorded figures to show, with --plot or without a GPU; "
            "default: %(default)s",
        )
    return parser.parse_args(arguments)


def _program() -> str | None:
    """The command as it was typed, such as python -m gemm_kernels."""
    spec = sys.modules["__main__"].__spec__
    return f"python -m {spec.parent}" if spec and spec.parent else None


def _plot(ladder: Ladder, options: argparse.Namespace) -> int:
    """Draw the ladder's records; stdout says where each figure lies and what it shows."""
    device = devices.find(options.device).name if ladder.on_gpu else devices.cpu_name()
    frame = records.measured(device, ladder.name)
    figures = plots.figures_of(frame[frame["step"].isin(options.steps)], ladder.title)
    options.plot.mkdir(parents=True, exist_ok=True)
    for name, figure in figures.items():
        path = options.plot / f"{ladder.name}_{name}.png"
        plots.save(figure, path)
        print(f"{path}: {figure.alt_text}")
    return 0


def _rows(ladder: Ladder, options: argparse.Namespace, console: Console) -> list[Row]:
    steps = [ladder.step(name) for name in options.steps]
    variants = _variants(steps, options.params)
    sizes = options.n or (ladder.sizes if options.record else ladder.quick)
    shapes = [ladder.parse(size) for size in sizes]
    device = devices.current() if ladder.on_gpu else None
    if device:
        variants = _that_run(variants, device)
    if device or not ladder.on_gpu:
        plan = [(shape, variants) for shape in shapes]
        if options.record and not options.n and not options.params:
            plan = _record_plan(ladder, variants)
        return _measure(ladder, plan, device, options.record, console)
    if options.record:
        raise CourseError(
            f"--record needs a CUDA device. {devices.why_no_device()} Run it on a machine with a "
            "GPU, or leave --record away."
        )
    recorded = devices.find(options.device)
    with console.status(f"{ladder.title} on the virtual GPU"):
        rows = list(recorded_rows(ladder, variants, shapes if options.n else [], recorded))
    print(devices.why_no_device(), _what_is_shown(rows, recorded.name), file=sys.stderr)
    return rows


def _variants(steps: Sequence[Step], params: Sequence[str]) -> list[Variant]:
    """Every variant of the steps, or those whose constants are named; CourseError if none is."""
    variants = [Variant(step, constants) for step in steps for constants in step.variants()]
    for wanted in params:
        if wanted not in (variant.params for variant in variants):
            offered = dict.fromkeys(variant.params for variant in variants if variant.params)
            raise CourseError(
                f"No step has the constants '{wanted}': choose some of {', '.join(offered)}."
            )
    return [variant for variant in variants if not params or variant.params in params]


def _that_run(variants: Sequence[Variant], device: devices.Device) -> list[Variant]:
    """Those that the device has the instructions for; the others are named on stderr."""
    able = [each for each in variants if each.step.runs_on(device.compute_capability)]
    missing = dict.fromkeys(each.step.name for each in variants if each not in able)
    if missing:
        print(f"{device.name} is too old for {', '.join(missing)}: left out.", file=sys.stderr)
    return able


def _record_plan(
    ladder: Ladder, variants: Sequence[Variant]
) -> list[tuple[Shape, list[Variant]]]:
    """What a whole record holds: the defaults at every size, everything at those of the sweep."""
    defaults = [each for each in variants if each.constants == each.step.constants()]
    sweep = ladder.sizes if ladder.sweep is None else ladder.sweep
    return [
        (ladder.parse(size), list(variants) if size in sweep else defaults) for size in ladder.sizes
    ]


def _what_is_shown(rows: list[Row], device: str) -> str:
    if any(row.recorded_on for row in rows):
        return f"The figures were recorded on {device}."
    return f"Nothing is recorded on {device} for this: run it with --record on such a machine."


def _measure(
    ladder: Ladder,
    plan: Sequence[tuple[Shape, list[Variant]]],
    device: devices.Device | None,
    record: bool,
    console: Console,
) -> list[Row]:
    """Measure shape by shape; each is recorded as soon as it is finished."""
    rows: list[Row] = []
    with Progress(console=console, transient=True) as progress:
        bar = progress.add_task(ladder.title, total=sum(len(each) for _, each in plan))
        for shape, variants in plan:
            of_shape = []
            for row in measured_rows(ladder, variants, shape, device):
                of_shape.append(row)
                progress.advance(bar)
            if record:
                _record(ladder, of_shape)
            rows += of_shape
    return rows


def _record(ladder: Ladder, rows: Sequence[Row]) -> None:
    """Write what was right: a wrong kernel has no speed."""
    right = [row.record for row in rows if row.verdict.passed]
    if right:
        path = records.DATA / "measured" / devices.slug(right[0].device) / f"{ladder.name}.csv"
        choosing = [step.name for step in ladder.steps if step.choose]
        records.write(right, path, [step.name for step in ladder.steps], choosing)
        print(f"Recorded in {path.relative_to(records.DATA.parent)}.", file=sys.stderr)


def _as_json(row: Row) -> dict:
    """All columns of the record, and `verified` (bool), `verified_on`, `recorded_on`."""
    return asdict(row.record) | {
        "verified": row.verdict.passed,
        "verified_on": row.verified_on,
        "recorded_on": row.recorded_on,
    }


def _table(rows: Sequence[Row]) -> Table:
    lines = [_cells(row) for row in rows]
    headers = dict.fromkeys(header for line in lines for header in line)
    table = Table(box=box.SIMPLE)
    for header in headers:
        table.add_column(header, justify="left" if header in ("step", "verified") else "right")
    for line in lines:
        table.add_row(*(line.get(header, "") for header in headers))
    return table


def _where(rows: Sequence[Row]) -> str:
    figures = dict.fromkeys(
        f"recorded on {row.recorded_on}" if row.recorded_on else f"measured on {row.record.device}"
        for row in rows
        if row.record.time_ms
    )
    verified = dict.fromkeys(f"verified on {row.verified_on}" for row in rows)
    return "; ".join([*(figures or ["no figures"]), *verified])


def _cells(row: Row) -> dict[str, str]:
    """Header -> text; what a row does not know has no entry."""
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
    if record.m is not None:
        return str(GemmShape(record.m, record.n, record.k))
    return "" if record.elements is None else str(ReduceShape(record.elements))
