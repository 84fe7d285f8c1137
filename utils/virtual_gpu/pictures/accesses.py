"""Pictures of one warp's access: which bank, or which sector, each of its 32 lanes asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..counters import WarpAccess
from ..lanes import WARP
from ..transactions import BANK_BYTES, BANKS, SECTOR_BYTES, bank_load

if TYPE_CHECKING:  # Matplotlib is optional, and only a picture waits for its import
    from matplotlib.figure import Figure

LANE_COLOUR = "#0072b2"
CONFLICT_COLOUR = "#d55e00"
INK = "#222222"


def draw_banks(access: WarpAccess) -> Figure:
    """32 lanes × 32 banks for one access of 4 bytes a lane to shared memory.

    A bank that must serve several different words is drawn in orange: those are its wavefronts.
    Raises ValueError for an access that is not to shared memory.
    """
    if access.space != "shared":
        raise ValueError(f"{access.array} is in {access.space} memory, which has no banks")
    words = np.array([[-1 if a is None else a // BANK_BYTES for a in access.addresses]])
    load = bank_load(words)[0]
    figure, axes = _card(6.4, 4.6)
    for lane, word in enumerate(words[0]):
        if word >= 0:
            crowded = load[word % BANKS] > 1
            axes.add_patch(_square(word % BANKS, lane, CONFLICT_COLOUR if crowded else LANE_COLOUR))
    _grid(axes, BANKS, "bank")
    worst = int(load.max())
    plural = "wavefront" if worst == 1 else "wavefronts"
    axes.set_title(f"{access.kind} of {access.array}: {worst} {plural}", color=INK)
    figure.alt_text = (
        f"Lanes by banks for one {access.kind} of {access.array}: the busiest bank serves {worst} "
        f"different words, so the warp takes {worst} {plural}."
    )
    return figure


def draw_sectors(access: WarpAccess) -> Figure:
    """32 lanes × the 32-byte sectors that one access to global memory touches.

    Raises ValueError for an access that is not to global memory.
    """
    if access.space != "global":
        raise ValueError(f"{access.array} is in {access.space} memory, which has no sectors")
    sectors = [None if a is None else a // SECTOR_BYTES for a in access.addresses]
    touched = sorted({s for s in sectors if s is not None})
    columns = {sector: column for column, sector in enumerate(touched)}
    figure, axes = _card(6.4, 4.6)
    for lane, sector in enumerate(sectors):
        if sector is not None:
            axes.add_patch(_square(columns[sector], lane, LANE_COLOUR))
    _grid(axes, max(len(touched), 8), "sector that is touched (32 bytes each)")
    axes.set_title(f"{access.kind} of {access.array}: {len(touched)} sectors", color=INK)
    figure.alt_text = (
        f"Lanes by sectors for one {access.kind} of {access.array}: the warp touches "
        f"{len(touched)} sectors of 32 bytes."
    )
    return figure


def _card(width: float, height: float):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(width, height), facecolor="white", layout="constrained")
    axes.set_facecolor("white")
    return figure, axes


def _square(column: int, lane: int, colour: str):
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.42, lane - 0.42), 0.84, 0.84, color=colour)


def _grid(axes, columns: int, label: str) -> None:
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(WARP - 0.5, -0.5), xlabel=label, ylabel="lane")
    axes.set_xticks(range(0, columns, max(1, columns // 8)))
    axes.set_yticks(range(0, WARP, 4))
    axes.set_xticks(np.arange(-0.5, columns), minor=True)
    axes.set_yticks(np.arange(-0.5, WARP), minor=True)
    axes.grid(which="minor", color="#dddddd", linewidth=0.5)
    axes.tick_params(which="minor", length=0)
    axes.tick_params(colors=INK)
    axes.xaxis.label.set_color(INK)
    axes.yaxis.label.set_color(INK)
