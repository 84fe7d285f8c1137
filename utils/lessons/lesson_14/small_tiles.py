"""The recorded times of the lesson's small tiles, by the order of their loads."""

from __future__ import annotations

from utils.lessons.cards import Table, table
from utils.machine.devices import REFERENCE, slug
from utils.measuring import rows
from utils.measuring.kernel_times import ProductTime
from utils.paths import DATA

# Kernel -> its name in the table, and the multiply-adds between its last load and first store in
# machine code, compiled for sm_90 by CUDA 13.0.
KERNELS = {
    "starter": ("load, then multiply", 0),
    "order_loads": ("order_loads, one buffer", 4),
    "while, 1 - side": ("while, side = 1 - side", 2),
    "while, side ^ 1": ("while, side ^= uint32(1)", 11),
    "range, 1 - side": ("for, side = 1 - side", 4),
    "range, side ^ 1": ("for, side ^= uint32(1)", 13),
}


def recorded_tiles() -> tuple[ProductTime, ...]:
    """Return the rows of `loads_between.csv` of the reference device, in the order of timing."""
    return tuple(rows.read(DATA / "measured" / slug(REFERENCE) / "loads_between.csv", ProductTime))


def show_times() -> Table:
    """Return a table of the recorded ms of the kernels with small tiles, one row per kernel.

    The columns are the multiply-adds between the last load and the first store in machine code, and
    the time of an n×n product for each recorded n.
    """
    timed = {(row.kernel, row.n): row.time_ms for row in recorded_tiles()}
    sizes = sorted({n for _, n in timed})
    cells = [
        (f"`{name}`", between, *(f"{timed[kernel, n]:.2f} ms" for n in sizes))
        for kernel, (name, between) in KERNELS.items()
    ]
    head = ("", "multiply-adds between load and store", *(f"{n}×{n}" for n in sizes))
    return table(f"Tiles of 16×16, timed in turns on one {REFERENCE}", head, cells)
