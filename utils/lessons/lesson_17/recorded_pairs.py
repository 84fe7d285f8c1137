"""Two records: the asynchronous copy apart from the thread tile, and a product of few rows."""

from __future__ import annotations

from gemm_kernels import copies_alone
from utils.lessons.cards import Table, table
from utils.machine.devices import REFERENCE, find, slug
from utils.measuring import rows
from utils.measuring.kernel_times import ShapeTime
from utils.paths import DATA


def copy_times() -> dict[str, dict[int, float]]:
    """Return kernel -> n -> recorded ms of an n×n product on the reference device.

    Kernels have their names without constants.
    """
    found: dict[str, dict[int, float]] = {}
    for row in copies_alone.recorded_times():
        if row.device == REFERENCE:
            found.setdefault(row.kernel.partition(" ")[0], {})[row.n] = row.time_ms
    return found


def show_copy_times() -> Table:
    """Return a table of the recorded ms of three kernels, a row each, and a column per n×n size.

    The kernels are `warp_tiled` with 8×8 elements of c per thread, one with 16×8 without the
    asynchronous copy, and `async_copy`, which has 16×8 and the copy.
    """
    timed = copy_times()
    words = {
        "warp_tiled": "`warp_tiled`: 8×8, no copy",
        "without_copy": "16×8, no copy",
        "async_copy": "`async_copy`: 16×8, copy",
    }
    sizes = list(timed["async_copy"])
    cells = [(words[name], *(_ms(timed[name][n]) for n in sizes)) for name in words]
    return table(f"Timed in turns on one {REFERENCE}", ("", *(f"{n}×{n}" for n in sizes)), cells)


def few_rows() -> dict[str, ShapeTime]:
    """Return kernel -> its row of `few_rows.csv` of the reference device.

    All are of one product of few rows. A key is a block tile with its slices, such as "128×256, 3
    slices", "sgemm" or "cuBLAS".
    """
    file = DATA / "measured" / slug(REFERENCE) / "few_rows.csv"
    return {row.kernel: row for row in rows.read(file, ShapeTime)}


def share_of_peak(row: ShapeTime) -> float:
    """Return the fraction of the device's peak that a product reaches."""
    return 2 * row.m * row.n * row.k / row.time_ms / 1e6 / find(row.device).peak_gflops


def _ms(value: float) -> str:
    return f"{value:.3g} ms"
