"""Machine code as records: what nvdisasm prints, instruction by instruction."""

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
from utils.errors import CourseError

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
    """What the assembler tells the scheduler beside each instruction.

    stall: cycles until the warp may issue its next one. yields: another warp is preferred then.
    write_barrier, read_barrier: the scoreboard (0 to 5) that is released when the result is there,
    or when the sources were read; None without one. waits: the scoreboards to wait for.
    """

    stall: int
    yields: bool
    write_barrier: int | None
    read_barrier: int | None
    waits: tuple[int, ...]


@dataclass(frozen=True)
class Instruction:
    """One SASS instruction.

    address: bytes from the start of its function. predicate: such as "@!P0", or "".
    opcode: with its modifiers, such as "LDG.E.128". word: its 128 bits.
    target: the place in the listing that a branch goes to; None for all others.
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
        """The instruction in words; a branch goes to `label`."""
        operands = ", ".join(_TARGET.sub(label, operand) for operand in self.operands)
        return f"{self.predicate:5} {self.opcode} {operands}".rstrip()

    @cached_property
    def sources(self) -> tuple[tuple[str, bool] | None, ...]:
        """For each source operand its register and whether it is kept for reuse, or None."""
        matches = [_REGISTER.fullmatch(operand) for operand in self.operands[1:]]
        return tuple(match and (match[1], bool(match[2])) for match in matches)

    @property
    def loaded(self) -> set[str]:
        """The registers that a load of 32, 64 or 128 bits writes; it names the first of them."""
        first = _REGISTER.fullmatch(self.operands[0])
        if not first:
            return set()
        count = next((int(part) // 32 for part in self.opcode.split(".") if part in _WIDE), 1)
        return {f"R{int(first[1][1:]) + i}" for i in range(count)}

    @property
    def control(self) -> Control:
        """The scheduling bits (105 to 121 of the word; the layout of compute capability 7 on)."""
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
    """What one of the toolkit's programs prints about a cubin; CourseError if it is not there."""
    from cuda import pathfinder

    program = pathfinder.find_nvidia_binary_utility(name) or system_program(name)
    if program is None:
        raise CourseError(f"{name} is not installed: {NO_COMPILER}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.cubin"
        file.write_bytes(cubin)
        done = subprocess.run([program, *flags, str(file)], capture_output=True, text=True)
    if done.returncode:
        raise CourseError(f"{name} cannot read this machine code: {done.stderr.strip()}")
    return done.stdout


def disassemble(cubin: bytes, entry: str, *flags: str) -> str:
    """nvdisasm's listing of a kernel and of the functions that it calls, with the encoding.

    A cubin can hold more, such as the whole device runtime when a kernel synchronises the grid.
    """
    listing = run_tool("nvdisasm", ["-c", "-hex", "-ndf", *flags], cubin)
    functions = dict(_FUNCTION.findall(listing))
    chosen, waiting = [], [entry]
    while waiting:
        name = waiting.pop()
        chosen.append(name)
        called = sorted(set(_SYMBOL.findall(functions[name])) & set(functions))
        waiting += [one for one in called if one not in (*chosen, *waiting)]
    return "\n".join(functions[name] for name in chosen)


def parse(listing: str) -> tuple[Instruction, ...]:
    """The instructions in a listing of `disassemble`, without the padding behind them."""
    rows, labels = [], {}
    for line in listing.splitlines():
        if label := _LABEL.match(line):
            labels[label[1]] = len(rows)
        elif found := _INSTRUCTION.match(line):
            rows.append(found)
        elif high := _HIGH.match(line):
            rows[-1] = (rows[-1], int(high[1], 16))
    code = [_instruction(*row, labels) for row in rows]
    return _without_padding(code)


def _instruction(found: re.Match, high: int, labels: dict[str, int]) -> Instruction:
    operands = tuple(part.strip() for part in found["operands"].split(",") if part.strip())
    target = _TARGET.search(found["operands"])
    return Instruction(
        address=int(found["address"], 16),
        predicate=found["predicate"] or "",
        opcode=found["opcode"],
        operands=operands,
        word=high << 64 | int(found["low"], 16),
        target=labels[target[1]] if target else None,
    )


def _without_padding(code: list[Instruction]) -> tuple[Instruction, ...]:
    """A function ends with a jump to itself and NOPs, which no thread ever reaches."""
    kept = [
        place
        for place, instruction in enumerate(code)
        if instruction.name != "NOP" and instruction.target != place
    ]
    targets = {place: bisect_left(kept, place) for place in range(len(code) + 1)}
    return tuple(
        replace(code[place], target=targets.get(code[place].target)) for place in kept
    )
