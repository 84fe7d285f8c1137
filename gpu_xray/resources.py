"""What a kernel takes from an SM, as the driver reports it."""

from __future__ import annotations

import re

from gpu_xray.compile import Compiled
from gpu_xray.sass import run_tool
from utils.machine.occupancy import WARP, Limits, limits_of

# Blocks that use static shared memory have one KiB more since 9.0, in which the system keeps the
# block's place in its cluster. The driver does not count it.
SYSTEM_SHARED_BYTES = 1024
_OF = "Function properties for "


def resources_of(compiled: Compiled, capability: tuple[int, int]) -> dict[str, int]:
    """The figures of `XRay`, from the cubin, the assembler's log and the PTX's launch bounds."""
    usage = run_tool("cuobjdump", ["-res-usage"], compiled.cubin)
    entry = compiled.entry
    of_kernel = usage.partition(entry)[2]
    system = SYSTEM_SHARED_BYTES if capability >= (9, 0) else 0
    registers = _number(r"REG:(\d+)", of_kernel)
    return dict(
        registers=registers,
        shared_bytes=max(0, _number(r"SHARED:(\d+)", of_kernel) - system),
        local_bytes=_number(r"STACK:(\d+)", of_kernel) + _number(r"LOCAL:(\d+)", of_kernel),
        constant_bytes=_number(r"CONSTANT\[3\]:(\d+)", usage),
        spill_bytes=_number(r"(\d+) bytes spill stores", compiled.log.partition(_OF + entry)[2]),
        max_threads=_max_threads(limits_of(capability), registers, compiled.ptx),
    )


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


def _max_threads(limits: Limits, registers: int, ptx: str) -> int:
    """As many as launch bounds allow and as have registers on one SM, part by part."""
    bound = _number(r"\.maxntid\s+(\d+)", ptx) or limits.threads_per_block
    per_warp = -(-registers * WARP // limits.register_unit) * limits.register_unit
    of_a_part = limits.registers_per_sm // limits.sub_partitions
    fitting = limits.sub_partitions * (of_a_part // per_warp) * WARP
    return min(limits.threads_per_block, bound, fitting)
