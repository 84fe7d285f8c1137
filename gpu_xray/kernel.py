"""The x-ray of a kernel: compiles it, parses its machine code, and counts its instructions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from gpu_xray import widths
from gpu_xray.cache import cached
from gpu_xray.cache_key import cache_key
from gpu_xray.compile import (
    argument_types,
    capability_of,
    compile_kernel,
    compiler_of,
    python_of,
    require_compiler,
)
from gpu_xray.limits import limits_of
from gpu_xray.listing import Listing
from gpu_xray.listing import listing as make_listing
from gpu_xray.loads_in_flight import loads_before_use
from gpu_xray.loops import TENSOR, Loop, distances_to_use, find_loops, hot_loop
from gpu_xray.register_banks import BankConflicts, bank_conflicts
from gpu_xray.resources import resources_of
from gpu_xray.sass import Instruction, disassemble, parse
from gpu_xray.source_lines import source_lines

# The latency of a shared load, in instructions. An idle H200 takes 29 cycles for 32 bits per thread
# (`latency_kernels.chase`), and some more for 128. gemm_kernels/tuning/TUNING.md has the time that
# kernels of 8 to 12 warps lose if they read the value earlier.
SHARED_LATENCY = 40
_FLOAT64 = ("DADD", "DMUL", "DFMA", "DSETP", "DMNMX", "DMMA")


@dataclass(frozen=True, repr=False)
class XRay:
    """The machine code of one kernel for one architecture, as a driver would load it.

    kernel, arch: the function's name and the architecture, such as "sm_90".
    compiler: "numba-cuda" or "numba-cuda-mlir".
    registers: registers per thread. shared_bytes: static shared memory per block.
    local_bytes: local memory per thread. constant_bytes: constant memory that the kernel declares.
    spill_bytes: bytes written by the stores that spill registers, each store counted once.
    max_threads: the most threads of a block that launch bounds and registers allow.
    ptx: the input of the assembler. code: every instruction, in order.
    function, signature: the kernel and the signature that were compiled.
    """

    kernel: str
    arch: str
    compiler: str
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
        """The machine code as text: a line per instruction with its address, and branch labels."""
        labels = {each.target for each in self.code if each.target is not None}
        lines = []
        for index, each in enumerate(self.code):
            lines += [f".L_{index}:"] if index in labels else []
            lines.append(f"    /*{each.address:04x}*/  {each.text_to(f'.L_{each.target}')};")
        return "\n".join(lines)

    @cached_property
    def instructions(self) -> Counter[str]:
        """The number of instructions by opcode without modifiers, such as {"FFMA": 32}."""
        return Counter(instruction.name for instruction in self.code)

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """All loops, in the order of their first instructions."""
        return find_loops(self.code)

    @property
    def hot(self) -> Loop | None:
        """The loop with the most multiply-adds of its own; None for code without a loop.

        A product on tensor cores goes before any other. If no loop has multiply-adds, it is an
        innermost loop, the one with the most memory accesses.
        """
        return hot_loop(self.loops)

    @property
    def ffma_share(self) -> float:
        """The fraction of the hot loop's instructions that are FFMA or FFMA2.

        Without a loop, it is the fraction in all of the code.
        """
        if self.hot:
            return self.hot.ffma_share
        return Loop(0, len(self.code) - 1, self.code, inner=True).ffma_share

    @property
    def tensor_share(self) -> float:
        """The fraction of the hot loop's instructions that are products on tensor cores (HMMA).

        Without a loop, it is the fraction in all of the code.
        """
        if self.hot:
            return self.hot.tensor_share
        return Loop(0, len(self.code) - 1, self.code, inner=True).tensor_share

    @property
    def bound(self) -> float:
        """The greatest fraction of the FP32 peak that the hot loop, or code without one, can reach.

        It is from 0, without any FFMA, to 1. A scheduler issues one instruction per cycle. To reach
        the peak, every instruction must be an FFMA if it has 32 FP32 lanes, and every second one if
        it has 16.
        """
        return min(1.0, self.ffma_share * self._cycles_at_best)

    @property
    def loads(self) -> Counter[str]:
        """The number of loads by width in bits per thread, such as {"LDG.128": 2, "LDS.32": 1}.

        They are the loads from global, shared and local memory, and the asynchronous copies LDGSTS.
        """
        return widths.count_widths(self.code, widths.LOADS)

    @property
    def stores(self) -> Counter[str]:
        """The number of stores by width in bits per thread, such as {"STG.128": 2, "STS.32": 1}.

        They are the stores to global, shared and local memory, and the asynchronous copies LDGSTS.
        """
        return widths.count_widths(self.code, widths.STORES)

    @property
    def float64(self) -> int:
        """The number of instructions that compute in float64 or convert from or to it."""
        return sum(
            each.name in _FLOAT64 or ".F64" in each.opcode or "64H" in each.opcode
            for each in self.code
        )

    @property
    def barriers(self) -> int:
        """The number of barrier instructions of the block (``cuda.syncthreads()``)."""
        return self.instructions["BAR"]

    @cached_property
    def bank_conflicts(self) -> BankConflicts:
        """The register bank conflicts in the hot loop, or in all of the code without a loop."""
        code = self.hot.body if self.hot else self.code
        return bank_conflicts(code, self._cycles_at_best)

    @property
    def _cycles_at_best(self) -> float:
        """The least cycles for a multiply-add of a warp, by the FP32 lanes of the architecture."""
        major, minor = divmod(int(re.sub(r"\D", "", self.arch)), 10)
        return limits_of((major, minor)).cycles_per_ffma

    @property
    def cycles_per_ffma(self) -> float:
        """The estimated cycles per multiply-add of the hot loop; nan if it has none or is missing.

        The estimate is one cycle per instruction, plus the waits for operands.
        """
        if not (self.hot and self.hot.ffma):
            return float("nan")
        return 1 / self.bound + self.bank_conflicts.waits / self.hot.ffma

    @cached_property
    def early_uses(self) -> int:
        """The number of shared loads in the hot loop whose value is used before it usually arrives.

        The use is then fewer than SHARED_LATENCY instructions after the load. With few warps, a
        scheduler has nothing else to do until then, so the warp stalls. It is 0 without a loop.
        """
        distances = distances_to_use(self.hot.body) if self.hot else []
        return sum(distance < SHARED_LATENCY for distance in distances)

    @cached_property
    def loads_before_use(self) -> int:
        """The most global loads (LDG) that a thread issues before it needs a value of one of them.

        Instructions are taken in the order of the listing. It is 0 without a global load.
        """
        return loads_before_use(self.code)

    def listing(self) -> Listing:
        """Return the Python source with PTX and SASS beside each line, and the hot loop marked.

        This compiles the kernel a second time, with line information, unless that is in the cache.
        Raises CourseError in the same cases as `xray`.
        """
        lines = source_lines(self.function, self.signature, self.arch, self.code)
        sass = zip(lines.sass, self.code, strict=True)
        hot = self.hot.body if self.hot else ()
        return make_listing(f"{self.kernel} for {self.arch}", lines.source, lines.ptx, sass, hot)

    def figures(self) -> dict[str, int | str]:
        """Return the figures by their names in a table, such as "registers per thread".

        Counts are ints. Shares, estimates and lists are texts, such as "93.8% of the hot loop" or
        "2 LDG.128, 1 LDS.32". Without a loop, the instructions in the hot loop are "no loop". If
        there is no hot loop or it has no FFMA, the cycles per FFMA are "no loop of FFMAs".
        """
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
            "loads": _listed(self.loads),
            "stores": _listed(self.stores),
            "instructions in the hot loop": len(self.hot.body) if self.hot else "no loop",
            "FFMA share": f"{self.ffma_share:.1%} of {'the hot loop' if self.hot else 'all'}",
            **self._tensor_figures(),
            "shared loads used too early": self.early_uses,
            "of the FP32 peak at most": f"{self.bound:.1%}",
            "register bank conflicts": f"{banks.conflicts} ({banks.saved} more without reuse)",
            "cycles per FFMA, estimated": (
                f"{self.cycles_per_ffma:.3f}" if self.hot and self.hot.ffma else "no loop of FFMAs"
            ),
        }

    def _tensor_figures(self) -> dict[str, str]:
        """Return the figures of code that computes on tensor cores; an empty dict for other code.

        "for tensor cores" lists the numbers of HMMA, LDSM and LDGSTS instructions, and "HMMA share"
        is the share of HMMA in the hot loop.
        """
        if not any(self.instructions[name] for name in TENSOR):
            return {}
        names = (*TENSOR, "LDSM", "LDGSTS")
        counts = Counter({name: self.instructions[name] for name in names})
        where = "the hot loop" if self.hot else "all"
        return {
            "for tensor cores": _listed(+counts),
            "HMMA share": f"{self.tensor_share:.1%} of {where}",
        }

    def __str__(self) -> str:
        rows = [f"  {name:33} {value}" for name, value in self.figures().items()]
        return "\n".join([f"{self.kernel} for {self.arch}", *rows])

    def _repr_html_(self) -> str:
        import pandas as pd  # takes half a second, so it is imported only for the table

        figures = pd.Series(self.figures(), name=f"{self.kernel} for {self.arch}")
        return figures.to_frame().to_html()


def _listed(counts: Counter[str]) -> str:
    """Return counts as text, such as "2 LDG.128, 1 LDS.32"; "none" if there are none."""
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"


@dataclass(frozen=True)
class _ToolOutput:
    """The output of the compiler's tools for a kernel, which is cached on disk.

    resources: the numbers that `resources_of` returns, by name. ptx: the PTX with the kernel's
    Python name. listing: nvdisasm's listing of the kernel and its callees.
    """

    resources: dict[str, int]
    ptx: str
    listing: str


def xray(kernel: Callable, signature, arch: str = "sm_90") -> XRay:
    """Compile a ``@cuda.jit`` kernel, or a plain function, and return its machine code as an XRay.

    The kernel is compiled by the compiler whose ``cuda.jit`` decorates it: numba-cuda or
    numba-cuda-mlir.
    ``signature`` holds the types of its arguments, such as ``void(float32[:, ::1])``. ``arch`` is
    any architecture that the installed toolkit knows. No GPU is needed. The result is cached on
    disk; see `gpu_xray.cache`. Raises CourseError without a compiler, for an unknown architecture,
    for a signature that does not fit the kernel, and for a kernel that the compiler refuses.
    """
    require_compiler(kernel)
    capability = capability_of(arch)
    arguments = argument_types(kernel, signature)
    name = python_of(kernel).__name__

    def compile_and_disassemble() -> _ToolOutput:
        compiled = compile_kernel(kernel, signature, arch)
        return _ToolOutput(
            resources=resources_of(compiled, capability),
            ptx=compiled.ptx.replace(compiled.entry, name),
            listing=disassemble(compiled.cubin, compiled.entry),
        )

    key = cache_key(kernel, arch, *map(str, arguments))
    output = cached(key, _ToolOutput, compile_and_disassemble)
    return XRay(
        name,
        arch,
        compiler_of(kernel),
        ptx=output.ptx,
        code=parse(output.listing),
        function=kernel,
        signature=signature,
        **output.resources,
    )
