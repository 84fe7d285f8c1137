"""`python -m gemm_kernels tune-shapes`: time random shapes and fit the constants of `estimate`.

Random shapes are timed with every tiling of both kernels that may be worth it. Then the estimate's
constants are fitted to all timings of the device.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numba import cuda
from rich.console import Console
from rich.progress import track

from gemm_kernels import autotuned
from gemm_kernels.as_called import matrix, shapes
from gemm_kernels.dispatch import constants, routes
from gemm_kernels.dispatch.estimate import (
    FILE,
    KINDS,
    Costs,
    DeviceSpeed,
    Estimate,
    KernelFit,
    candidates,
    estimate_us,
    speed_of,
)
from gemm_kernels.parts import slices, strided
from gemm_kernels.parts.strided import Tiling
from utils.ladder.shapes import GemmShape
from utils.launching import arrays
from utils.launching.plan import LaunchPlan
from utils.launching.slots import Factor
from utils.launching.workspace import WorkspaceLayout
from utils.measuring import rows
from utils.measuring.command_line import Command, device_for

TILINGS = {
    "wide": (
        Tiling(128, 256, 8, 16, 8, 1), Tiling(128, 128, 16, 16, 8, 2),
        Tiling(96, 128, 16, 12, 8, 3),
        Tiling(64, 128, 8, 16, 8, 4), Tiling(64, 64, 16, 8, 8, 6), Tiling(64, 64, 8, 8, 8, 6),
        Tiling(64, 32, 16, 8, 4, 8),
    ),
    "strided": (
        Tiling(128, 256, 8, 16, 8, 1), Tiling(128, 128, 16, 16, 8, 2),
        Tiling(96, 128, 16, 12, 8, 2),
        Tiling(64, 128, 8, 16, 8, 4), Tiling(64, 64, 16, 8, 8, 6), Tiling(64, 64, 8, 8, 8, 6),
        Tiling(64, 32, 8, 8, 4, 8), Tiling(32, 64, 16, 8, 4, 8), Tiling(32, 128, 8, 8, 8, 6),
        Tiling(32, 32, 16, 8, 4, 8), Tiling(16, 128, 8, 4, 8, 8),
    ),
}  # fmt: skip
ORDER = 2
COUNT, SEED = 150, 7
CONSTANTS = ("BM", "BN", "BK", "TM", "TN", "BLOCKS")  # the constants of a tiling except SLICES
BURST_US, BURSTS, MOST_CALLS = 1200.0, 3, 100


@dataclass(frozen=True)
class TilingTime:
    """The time of one product of a shape with a tiling, in microseconds.

    `kind` is the kind of kernel, "wide" or "strided". `us` is the time.
    """

    kind: str
    shape: GemmShape
    tiling: Tiling
    us: float


def _configure(parser: argparse.ArgumentParser) -> None:
    """Add the options --count, --seed and --fit to the command's parser."""
    parser.add_argument("--count", type=int, default=COUNT, help="shapes; default: %(default)s")
    parser.add_argument(
        "--seed", type=int, default=SEED, help="of the shapes; default: %(default)s"
    )
    parser.add_argument("--fit", action="store_true", help="time nothing, fit the constants again")


def _run(options: argparse.Namespace) -> int:
    """Time random shapes, unless only a fit is asked for, then fit, write and rate the estimate.

    The timings and the constants of the estimate replace their files. Returns the exit code 0.
    Raises CourseError without a GPU, and with --fit if there are no recorded timings.
    """
    device = device_for("tune-shapes")
    path = file_of(device.name)
    if not options.fit:
        write(timings(options.count, options.seed, device.sms), path)
    timed = read(path)
    estimate = fit(timed, speed_of(device))
    FILE.write_text(as_toml(estimate, device.name), encoding="utf-8")
    ratios = regrets(timed, estimate, speed_of(device))
    mean = math.exp(np.mean(np.log(ratios)))
    print(
        f"{len(timed)} timings of {len(ratios)} choices: the estimate's choice takes {mean:.3f} × "
        f"the time of the fastest in the geometric mean, at worst {max(ratios):.2f}."
    )
    return 0


COMMAND = Command(
    "tune-shapes", "time random shapes and fit the estimate that chooses tiles", _configure, _run
)


def file_of(device: str) -> Path:
    """Return the path of the CSV file with a device's timings of random shapes."""
    path = constants.file_of(device)
    return path.with_name(f"{path.stem}_shapes.csv")


def calls_of(kind: str, tiling: Tiling, shape: GemmShape, inputs, out, allocate, factors):
    """Return the calls of one product with a tiling, as a tuple, in order.

    `kind` is "strided" or "wide". `allocate` gives memory for slices. `factors` is (alpha, beta),
    of which "wide" uses only alpha.
    """
    if kind == "strided":
        return strided.products(tiling, shape, inputs, out, allocate, factors)
    sizes = {name: getattr(tiling, name) for name in ("BM", "BN", "BK", "TM", "TN", "BLOCKS")}
    variant = autotuned.STEP.variant(**sizes, ORDER=ORDER, SLICES=tiling.SLICES)
    return slices.products(variant, shape, inputs, out, allocate, factors[0])


def timings(count: int, seed: int, sms: int) -> Iterator[TilingTime]:
    """Time every candidate at `count` random shapes; yield each time as soon as it is measured.

    `sms` is the number of SMs of the device. The kind "wide" is timed with n and k rounded up to
    multiples of 4, as for copies.
    """
    random_shapes = [shape for shape, _, _ in shapes(count, seed)]
    for asked in track(random_shapes, "Tilings", console=Console(stderr=True), transient=True):
        for kind, shape in (("wide", routes.padded(asked)), ("strided", asked)):
            matrices = (
                matrix(0, (shape.m, shape.k), "rows"),
                matrix(1, (shape.k, shape.n), "rows"),
                matrix(2, (shape.m, shape.n), "rows"),
            )
            for tiling in TILINGS[kind]:
                for sliced in candidates(kind, shape, tiling, sms):
                    call = _bound(kind, sliced, shape, matrices)
                    yield TilingTime(kind, shape, sliced, _burst_us(call))


def _bound(kind: str, tiling: Tiling, shape: GemmShape, matrices: tuple) -> Callable[[], None]:
    """Return a function () that starts the product of `matrices`, (a, b, out), with a tiling.

    `kind` is "wide" or "strided". The function does not wait for the GPU.
    """
    a, b, out = (arrays.slot_of(array, number) for number, array in enumerate(matrices))
    layout = WorkspaceLayout(first=3)
    calls = calls_of(kind, tiling, shape, (a, b), out, layout.allocate, (Factor(0), Factor(1)))
    run = LaunchPlan(tuple(calls), arrays=3, factors=2, layout=layout).ready(0)
    pointers = tuple(array.__cuda_array_interface__["data"][0] for array in matrices)
    return partial(run, pointers, (1.0, 0.0), 0, matrices)


def _burst_us(call: Callable[[], None]) -> float:
    """Return the wall time per call in microseconds, the shortest of BURSTS series of calls.

    A series has 3 to MOST_CALLS calls and takes about BURST_US. Calls before the first series are
    not counted.
    """
    call()
    once = _wall_us(call, 3)
    calls = max(3, min(MOST_CALLS, int(BURST_US / once)))
    return min(_wall_us(call, calls) for _ in range(BURSTS))


def _wall_us(call: Callable[[], None], calls: int) -> float:
    """Return the wall time per call in microseconds, averaged over `calls` calls in a row.

    It ends when the GPU has finished.
    """
    cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    cuda.synchronize()
    return 1e6 * (time.perf_counter() - begin) / calls


def write(timed: Iterable[TilingTime], path: Path) -> None:
    """Write the timings to the CSV file `path` and replace what it held before."""
    rows.write(path, timed, TilingTime, digits=5)


def read(path: Path) -> tuple[TilingTime, ...]:
    """Return the timings in the CSV file `path`, in its order.

    Raises CourseError if the file does not exist or is not such a record.
    """
    return rows.read(path, TilingTime)


# --------------------------------------------------------------------------------------- the fit
ROUNDS, STEP, DAMPING = 12, 1e-3, 1e-2
FIRST = Costs(
    call_us=4.0, adding_us=2.5, beginning=20.0, storing=20.0, reading=0.7, writing=0.5, overlap=2.0
)
FIRST_FACTS = KernelFit(cycles=1.5, warps=5.0)
COSTS = tuple(FIRST.__dataclass_fields__)


def fit(timed: Sequence[TilingTime], speed: DeviceSpeed) -> Estimate:
    """Return the estimate whose constants fit the timings best; fast candidates have most weight.

    The squared errors of the logarithms are minimized with damped Gauss-Newton steps over the
    logarithms of all constants. `speed` is that of the device that was timed.
    """
    kernels = sorted({(each.kind, each.tiling.sliced(1)) for each in timed}, key=str)
    numbers = {kernel: number for number, kernel in enumerate(kernels)}
    x = np.log([*(getattr(FIRST, name) for name in COSTS),
                *[FIRST_FACTS.cycles, FIRST_FACTS.warps] * len(kernels)])  # fmt: skip
    anchor = x.copy()
    fastest = _fastest(timed)
    weights = np.array([(fastest[each.kind, each.shape] / each.us) ** 2 for each in timed])
    weights = np.sqrt(weights / weights.sum())
    times = np.log([each.us for each in timed])
    own = [len(COSTS) + 2 * numbers[each.kind, each.tiling.sliced(1)] for each in timed]

    def errors(x: np.ndarray) -> np.ndarray:
        """Return log(estimated time / measured time) per timing; x holds logs of constants."""
        values = np.exp(x)
        costs = Costs(*values[: len(COSTS)])
        expected = [
            estimate_us(each.shape, each.tiling, KernelFit(*values[at : at + 2]), costs, speed)
            for each, at in zip(timed, own, strict=True)
        ]
        return np.log(expected) - times

    for _ in range(ROUNDS):
        now = errors(x)
        slopes = np.zeros((len(timed), len(x)))
        for number in range(len(COSTS)):
            moved = x.copy()
            moved[number] += STEP
            slopes[:, number] = (errors(moved) - now) / STEP
        for which in range(2):  # a kernel's facts change its own timings alone
            moved = x.copy()
            moved[len(COSTS) + which :: 2] += STEP
            slope = (errors(moved) - now) / STEP
            slopes[np.arange(len(timed)), np.array(own) + which] = slope
        system = np.vstack([slopes * weights[:, None], DAMPING * np.eye(len(x))])
        right = np.concatenate([-now * weights, DAMPING * (anchor - x)])
        step, *_ = np.linalg.lstsq(system, right, rcond=None)
        x += np.clip(step, -0.5, 0.5)
    tilings = {kind: {} for kind in KINDS}
    for (kind, tiling), number in numbers.items():
        at = len(COSTS) + 2 * number
        tilings[kind][tiling] = KernelFit(*map(float, np.exp(x[at : at + 2])))
    return Estimate(Costs(*map(float, np.exp(x[: len(COSTS)]))), tilings)


def regrets(timed: Sequence[TilingTime], known: Estimate, speed: DeviceSpeed) -> list[float]:
    """Return, per shape and kind, the time of the estimate's choice over the fastest time.

    Both times were measured, so the ratios are at least 1. Their order is that in which the pairs
    of shape and kind first appear in `timed`.
    """
    chosen: dict[tuple, tuple[float, float]] = {}
    for each in timed:
        facts = known.tilings[each.kind][each.tiling.sliced(1)]
        pair = estimate_us(each.shape, each.tiling, facts, known.costs, speed), each.us
        key = each.kind, each.shape
        chosen[key] = min(chosen.get(key, pair), pair)
    fastest = _fastest(timed)
    return [us / fastest[key] for key, (_, us) in chosen.items()]


def _fastest(timed: Sequence[TilingTime]) -> dict[tuple[str, GemmShape], float]:
    """Return a dict from (kind of kernel, shape) to the shortest of its times, in microseconds.

    The kind is "wide" or "strided".
    """
    fastest: dict[tuple[str, GemmShape], float] = {}
    for each in timed:
        key = each.kind, each.shape
        fastest[key] = min(fastest.get(key, math.inf), each.us)
    return fastest


def as_toml(known: Estimate, device: str) -> str:
    """Return the TOML text of `estimate.toml` with these constants; a comment names the device."""
    lines = [f"# Fitted to timings on one {device} by `python -m gemm_kernels tune-shapes`.", ""]
    lines += ["[costs]", *(f"{name} = {getattr(known.costs, name):.4g}" for name in COSTS)]
    for kind, tilings in known.tilings.items():
        for tiling, facts in tilings.items():
            lines += ["", "[[tilings]]", f'kind = "{kind}"']
            lines += [f"{name} = {getattr(tiling, name)}" for name in CONSTANTS]
            lines += [f"cycles = {facts.cycles:.4g}", f"warps = {facts.warps:.4g}"]
    return "\n".join(lines) + "\n"
