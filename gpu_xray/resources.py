"""The resources of an SM that a kernel uses, as the driver reports them."""

from __future__ import annotations

import re

from gpu_xray.compile import CompiledKernel
from gpu_xray.limits import WARP, SmLimits, limits_of
from gpu_xray.sass import run_tool

# Since 9.0, blocks that use static shared memory have one KiB more, in which the system keeps the
# block's position in its cluster. The driver does not count it.
SYSTEM_SHARED_BYTES = 1024
_OF = "Function properties for "


def resources_of(compiled: CompiledKernel, capability: tuple[int, int]) -> dict[str, int]:
    """Return name -> number of the resources of a kernel, such as {"registers": 32}.

    The names are registers, shared_bytes, local_bytes, constant_bytes, spill_bytes and max_threads,
    with the meaning that they have in `XRay`. The numbers come from the cubin, the assembler's log
    and the launch bounds in the PTX. Raises CourseError if cuobjdump is not installed or fails, or
    if the limits of the ``capability`` are unknown.
    """
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
    """Return the first number that the pattern finds in the text; 0 if it finds none."""
    match = re.search(pattern, text)
    return int(match[1]) if match else 0


def _max_threads(limits: SmLimits, registers: int, ptx: str) -> int:
    """Return the most threads of a block that launch bounds and registers allow.

    Each sub-partition of an SM must have registers for its share of the warps. ``ptx`` is the
    kernel's PTX, which has the launch bounds, and ``registers`` are those of a thread.
    """
    bound = _number(r"\.maxntid\s+(\d+)", ptx) or limits.threads_per_block
    per_warp = -(-registers * WARP // limits.register_unit) * limits.register_unit
    per_partition = limits.registers_per_sm // limits.sub_partitions
    fitting = limits.sub_partitions * (per_partition // per_warp) * WARP
    return min(limits.threads_per_block, bound, fitting)
