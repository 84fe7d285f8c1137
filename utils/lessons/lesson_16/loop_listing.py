"""A loop of machine code next to its Python lines: every instruction coloured and explained."""

from __future__ import annotations

import html
import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gpu_xray.opcodes import meaning_of
from gpu_xray.sass import Instruction
from utils.lessons.compiled_loops import LoopRow
from utils.lessons.lesson_16.instruction_shares import COLOURS, kind_of
from utils.translation import translate
from virtual_gpu.pictures.svg import INDENT, KEEP_KEYS, LEAVE_KEYS, in_code

_SCRIPT = Path(__file__).with_suffix(".js")
_numbers = itertools.count(1)
_STYLE = """<style>
.machine-loop {font-family: system-ui, sans-serif; font-size: 13px; line-height: 1.45;
 max-width: 66em}
.machine-loop p {margin: 4px 0}
.machine-loop .columns {display: flex; flex-wrap: wrap; gap: 8px 28px; align-items: flex-start}
.machine-loop .python {flex: 1 1 290px; min-width: 0}
.machine-loop .machine {flex: 1 1 500px; min-width: 0}
.machine-loop ol {max-height: 780px; overflow-y: auto}
.machine-loop.more ol {mask-image: linear-gradient(#000 calc(100% - 52px), #0003)}
.machine-loop .scroll {visibility: hidden; text-align: center; font-weight: 600}
.machine-loop.more .scroll {visibility: visible}
.machine-loop:not(.scrolls) .scroll {display: none}
.machine-loop ol {list-style: none !important; margin: 0 !important; padding: 0 !important}
.machine-loop li, .machine-loop .line {display: flex; gap: 8px; align-items: baseline;
 padding: 0 4px 0 0; border-left: 9px solid; box-sizing: border-box; margin: 1px 0}
.machine-loop .line {border-color: transparent; padding: 2px 4px}
.machine-loop li > code, .machine-loop .line code {background: none !important; color: inherit;
 font-size: 12px; min-width: 0; white-space: pre-wrap; overflow-wrap: anywhere;
 padding: 0 !important}
.machine-loop b {flex: none; width: 1.7em; text-align: right; font-weight: 400; opacity: .75}
.machine-loop .line i {margin-left: auto; font-style: normal; opacity: .75; white-space: nowrap}
.machine-loop li > code {flex: 1}
.machine-loop li u, .machine-loop .head u {flex: none; text-decoration: none; font-size: 12px}
.machine-loop .flags {width: 8.4em}
.machine-loop .cycles {width: 3.2em; text-align: right}
.machine-loop .head {display: flex; gap: 8px; padding: 0 4px 0 9px; opacity: .75}
.machine-loop .head span {flex: 1}
.machine-loop .why {display: none}
.machine-loop .of, .machine-loop .line.on {background: rgba(128,128,128,.16)}
.machine-loop li.on {outline: 2px solid currentColor; outline-offset: -2px}
.machine-loop.alive li, .machine-loop.alive .line {cursor: pointer}
.machine-loop .said {position: relative; min-height: 12em; border-left: 4px solid #8b9096;
 padding: 4px 10px; background: rgba(128,128,128,.10); margin: 8px 0}
.machine-loop .key span {white-space: nowrap; margin-right: 14px}
.machine-loop .key i {display: inline-block; width: 12px; height: 12px; margin-right: 5px;
 vertical-align: -1px}
.machine-loop dt {font-family: monospace; font-weight: 600}
.machine-loop dd {margin: 0 0 2px 2em}
@media (max-width: 600px) {.machine-loop .machine {flex-basis: 100%}
 .machine-loop .flags {width: 4.2em}
 .machine-loop .said {min-height: 8em}
 .machine-loop ol {max-height: 420px}}
</style>"""
# What a modifier of an opcode adds, by opcode and modifier.
_MODIFIERS = {
    ("IMAD", "MOV"): "copy a register: the multiplier does it, because it is idle",
    ("IMAD", "SHL"): "shift an integer to the left: the multiplier does it, because it is idle",
    ("IMAD", "WIDE"): "multiply and add integers, with a result of 64 bits",
    ("IMAD", "X"): "add the upper halves of two 64-bit numbers, with the carry of the lower halves",
    ("IMAD", "U32"): "copy a register: the multiplier does it, because it is idle",
    ("IADD3", "X"): "add the upper halves of 64-bit numbers, with the carry of the lower halves",
    ("UIADD3", "X"): "add the upper halves of 64-bit numbers, once for the whole warp",
    ("ISETP", "EX"): "compare the upper halves of two 64-bit numbers",
    ("F2F", "F64"): "convert a float32 to a float64",
}


@dataclass(frozen=True)
class LoopListing:
    """A loop of machine code next to its Python lines, which a notebook displays.

    title: the line above. source: the Python lines of the loop with their indentation. rows: the
    instructions of one iteration, in order; they are numbered from 1. known: the instructions of an
    earlier loop, whose opcodes are not explained again below this one. `str` returns the
    instructions as text, one per line. In a notebook, a pointer over an instruction, a tap or the
    arrow keys show what the instruction does.
    """

    title: str
    source: tuple[str, ...]
    rows: tuple[LoopRow, ...]
    known: tuple[LoopRow, ...] = ()

    def __str__(self) -> str:
        lines = [self.title, *self.source]
        for number, row in enumerate(self.rows, start=1):
            kind = kind_of(row.instruction.name)
            lines.append(f"{number:>3}  {_text(row.instruction):46} {kind}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        name = f"machine-loop-{next(_numbers)}"
        stripped = [line.strip() for line in self.source]
        counts = Counter(row.line for row in self.rows)
        python = "".join(
            _line(number, line, counts[line.strip()]) for number, line in enumerate(self.source)
        )
        rows = "".join(
            _row(number, row, stripped) for number, row in enumerate(self.rows, start=1)
        )
        label = html.escape(translate("Instructions of one iteration"))
        how = translate("Point at an instruction, or tap it, to read what it does.")
        more = translate("Scroll the list: it has {count} instructions.", count=len(self.rows))
        script = _SCRIPT.read_text(encoding="utf-8").replace("@ID@", name)
        return (
            f'{_STYLE}<div class="machine-loop" id="{name}"><p><b style="opacity:1;width:auto;'
            f'font-weight:600">{html.escape(self.title)}</b></p>{self._key()}'
            f'<div class="columns"><div class="python">{python}'
            f'<div class="said" aria-live="polite">{how}</div></div>'
            f'<div class="machine listing">{_head()}<ol aria-label="{label}">{rows}</ol>'
            f'<p class="scroll">↓ {more}</p></div></div>'
            f"{self._opcodes()}</div>{LEAVE_KEYS}<script>{script}</script>"
        )

    def _key(self) -> str:
        """Return the HTML of the legend of the kinds in this loop."""
        used = {kind_of(row.instruction.name) for row in self.rows}
        return '<p class="key listing">' + "".join(
            f'<span><i style="background:{colour}"></i>{translate(kind)}</span>'
            for kind, colour in COLOURS.items()
            if kind in used
        ) + "</p>"  # fmt: skip

    def _opcodes(self) -> str:
        """Return the HTML of a fold that explains each opcode, the most frequent one first.

        It is "" if all opcodes are known.
        """
        known = {_key_of(row.instruction) for row in self.known}
        keys = (_key_of(row.instruction) for row in self.rows)
        counts = Counter(key for key in keys if key not in known)
        if not counts:
            return ""
        items = "".join(
            f"<dt>{html.escape(name)} × {count}</dt><dd>{html.escape(translate(words))}</dd>"
            for (name, words), count in counts.most_common()
        )
        title = translate("The {count} opcodes of this loop", count=len(counts))
        if known:
            title = translate("The {count} opcodes that are new here", count=len(counts))
        return f"<details><summary>{title}</summary><dl>{items}</dl></details>"


def explanation(number: int, instruction: Instruction) -> tuple[str, ...]:
    """Return sentences on an instruction: what it does, and what its control code says.

    number: its position in the loop, counted from 1. Text between backticks is code.
    """
    name, words = _key_of(instruction)
    control = instruction.control
    first = translate(
        "{number}. `{name}`: {words}.", number=number, name=name, words=translate(words)
    )
    when = translate(
        "The warp may start its next instruction {stall} cycles later.", stall=control.stall
    )
    if control.stall == 1:
        when = translate("The warp may start its next instruction in the next cycle.")
    sentences = [first]
    if instruction.predicate:
        sentences.append(_condition(instruction.predicate))
    if control.waits:
        sentences.append(_wait(control.waits))
    sentences.append(when)
    if control.write_barrier is not None:
        sentences.append(
            translate(
                "It sets flag {flag} until the value has arrived.", flag=control.write_barrier
            )
        )
    if control.read_barrier is not None:
        sentences.append(
            translate(
                "It sets flag {flag} until the registers that it names are read.",
                flag=control.read_barrier,
            )
        )
    return tuple(sentences)


def _wait(flags: Sequence[int]) -> str:
    """Return a sentence on the flags that an instruction waits for, of which there is at least one.
    """
    if len(flags) == 1:
        return translate("It waits until flag {flag} is free.", flag=flags[0])
    return translate(
        "It waits until the flags {flags} are free.", flags=" and ".join(map(str, flags))
    )


def _condition(predicate: str) -> str:
    """Return a sentence on the lanes that execute an instruction with a predicate like "@!P0"."""
    name = predicate.lstrip("@!")
    if "!" in predicate:
        return translate(
            "`{mark}`: only the lanes in which {name} is false do this.", mark=predicate, name=name
        )
    return translate(
        "`{mark}`: only the lanes in which {name} is true do this.", mark=predicate, name=name
    )


def _key_of(instruction: Instruction) -> tuple[str, str]:
    """Return (opcode, its meaning in words) of an instruction.

    The opcode has its modifier if the modifier changes the meaning, as in "IMAD.MOV".
    """
    name, *modifiers = instruction.opcode.split(".")
    for modifier in modifiers:
        if words := _MODIFIERS.get((name, modifier)):
            return f"{name}.{modifier}", words
    return name, meaning_of(name)


def _text(instruction: Instruction) -> str:
    """Return an instruction as text; the target of a jump is written as "the top of the loop"."""
    return instruction.text_to(translate("the top of the loop")).strip()


def _line(number: int, line: str, count: int) -> str:
    """Return the HTML of a Python line with the count of its instructions, "–" for none.

    number: the index of the line in the listing, which the script uses.
    """
    depth = len(line) - len(line.lstrip())
    code = f"{INDENT * depth}{html.escape(line.lstrip())}"
    counted = f"<code>{code}</code><i>{count or '–'}</i>"
    return f'<div class="line listing" data-line="{number}">{counted}</div>'


def flags(instruction: Instruction) -> str:
    """Return words on the flags that an instruction waits for and sets, such as "wait 2, set 3".

    They are "" for an instruction without flags.
    """
    control = instruction.control
    sets = [one for one in (control.write_barrier, control.read_barrier) if one is not None]
    words = (
        (translate("wait {flags}", flags=" ".join(map(str, control.waits))), control.waits),
        (translate("set {flags}", flags=" ".join(map(str, sets))), sets),
    )
    return ", ".join(one for one, used in words if used)


def _head() -> str:
    """Return the HTML of the heads of the columns."""
    heads = translate("instruction"), translate("flags"), translate("cycles")
    return (
        f'<p class="head"><span>{heads[0]}</span><u class="flags">{heads[1]}</u>'
        f'<u class="cycles">{heads[2]}</u></p>'
    )


def _row(number: int, row: LoopRow, stripped: Sequence[str]) -> str:
    """Return the HTML of an instruction with its explanation and the index of its Python line.

    number: the instruction's number in the loop, from 1. stripped: the Python lines without
    indentation.
    """
    line = stripped.index(row.line) if row.line in stripped else ""
    sentences = explanation(number, row.instruction)
    plain = html.escape(" ".join(sentences).replace("`", ""))
    why = "".join(f"<p>{in_code(sentence)}</p>" for sentence in sentences)
    colour = COLOURS[kind_of(row.instruction.name)]
    return (
        f'<li data-line="{line}" title="{plain}" style="border-color:{colour}" {KEEP_KEYS}>'
        f"<b>{number}</b><code>{html.escape(_text(row.instruction))}</code>"
        f'<u class="flags">{html.escape(flags(row.instruction))}</u>'
        f'<u class="cycles">{row.instruction.control.stall}</u>'
        f'<span class="why">{why}</span></li>'
    )
