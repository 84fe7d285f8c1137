"""The machine code that Numba makes for the CPU: its hottest piece, and instruction counts."""

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
# The target is the last operand; a mask may follow it.
_STORE = re.compile(r"\)( \{%k\d\})?$")

# Processors by LLVM's names, with the number of float32 in a vector.
PROCESSORS = {"haswell": 8, "skylake-avx512": 16, "znver4": 16, "sapphirerapids": 16}
_TRIPLE = "x86_64-unknown-linux-gnu"
_FEATURES = {8: "+avx,+avx2,+fma", 16: "+avx,+avx2,+fma,+avx512f"}


@dataclass(frozen=True)
class InstructionCounts:
    """Instruction counts of a piece of x86 machine code in AT&T syntax, as LLVM writes it.

    fma: multiply-adds. loads: vectors read from memory, and broadcasts: one element read into all
    lanes, both alone or as part of another instruction. stores: vectors written to memory.
    spills: vectors read from or written to the stack, because there are too few registers.
    all: every instruction.
    """

    fma: int
    loads: int
    broadcasts: int
    stores: int
    spills: int
    all: int


def hot_loop(function) -> str:
    """Return the piece with the most multiply-adds of a compiled @njit function's assembly.

    A piece is the code between two labels, without the labels, and ends with its last jump back to
    its own label, if it has one. So a loop that consists of one piece is returned as a whole. A
    piece may also contain jumps to other labels, and it may be a part of a loop or no loop at all.
    If several pieces have the most, or none has any, it is the shortest of them. Returns "" for a
    function that is not compiled yet.
    """
    return _hottest(compiled_here(function).inspect_asm().values())


def hot_loop_elsewhere(function, processor: str) -> str | None:
    """Return what `hot_loop` returns, but compiled for one of `PROCESSORS`.

    LLVM compiles the optimised LLVM IR of this machine for the other processor. So the result is
    right only for functions that use explicit vectors: how a loop without them is vectorised was
    decided for this machine. The code must not be executed. Returns None if this LLVM has no x86.
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
    modules = map(binding.parse_assembly, compiled_here(function).inspect_llvm().values())
    return _hottest(map(machine.emit_assembly, modules))


def compiled_here(function):
    """Return the @njit function, or a copy compiled now if its code was read from a cache.

    The copy has all signatures of the function. A cache on disk keeps machine code alone, without
    the assembly and the LLVM IR.
    """
    if not function.stats.cache_hits:
        return function
    copy = type(function)(function.py_func, targetoptions=function.targetoptions)
    for signature in function.signatures:
        copy.compile(signature)
    return copy


def _hottest(texts: Iterable[str]) -> str:
    """Return the piece with the most multiply-adds in several texts; "" if no text has a label.

    A piece is one of `_straight`. If several pieces have the most, or none has any, it is the
    shortest of them.
    """
    pieces = [piece for text in texts for piece in _straight(text)]
    return max(pieces, key=lambda piece: (len(_FMA.findall(piece)), -len(piece)), default="")


def _straight(code: str) -> list[str]:
    """Split assembly at its labels and return the pieces after each label, in order.

    The labels themselves and what precedes the first label are left out. A piece that jumps back to
    its own label ends with its last such jump. Jumps to other labels do not end a piece.
    """
    _, *rest = _LABEL.split(code)
    pieces = []
    for label, piece in zip(rest[::2], rest[1::2], strict=True):
        # The code behind the last backward jump runs once, after the loop.
        back = list(re.finditer(rf"\sj\w+\s+{re.escape(label)}$", piece, re.MULTILINE))
        pieces.append(piece[: back[-1].end()] if back else piece)
    return pieces


def count(code: str) -> InstructionCounts:
    """Count the instructions of a piece of x86 assembly by kind.

    Labels, comments and directives are no instructions.
    """
    counts = dict.fromkeys(("fma", "loads", "broadcasts", "stores", "spills", "all"), 0)
    for line in map(str.strip, code.splitlines()):
        if not line or line[0] in ".#" or line.endswith(":"):
            continue
        line = f" {line} "
        counts["all"] += 1
        counts["fma"] += bool(_FMA.search(line))
        if not (_MEMORY.search(line) and _VECTOR.search(line)):
            continue
        if _STACK.search(line):
            counts["spills"] += 1
        elif _STORE.search(line.rstrip()):
            counts["stores"] += 1
        elif _BROADCAST.search(line):
            counts["broadcasts"] += 1
        else:
            counts["loads"] += 1
    return InstructionCounts(**counts)


def multiplications(code: str) -> Counter[int]:
    """Count the multiplications and multiply-adds in assembly for x86 or ARM.

    The key is the number of floats that an instruction works on, the value the number of such
    instructions.
    """
    counts = Counter()
    for opcode, operands in _MULTIPLY.findall(code):
        counts[_lanes(opcode, operands)] += 1
    return counts


def vector_loop(code: str) -> str:
    """Return the piece of assembly with the most vector multiplications; "" if there is none.

    A piece is the code between two labels, without the labels, and ends with its last jump back to
    its own label, if it has one. It may contain jumps to other labels, so it may be a part of a
    loop, or code outside of loops. ``code`` is assembly for x86 or ARM. Multiply-adds count, too.
    If several pieces have the most, it is the shortest of them.
    """
    by_piece = {piece: multiplications(piece) for piece in _straight(code)}
    vectors = {piece: counts.total() - counts[1] for piece, counts in by_piece.items()}
    best = max(vectors, key=lambda piece: (vectors[piece], -len(piece)), default="")
    return best if vectors.get(best) else ""


def _lanes(opcode: str, operands: str) -> int:
    """Return the number of float32 that one multiplication computes, 1 for a scalar one.

    The widest register among the operands decides.
    """
    if opcode.endswith("ps"):
        return max(lanes for name, lanes in _REGISTERS.items() if f"%{name}" in operands)
    width = _ARM_VECTOR.search(operands)
    return int(width[1]) if width else 1


def start_elsewhere(name: str, program: Path | str, folder: Path | str) -> subprocess.Popen:
    """Start a Python file in a process in which Numba compiles for the processor ``name``.

    ``name`` is one of `PROCESSORS`, and ``folder`` is the PYTHONPATH. The stdout and stderr of the
    returned process are text pipes, which the caller reads. The program must compile functions but
    not call them, because this machine may lack the instructions.
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
