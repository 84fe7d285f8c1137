"""The search for the constants of `autotuned`: `python -m gemm_kernels tune [SIZE ...]`.

The compiler's output comes first: candidates that spill registers, or of which fewer blocks fit on
an SM than they were built for, are not timed. Of the others, only those are timed whose loop is
most promising and that should keep the GPU busy. Every timing is written to `data/tuned` at once,
so a search that was stopped continues where it was.
"""

from __future__ import annotations

import argparse
import datetime
import math
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing import get_context

import numpy as np
from numba import cuda
from rich.console import Console
from rich.progress import track

from gemm_kernels import LADDER
from gemm_kernels.autotuned import STEP
from gemm_kernels.dispatch import constants
from gemm_kernels.dispatch.constants import TimedCandidate, TunedConstants
from gemm_kernels.parts.slices import plan
from gpu_xray import xray
from utils.division import cdiv
from utils.errors import CourseError
from utils.ladder.problems import draw
from utils.ladder.shapes import GemmShape
from utils.ladder.step import Variant
from utils.ladder.verify import execute
from utils.machine.devices import Device
from utils.machine.occupancy import WARP, limits_of, occupancy
from utils.measuring import rows
from utils.measuring.command_line import Command, device_for
from utils.measuring.rows import Date
from utils.measuring.timing import Timing, time_gpu

# Earlier rows have more multiply-adds per read, later rows more blocks.
TILE_CONSTANTS = ("BM", "BN", "BK", "TM", "TN", "BLOCKS")
TILES = (
    (128, 256, 8, 16, 8, 1),
    (128, 128, 16, 16, 8, 2),
    (64, 128, 16, 16, 8, 4),
    (64, 128, 8, 16, 8, 4),
    (96, 128, 16, 12, 8, 3),
    (48, 128, 16, 12, 8, 6),
    (64, 64, 8, 16, 8, 7),
    (64, 128, 8, 8, 8, 4),
    (64, 64, 16, 8, 8, 6),
    (64, 64, 8, 8, 8, 6),
    (64, 32, 16, 8, 4, 8),
    (64, 32, 8, 8, 4, 8),
)
# The number of orders that are timed per tile; all orders are the same work.
ORDERS = 2
CANDIDATES = 24
# The cost of beginning and storing a tile or a slice, in steps; fitted to timings of drafts.
BEGINNING = 4


def _configure(parser: argparse.ArgumentParser) -> None:
    """Add the positional arguments SIZE to the command's parser."""
    parser.add_argument(
        "sizes", nargs="*", metavar="SIZE", default=list(LADDER.sizes),
        help=f"default: {' '.join(LADDER.sizes)}",
    )  # fmt: skip


def _run(options: argparse.Namespace) -> int:
    """Tune the shapes of the command line, print their constants, and return the exit code 0.

    Raises CourseError without a GPU.
    """
    shapes = [LADDER.parse(size) for size in options.sizes]
    device = device_for(
        "tune", "Run it on a machine with a GPU; without one, `autotuned` uses what was found "
        "elsewhere.",
    )  # fmt: skip
    for shape in shapes:
        tune(shape, device, Console(stderr=True))
    return 0


COMMAND = Command("tune", "find the constants of `autotuned` for this GPU", _configure, _run)


def tune(shape: GemmShape, device: Device, console: Console) -> None:
    """Time the variants that `candidates` returns for a shape, except those with a recorded time.

    Each timing is added to the device's file in `data/tuned/` at once. Then the fastest variant in
    the file at this shape is verified, and its constants are printed. Raises CourseError if its
    result is wrong.
    """
    path = constants.file_of(device.name)
    done = [vars(each.constants) for each in constants.tuned(device.name) if each.shape == shape]
    new = [variant for variant in candidates(shape, device) if variant.constants not in done]
    a, b = draw("uniform", (shape.m, shape.k), 1), draw("uniform", (shape.k, shape.n), 2)
    inputs = cuda.to_device(a), cuda.to_device(b)
    out = cuda.device_array((shape.m, shape.n), np.float32)
    library = LADDER.library.bind(inputs, out)
    for variant in track(new, f"{shape}", console=console, transient=True):
        execution = variant.execution(shape, inputs, out)
        timing, *library_timing = time_gpu([execution, library] if library else [execution])
        timed = _timed(shape, variant, timing, library_timing)
        rows.write(path, [*constants.tuned(device.name), timed], TimedCandidate)
    constants.forget()
    best = STEP.variant(**constants.choose(shape))
    problem = STEP.task.problem(shape, "integers")
    verdict = execute(LADDER, best, problem, inputs=tuple(map(cuda.to_device, problem.inputs)))
    if not verdict.passed:
        raise CourseError(f"{best} at {shape} is {verdict}: remove its rows from {path.name}.")
    console.print(f"{shape}: {best.params}")


def candidates(shape: GemmShape, device: Device) -> list[Variant]:
    """Return the variants of `autotuned` that are worth timing at a shape, most promising first.

    There are at most CANDIDATES of them. The first call compiles all kernels of the search.
    """
    possible = [
        (estimate(shape, variant, facts.cycles_per_ffma, device), variant)
        for sizes, facts in _kernels(device, TILES)
        for slices in STEP.choices["SLICES"]
        for variant in [STEP.variant(**sizes, SLICES=slices)]
    ]
    ranked = sorted((pair for pair in possible if pair[0] < math.inf), key=lambda pair: pair[0])
    return [variant for _, variant in ranked[:CANDIDATES]]


@dataclass(frozen=True)
class Facts:
    """Facts about a compiled kernel.

    fits: True if it spills no registers, and as many blocks fit on an SM as it was built for.
    early_uses: the number of shared loads in the hot loop whose value is used before it usually
        arrives.
    cycles_per_ffma: the estimated cycles per multiply-add of the hot loop; nan without a loop.
    """

    fits: bool
    early_uses: int
    cycles_per_ffma: float


def examine(sizes: dict[str, int], device: Device) -> Facts:
    """Compile `autotuned` with the constants `sizes` and return facts about its machine code.

    `sizes` maps names of constants to values. It must have BM, BN, TM, TN and BLOCKS; another
    constant that is left out has its default. No GPU is needed.
    """
    variant = STEP.variant(**sizes)
    report = xray(variant.kernel, STEP.signature, device.arch)
    threads = sizes["BM"] // sizes["TM"] * (sizes["BN"] // sizes["TN"])
    resident = occupancy(device.compute_capability, threads, report.registers, report.shared_bytes)
    fits = not report.spill_bytes and resident.blocks >= sizes["BLOCKS"]
    return Facts(fits, report.early_uses, report.cycles_per_ffma)


@cache
def _kernels(device: Device, tiles: tuple) -> list[tuple[dict[str, int], Facts]]:
    """Return (constants, facts) of the kernels that fit, for at most ORDERS orders per tile.

    `tiles` holds values of TILE_CONSTANTS. The orders are those with the fewest early uses and then
    the fewest cycles per multiply-add. All tiles are compiled with all orders, in several
    processes, and the result is cached. Constants are a dict from name to value.
    """
    orders = STEP.choices["ORDER"]
    named = [dict(zip(TILE_CONSTANTS, tile, strict=True)) for tile in tiles]
    every = [tile | {"ORDER": order} for tile in named for order in orders]
    # A compilation takes seconds and one core, so all cores compile.
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        examined = pool.map(partial(examine, device=device), every)
        facts = list(track(examined, "compiling", total=len(every), transient=True))
    kernels = list(zip(every, facts, strict=True))
    promising = []
    for start in range(0, len(kernels), len(orders)):
        fitting = [pair for pair in kernels[start : start + len(orders)] if pair[1].fits]
        fitting.sort(key=lambda pair: (pair[1].early_uses, pair[1].cycles_per_ffma))
        promising += fitting[:ORDERS]
    return promising


def estimate(shape: GemmShape, variant: Variant, cycles_per_ffma: float, device: Device) -> float:
    """Return the estimated cycles of the busiest SM, or infinity for variants not worth a try.

    `cycles_per_ffma` is that of the variant's kernel, and `shape` must have n and k that are
    multiples of 4. A variant with SLICES > 1 is not worth a try if its tiles fill more than one
    wave, or cannot be cut into that many slices.
    """
    names = ("BM", "BN", "BK", "BLOCKS", "SLICES")
    BM, BN, BK, BLOCKS, SLICES = (variant.constants[name] for name in names)
    schedulers = limits_of(device.compute_capability).sub_partitions
    tiles, how = plan(shape, BM, BN, BK, BLOCKS, SLICES)
    many = how.whole or tiles * SLICES > BLOCKS * device.sms
    if SLICES > 1 and (many or how.slices < SLICES):
        return math.inf
    steps = cdiv(shape.k, BK)
    waves, rest = divmod(how.whole, BLOCKS * device.sms)
    last = cdiv(rest + (tiles - how.whole) * how.slices, device.sms)
    # With fewer warps than schedulers, a scheduler has no work.
    fewest = schedulers * WARP / variant.launch(shape).block[0]
    last = max(last, fewest) if last else 0
    all_steps = waves * BLOCKS * (steps + BEGINNING) + last * (steps / how.slices + BEGINNING)
    return all_steps * BM * BN * BK / (schedulers * WARP) * cycles_per_ffma


def _timed(
    shape: GemmShape, variant: Variant, timing: Timing, library: Sequence[Timing]
) -> TimedCandidate:
    """Return the row of a timed variant; `library` holds the library's timing, or nothing."""
    return TimedCandidate(
        shape=shape,
        constants=TunedConstants(**variant.constants),
        time_ms=timing.median_ms,
        gflops=shape.flops / timing.median_ms / 1e6,
        library_ratio=library[0].median_ms / timing.median_ms if library else None,
        date=Date(datetime.date.today().isoformat()),
    )
