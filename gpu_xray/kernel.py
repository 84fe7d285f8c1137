"""The x-ray of one kernel: compile, take apart, count."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from gpu_xray import widths
from gpu_xray.banks import BankConflicts, bank_conflicts
from gpu_xray.cache import cached
from gpu_xray.compile import argument_types, capability_of, compile_kernel, python_of
from gpu_xray.identity import identity_of
from gpu_xray.lines import source_lines
from gpu_xray.listing import Listing
from gpu_xray.listing import listing as make_listing
from gpu_xray.loops import Loop, distances_to_use, find_loops, hot_loop
from gpu_xray.resources import resources_of
from gpu_xray.sass import Instruction, disassemble, parse
from gpu_xray.under_way import loads_before_use
from utils.machine.occupancy import limits_of

# Instructions. An idle H200 takes 29 cycles for 32 bits per thread (`latency_kernels.chase`), and
# some more for 128. What kernels of 8 to 12 warps lose that read earlier is in TUNING.md of the
# product.
SHARED_LATENCY = 40
_FLOAT64 = ("DADD", "DMUL", "DFMA", "DSETP", "DMNMX", "DMMA")


@dataclass(frozen=True, repr=False)
class XRay:
    """One kernel for one architecture, as the assembler made it and as a driver would load it.

    kernel, arch: the function's name and the architecture, such as "sm_90".
    registers: per thread. shared_bytes: static, per block. local_bytes: per thread.
    constant_bytes: of constant memory that the kernel itself declares.
    spill_bytes: written by the stores that spill registers, each counted once.
    max_threads: per block, at most; launch bounds and registers limit it.
    ptx: what the assembler was given. code: every instruction, in order.
    function, signature: what was compiled.
    """

    kernel: str
    arch: str
    registers: int
    shared_bytes: int
    local_bytes: int
    constant_bytes: int
    spill_bytes: int
    max_threads: int
    ptx: str
    code: tuple[Instruction, ...]
    function: Callable = field(compare=False)
    signature: object = field(compare=False)

    def __repr__(self) -> str:
        return (
            f"<x-ray of {self.kernel} for {self.arch}: {self.registers} registers, "
            f"{self.spill_bytes} bytes spilled, {len(self.code)} instructions>"
        )

    @cached_property
    def sass(self) -> str:
        """The listing: address and instruction, with a label where a branch goes."""
        labels = {one.target for one in self.code if one.target is not None}
        lines = []
        for place, one in enumerate(self.code):
            lines += [f".L_{place}:"] if place in labels else []
            lines.append(f"    /*{one.address:04x}*/  {one.text_to(f'.L_{one.target}')};")
        return "\n".join(lines)

    @cached_property
    def instructions(self) -> Counter[str]:
        """How often each opcode, without its modifiers, stands in the code."""
        return Counter(one.name for one in self.code)

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """All loops, in the order in which they start."""
        return find_loops(self.code)

    @property
    def hot(self) -> Loop | None:
        """The innermost loop with the most multiply-adds; None for code without a loop."""
        return hot_loop(self.loops)

    @property
    def ffma_share(self) -> float:
        """The fraction of FFMAs in the hot loop, or in all of the code where there is no loop."""
        if self.hot:
            return self.hot.ffma_share
        return Loop(0, len(self.code) - 1, self.code, inner=True).ffma_share

    @property
    def bound(self) -> float:
        """The fraction of the FP32 peak that the hot loop can reach at most.

        A scheduler issues one instruction per cycle. With 32 FP32 lanes each must be an FFMA, with
        16 every second one.
        """
        return min(1.0, self.ffma_share * self._cycles_at_best)

    @property
    def loads(self) -> Counter[str]:
        """Loads by their width in bits per thread, such as {"LDG.128": 2, "LDS.32": 1}."""
        return widths.count_widths(self.code, widths.LOADS)

    @property
    def stores(self) -> Counter[str]:
        """Stores by their width in bits per thread."""
        return widths.count_widths(self.code, widths.STORES)

    @property
    def float64(self) -> int:
        """Instructions that compute in float64 or convert from or to it."""
        return sum(
            one.name in _FLOAT64 or ".F64" in one.opcode or "64H" in one.opcode for one in self.code
        )

    @property
    def barriers(self) -> int:
        """Barriers of the block (``cuda.syncthreads()``)."""
        return self.instructions["BAR"]

    @cached_property
    def bank_conflicts(self) -> BankConflicts:
        """Multiply-adds of the hot loop, or of all the code, whose operands meet in a bank."""
        code = self.hot.body if self.hot else self.code
        return bank_conflicts(code, self._cycles_at_best)

    @property
    def _cycles_at_best(self) -> float:
        """Cycles for a multiply-add of a warp, by the lanes of the architecture."""
        major, minor = divmod(int(re.sub(r"\D", "", self.arch)), 10)
        return limits_of((major, minor)).cycles_per_ffma

    @property
    def cycles_per_ffma(self) -> float:
        """Of the hot loop, estimated: a cycle for each instruction, and the waits for operands.

        nan for a loop without multiply-adds.
        """
        if not (self.hot and self.hot.ffma):
            return float("nan")
        return 1 / self.bound + self.bank_conflicts.waits / self.hot.ffma

    @cached_property
    def early_uses(self) -> int:
        """Shared loads of the hot loop whose value is read before a load usually is complete.

        With few warps nothing else is there to be done until then, and the warp waits.
        """
        distances = distances_to_use(self.hot.body) if self.hot else []
        return sum(distance < SHARED_LATENCY for distance in distances)

    @cached_property
    def loads_before_use(self) -> int:
        """Loads from global memory that a thread has under way before it needs one of them."""
        return loads_before_use(self.code)

    def listing(self) -> Listing:
        """The Python source with PTX and SASS beside each line, and the hot loop marked."""
        lines = source_lines(self.function, self.signature, self.arch, self.code)
        sass = zip(lines.sass, self.code, strict=True)
        hot = self.hot.body if self.hot else ()
        return make_listing(f"{self.kernel} for {self.arch}", lines.source, lines.ptx, sass, hot)

    def figures(self) -> dict[str, int | str]:
        """The figures above in words, as a table shows them."""
        banks = self.bank_conflicts
        return {
            "registers per thread": self.registers,
            "bytes of static shared memory": self.shared_bytes,
            "bytes of local memory per thread": self.local_bytes,
            "bytes spilled": self.spill_bytes,
            "threads per block at most": self.max_threads,
            "instructions": len(self.code),
            "in float64": self.float64,
            "barriers": self.barriers,
            "loads": _told(self.loads),
            "stores": _told(self.stores),
            "instructions in the hot loop": len(self.hot.body) if self.hot else "no loop",
            "FFMA share": f"{self.ffma_share:.1%} of {'the hot loop' if self.hot else 'all'}",
            "shared loads used too early": self.early_uses,
            "of the FP32 peak at most": f"{self.bound:.1%}",
            "register bank conflicts": f"{banks.left} ({banks.saved} more without reuse)",
            "cycles per FFMA, estimated": (
                f"{self.cycles_per_ffma:.3f}" if self.hot and self.hot.ffma else "no loop of FFMAs"
            ),
        }

    def __str__(self) -> str:
        rows = [f"  {name:33} {value}" for name, value in self.figures().items()]
        return "\n".join([f"{self.kernel} for {self.arch}", *rows])

    def _repr_html_(self) -> str:
        import pandas as pd  # half a second, for those who ask for a table

        figures = pd.Series(self.figures(), name=f"{self.kernel} for {self.arch}")
        return figures.to_frame().to_html()


def _told(widths: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in widths.items()) or "none"


@dataclass(frozen=True)
class _Printed:
    """What the tools say of a kernel: figures, PTX, and nvdisasm's listing."""

    resources: dict[str, int]
    ptx: str
    listing: str


def xray(kernel: Callable, signature, arch: str = "sm_90") -> XRay:
    """Compile a ``@cuda.jit`` kernel (or a plain function) and take the machine code apart.

    signature: the types of its arguments, such as ``void(float32[:, ::1])``. arch: any that the
    installed toolkit knows. No GPU is needed. The result is kept on disk; see `gpu_xray.cache`.
    Raises CourseError without a compiler, for an unknown architecture, and for a signature that
    does not fit the kernel.
    """
    capability = capability_of(arch)
    types_given = argument_types(kernel, signature)
    name = python_of(kernel).__name__

    def look() -> _Printed:
        compiled = compile_kernel(kernel, signature, arch)
        return _Printed(
            resources=resources_of(compiled, capability),
            ptx=compiled.ptx.replace(compiled.entry, name),
            listing=disassemble(compiled.cubin, compiled.entry),
        )

    key = identity_of(kernel, arch, *map(str, types_given))
    printed = cached(key, _Printed, look)
    return XRay(
        name,
        arch,
        ptx=printed.ptx,
        code=parse(printed.listing),
        function=kernel,
        signature=signature,
        **printed.resources,
    )
