"""What a kernel takes from an SM, as the driver reports it."""

from __future__ import annotations

import re

from utils.xray.compile import Compiled
from utils.xray.sass import run_tool

WARP = 32
MAX_THREADS = 1024
# Since compute capability 7.0 (CUDA C++ Programming Guide, "Technical Specifications per Compute
# Capability"): four schedulers per SM, each with a quarter of 64 Ki registers, given out by warps
# in units of 256.
SCHEDULERS = 4
REGISTERS_PER_SCHEDULER = 16 * 1024
REGISTER_UNIT = 256
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
        max_threads=_max_threads(registers, compiled.ptx),
    )


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


def _max_threads(registers: int, ptx: str) -> int:
    """As many as launch bounds allow and as have registers on one SM."""
    bound = _number(r"\.maxntid\s+(\d+)", ptx) or MAX_THREADS
    per_warp = -(-registers * WARP // REGISTER_UNIT) * REGISTER_UNIT
    fitting = SCHEDULERS * (REGISTERS_PER_SCHEDULER // per_warp) * WARP
    return min(MAX_THREADS, bound, fitting)
