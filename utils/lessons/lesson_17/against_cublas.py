"""Lesson 17: cut tiles, estimated and recorded; a search; calls beside those of a library."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache

import pandas as pd

from utils.figures import times
from utils.lessons.cards import Table, table
from utils.lessons.lesson_17.called_figure import draw_called
from utils.lessons.published import claimed
from utils.machine import devices
from utils.machine.devices import REFERENCE, slug
from utils.measuring import records
from utils.paths import DATA
from virtual_gpu.pictures.svg import Picture

SMS = 132
BM, BN, BK = 128, 256, 8  # of the kernel whose blocks have an SM for themselves
MOST = 12  # slices
NEAR = 1.05  # times the best
WORK = (
    ("below 10⁸", 0, 1e8),
    ("10⁸ to 10⁹", 1e8, 1e9),
    ("10⁹ to 10¹⁰", 1e9, 1e10),
    ("10¹⁰ to 10¹¹", 1e10, 1e11),
    ("from 10¹¹ on", 1e11, math.inf),
    ("all", 0, math.inf),
)
WIDE, ANY = "wide", "strided"  # the kernel of `autotuned`, and the one that reads any layout


def estimate(count: int, tiles: int, sms: int, steps: int) -> int:
    """The time of a product in steps, with each tile cut in so many slices."""
    waves = -(-tiles * count // sms)
    return waves * (-(-steps // count) + 2) + (4 if count > 1 else 0)


def draw_slices(m: int, n: int, k: int) -> Picture:
    """For each recorded number of slices: the estimate, and the recorded time in ms.

    A step is as long as the record of the tiles that are not cut says.
    """
    recorded = {count: us for count, us in _slices()[WIDE, m, n, k].items() if count <= MOST}
    tiles, steps = tiles_and_steps(m, n, k)
    step = recorded[1] / estimate(1, tiles, SMS, steps) / 1000
    shown = {
        f"{count} slice{'s' * (count > 1)}": (
            step * estimate(count, tiles, SMS, steps),
            recorded[count] / 1000,
        )
        for count in sorted(recorded)
    }
    return times.draw_estimates(shown, f"{tiles} tiles on {SMS} SMs, one {REFERENCE}")


def tiles_and_steps(m: int, n: int, k: int) -> tuple[int, int]:
    """Tiles of 128×256 in c, and steps of 8 along k."""
    return -(-m // BM) * -(-n // BN), -(-k // BK)


def recorded_slices(m: int, n: int, k: int, count: int) -> float:
    """The recorded microseconds of a product with its tiles cut in so many slices."""
    return _slices()[WIDE, m, n, k][count]


def choices(slices: Callable[[int, int, int], int]) -> Table:
    """What a function chooses for the shapes with fewer tiles than SMs, recorded in any layout.

    slices: as the exercise of this name asks. Its choice, and no cut at all, against the fastest.
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
        for name, ratios in (("never cut", uncut), ("as the function says", chosen))
    ]
    head = ("", "mean", "worst", "the best", f"within {NEAR - 1:.0%}")
    caption = f"{len(chosen)} recorded products: time over the time of the best number of slices"
    return table(caption, head, rows)


def _nearest(count: int, known: dict[int, float]) -> int:
    """The recorded number that is chosen, or the one below it."""
    return max(one for one in known if one <= max(count, 1))


def _mean(ratios: list[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


@cache
def _slices() -> dict[tuple, dict[int, float]]:
    """By kind of kernel and shape, the microseconds of each number of slices."""
    frame = pd.read_csv(DATA / "tuned" / f"{slug(REFERENCE)}_shapes.csv")
    frame = frame[(frame["BM"] == BM) & (frame["BN"] == BN) & (frame["BLOCKS"] == 1)]
    return {
        key: dict(zip(rows["SLICES"].astype(int), rows["us"], strict=True))
        for key, rows in frame.groupby(["kind", "m", "n", "k"])
    }


def searched(cut: Callable) -> Table:
    """What the search over constants found at each cube. cut: of `gemm_kernels.parts.slices`."""
    frame = pd.read_csv(DATA / "tuned" / f"{slug(REFERENCE)}.csv")
    (many,) = set(frame.groupby(["m", "n", "k"]).size())
    return table(f"The fastest of {many} candidates at each size", (
        "", "block tile", "thread tile", "tiles cut along k", "slowest ÷ fastest",
    ), list(_searched(frame, cut)))  # fmt: skip


def _searched(frame: pd.DataFrame, cut: Callable) -> Iterator[tuple[str, ...]]:
    for (m, n, k), rows in frame.groupby(["m", "n", "k"]):
        if m == n == k:
            best = rows.loc[rows["time_ms"].idxmin()]
            tile = f"{best['BM']:.0f}×{best['BN']:.0f}×{best['BK']:.0f}"
            worse = rows["time_ms"].max() / rows["time_ms"].min()
            thread = f"{best['TM']:.0f}×{best['TN']:.0f}"
            yield f"{m}", tile, thread, _how_cut(best, cut), f"{worse:.2f}×"


def _how_cut(best: pd.Series, cut: Callable) -> str:
    """What a candidate cuts at its shape: all tiles, the rest behind the full waves, or none."""
    tiles = -(-best["m"] // best["BM"]) * -(-best["n"] // best["BN"])
    steps = -(-best["k"] // best["BK"])
    how = cut(int(tiles), int(SMS * best["BLOCKS"]), int(steps), int(best["SLICES"]))
    if how.slices == 1:
        return "none"
    return f"{'the rest' if how.whole else 'all'}, in {how.slices}"


def called() -> pd.DataFrame:
    """The recorded calls of `sgemm` at random shapes, with `flops`, the work of each."""
    frame = pd.read_csv(records.file_of(REFERENCE, "as_called"))
    frame = frame[frame["function"] == "sgemm"]
    cubes = (frame["m"] == frame["n"]) & (frame["n"] == frame["k"])
    return frame[~cubes].assign(flops=2 * frame["m"] * frame["n"] * frame["k"])


def share_at_least_as_fast() -> float:
    """Of the random shapes, how many % took no longer than the library's call."""
    return 100 * float((called()["ratio"] >= 1).mean())


def draw_called_shapes() -> Picture:
    """Each random shape by its work: the library's time over that of `sgemm`."""
    frame = called()
    points = list(zip(frame["flops"], frame["ratio"], strict=True))
    return draw_called(f"{len(points)} calls from Python: library ÷ ours", points)


def called_by_work() -> Table:
    """The calls at random shapes, by the work of the product."""
    frame = called()
    rows = [
        _of_work(words, frame[(frame["flops"] >= low) & (frame["flops"] < high)])
        for words, low, high in WORK
    ]
    head = ("operations", "shapes", "no longer than the library", "library ÷ ours, mean",
            "our time before the call returns")  # fmt: skip
    return table("The same calls", head, rows)


def _of_work(words: str, frame: pd.DataFrame) -> tuple[str, ...]:
    return (
        words,
        f"{len(frame)}",
        f"{(frame['ratio'] >= 1).sum()}",
        f"{_mean(list(frame['ratio'])):.2f}",
        f"{(frame['host_us'] / frame['time_us']).mean():.0%}",
    )


def called_cubes() -> Table:
    """The recorded calls at cubes, and the kernels alone."""
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


def published_library() -> Table:
    """cuBLAS as Córdoba 2016 printed it, and as it was recorded: its share of the peak."""
    frame = records.published("gemm_gpu")
    printed = frame[frame["kernel"] == "cublas"].iloc[0]
    card = devices.find(printed["device"])
    by_time = 2 * printed["m"] ** 3 / printed["time_ms"] / 1e6 / card.fp32_gflops
    larger = f"{claimed('cuBLAS at N = 2048 and 4096: share of the peak'):.0f}%"
    kernels = records.measured(REFERENCE, "gemm")
    kernels = kernels[(kernels["step"] == "autotuned") & (kernels["m"] == kernels["n"])]
    share = (kernels["efficiency"] / kernels["library_ratio"]).set_axis(kernels["n"])
    rows = [
        (f"{card.name}, printed", f"{printed['efficiency_pct']:.0f}%", larger, larger),
        ("the same, by its printed time", f"{by_time:.0%}", "", ""),
        (f"{REFERENCE}, recorded", *(f"{share[size]:.0%}" for size in (1024, 2048, 4096))),
    ]
    return table("cuBLAS: share of the peak", ("", "1024", "2048", "4096"), rows)
