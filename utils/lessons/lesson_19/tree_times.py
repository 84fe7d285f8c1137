"""The recorded times of `reduce5` with other trees, and without a tree."""

from __future__ import annotations

from reduce_kernels import trees_alone
from utils.ladder.shapes import ReduceShape
from utils.lessons.block_sums import block_of
from utils.lessons.cards import Table, table
from utils.machine.devices import REFERENCE

ELEMENTS = 2**30
WORDS = {
    "reduce3": "`reduce3`: a loop, 9 barriers",
    "reduce4": "`reduce4`: warp 0 goes on alone",
    "reduce5": "`reduce5`: unrolled",
    "last_by_shuffles": "shuffles for the last steps",
    "all_by_shuffles": "shuffles for the whole tree",
    "without_tree": "no tree, and a wrong sum",
}


def tree_times() -> dict[str, float]:
    """Return kernel -> recorded ms for 2³⁰ elements on the reference device."""
    return {
        row.kernel: row.time_ms
        for row in trees_alone.recorded_times()
        if (row.device, row.elements) == (REFERENCE, ELEMENTS)
    }


def show_tree_times() -> Table:
    """Return a table of the kernels of `trees_alone`, one row per kernel, in their order there.

    The columns are the barriers per warp and the requests to shared memory per block, both counted
    for a full block, and the recorded ms of 2³⁰ elements.
    """
    timed, cells = tree_times(), []
    for variant in trees_alone.variants():
        name, block = variant.step.name, block_of(variant)
        cells.append(
            (WORDS[name], f"{block.barriers:g}", f"{block.requests:g}", f"{timed[name]:.2f} ms")
        )
    size = ReduceShape(ELEMENTS)
    caption = f"{size} elements, two per thread, timed in turns on one {REFERENCE}"
    return table(caption, ("", "barriers per warp", "requests per block", "time"), cells)
