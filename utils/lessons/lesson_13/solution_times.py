"""The recorded times of the solution of `wide_tiles`, for readers without a GPU."""

from __future__ import annotations

from utils.lessons.cards import Table, table
from utils.machine.devices import REFERENCE, slug
from utils.measuring import rows
from utils.measuring.kernel_times import ProductTime
from utils.paths import DATA


def recorded_solution() -> tuple[ProductTime, ...]:
    """Return the times of `register_blocked`, of `vectorized` and of the solution, in this order.

    They were timed in turns on the reference device.
    """
    file = DATA / "measured" / slug(REFERENCE) / "wide_tiles.csv"
    return tuple(rows.read(file, ProductTime))


def show_solution_times() -> Table:
    """Return a table of `recorded_solution`: median, least and most in ms, one row per kernel."""
    timed, names = recorded_solution(), {"wide_tiles": "solution of wide_tiles"}
    cells = []
    for row in timed:
        name = names.get(row.kernel) or row.kernel.partition(" ")[0]
        cells.append((name, *map(_ms, (row.time_ms, row.time_ms_min, row.time_ms_max))))
    n, mhz = timed[0].n, timed[0].sm_clock_mhz
    note = f"Timed in turns on one {REFERENCE}, 7 repetitions at {mhz / 1e3:.2f} GHz."
    return table(f"Recorded at {n}×{n}", ("", "median", "least", "most"), cells, note)


def _ms(value: float) -> str:
    return f"{value:.2f} ms"
