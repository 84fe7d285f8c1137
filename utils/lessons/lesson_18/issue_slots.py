"""The cycles of one block of a reduction: recorded, and from what the profiler counted."""

from __future__ import annotations

from collections.abc import Iterable

from utils.lessons.cards import Table, table
from utils.machine import devices
from utils.machine.occupancy import limits_of


def cycles_table(times: Iterable, slots: Iterable, block: int = 256) -> Table:
    """Return a table with a row per kernel that was timed and profiled on the same device.

    The columns are the cycles that an SM's schedulers need to issue the instructions of one block,
    the share of the cycles in which they issue, and the recorded cycles per block at the greatest
    length.

    times: rows of `remainder.csv`, as `reduce_kernels.remainder.recorded_times()` returns them.
    slots: rows of `issue_slots.csv`. block: the threads per block; a thread of reduce3 has two
    elements, and one of the other kernels one.
    """
    times, slots = list(times), {(row.device, row.kernel): row for row in slots}
    longest = max(row.elements for row in times)
    rows = []
    for row in times:
        if row.elements == longest and (slot := slots.get((row.device, row.kernel))):
            device, each = devices.find(row.device), 2 if row.kernel == "reduce3" else 1
            schedulers = limits_of(device.compute_capability).sub_partitions
            issued = slot.instructions / (slot.elements / (block * each)) / schedulers
            recorded = row.time_ms * 1e3 * device.boost_clock_mhz * device.sms
            rows.append(
                (
                    row.kernel.replace("_", " "),
                    f"{issued:.0f}",
                    f"{slot.busy:.0%}",
                    f"{recorded / (row.elements / (block * each)):.0f}",
                )
            )
    head = ("", "instructions", "schedulers busy", "recorded")
    return table(f"Cycles of one block, {times[0].device}", head, rows)
