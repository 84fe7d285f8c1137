"""How many blocks an SM holds at once, which resource runs out first, and which block is best.

The limits are data (`gpu_xray/data/architectures.csv`, each row with its source). The rules are the
driver's: registers are given to warps in whole units and come from the sub-partition that the warp
lives in; shared memory is given to blocks in whole units, plus what the driver keeps for itself.

Not modelled: clusters of blocks, more than one barrier per block, and the choice between cache and
shared memory that capabilities before 7.0 offered.
"""

from __future__ import annotations

import csv
import functools
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

from utils.errors import CourseError
from utils.machine.devices import KIB
from utils.paths import DATA

TABLE = DATA / "architectures.csv"
WARP = 32
# In the order in which figures and tables name them.
RESOURCES = ("warp slots", "block slots", "registers", "shared memory")


@dataclass(frozen=True)
class Limits:
    """What an SM of one compute capability has, and in which portions it is given away.

    registers_per_sm, _per_block, _per_thread: 32-bit registers. register_unit: a warp gets a
    multiple of it. warp_granularity: for the limit per block its warps are rounded up to this.
    sub_partitions: equal parts of an SM, each with registers of its own, which starts one
    instruction of a warp per cycle. fp32_lanes_per_sm: float32 multiply-adds that it does per cycle
    (CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions").
    shared_kib_per_block: without asking; shared_kib_per_block_optin: for kernels that ask for more.
    shared_reserved_bytes: what the driver takes of each block's. shared_unit_bytes: a block gets a
    multiple of it. shared_kib_steps: the sizes that shared memory can be set to where it shares its
    memory with the cache; empty where it cannot be set. source: where the figures are.
    """

    compute_capability: tuple[int, int]
    threads_per_block: int
    threads_per_sm: int
    blocks_per_sm: int
    registers_per_sm: int
    registers_per_block: int
    registers_per_thread: int
    register_unit: int
    warp_granularity: int
    sub_partitions: int
    fp32_lanes_per_sm: int
    shared_kib_per_sm: int
    shared_kib_per_block: int
    shared_kib_per_block_optin: int
    shared_reserved_bytes: int
    shared_unit_bytes: int
    shared_kib_steps: tuple[int, ...]
    source: str

    @property
    def warps_per_sm(self) -> int:
        return self.threads_per_sm // WARP

    @property
    def cycles_per_ffma(self) -> float:
        """Cycles that a sub-partition takes for one float32 multiply-add of a warp."""
        return max(1.0, WARP * self.sub_partitions / self.fp32_lanes_per_sm)

    @property
    def max_shared_bytes(self) -> int:
        """The most that one block may have, static and dynamic."""
        return self.shared_kib_per_block_optin * KIB


@dataclass(frozen=True)
class Occupancy:
    """What one SM holds at once.

    blocks, warps: resident. fraction: warps, of those that the SM could hold.
    limit: the resources that leave no room for another block.
    room: for each resource, how many blocks it has room for; one that is not used is absent.
    """

    blocks: int
    warps: int
    fraction: float
    limit: tuple[str, ...]
    room: Mapping[str, int]


def with_budgets() -> dict[str, tuple[int, int]]:
    """The architectures for which steps are held to their budgets, such as {"sm_90": (9, 0)}."""
    rows = [row for row in _rows() if row["budgets"] == "yes"]
    return {f"sm_{row['compute_capability'].replace('.', '')}": _capability(row) for row in rows}


@functools.cache
def known() -> Mapping[tuple[int, int], Limits]:
    """The rows of `gpu_xray/data/architectures.csv` by compute capability, in its order."""
    return {_capability(row): _from_row(row) for row in _rows()}


def limits_of(capability: tuple[int, int]) -> Limits:
    """The limits of a compute capability such as (9, 0); CourseError for one that is not known."""
    try:
        return known()[capability]
    except (KeyError, TypeError):
        names = ", ".join(f"{major}.{minor}" for major, minor in known())
        raise CourseError(
            f"{capability!r} is no compute capability of gpu_xray/data/architectures.csv: give a pair "
            f"such as (9, 0) for one of {names}."
        ) from None


def occupancy(
    capability: tuple[int, int],
    threads: int,
    registers: int,
    shared_bytes: int = 0,
    carveout: int | None = None,
) -> Occupancy:
    """What an SM holds of a kernel at once.

    threads: per block. registers: per thread. shared_bytes: per block, static and dynamic; above
    `shared_kib_per_block` a kernel must have asked for it. carveout: the kernel's preferred share
    of shared memory, in percent of what the SM has; None, the default, lets the driver take all.
    A block that fits no SM has 0 blocks. CourseError for values that no kernel can have.
    """
    limits = limits_of(capability)
    threads = _within("threads", threads, 1, limits.threads_per_block, limits)
    registers = _within("registers", registers, 1, limits.registers_per_thread, limits)
    shared_bytes = _within("shared_bytes", shared_bytes, 0, limits.max_shared_bytes, limits)
    if carveout is not None:
        if not limits.shared_kib_steps:
            raise CourseError(
                f"carveout={carveout}, and {_name(limits)} has no carve-out: leave it away, or "
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
    """The threads per block that cudaOccupancyMaxPotentialBlockSize suggests.

    Of the multiples of a warp, the one with most resident threads; of several, the largest.
    shared_bytes: of a block, or a function of its threads. max_threads: the largest block that the
    kernel was compiled for. CourseError for impossible values, and if no block fits.
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

    # From the largest down, and max() keeps the first of equals.
    candidates = [min(most, threads) for threads in range(-(-most // WARP) * WARP, 0, -WARP)]
    best = max(candidates, key=resident)
    if resident(best) == 0:
        raise CourseError(
            f"No block fits an SM of {_name(limits)}: with {registers} registers and "
            f"{needed(candidates[-1])} bytes of shared memory even {candidates[-1]} threads do "
            "not; use less of either."
        )
    return best


def square_side(threads: int) -> int:
    """The side of the largest square block of at most `threads` whose side is a power of two.

    The block has 4^floor(log4(threads)) threads. CourseError for fewer than one thread.
    """
    if operator.index(threads) < 1:
        raise CourseError(f"A block of {threads} threads has no side: give at least 1.")
    return 1 << (threads.bit_length() - 1) // 2


def _occupancy(
    limits: Limits, threads: int, registers: int, shared_bytes: int, carveout: int | None = None
) -> Occupancy:
    warps = -(-threads // WARP)
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


def _room_in_registers(limits: Limits, warps: int, registers: int) -> int:
    per_warp = _round_up(registers * WARP, limits.register_unit)
    # The limit per block is checked as if every sub-partition got equally many of its warps.
    if per_warp * _round_up(warps, limits.warp_granularity) > limits.registers_per_block:
        return 0
    # A warp cannot take registers from two sub-partitions, so what is left over in each is lost.
    warps_per_partition = limits.registers_per_sm // limits.sub_partitions // per_warp
    return warps_per_partition * limits.sub_partitions // warps


def _room_in_shared(limits: Limits, shared_bytes: int, carveout: int | None) -> int | None:
    """None where a block takes no shared memory at all."""
    if shared_bytes > limits.max_shared_bytes:
        return 0
    taken = _round_up(shared_bytes + limits.shared_reserved_bytes, limits.shared_unit_bytes)
    if taken == 0:
        return None
    return _shared_of_sm(limits, taken, carveout) // taken


def _shared_of_sm(limits: Limits, taken: int, carveout: int | None) -> int:
    """The shared memory of an SM in bytes when one block takes so much of it."""
    if carveout is None:
        return limits.shared_kib_per_sm * KIB
    wanted = carveout * limits.shared_kib_per_sm * KIB // 100
    steps = [step * KIB for step in limits.shared_kib_steps]
    # The preference counts only as long as one block fits.
    preferred = min(step for step in steps if step >= wanted)
    return max(preferred, min(step for step in steps if step >= taken))


def _round_up(amount: int, unit: int) -> int:
    return -(-amount // unit) * unit


def _within(name: str, value: int, least: int, most: int, limits: Limits) -> int:
    """The value as an int; CourseError if it is no whole number or out of range."""
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


def _name(limits: Limits) -> str:
    return "compute capability {}.{}".format(*limits.compute_capability)


def _rows() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _capability(row: dict[str, str]) -> tuple[int, int]:
    major, minor = row["compute_capability"].split(".")
    return int(major), int(minor)


def _from_row(row: dict[str, str]) -> Limits:
    steps = row["shared_kib_steps"].split(";") if row["shared_kib_steps"] else []
    whole = {field.name: row[field.name] for field in fields(Limits) if field.type == "int"}
    return Limits(
        compute_capability=_capability(row),
        shared_kib_steps=tuple(map(int, steps)),
        source=row["source"],
        **{name: int(text) for name, text in whole.items()},
    )
