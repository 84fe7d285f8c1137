"""The cycles of one block of a reduction: recorded, and from what the profiler counted."""

from __future__ import annotations

from collections.abc import Iterable

from utils.lessons.cards import Table, table
from utils.machine import devices
from utils.machine.occupancy import limits_of

PER_THREAD = {"reduce3": 2}  # elements that a thread loads, where it is not one


def cycles_table(times: Iterable, slots: Iterable, block: int = 256) -> Table:
    """Return a table with a row per kernel that was both profiled and timed on one device.

    The columns are the cycles that an SM's schedulers need to issue the instructions of one block,
    the share of the cycles in which they issue, and the recorded cycles per block at the greatest
    length. The device is that of the first row of `slots`, and the rows are in the order of
    `times`.

    times: rows of `remainder.csv`, as `reduce_kernels.remainder.recorded_times()` returns them.
    slots: rows of `issue_slots.csv`, at least one. block: the threads per block; a thread of
    reduce3 has two elements, and one of the other kernels one.
    """
    slots = list(slots)
    device = devices.find(slots[0].device)
    of_kernel = {slot.kernel: slot for slot in slots if slot.device == slots[0].device}
    timed = [row for row in times if row.device == slots[0].device and row.kernel in of_kernel]
    longest = max((row.elements for row in timed), default=0)
    rows = [
        _cells(row, of_kernel[row.kernel], device, block)
        for row in timed
        if row.elements == longest
    ]
    head = ("", "instructions", "schedulers busy", "recorded")
    return table(f"Cycles of one block, {device.name}", head, rows)


def _cells(row, slot, device: devices.Device, block: int) -> tuple[str, ...]:
    """Return the cells of one kernel: its name, cycles to issue, the busy share, recorded cycles.

    row: its time. slot: what the profiler counted of it. block: the threads per block. Both numbers
    of cycles are those of one block.
    """
    elements = block * PER_THREAD.get(row.kernel, 1)
    schedulers = limits_of(device.compute_capability).sub_partitions
    issued = slot.instructions / (slot.elements / elements) / schedulers
    cycles = row.time_ms * 1e3 * device.boost_clock_mhz * device.sms
    return (
        row.kernel.replace("_", " "),
        f"{issued:.0f}",
        f"{slot.busy:.0%}",
        f"{cycles / (row.elements / elements):.0f}",
    )
