"""Tables and pictures of lesson 17: split-k slices, the search for constants, and library calls."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator
from functools import cache

import pandas as pd

from utils.division import cdiv
from utils.figures import times
from utils.lessons.cards import Stack, Table, table
from utils.lessons.lesson_17.call_paths import PATHS, copies_us, path_of
from utils.lessons.lesson_17.call_speedups import draw_speedups
from utils.lessons.lesson_17.cube_ratios import draw_ratios
from utils.machine.devices import REFERENCE, find, slug
from utils.measuring import records
from utils.paths import DATA
from virtual_gpu.pictures.svg import Picture

SMS = 132
BM, BN, BK = 128, 256, 8  # of the kernel with one block per SM
LARGE = 1e9  # floating-point operations of a product that is called large
MOST = 12  # the largest number of slices
NEAR = 1.05  # a time up to this factor of the best counts as near
WORK = (("below 10⁸", 0, 1e8), ("10⁸ to 10⁹", 1e8, 1e9), ("from 10⁹ on", 1e9, math.inf))
SHOWN = ("register_blocked", "register_banks", "autotuned")  # steps beside cuBLAS
WIDE, ANY = "wide", "strided"  # the kernel of `autotuned`, and the one that reads any layout


def estimate(count: int, tiles: int, sms: int, steps: int) -> int:
    """Return the estimated time of a product; the unit is the time of one step along k of one tile.

    Each of the `tiles` tiles is cut into `count` slices along k, and an uncut tile takes `steps`
    steps. Each of the `sms` SMs computes one slice at a time, which takes 2 steps more than it has.
    If tiles are cut, adding their slices takes 4 steps.
    """
    waves = cdiv(tiles * count, sms)
    return waves * (cdiv(steps, count) + 2) + (4 if count > 1 else 0)


def draw_slices(m: int, n: int, k: int) -> Picture:
    """Draw the estimated and the recorded time in ms for each recorded number of slices per tile.

    The product has an m×k and a k×n factor. Numbers of slices above 12 are left out. The time of
    one step comes from the record with uncut tiles. Raises KeyError if the product is not recorded.
    """
    recorded = {count: us for count, us in _slices()[WIDE, m, n, k].items() if count <= MOST}
    tiles, steps = tiles_and_steps(m, n, k)
    step = recorded[1] / estimate(1, tiles, SMS, steps) / 1000
    bars = {
        f"{count} slice{'s' * (count > 1)}": (
            step * estimate(count, tiles, SMS, steps),
            recorded[count] / 1000,
        )
        for count in sorted(recorded)
    }
    return times.draw_estimates(bars, f"{tiles} tiles on {SMS} SMs, one {REFERENCE}")


def tiles_and_steps(m: int, n: int, k: int) -> tuple[int, int]:
    """Return (number of 128×256 tiles in an m×n matrix c, number of steps of 8 along k)."""
    return cdiv(m, BM) * cdiv(n, BN), cdiv(k, BK)


def recorded_slices(m: int, n: int, k: int, count: int) -> float:
    """Return the recorded microseconds of a product with each tile cut into `count` slices.

    The kernel is the one of `autotuned`. Raise KeyError if the product or the count is not
    recorded.
    """
    return _slices()[WIDE, m, n, k][count]


def tiles_tried(m: int, n: int, k: int) -> Table:
    """Return a table of the recorded block tiles of an m×n×k product.

    The tile with the longest of the shortest times comes first. The columns are the block tile, the
    percentage of the tiles' rows that are inside of c, the time in ms with uncut tiles, the
    shortest time in ms with its number of slices, and the percentage of the peak at that time. The
    kernel is the one of `autotuned`.
    """
    rows = sorted(_tiles_tried(m, n, k), key=lambda row: -row[0])
    head = ("block tile", "rows in use", "not cut", "the fastest cut", "of the peak")
    return table(f"{m}×{n}×{k}, recorded on one {REFERENCE}", head, [row[1:] for row in rows])


def _tiles_tried(m: int, n: int, k: int) -> Iterator[tuple]:
    """Yield a tuple per recorded block tile: its shortest microseconds, and five cells of a table.

    The cells are the block tile, the percentage of the tiles' rows that are inside of c, the time
    with uncut tiles, the shortest time with its number of slices, and the percentage of the peak,
    as texts.
    """
    frame = pd.read_csv(DATA / "tuned" / f"{slug(REFERENCE)}_shapes.csv")
    frame = frame.query("kind == @WIDE and m == @m and n == @n and k == @k")
    for (rows, columns, depth), timed in frame.groupby(["BM", "BN", "BK"]):
        best = timed.loc[timed["us"].idxmin()]
        uncut = timed.loc[timed["SLICES"] == 1, "us"].item()
        peak = 2 * m * n * k / best["us"] / 1000 / find(REFERENCE).peak_gflops
        yield (
            best["us"], f"{rows}×{columns}×{depth}", f"{m / (cdiv(m, rows) * rows):.0%}",
            f"{uncut / 1000:.2f} ms", f"{best['us'] / 1000:.2f} ms, in {best['SLICES']}",
            f"{peak:.0%}",
        )  # fmt: skip


def choices(slices: Callable[[int, int, int], int]) -> Table:
    """Return a table that compares a function's number of slices with the fastest recorded one.

    Parameters
    ----------
    slices : callable
        The solution of the exercise `slices`: (tiles, SMs, steps) -> number of slices per tile.

    Returns
    -------
    Table
        One row for uncut tiles and one for this function. Each time is divided by the time of the
        fastest number of slices. The columns are the geometric mean of the quotients, the largest
        quotient, how many products have the fastest number, and how many are within 5% of its
        time. If the function's number is not recorded for a product, the largest recorded number
        below it counts. The table covers the shapes with fewer tiles than SMs and more than one
        recorded number up to 12, for the kernel that reads any layout.
    """
    chosen, uncut = [], []
    for (kind, *shape), recorded in _slices().items():
        tiles, steps = tiles_and_steps(*shape)
        known = {count: us for count, us in recorded.items() if count <= MOST}
        if kind == ANY and tiles < SMS and len(known) > 1:
            fastest = min(known.values())
            chosen.append(known[_nearest(slices(tiles, SMS, steps), known)] / fastest)
            uncut.append(known[1] / fastest)
    rows = [
        (
            name,
            f"{_mean(ratios):.2f}×",
            f"{max(ratios):.2f}×",
            sum(ratio == 1 for ratio in ratios),
            sum(ratio <= NEAR for ratio in ratios),
        )
        for name, ratios in (("never cut", uncut), ("your function", chosen))
    ]
    head = ("", "mean", "worst", "the best", f"within {NEAR - 1:.0%}")
    caption = f"{len(chosen)} recorded products: time over the time of the best number of slices"
    return table(caption, head, rows)


def _nearest(count: int, known: dict[int, float]) -> int:
    """Return the largest key of `known` that is at most `count`; 1 if `count` is less than 1.

    `known` maps the recorded numbers of slices, which include 1, to times.
    """
    return max(one for one in known if one <= max(count, 1))


def _mean(ratios: Iterable[float]) -> float:
    """Return the geometric mean of the ratios."""
    return statistics.geometric_mean(ratios)


@cache
def _slices() -> dict[tuple, dict[int, float]]:
    """Return (kind of kernel, m, n, k) -> number of slices -> recorded microseconds; cached.

    The kernel has tiles of 128×256 and one block per SM.
    """
    frame = pd.read_csv(DATA / "tuned" / f"{slug(REFERENCE)}_shapes.csv")
    frame = frame[(frame["BM"] == BM) & (frame["BN"] == BN) & (frame["BLOCKS"] == 1)]
    return {
        key: dict(zip(rows["SLICES"].astype(int), rows["us"], strict=True))
        for key, rows in frame.groupby(["kind", "m", "n", "k"])
    }


def searched(cut: Callable) -> Table:
    """Return a table of the fastest candidate of the search for constants, per n×n×n product.

    The columns are its block tile, its thread tile, which tiles it cuts along k, and the slowest
    candidate's time over its time. `cut` is the function `cut` of `gemm_kernels.parts.slices`.
    """
    frame = pd.read_csv(DATA / "tuned" / f"{slug(REFERENCE)}.csv")
    (candidates,) = set(frame.groupby(["m", "n", "k"]).size())
    return table(f"The fastest of {candidates} candidates at each size", (
        "", "block tile", "thread tile", "tiles cut along k", "slowest ÷ fastest",
    ), list(_searched(frame, cut)))  # fmt: skip


def _searched(frame: pd.DataFrame, cut: Callable) -> Iterator[tuple[str, ...]]:
    """Yield a row of five texts on the search for constants, per n×n×n product.

    They are: n, the fastest candidate's block tile, thread tile and tiles cut along k, and the
    slowest candidate's time over its time. frame: one row per candidate and size. cut: the function
    `cut` of `gemm_kernels.parts.slices`.
    """
    for (m, n, k), rows in frame.groupby(["m", "n", "k"]):
        if m == n == k:
            best = rows.loc[rows["time_ms"].idxmin()]
            tile = f"{best['BM']:.0f}×{best['BN']:.0f}×{best['BK']:.0f}"
            worse = rows["time_ms"].max() / rows["time_ms"].min()
            thread = f"{best['TM']:.0f}×{best['TN']:.0f}"
            yield f"{m}", tile, thread, _how_cut(best, cut), f"{worse:.2f}×"


def _how_cut(best: pd.Series, cut: Callable) -> str:
    """Return text on which tiles a candidate cuts along k: "none", "all, in 4" or "the rest, in 4".

    The rest are the tiles after the last full wave, and the number is that of slices per tile.
    """
    tiles = cdiv(best["m"], best["BM"]) * cdiv(best["n"], best["BN"])
    steps = cdiv(best["k"], best["BK"])
    how = cut(int(tiles), int(SMS * best["BLOCKS"]), int(steps), int(best["SLICES"]))
    if how.slices == 1:
        return "none"
    return f"{'the rest' if how.whole else 'all'}, in {how.slices}"


def recorded_calls() -> pd.DataFrame:
    """Return the recorded `sgemm` calls at random shapes, one row per call.

    The columns are those of the record and `flops`, the floating-point operations of the product.
    Calls with m = n = k are left out.
    """
    frame = pd.read_csv(records.file_of(REFERENCE, "as_called"))
    frame = frame[frame["function"] == "sgemm"]
    cubes = (frame["m"] == frame["n"]) & (frame["n"] == frame["k"])
    return frame[~cubes].assign(flops=2 * frame["m"] * frame["n"] * frame["k"])


def where_ahead() -> str:
    """Return words on how often `sgemm` is no slower than the library, such as "in more than half".

    They are the right choice of the question 17.large, by the recorded calls at random shapes with
    at least `LARGE` operations.
    """
    frame = recorded_calls()
    share = float((frame[frame["flops"] >= LARGE]["ratio"] >= 1).mean())
    if share > 0.5:
        return "in more than half"
    return "in a quarter to half" if share >= 0.25 else "in less than a quarter"


def called_shapes() -> Stack:
    """Return the picture and the table of the recorded `sgemm` calls at random shapes."""
    return Stack((draw_called_shapes(), called_by_work()))


def draw_called_shapes() -> Picture:
    """Draw a dot per recorded call of `sgemm` at a random shape.

    Its height is the library's time over that of `sgemm`, its position along x the floating-point
    operations of the product, and its colour tells how `sgemm` computes the product.
    """
    frame = recorded_calls()
    points = {
        name: list(zip(rows["flops"], rows["ratio"], strict=True))
        for name, rows in by_path(frame).items()
    }
    return draw_speedups(f"{len(frame)} calls from Python: library ÷ ours", points)


def by_path(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return way to compute a product -> the rows of `frame` that `sgemm` computes in this way.

    The keys are those of PATHS, in their order; ways without a call are left out. frame: rows of
    `recorded_calls`.
    """
    paths = frame.apply(path_of, axis=1)
    return {path: frame[paths == path] for path in PATHS if (paths == path).any()}


def called_by_work() -> Table:
    """Return a table of the recorded `sgemm` calls at random shapes.

    It has a row per range of operations in `WORK` and way to compute the product, if any call is of
    both. The columns are the range, the way, the number of shapes, the number at which `sgemm` is
    no slower than the library, and the geometric mean of the library's time over that of `sgemm`.
    """
    frame = recorded_calls()
    rows = [
        (label, name, len(calls), (calls["ratio"] >= 1).sum(), f"{_mean(calls['ratio']):.2f}")
        for label, low, high in WORK
        for name, calls in by_path(
            frame[(frame["flops"] >= low) & (frame["flops"] < high)]
        ).items()
    ]
    head = ("operations", "our call", "shapes", "ours no slower", "library ÷ ours, mean")
    return table(f"The same calls, recorded on one {REFERENCE}", head, rows)


def share_of_copies(calls: pd.DataFrame) -> pd.Series:
    """Return the estimated time of a call's copies over its recorded time, per row of `calls`.

    The copies are those of a, b and c that `sgemm` makes for its fast kernel. calls: rows of
    `recorded_calls`.
    """
    return calls.apply(copies_us, axis=1) / calls["time_us"]


def draw_cubes() -> Picture:
    """Draw the recorded library's time over that of three steps' kernels, per n×n×n product.

    The steps are `register_blocked`, `register_banks` and `autotuned`, with a curve each. If a step
    has several recorded variants of a size, the fastest counts.
    """
    frame = records.measured(REFERENCE, "gemm")
    frame = frame[(frame["m"] == frame["n"]) & (frame["n"] == frame["k"])]
    frame = frame.sort_values("time_ms").drop_duplicates(["step", "n"])
    steps = {name: frame[frame["step"] == name] for name in SHOWN}
    return draw_ratios(
        f"kernels alone: cuBLAS ÷ ours, one {REFERENCE}",
        {name: dict(zip(rows["n"], rows["library_ratio"])) for name, rows in steps.items()},
    )


def called_cubes() -> Table:
    """Return a table of the recorded `sgemm` calls with m = n = k, one row per size.

    The columns are the share of the peak of the kernel `autotuned` alone, the library's time over
    the time of this kernel, and the library's time over that of the whole call.
    """
    frame = pd.read_csv(records.file_of(REFERENCE, "as_called"))
    frame = frame[(frame["function"] == "sgemm") & (frame["m"] == frame["n"])]
    frame = frame[frame["n"] == frame["k"]]
    kernels = records.measured(REFERENCE, "gemm")
    kernels = kernels[kernels["step"] == "autotuned"].set_index(["m", "n", "k"])
    rows = []
    for row in frame.itertuples():
        alone = kernels.loc[(row.m, row.n, row.k)]
        rows.append((f"{row.m:.0f}", f"{alone['efficiency']:.0%}", f"{alone['library_ratio']:.2f}",
                     f"{row.ratio:.2f}"))  # fmt: skip
    head = ("", "share of the peak", "cuBLAS ÷ ours, kernel", "library ÷ ours, call")
    return table(f"Cubes, recorded on one {REFERENCE}", head, rows)
