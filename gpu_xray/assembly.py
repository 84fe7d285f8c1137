"""The machine code that Numba makes for the CPU: the hot loop, and its instructions counted."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from llvmlite import binding

_LABEL = re.compile(r"^(\.?[A-Za-z_$][\w.$]*):", re.MULTILINE)
_FMA = re.compile(r"\s(vfn?m(?:add|sub)\d+[ps]s|fmla)\s")
_BROADCAST = re.compile(r"\s(vbroadcastss|vpbroadcastd)\s|\{1to\d+\}|\sld1r\s")
_MEMORY = re.compile(r"-?\w*\(%\w+[^)]*\)")
# Not %rbp, which LLVM uses as any other register.
_STACK = re.compile(r"\(%rsp[,)]")
_VECTOR = re.compile(r"%[xyz]mm\d+")
_MULTIPLY = re.compile(r"\s(v?mul[ps]s|vfn?m(?:add|sub)\d+[ps]s|fn?mul|fn?ml[as]|fn?madd)\s+(.*)")
_REGISTERS = {"xmm": 4, "ymm": 8, "zmm": 16}
_ARM_VECTOR = re.compile(r"v\d+\.(\d)s")
# The target stands last, perhaps with a mask behind it.
_STORE = re.compile(r"\)( \{%k\d\})?$")

# Processors by LLVM's names, and the float32 in their vectors: two makers, three generations.
PROCESSORS = {"haswell": 8, "skylake-avx512": 16, "znver4": 16, "sapphirerapids": 16}
_TRIPLE = "x86_64-unknown-linux-gnu"
_FEATURES = {8: "+avx,+avx2,+fma", 16: "+avx,+avx2,+fma,+avx512f"}


@dataclass(frozen=True)
class Counts:
    """Instructions of a piece of x86 machine code, as LLVM writes it (AT&T: the target is last).

    fma: multiply-adds. loads: vectors read from memory. broadcasts: one element read into all
    lanes, alone or as part of another instruction. stores: vectors written to memory.
    spills: vectors read from or written to the stack, for want of registers.
    all: every instruction.
    """

    fma: int
    loads: int
    broadcasts: int
    stores: int
    spills: int
    all: int


def hot_loop(function) -> str:
    """The piece of straight code with most multiply-adds in a compiled @njit function.

    If several have as many, the shortest. A function that was not yet compiled has none.
    """
    return _hottest(function.inspect_asm().values())


def hot_loop_elsewhere(function, processor: str) -> str | None:
    """The same on one of `PROCESSORS`, whatever this machine is, for functions of vectors.

    LLVM makes its machine code anew from what Numba's compiler has made here, so it may only be
    looked at. None where this LLVM knows no x86. A loop without vectors may differ: which ones the
    compiler makes of it was decided for this machine.
    """
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    try:
        target = binding.Target.from_triple(_TRIPLE)
    except RuntimeError:
        return None
    machine = target.create_target_machine(
        cpu=processor, features=_FEATURES[PROCESSORS[processor]], opt=3, reloc="pic"
    )
    modules = map(binding.parse_assembly, function.inspect_llvm().values())
    return _hottest(map(machine.emit_assembly, modules))


def _hottest(texts: Iterable[str]) -> str:
    pieces = [piece for text in texts for piece in _straight(text)]
    return max(pieces, key=lambda piece: (len(_FMA.findall(piece)), -len(piece)), default="")


def _straight(code: str) -> list[str]:
    """The pieces between labels; one that jumps back to its own label ends there."""
    _, *rest = _LABEL.split(code)
    pieces = []
    for label, piece in zip(rest[::2], rest[1::2], strict=True):
        # What follows the last jump back runs once, when the loop is over.
        back = list(re.finditer(rf"\sj\w+\s+{re.escape(label)}$", piece, re.MULTILINE))
        pieces.append(piece[: back[-1].end()] if back else piece)
    return pieces


def count(code: str) -> Counts:
    """The instructions of a piece of assembly, by kind."""
    counted = dict.fromkeys(("fma", "loads", "broadcasts", "stores", "spills", "all"), 0)
    for line in map(str.strip, code.splitlines()):
        if not line or line[0] in ".#" or line.endswith(":"):
            continue
        line = f" {line} "
        counted["all"] += 1
        counted["fma"] += bool(_FMA.search(line))
        if not (_MEMORY.search(line) and _VECTOR.search(line)):
            continue
        if _STACK.search(line):
            counted["spills"] += 1
        elif _STORE.search(line.rstrip()):
            counted["stores"] += 1
        elif _BROADCAST.search(line):
            counted["broadcasts"] += 1
        else:
            counted["loads"] += 1
    return Counts(**counted)


def multiplications(code: str) -> Counter[int]:
    """How many instructions multiply so many floats at once, with or without an addition.

    code: assembly for x86 or ARM.
    """
    found = Counter()
    for opcode, operands in _MULTIPLY.findall(code):
        found[_lanes(opcode, operands)] += 1
    return found


def vector_loop(code: str) -> str:
    """The piece of straight code with most vector multiplications; "" where there is none."""
    found = {piece: multiplications(piece) for piece in _straight(code)}
    vectors = {piece: counts.total() - counts[1] for piece, counts in found.items()}
    best = max(vectors, key=lambda piece: (vectors[piece], -len(piece)), default="")
    return best if vectors.get(best) else ""


def _lanes(opcode: str, operands: str) -> int:
    """float32 in the widest register of a multiplication."""
    if opcode.endswith("ps"):
        return max(lanes for name, lanes in _REGISTERS.items() if f"%{name}" in operands)
    width = _ARM_VECTOR.search(operands)
    return int(width[1]) if width else 1


def start_elsewhere(name: str, program: Path | str, folder: Path | str) -> subprocess.Popen:
    """Start a Python file in a process in which Numba compiles for one of `PROCESSORS`.

    folder: what it imports from. Its stdout and stderr are pipes, as text. The program must only
    compile and look: this machine may not have the instructions.
    """
    settings = {
        "NUMBA_CPU_NAME": name,
        "NUMBA_CPU_FEATURES": _FEATURES[PROCESSORS[name]],
        "PYTHONPATH": str(folder),
    }
    return subprocess.Popen(
        [sys.executable, str(program)],
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
