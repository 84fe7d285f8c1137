"""The search behind `autotuned`: `python -m gemm_kernels --tune [SIZE ...]`.

What the compiler says comes first: candidates that spill registers, or of which fewer blocks fit on
an SM than they were built for, are not timed, and of the others only those that should keep the GPU
busy. Every timing is kept in `data/tuned` as soon as it is made, so a search that was stopped goes
on where it was.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import itertools
import sys
from collections.abc import Iterator, Sequence

import numpy as np
from numba import cuda
from rich.console import Console
from rich.progress import track

from gemm_kernels import LADDER, choices
from gemm_kernels.autotuned import BK, STEP
from gemm_kernels.slices import plan
from utils import devices
from utils.devices import Device
from utils.errors import CourseError
from utils.occupancy import occupancy
from utils.shapes import GemmShape
from utils.steps import Variant
from utils.timing import time_gpu
from utils.verify import draw, execute
from utils.versions import explained
from utils.xray import xray

# (BM, BN, TM, TN, BLOCKS): more multiply-adds per read to the left, more blocks to the right.
TILES = (
    (128, 256, 16, 8, 1),
    (128, 128, 16, 8, 2),
    (64, 128, 16, 8, 4),
    (64, 64, 16, 8, 7),
    (64, 128, 8, 8, 4),
    (64, 64, 8, 8, 6),
    (64, 32, 8, 4, 8),
)
CANDIDATES = 12
REFUSED = 2
COLUMNS = ("m", "n", "k", *choices.CONSTANTS, "time_ms", "gflops", "library_ratio", "date")


def main(arguments: Sequence[str]) -> int:
    """Tune for the given sizes, or for those of the ladder; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m gemm_kernels --tune", description="Find the constants of `autotuned`."
    )
    parser.add_argument("sizes", nargs="*", metavar="SIZE", default=list(LADDER.sizes))
    console = Console(stderr=True)
    try:
        shapes = [LADDER.parse(size) for size in parser.parse_args(arguments).sizes]
        device = devices.current()
        if device is None:
            raise CourseError(
                f"--tune needs a CUDA device. {devices.why_no_device()} Run it on a machine with a "
                "GPU; without one, `autotuned` uses what was found elsewhere."
            )
        with explained():
            for shape in shapes:
                tune(shape, device, console)
    except CourseError as error:
        print(error, file=sys.stderr)
        return REFUSED
    return 0


def tune(shape: GemmShape, device: Device, console: Console) -> None:
    """Time the most promising candidates at one shape that were not timed before."""
    path = choices.FOLDER / f"{device.slug}.csv"
    done = {row[: len(COLUMNS) - 4] for row in _rows(path)}
    names = [variant for variant in candidates(shape, device) if _key(shape, variant) not in done]
    a, b = draw("uniform", (shape.m, shape.k), 1), draw("uniform", (shape.k, shape.n), 2)
    inputs = cuda.to_device(a), cuda.to_device(b)
    out = cuda.device_array((shape.m, shape.n), np.float32)
    library = LADDER.library.bind(inputs, out)
    for variant in track(names, f"{shape}", console=console, transient=True):
        ours = STEP.bind(variant, shape, inputs, out)
        timing, *theirs = time_gpu([ours, library] if library else [ours])
        ratio = f"{theirs[0].median_ms / timing.median_ms:.4f}" if theirs else ""
        gflops = f"{shape.flops / timing.median_ms / 1e6:.0f}"
        today = datetime.date.today().isoformat()
        _append(path, (*_key(shape, variant), f"{timing.median_ms:.6g}", gflops, ratio, today))
    choices.forget()
    best = Variant(STEP, STEP.constants(**choices.choose(shape)))
    problem = STEP.task.problem(shape, "integers")
    verdict = execute(LADDER, best, problem, inputs=tuple(map(cuda.to_device, problem.inputs)))
    if not verdict.passed:
        raise CourseError(f"{best} at {shape} is {verdict}: remove its rows from {path.name}.")
    console.print(f"{shape}: {best.params}")


def candidates(shape: GemmShape, device: Device) -> list[Variant]:
    """What is worth timing, the most promising first."""
    ranked = sorted(_possible(shape, device), key=lambda pair: -pair[0])
    return [variant for _, variant in ranked[:CANDIDATES]]


def _possible(shape: GemmShape, device: Device) -> Iterator[tuple[float, Variant]]:
    """Variants that can run as they were meant, and the share of the GPU's FMAs they could use."""
    major, minor = device.compute_capability
    for tile, order in itertools.product(TILES, STEP.choices["ORDER"]):
        constants = dict(zip(("BM", "BN", "TM", "TN", "BLOCKS"), tile)) | {"ORDER": order}
        kernel = STEP.variant(**constants).kernel
        seen = xray(kernel, STEP.signature, f"sm_{major}{minor}")
        threads = STEP.launch(shape, **STEP.constants(**constants)).block[0]
        fit = occupancy(device.compute_capability, threads, seen.registers, seen.shared_bytes)
        if seen.spill_bytes or fit.blocks < constants["BLOCKS"]:
            continue
        for slices in STEP.choices["SLICES"]:
            variant = STEP.variant(**constants, SLICES=slices)
            busy = _busy(shape, variant)
            if busy:
                yield busy * seen.ffma_share, variant


def _busy(shape: GemmShape, variant: Variant) -> float:
    """The work over what the slots could do until the last block ends; 0 for a needless repeat."""
    names = ("BM", "BN", "BLOCKS", "SLICES")
    BM, BN, BLOCKS, SLICES = (variant.constants[name] for name in names)
    tiles, how = plan(shape, BK, BM, BN, BLOCKS, SLICES)
    if how.whole and SLICES > 1:
        return 0.0
    slots = BLOCKS * cuda.get_current_device().MULTIPROCESSOR_COUNT
    rounds = how.whole // slots if how.slices > 1 else -(-tiles // slots)
    if how.slices > 1:
        rounds += how.first / how.steps
    # Each slice costs about two steps more: to begin, and to be added.
    rounds += 2 * how.slices / how.steps
    return shape.m * shape.n / (BM * BN) / (rounds * slots)


def _key(shape: GemmShape, variant: Variant) -> tuple[str, ...]:
    values = (variant.constants[name] for name in choices.CONSTANTS)
    return tuple(map(str, (shape.m, shape.n, shape.k, *values)))


def _rows(path) -> list[tuple[str, ...]]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [tuple(row) for row in csv.reader(file)][1:]


def _append(path, row: tuple[str, ...]) -> None:
    new = not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(COLUMNS)
        writer.writerow(row)
