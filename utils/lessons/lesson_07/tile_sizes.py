"""The product with tiles of 8, 16 and 32, as it was published and as it was measured."""

from __future__ import annotations

import pandas as pd

from utils.machine import devices
from virtual_gpu.pictures.svg import BLUE, GREY, Picture, legend, rect, svg, text

SIZE = 1024
TILES = (8, 16, 32)
BAR, ROOM, LEFT, WIDTH = 13, 17, 74, 400


def draw_tile_sizes(published: pd.DataFrame, measured: pd.DataFrame) -> Picture:
    """A bar for each tile size on each GPU, in % of its peak, at 1024×1024×1024; it folds out.

    published: `data/published/gemm_gpu.csv`, whose GFLOP/s in 2^30 become 10^9. measured: records
    of one device.
    """
    bars_of = shares(published, measured)
    most = max(max(each.values()) for each in bars_of.values())
    ours = next(reversed(bars_of))
    drawn, y = [], 14
    for device, bars in bars_of.items():
        drawn.append(text(0, y, device, size=13, font_weight="600"))
        y += 6
        for name, percent in bars.items():
            long = (WIDTH - LEFT - 50) * percent / most
            drawn.append(text(LEFT - 8, y + 11, name, anchor="end"))
            drawn.append(rect(LEFT, y, long, BAR, BLUE if device == ours else GREY))
            drawn.append(text(LEFT + long + 6, y + 11, f"{percent:.1f} %"))
            y += ROOM
        y += 20
    told = "Share of the peak at 1024×1024×1024. " + " ".join(
        f"{device}: {', '.join(f'{name} {p:.1f} %' for name, p in bars.items())}."
        for device, bars in bars_of.items()
    )
    key = legend(published=GREY, recorded_for_this_course=BLUE)
    drawn = key + svg(WIDTH, y - 12, "".join(drawn), told, widest=520)
    folded = f"<details><summary>The bars of {len(bars_of)} GPUs</summary>{drawn}</details>"
    return Picture(folded, told)


def shares(published: pd.DataFrame, measured: pd.DataFrame) -> dict[str, dict[str, float]]:
    """What is drawn: for each GPU the percentages of its bars by name, ours last."""
    return {**_published(published), **_measured(measured)}


def _published(frame: pd.DataFrame) -> dict[str, dict[str, float]]:
    """For each GPU of Córdoba 2016 its shares of the data sheet's peak, in percent."""
    found: dict[str, dict[str, float]] = {}
    for row in frame[frame["kernel"].isin(["trivial", "shared"])].itertuples():
        name = "naive" if row.kernel == "trivial" else f"tile {row.block.partition('x')[0]}"
        gflops = float(row.gflops) * (2**30 / 1e9 if row.gflops_base == "2^30" else 1)
        percent = 100 * gflops / devices.find(row.device).peak_gflops
        found.setdefault(f"{row.device}, {row.year}", {})[name] = percent
    return found


def _measured(frame: pd.DataFrame) -> dict[str, dict[str, float]]:
    cubes = frame[(frame[["m", "n", "k"]] == SIZE).all(axis=1)]
    wanted = {("naive", ""): "naive"}
    wanted |= {("tiled", f"TILE={tile}"): f"tile {tile}" for tile in TILES}
    found = {
        wanted[row.step, row.params]: 100 * row.efficiency
        for row in cubes.itertuples()
        if (row.step, row.params) in wanted
    }
    bars = {name: found[name] for name in wanted.values() if name in found}
    return {f"{frame['device'].iloc[0]}, {frame['date'].max()[:4]}": bars}
