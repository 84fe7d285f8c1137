"""Which Python line made which instruction.

A table of lines can change the code, so it is compiled a second time with one. What both listings
have in common gives its lines to the code that is looked at.
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
from gpu_xray.compile import compile_kernel, python_of
from gpu_xray.identity import identity_of
from gpu_xray.sass import Instruction, disassemble, parse

_MARK = re.compile(r"^\s*//## File")
_PLACE = re.compile(r'"([^"]*)", line (\d+)')
_PTX_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', re.MULTILINE)
_PTX_PLACE = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+).*?(?:inlined_at\s+(\d+)\s+(\d+).*)?$")
_PTX_INSTRUCTION = re.compile(r"^\s+(?:\{ )?(?:@!?%p\d+\s+)?[a-z][\w.:]*\b[^;]*;")


@dataclass(frozen=True)
class SourceLines:
    """source: the kernel's lines with their numbers in its file.

    sass: for each instruction its line, or None. ptx: (line or None, instruction), in order.
    """

    source: tuple[tuple[int, str], ...]
    sass: tuple[int | None, ...]
    ptx: tuple[tuple[int | None, str], ...]


@dataclass(frozen=True)
class _Printed:
    ptx: str
    listing: str


def source_lines(
    kernel: Callable, signature, arch: str, code: Sequence[Instruction]
) -> SourceLines:
    """The lines of `code`, which was compiled from the kernel; errors as for `xray`."""
    function = python_of(kernel)
    home, source = inspect.getfile(function), _lines_of(function)

    def look() -> _Printed:
        compiled = compile_kernel(kernel, signature, arch, lineinfo=True)
        listing = disassemble(compiled.cubin, compiled.entry, "-gi")
        return _Printed(compiled.ptx.replace(compiled.entry, function.__name__), listing)

    place = home, source
    key = identity_of(kernel, arch, "with lines", place, str(signature))
    printed = cached(key, _Printed, look)
    numbers = {number for number, _ in source}

    def own(places: list[tuple[str, str]]) -> int | None:
        """The line of the kernel among these; inlined functions bring lines of other files."""
        here = (int(line) for file, line in places if Path(file).name == Path(home).name)
        return next((line for line in here if line in numbers), None)

    marked = parse(printed.listing)
    shared = _shared_places(code, marked)
    lines = _sass_lines(printed.listing, own)
    sass = tuple(lines[shared[place]] if place in shared else None for place in range(len(code)))
    return SourceLines(source, sass, tuple(_ptx_lines(printed.ptx, own)))


def _lines_of(function: Callable) -> tuple[tuple[int, str], ...]:
    """The function's lines with their numbers in its file, at the left margin."""
    lines, first = inspect.getsourcelines(function)
    text = textwrap.dedent("".join(lines)).rstrip()
    return tuple(enumerate(text.splitlines(), start=first))


def _sass_lines(listing: str, own: Callable) -> list[int | None]:
    """The line of each instruction in a listing with line marks."""
    lines, current = [], None
    pending: list[tuple[str, str]] = []
    for text in listing.splitlines():
        if _MARK.match(text):
            pending += _PLACE.findall(text)
        elif re.match(r"\s+/\*[0-9a-f]{4,}\*/", text):
            if pending:
                current, pending = own(pending), []
            lines.append(current)
    return lines


def _ptx_lines(ptx: str, own: Callable) -> list[tuple[int | None, str]]:
    """The instructions of PTX with line marks, each with its line."""
    files = dict(_PTX_FILE.findall(ptx))
    lines, current = [], None
    for text in ptx.splitlines():
        if mark := _PTX_PLACE.match(text):
            file, line, outer_file, outer_line = mark.groups()
            places = [(files.get(file, ""), line)]
            places += [(files.get(outer_file, ""), outer_line)] if outer_file else []
            current = own(places)
        elif _PTX_INSTRUCTION.match(text):
            lines.append((current, " ".join(text.split())))
    return lines


def _shared_places(code: Sequence[Instruction], marked: Sequence[Instruction]) -> dict[int, int]:
    """For each place in `code` the one in `marked` that it has in common with it."""
    texts = [[(one.predicate != "", one.opcode) for one in side] for side in (code, marked)]
    matcher = difflib.SequenceMatcher(None, *texts, autojunk=False)
    return {
        block.a + offset: block.b + offset
        for block in matcher.get_matching_blocks()
        for offset in range(block.size)
    }
