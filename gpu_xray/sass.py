"""Disassembles machine code with nvdisasm and parses its listing into instructions."""

from __future__ import annotations

import re
import subprocess
import tempfile
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from gpu_xray.compile import NO_COMPILER
from gpu_xray.cuda_programs import system_program
from gpu_xray.errors import CourseError

_LABEL = re.compile(r"^(\.L_x_\d+):")
_INSTRUCTION = re.compile(
    r"^\s+/\*(?P<address>[0-9a-f]{4,})\*/\s+(?P<predicate>@\S+)?\s*(?P<opcode>[A-Z][\w.]*)"
    r"(?P<operands>[^;]*);\s*/\* 0x(?P<low>[0-9a-f]{16}) \*/"
)
_HIGH = re.compile(r"^\s+/\* 0x([0-9a-f]{16}) \*/")
_TARGET = re.compile(r"`\((\.L_x_\d+)\)")
_FUNCTION = re.compile(r"^\.text\.(\S+):\n(.*?)(?=^\s*\.section|\Z)", re.MULTILINE | re.DOTALL)
_SYMBOL = re.compile(r"`\(([^).][^)]*)\)")
_WIDE = ("64", "128")
_REGISTER = re.compile(r"[-!~|]*(R\d+)(?:\.(?!reuse)\w+)*(\.reuse)?\|?")


@dataclass(frozen=True)
class Control:
    """The control information for the scheduler that the assembler puts into an instruction.

    stall: cycles until the warp may issue its next instruction. yields: the scheduler then prefers
    another warp. write_barrier: the scoreboard (0 to 5) that is released when the result is
    written, or None. read_barrier: the one released when the sources were read, or None.
    waits: the scoreboards that the instruction waits for.
    """

    stall: int
    yields: bool
    write_barrier: int | None
    read_barrier: int | None
    waits: tuple[int, ...]


@dataclass(frozen=True)
class Instruction:
    """One SASS instruction.

    address: offset in bytes from the start of its function. predicate: such as "@!P0", or "".
    opcode: with its modifiers, such as "LDG.E.128". operands: their texts, such as "R4".
    word: its 128 bits, as an int.
    target: the index in the listing of a branch's target; None for other instructions.
    """

    address: int
    predicate: str
    opcode: str
    operands: tuple[str, ...]
    word: int
    target: int | None = None

    @property
    def name(self) -> str:
        """The opcode without its modifiers, such as "LDG"."""
        return self.opcode.partition(".")[0]

    def text_to(self, label: str) -> str:
        """Return predicate, opcode and operands as text, with `label` as the target of a branch.

        The predicate, or five spaces without one, is padded to five characters.
        """
        operands = ", ".join(_TARGET.sub(label, operand) for operand in self.operands)
        return f"{self.predicate:5} {self.opcode} {operands}".rstrip()

    @cached_property
    def sources(self) -> tuple[tuple[str, bool] | None, ...]:
        """One entry per operand after the first.

        It is (name, True if marked .reuse) for a register, and None for any other operand.
        """
        matches = [_REGISTER.fullmatch(operand) for operand in self.operands[1:]]
        return tuple(match and (match[1], bool(match[2])) for match in matches)

    @property
    def loaded(self) -> set[str]:
        """The registers that a load of 32, 64 or 128 bits writes, such as {"R4", "R5"}.

        They begin with the first operand. The set is empty if that is no register.
        """
        first = _REGISTER.fullmatch(self.operands[0])
        if not first:
            return set()
        count = next((int(part) // 32 for part in self.opcode.split(".") if part in _WIDE), 1)
        return {f"R{int(first[1][1:]) + i}" for i in range(count)}

    @property
    def control(self) -> Control:
        """The control bits: 105 to 121 of the word, in the layout since compute capability 7.0."""
        bits = self.word >> 105
        write, read, waits = bits >> 5 & 7, bits >> 8 & 7, bits >> 11 & 63
        return Control(
            stall=bits & 15,
            yields=not bits >> 4 & 1,
            write_barrier=None if write == 7 else write,
            read_barrier=None if read == 7 else read,
            waits=tuple(barrier for barrier in range(6) if waits >> barrier & 1),
        )


def run_tool(name: str, flags: Iterable[str], cubin: bytes) -> str:
    """Run a program of the toolkit, such as nvdisasm, on a cubin and return its output.

    Raises CourseError if the program is not installed or fails.
    """
    from cuda import pathfinder

    program = pathfinder.find_nvidia_binary_utility(name) or system_program(name)
    if program is None:
        raise CourseError(f"{name} is not installed: {NO_COMPILER}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.cubin"
        file.write_bytes(cubin)
        process = subprocess.run([program, *flags, str(file)], capture_output=True, text=True)
    if process.returncode:
        raise CourseError(f"{name} cannot read this machine code: {process.stderr.strip()}")
    return process.stdout


def disassemble(cubin: bytes, entry: str, *flags: str) -> str:
    """Return nvdisasm's listing of a kernel and of the functions that it calls, with the encoding.

    ``entry`` is the kernel's name in the cubin, and ``flags`` are further options of nvdisasm.
    Other functions of the cubin are left out, such as the device runtime, which a kernel that
    synchronises the grid contains. Raises CourseError if nvdisasm is not installed or fails.
    """
    listing = run_tool("nvdisasm", ["-c", "-hex", "-ndf", *flags], cubin)
    functions = dict(_FUNCTION.findall(listing))
    chosen, waiting = [], [entry]
    while waiting:
        name = waiting.pop()
        chosen.append(name)
        callees = sorted(set(_SYMBOL.findall(functions[name])) & set(functions))
        waiting += [callee for callee in callees if callee not in (*chosen, *waiting)]
    return "\n".join(functions[name] for name in chosen)


def parse(listing: str) -> tuple[Instruction, ...]:
    """Parse a listing of `disassemble`; return its instructions without padding, in order.

    NOPs and jumps to themselves count as padding.
    """
    code = _all_instructions(listing)
    kept = _reachable(code)
    targets = {index: bisect_left(kept, index) for index in range(len(code) + 1)}
    return tuple(replace(code[index], target=targets.get(code[index].target)) for index in kept)


def positions(listing: str) -> list[int]:
    """Return the position in the listing, from 0, of each instruction that `parse` returns."""
    return _reachable(_all_instructions(listing))


def _all_instructions(listing: str) -> list[Instruction]:
    """Return all instructions of a listing in order, with padding; targets are positions in it."""
    rows, labels = [], {}
    for line in listing.splitlines():
        if label := _LABEL.match(line):
            labels[label[1]] = len(rows)
        elif instruction := _INSTRUCTION.match(line):
            rows.append(instruction)
        elif high := _HIGH.match(line):
            rows[-1] = (rows[-1], int(high[1], 16))
    return [_instruction(*row, labels) for row in rows]


def _instruction(match: re.Match, high: int, labels: dict[str, int]) -> Instruction:
    """Return the instruction of a line of a listing.

    Its upper 64 bits are `high`. `labels` maps the labels of branches to indices in the listing.
    """
    operands = tuple(part.strip() for part in match["operands"].split(",") if part.strip())
    target = _TARGET.search(match["operands"])
    return Instruction(
        address=int(match["address"], 16),
        predicate=match["predicate"] or "",
        opcode=match["opcode"],
        operands=operands,
        word=high << 64 | int(match["low"], 16),
        target=labels[target[1]] if target else None,
    )


def _reachable(code: list[Instruction]) -> list[int]:
    """Return the indices of the instructions that are no NOPs and no jumps to themselves.

    Those pad the end of a function, and no thread ever reaches them.
    """
    return [
        index
        for index, instruction in enumerate(code)
        if instruction.name != "NOP" and instruction.target != index
    ]
