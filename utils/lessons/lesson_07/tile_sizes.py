"""A bar chart of products with tiles of 8, 16 and 32: published and recorded speeds."""

from __future__ import annotations

import pandas as pd

from utils.machine import devices
from virtual_gpu.pictures.svg import BLUE, GREY, Picture, legend, rect, svg, text

SIZE = 1024
TILES = (8, 16, 32)
BAR, ROOM, LEFT, WIDTH = 13, 17, 74, 400


def draw_tile_sizes(published: pd.DataFrame, measured: pd.DataFrame) -> Picture:
    """Draw bars of the speed of products at 1024×1024×1024, by GPU and tile size, inside a fold.

    The speed is in percent of each GPU's peak. The bar "naive" is the product without tiles.

    Parameters
    ----------
    published : DataFrame
        The rows of `data/published/gemm_gpu.csv`. Rates in units of 2^30 are converted to units of
        10^9.
    measured : DataFrame
        Records of the product ladder on one device.
    """
    bars_by_device = shares(published, measured)
    most = max(max(each.values()) for each in bars_by_device.values())
    recorded_device = next(reversed(bars_by_device))
    parts, y = [], 14
    for device, bars in bars_by_device.items():
        parts.append(text(0, y, device, size=13, font_weight="600"))
        y += 6
        for name, percent in bars.items():
            length = (WIDTH - LEFT - 50) * percent / most
            parts.append(text(LEFT - 8, y + 11, name, anchor="end"))
            parts.append(rect(LEFT, y, length, BAR, BLUE if device == recorded_device else GREY))
            parts.append(text(LEFT + length + 6, y + 11, f"{percent:.1f} %"))
            y += ROOM
        y += 20
    alt_text = "Share of the peak at 1024×1024×1024. " + " ".join(
        f"{device}: {', '.join(f'{name} {p:.1f} %' for name, p in bars.items())}."
        for device, bars in bars_by_device.items()
    )
    key = legend(published=GREY, recorded_for_this_course=BLUE)
    parts = key + svg(WIDTH, y - 12, "".join(parts), alt_text, widest=520)
    folded = f"<details><summary>The bars of {len(bars_by_device)} GPUs</summary>{parts}</details>"
    return Picture(folded, alt_text)


def shares(published: pd.DataFrame, measured: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return GPU -> bar -> percentage of the peak at 1024×1024×1024.

    The key of a GPU is its name and a year, such as "Tesla K40, 2014", and the key of a bar is
    "naive" or such as "tile 16". The published GPUs come first, then the recorded device.
    published: the rows of `data/published/gemm_gpu.csv`. measured: records of the product ladder on
    one device.
    """
    return {**_published(published), **_measured(measured)}


def _published(frame: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return GPU -> bar -> published percentage of the data sheet's peak, in the order of the rows.

    The key of a GPU is such as "Tesla K40, 2014". The key of a bar is "naive" for a row of the
    kernel "trivial", and such as "tile 16" for one of the kernel "shared". Rows of other kernels
    are left out. All published products of these two kernels are 1024×1024×1024.
    """
    percentages: dict[str, dict[str, float]] = {}
    for row in frame[frame["kernel"].isin(["trivial", "shared"])].itertuples():
        name = "naive" if row.kernel == "trivial" else f"tile {row.block.partition('x')[0]}"
        gflops = float(row.gflops) * (2**30 / 1e9 if row.gflops_base == "2^30" else 1)
        percent = 100 * gflops / devices.find(row.device).peak_gflops
        percentages.setdefault(f"{row.device}, {row.year}", {})[name] = percent
    return percentages


def _measured(frame: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return {GPU: {bar: recorded percentage of the peak}} for the only device of the records.

    The key of the GPU is its name and the year of the latest record, and the key of a bar is
    "naive" or such as "tile 16". Only products of 1024×1024×1024 count; a bar without a record is
    left out.
    """
    cubes = frame[(frame[["m", "n", "k"]] == SIZE).all(axis=1)]
    wanted = {("naive", ""): "naive"}
    wanted |= {("tiled", f"TILE={tile}"): f"tile {tile}" for tile in TILES}
    percentages = {
        wanted[row.step, row.params]: 100 * row.efficiency
        for row in cubes.itertuples()
        if (row.step, row.params) in wanted
    }
    bars = {name: percentages[name] for name in wanted.values() if name in percentages}
    return {f"{frame['device'].iloc[0]}, {frame['date'].max()[:4]}": bars}
