"""Occupancy: the blocks that an SM holds at once, the resource that runs out first, the best block.

The limits are data (`gpu_xray/data/architectures.csv`, each row with its source). The rules are the
driver's. Registers are allocated to warps in whole units and come from the warp's sub-partition.
Shared memory is allocated to blocks in whole units, in addition to what the driver reserves.

Not modelled: clusters of blocks, more than one barrier per block, and the choice between cache and
shared memory on devices before compute capability 7.0.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gpu_xray.limits import KIB, WARP, SmLimits, known, limits_of
from utils.division import cdiv
from utils.errors import CourseError

__all__ = [
    "RESOURCES",
    "WARP",
    "Occupancy",
    "SmLimits",
    "best_block_size",
    "known",
    "limits_of",
    "occupancy",
    "square_side",
]

# The order in which figures and tables name the resources.
RESOURCES = ("warp slots", "block slots", "registers", "shared memory")


@dataclass(frozen=True)
class Occupancy:
    """The blocks and warps of a kernel that one SM holds at once, and what limits them.

    blocks, warps: the number of resident blocks and warps.
    fraction: resident warps divided by the most warps that the SM can hold.
    limit: the names, from `RESOURCES`, of the resources that leave no room for another block.
    room: resource -> the number of blocks that it has room for; unused resources are absent.
    """

    blocks: int
    warps: int
    fraction: float
    limit: tuple[str, ...]
    room: Mapping[str, int]


def occupancy(
    capability: tuple[int, int],
    threads: int,
    registers: int,
    shared_bytes: int = 0,
    carveout: int | None = None,
) -> Occupancy:
    """Return the blocks and warps of a kernel that one SM holds at once; 0 if no block fits.

    Parameters
    ----------
    capability : tuple of int
        The compute capability, such as (9, 0).
    threads : int
        Threads per block.
    registers : int
        Registers per thread.
    shared_bytes : int
        Static and dynamic shared memory per block. A kernel must request more than
        `shared_kib_per_block` explicitly.
    carveout : int, optional
        The kernel's preferred share of shared memory, in percent of the SM's. By default the
        driver may use all of it.

    Returns
    -------
    Occupancy
        The resident blocks and warps, and the resources that limit them.

    Raises
    ------
    CourseError
        For values that no kernel can have.
    """
    limits = limits_of(capability)
    threads = _within("threads", threads, 1, limits.threads_per_block, limits)
    registers = _within("registers", registers, 1, limits.registers_per_thread, limits)
    shared_bytes = _within("shared_bytes", shared_bytes, 0, limits.max_shared_bytes, limits)
    if carveout is not None:
        if not limits.shared_kib_steps:
            raise CourseError(
                f"carveout={carveout}, and {_name(limits)} has no carve-out: leave it out, or "
                "choose a capability from 7.0."
            )
        carveout = _within("carveout", carveout, 0, 100, limits)
    return _occupancy(limits, threads, registers, shared_bytes, carveout)


def best_block_size(
    capability: tuple[int, int],
    registers: int,
    shared_bytes: int | Callable[[int], int] = 0,
    max_threads: int | None = None,
) -> int:
    """Return the threads per block that cudaOccupancyMaxPotentialBlockSize suggests.

    It is the multiple of a warp, or `max_threads`, with the most resident threads; if several are
    equal, the largest. `capability` is the compute capability, such as (9, 0). `registers` is their
    number per thread. `shared_bytes` is the shared memory of a block, or a function of the block's
    threads. `max_threads` is the largest block that the kernel was compiled for. Raises CourseError
    for impossible values, and if no block fits.
    """
    limits = limits_of(capability)
    registers = _within("registers", registers, 1, limits.registers_per_thread, limits)
    most = limits.threads_per_block
    if max_threads is not None:
        most = _within("max_threads", max_threads, 1, most, limits)
    needed = shared_bytes if callable(shared_bytes) else lambda _: shared_bytes

    def resident(threads: int) -> int:
        bytes_ = operator.index(needed(threads))
        return threads * _occupancy(limits, threads, registers, bytes_).blocks

    # Sorted from the largest down, because max() returns the first of equals.
    candidates = [min(most, threads) for threads in range(cdiv(most, WARP) * WARP, 0, -WARP)]
    best = max(candidates, key=resident)
    if resident(best) == 0:
        raise CourseError(
            f"No block fits an SM of {_name(limits)}: with {registers} registers and "
            f"{needed(candidates[-1])} bytes of shared memory even {candidates[-1]} threads do "
            "not; use less of either."
        )
    return best


def square_side(threads: int) -> int:
    """Return the greatest power of two whose square is at most `threads`.

    It is the side of the largest square block whose side is a power of two. Raises CourseError for
    fewer than one thread.
    """
    if operator.index(threads) < 1:
        raise CourseError(f"A block of {threads} threads has no side: give at least 1.")
    return 1 << (threads.bit_length() - 1) // 2


def _occupancy(
    limits: SmLimits, threads: int, registers: int, shared_bytes: int, carveout: int | None = None
) -> Occupancy:
    """Return the occupancy for values that are within the limits.

    registers: per thread. shared_bytes: per block, static and dynamic together. carveout: the
    kernel's preferred share of shared memory in percent, or None.
    """
    warps = cdiv(threads, WARP)
    room = {
        "warp slots": limits.warps_per_sm // warps,
        "block slots": limits.blocks_per_sm,
        "registers": _room_in_registers(limits, warps, registers),
        "shared memory": _room_in_shared(limits, shared_bytes, carveout),
    }
    room = {resource: blocks for resource, blocks in room.items() if blocks is not None}
    blocks = min(room.values())
    return Occupancy(
        blocks=blocks,
        warps=blocks * warps,
        fraction=blocks * warps / limits.warps_per_sm,
        limit=tuple(resource for resource in RESOURCES if room.get(resource) == blocks),
        room=room,
    )


def _room_in_registers(limits: SmLimits, warps: int, registers: int) -> int:
    """Return the number of blocks that fit into an SM's registers; 0 if one block needs too many.

    warps: per block. registers: per thread.
    """
    per_warp = _round_up(registers * WARP, limits.register_unit)
    # The limit per block is checked as if its warps were spread evenly over the sub-partitions.
    if per_warp * _round_up(warps, limits.warp_granularity) > limits.registers_per_block:
        return 0
    # A warp cannot take registers from two sub-partitions, so the remainder of each one is lost.
    warps_per_partition = limits.registers_per_sm // limits.sub_partitions // per_warp
    return warps_per_partition * limits.sub_partitions // warps


def _room_in_shared(limits: SmLimits, shared_bytes: int, carveout: int | None) -> int | None:
    """Return the number of blocks that fit into an SM's shared memory.

    Returns None if a block takes none, what the driver reserves included, and 0 if `shared_bytes`
    are more than a block may have. carveout: the
    preferred percentage of shared memory in the memory that it shares with the L1 cache, or None.
    """
    if shared_bytes > limits.max_shared_bytes:
        return 0
    taken = _round_up(shared_bytes + limits.shared_reserved_bytes, limits.shared_unit_bytes)
    if taken == 0:
        return None
    return _shared_of_sm(limits, taken, carveout) // taken


def _shared_of_sm(limits: SmLimits, taken: int, carveout: int | None) -> int:
    """Return the bytes of shared memory that the driver configures for an SM.

    `taken` is the bytes that one block takes. Without a `carveout`, the result is all of the SM's
    shared memory. With one, a percentage that the kernel prefers, it is the smallest configuration
    that has this percentage and holds one block.
    """
    if carveout is None:
        return limits.shared_kib_per_sm * KIB
    wanted = carveout * limits.shared_kib_per_sm * KIB // 100
    steps = [step * KIB for step in limits.shared_kib_steps]
    # The preference counts only as long as one block fits.
    preferred = min(step for step in steps if step >= wanted)
    return max(preferred, min(step for step in steps if step >= taken))


def _round_up(amount: int, unit: int) -> int:
    """Return the smallest multiple of `unit` that is at least `amount`."""
    return cdiv(amount, unit) * unit


def _within(name: str, value: int, least: int, most: int, limits: SmLimits) -> int:
    """Return the value as an int; raise CourseError unless it is a whole number in least … most."""
    try:
        value = operator.index(value)
    except TypeError:
        raise CourseError(
            f"{name}={value!r} is no whole number: give one from {least} to {most}."
        ) from None
    if not least <= value <= most:
        raise CourseError(
            f"{name}={value}, and {_name(limits)} takes {least} to {most}: choose a value in "
            "between."
        )
    return value


def _name(limits: SmLimits) -> str:
    """Return text such as "compute capability 9.0"."""
    return "compute capability {}.{}".format(*limits.compute_capability)
