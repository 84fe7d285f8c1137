"""What an SM of each compute capability has: `data/architectures.csv`, each row with its source."""

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


def with_budgets() -> dict[str, tuple[int, int]]:
    """The architectures for which steps are held to their budgets, such as {"sm_90": (9, 0)}."""
    rows = [row for row in _rows() if row["budgets"] == "yes"]
    return {f"sm_{row['compute_capability'].replace('.', '')}": _capability(row) for row in rows}


@functools.cache
def known() -> Mapping[tuple[int, int], Limits]:
    """The rows of `data/architectures.csv` by compute capability, in its order."""
    return {_capability(row): _from_row(row) for row in _rows()}


def limits_of(capability: tuple[int, int]) -> Limits:
    """The limits of a compute capability such as (9, 0); CourseError for one that is not known."""
    try:
        return known()[capability]
    except (KeyError, TypeError):
        names = ", ".join(f"{major}.{minor}" for major, minor in known())
        raise CourseError(
            f"{capability!r} is no compute capability of data/architectures.csv: give a pair "
            f"such as (9, 0) for one of {names}."
        ) from None


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
