"""Tables of occupancy: the resources of an SM, and the blocks of a kernel that fit on it."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_xray import xray
from utils.errors import CourseError
from utils.figures.look import number
from utils.ladder.ladder import Ladder, ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Table, table
from utils.lessons.counting import as_variant
from utils.lessons.lesson import device_shown
from utils.machine import devices
from utils.machine.occupancy import limits_of, occupancy
from utils.measuring import records
from utils.measuring.roofline import recorded

REFERENCE = devices.find(devices.REFERENCE)


def sm_limits() -> Table:
    """Return a table of the resources of the reference device's SM, and what a block takes of each.

    There is one row for each of warp slots, block slots, registers and shared memory.
    """
    limits = limits_of(REFERENCE.compute_capability)
    part = limits.registers_per_sm // limits.sub_partitions
    shared = limits.shared_kib_per_sm * 1024
    rows = (
        ("1. warp slots", limits.warps_per_sm, "one for each begun group of 32 threads"),
        ("2. block slots", limits.blocks_per_sm, "one"),
        (
            "3. registers",
            f"{limits.sub_partitions} parts of {part:,}",
            f"per warp: 32 · a thread's, rounded up to a multiple of {limits.register_unit}",
        ),
        (
            "4. shared memory",
            f"{shared:,} bytes",
            f"its bytes + {limits.shared_reserved_bytes:,}, rounded up to a multiple of "
            f"{limits.shared_unit_bytes}",
        ),
    )
    return table(f"An SM of one {REFERENCE.name}", ("", "it has", "a block takes"), rows)


def occupancies(
    kernels: Mapping[str, tuple[int, int, int] | Step | Variant],
    capability: tuple[int, int] = REFERENCE.compute_capability,
) -> Table:
    """Return a table of resident blocks, resident warps and occupancy of an SM, one row per kernel.

    The last column names the resources that run out first. kernels: name shown -> (threads per
    block, registers per thread, bytes of shared memory per block), or a step, whose resources are
    those of the kernel as compiled here for the device shown. capability: the compute capability of
    the SM. Raises CourseError for values that no kernel can have, and for a step without a
    compiler.
    """
    slots, rows = limits_of(capability).warps_per_sm, []
    for name, kernel in kernels.items():
        needed = kernel if isinstance(kernel, tuple) else resources_of(kernel)
        resident = occupancy(capability, *needed)
        rows.append(
            (
                name,
                resident.blocks,
                resident.warps,
                f"{number(100 * resident.fraction)} %",
                ", ".join(resident.limit),
            )
        )
    head = ("", "blocks", "resident warps", "occupancy", "runs out first")
    caption = "An SM of compute capability {}.{}, {} warp slots".format(*capability, slots)
    return table(caption, head, rows)


def resources_of(step: Step | Variant) -> tuple[int, int, int]:
    """Return (threads per block, registers per thread, bytes of shared memory per block) of a step.

    The kernel is compiled here for the device shown. Raises CourseError without a compiler, and for
    a function that runs on the CPU.
    """
    variant = as_variant(step)
    ladder = ladder_of(variant.step)
    if not ladder.on_gpu:
        raise CourseError(
            f"{variant} runs on the CPU, and only kernels of a GPU have an occupancy."
        )
    code = xray(variant.kernel, variant.step.signature, device_shown().arch)
    launch = variant.launch(ladder.parse(ladder.sizes[0]))
    return launch.threads, code.registers, code.shared_bytes + launch.shared_bytes


def occupancy_of_fastest(ladder: Ladder, size: str) -> float:
    """Return the occupancy, in percent, of the fastest recorded step of a ladder at a size.

    The record is one of `device_shown`; raises CourseError if there is none. size: as on the
    command line.
    """
    shape, device = ladder.parse(size), device_shown()
    records_at_size = recorded(ladder, shape, device.name)
    variant, record = min(records_at_size, key=lambda pair: pair[1].time_ms)
    resources = int(record.registers), int(record.shared_bytes)
    threads = variant.launch(shape).threads
    return 100 * occupancy(device.compute_capability, threads, *resources).fraction


def published_paradox() -> Table:
    """Return a table of libraries that became faster at lower occupancy, from Volkov 2010.

    There is one row per library, with its threads per block, occupancy and GFLOP/s.
    """
    rows = [
        (row.library, row.threads_per_block, f"{row.occupancy_pct} %", f"{row.gflops} GFLOP/s")
        for row in records.published("occupancy_paradox").itertuples()
    ]
    head = ("", "threads of a block", "occupancy", "speed")
    return table("Published in 2010, measured on a G80", head, rows)
