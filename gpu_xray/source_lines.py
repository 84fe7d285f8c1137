"""Assigns Python lines to machine instructions.

Line information can change the code. So the kernel is compiled a second time with it, and the
instructions that both listings have in common get their lines from the second one.
"""

from __future__ import annotations

import difflib
import inspect
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpu_xray.cache import cached
from gpu_xray.cache_key import cache_key
from gpu_xray.compile import compile_kernel, python_of
from gpu_xray.sass import Instruction, disassemble, parse, positions

_MARK = re.compile(r"^\s*//## File")
_PLACE = re.compile(r'"([^"]*)", line (\d+)')
_PTX_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', re.MULTILINE)
_PTX_PLACE = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+).*?(?:inlined_at\s+(\d+)\s+(\d+).*)?$")
_PTX_INSTRUCTION = re.compile(r"^\s+(?:\{ )?(?:@!?%p\d+\s+)?[a-z][\w.:]*\b[^;]*;")


@dataclass(frozen=True)
class SourceLines:
    """The lines of a kernel, and the line of each of its instructions.

    source: the kernel's lines as (line number in its file, text).
    sass: the line number of each SASS instruction, or None.
    ptx: (line number or None, instruction) for each PTX instruction, in order.
    """

    source: tuple[tuple[int, str], ...]
    sass: tuple[int | None, ...]
    ptx: tuple[tuple[int | None, str], ...]


@dataclass(frozen=True)
class _LineListings:
    """The PTX and the SASS listing of a kernel with line information.

    ``ptx`` is the text of the PTX, and ``listing`` that of the SASS as nvdisasm prints it.
    """

    ptx: str
    listing: str


def source_lines(
    kernel: Callable, signature, arch: str, code: Sequence[Instruction]
) -> SourceLines:
    """Return the source lines of the kernel, and the line of each instruction of `code` and PTX.

    `code` was compiled from the kernel without line information.

    Raises CourseError in the same cases as `xray`.
    """
    function = python_of(kernel)
    kernel_file, source = inspect.getfile(function), _lines_of(function)

    def compile_and_disassemble() -> _LineListings:
        compiled = compile_kernel(kernel, signature, arch, lineinfo=True)
        listing = disassemble(compiled.cubin, compiled.entry, "-gi")
        return _LineListings(compiled.ptx.replace(compiled.entry, function.__name__), listing)

    location = kernel_file, source
    key = cache_key(kernel, arch, "with lines", location, str(signature))
    listings = cached(key, _LineListings, compile_and_disassemble)
    numbers = {number for number, _ in source}

    def kernel_line(marks: list[tuple[str, str]]) -> int | None:
        """Return the first line number of the (file, line) marks that is in the kernel, or None.

        Other marks are of inlined functions.
        """
        candidates = (int(n) for file, n in marks if Path(file).name == Path(kernel_file).name)
        return next((line for line in candidates if line in numbers), None)

    marked = parse(listings.listing)
    common = _common_indices(code, marked)
    lines = _sass_lines(listings.listing, kernel_line)
    sass = tuple(lines[common[index]] if index in common else None for index in range(len(code)))
    return SourceLines(source, sass, tuple(_ptx_lines(listings.ptx, kernel_line)))


def _lines_of(function: Callable) -> tuple[tuple[int, str], ...]:
    """Return (line number in its file, text without common indentation) per line of a function.

    Decorators belong to it, and empty lines at its end do not.
    """
    lines, first = inspect.getsourcelines(function)
    text = textwrap.dedent("".join(lines)).rstrip()
    return tuple(enumerate(text.splitlines(), start=first))


def _sass_lines(listing: str, kernel_line: Callable) -> list[int | None]:
    """Return the line number, or None, of each instruction that `parse` finds in a listing.

    `kernel_line` maps the marks before an instruction, as (file, line), to a line of the kernel, or
    to None. An instruction without marks has the line of the previous one.
    """
    lines, current = [], None
    pending: list[tuple[str, str]] = []
    for text in listing.splitlines():
        if _MARK.match(text):
            pending += _PLACE.findall(text)
        elif re.match(r"\s+/\*[0-9a-f]{4,}\*/", text):
            if pending:
                current, pending = kernel_line(pending), []
            lines.append(current)
    return [lines[position] for position in positions(listing)]


def _ptx_lines(ptx: str, kernel_line: Callable) -> list[tuple[int | None, str]]:
    """Return (line number or None, instruction) for each instruction of PTX with line marks.

    `kernel_line` maps the marks before an instruction, as (file, line), to a line of the kernel, or
    to None. An instruction without marks has the line of the previous one.
    """
    files = dict(_PTX_FILE.findall(ptx))
    lines, current = [], None
    for text in ptx.splitlines():
        if mark := _PTX_PLACE.match(text):
            file, line, outer_file, outer_line = mark.groups()
            marks = [(files.get(file, ""), line)]
            marks += [(files.get(outer_file, ""), outer_line)] if outer_file else []
            current = kernel_line(marks)
        elif _PTX_INSTRUCTION.match(text):
            lines.append((current, " ".join(text.split())))
    return lines


def _common_indices(code: Sequence[Instruction], marked: Sequence[Instruction]) -> dict[int, int]:
    """Return index in `code` -> index in `marked` for the instructions that both have in common.

    Two instructions are the same if their opcodes with modifiers are equal and both or none have a
    predicate. The order of the instructions is kept.
    """
    opcodes = [[(each.predicate != "", each.opcode) for each in part] for part in (code, marked)]
    matcher = difflib.SequenceMatcher(None, *opcodes, autojunk=False)
    return {
        block.a + offset: block.b + offset
        for block in matcher.get_matching_blocks()
        for offset in range(block.size)
    }
