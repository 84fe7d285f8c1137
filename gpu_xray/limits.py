"""The limits of an SM by compute capability, from `data/architectures.csv`, with their sources."""

from __future__ import annotations

import csv
import functools
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from gpu_xray.errors import CourseError

TABLE = Path(__file__).parent / "data" / "architectures.csv"
WARP = 32
KIB = 1024


@dataclass(frozen=True)
class SmLimits:
    """The resources of an SM of one compute capability, and their allocation units.

    threads_per_block, threads_per_sm, blocks_per_sm: the most of a block and of an SM.
    registers_per_sm, registers_per_block, registers_per_thread: numbers of 32-bit registers.
    register_unit: registers are allocated to a warp in multiples of this number.
    warp_granularity: for the limit per block, the number of warps is rounded up to a multiple.
    sub_partitions: the number of schedulers of an SM, each with registers of its own, which issue
    one instruction of a warp per cycle.
    fp32_lanes_per_sm: float32 multiply-adds per cycle (CUDA C++ Programming Guide, "Throughput of
    Native Arithmetic Instructions").
    shared_kib_per_sm: the most shared memory of an SM. shared_kib_per_block: the most of a block by
    default; shared_kib_per_block_optin: with the opt-in for more. shared_reserved_bytes: bytes of
    each block that the driver uses.
    shared_unit_bytes: shared memory is allocated to a block in multiples of this size.
    shared_kib_steps: the possible sizes of shared memory if it shares its memory with the cache;
    empty if the size is fixed. source: the source of the figures.
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
        """The most warps on an SM."""
        return self.threads_per_sm // WARP

    @property
    def cycles_per_ffma(self) -> float:
        """The cycles that a sub-partition takes for one float32 multiply-add of a warp."""
        return max(1.0, WARP * self.sub_partitions / self.fp32_lanes_per_sm)

    @property
    def max_shared_bytes(self) -> int:
        """The most shared memory of a block in bytes, static and dynamic together."""
        return self.shared_kib_per_block_optin * KIB


def with_budgets() -> dict[str, tuple[int, int]]:
    """Return name -> compute capability, such as {"sm_90": (9, 0)}, of some architectures.

    They are those for which the budgets of the steps are tested.
    """
    rows = [row for row in _rows() if row["budgets"] == "yes"]
    return {f"sm_{row['compute_capability'].replace('.', '')}": _capability(row) for row in rows}


@functools.cache
def known() -> Mapping[tuple[int, int], SmLimits]:
    """Return the rows of `data/architectures.csv` by compute capability, in the file's order."""
    return {_capability(row): _from_row(row) for row in _rows()}


def limits_of(capability: tuple[int, int]) -> SmLimits:
    """Return the limits of a compute capability such as (9, 0); raise CourseError if unknown."""
    try:
        return known()[capability]
    except (KeyError, TypeError):
        names = ", ".join(f"{major}.{minor}" for major, minor in known())
        raise CourseError(
            f"{capability!r} is no compute capability of data/architectures.csv: give a pair "
            f"such as (9, 0) for one of {names}."
        ) from None


def _rows() -> list[dict[str, str]]:
    """Return the rows of `data/architectures.csv` as dicts from column to text."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _capability(row: dict[str, str]) -> tuple[int, int]:
    """Return the compute capability of a row of the table, such as (9, 0)."""
    major, minor = row["compute_capability"].split(".")
    return int(major), int(minor)


def _from_row(row: dict[str, str]) -> SmLimits:
    """Return the SmLimits of a row of the table."""
    steps = row["shared_kib_steps"].split(";") if row["shared_kib_steps"] else []
    whole = {field.name: row[field.name] for field in fields(SmLimits) if field.type == "int"}
    return SmLimits(
        compute_capability=_capability(row),
        shared_kib_steps=tuple(map(int, steps)),
        source=row["source"],
        **{name: int(text) for name, text in whole.items()},
    )
