"""Pictures of the registers that multiply-adds read: their banks, and those kept for reuse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpu_xray.loops import FFMA
from gpu_xray.sass import Instruction
from virtual_gpu.pictures.svg import PURPLE, Picture, rect, svg, text

PINK = "#c2417c"
BANKS = {"even": PURPLE, "odd": PINK}
WIDTH, PITCH, SIDE = 416, 19, 13
SLOTS_AT, COUNTS_AT = 238, (330, 378)
# An outer product of two numbers of a and two of b, in two orders of the same multiply-adds.
IDEA = {
    "in rows, nothing kept": (
        "FFMA R9, R2, R4, R9",
        "FFMA R10, R2, R5, R10",
        "FFMA R11, R3, R4, R11",
        "FFMA R12, R3, R5, R12",
    ),
    "in rows, with marks": (
        "FFMA R9, R2.reuse, R4, R9",
        "FFMA R10, R2, R5, R10",
        "FFMA R11, R3.reuse, R4, R11",
        "FFMA R12, R3, R5, R12",
    ),
    "back and forth, with marks": (
        "FFMA R9, R2.reuse, R4, R9",
        "FFMA R10, R2, R5.reuse, R10",
        "FFMA R12, R3.reuse, R5, R12",
        "FFMA R11, R3, R4, R11",
    ),
}


@dataclass(frozen=True)
class Read:
    """An operand of an instruction that is a register.

    `register` is its name, such as "R4". `kept` is True if the value was kept for reuse, so that no
    bank has to deliver it.
    """

    register: str
    kept: bool

    @property
    def bank(self) -> str:
        """The register's bank: "odd" or "even", as its number is."""
        return "odd" if int(self.register[1:]) % 2 else "even"


def reads_of(code: Sequence[Instruction]) -> list[tuple[Instruction, list[Read]]]:
    """Return each multiply-add with its register operands, in the order of the code.

    An operand is kept if the instruction directly before has the same register, marked for reuse,
    in the same slot.
    """
    multiply_adds, kept = [], {}
    for one in code:
        sources = {slot: source for slot, source in enumerate(one.sources) if source}
        if one.name in FFMA:
            reads = [Read(name, kept.get(slot) == name) for slot, (name, _) in sources.items()]
            multiply_adds.append((one, reads))
        kept = {slot: name for slot, (name, marked) in sources.items() if marked}
    return multiply_adds


def bank_reads_in_loop(bank: str, code: Sequence[Instruction]) -> int:
    """Count the registers that a bank, "even" or "odd", delivers to all multiply-adds of `code`.

    `code` is one iteration of a loop.
    """
    return sum(bank_reads(bank, reads) for _, reads in reads_of(code))


def draw_idea() -> Picture:
    """Draw the reads of four multiply-adds: in rows, without and with marks, and back and forth."""
    return draw_reads(
        "Four multiply-adds, and the registers that they read",
        {name: [_instruction(words) for words in lines] for name, lines in IDEA.items()},
    )


def draw_reads(
    title: str, loops: Mapping[str, Sequence[Instruction]], first: int = 0, most: int = 12
) -> Picture:
    """Draw one row per multiply-add: its text, its operands by bank, and the reads of each bank.

    Parameters
    ----------
    title : str
        The heading of the picture.
    loops : mapping of str to sequence of Instruction
        Machine code by the name that the reader sees.
    first, most : int
        The index of the first multiply-add to draw per loop, and the largest number of
        multiply-adds to draw per loop.
    """
    body, y, descriptions = text(0, 16, title, 14, font_weight="bold") + _key(), 66, []
    for name, code in loops.items():
        rows = reads_of(code)[first : first + most]
        body += text(0, y, name, 13, font_weight="bold")
        body += text(SLOTS_AT, y, "operands", 12)
        for x, bank in zip(COUNTS_AT, BANKS, strict=True):
            body += text(x, y, bank, 12, "middle", style=f"fill:{BANKS[bank]}")
        for one, reads in rows:
            y += PITCH
            body += _row(one, reads, y)
        descriptions.append(_description(name, rows))
        y += 32
    alt = f"{title}. {' '.join(descriptions)}"
    return Picture(svg(WIDTH, y - 22, body, alt, widest=1.2 * WIDTH), alt)


def _row(one: Instruction, reads: Sequence[Read], y: float) -> str:
    """Return the SVG of a multiply-add, with its text's baseline at y.

    It has the text, a square per operand, which is filled unless the operand is kept for reuse, and
    the number of registers that each bank delivers.
    """
    body = text(0, y, one.text_to("").strip(), 12, font_family="monospace")
    for index, read in enumerate(reads):
        colour = BANKS[read.bank]
        look = {"stroke": colour, "stroke_width": 1.5}
        fill = "none" if read.kept else colour
        body += rect(SLOTS_AT + index * (SIDE + 5), y - 11, SIDE, SIDE, fill, **look)
    for x, bank in zip(COUNTS_AT, BANKS, strict=True):
        count = bank_reads(bank, reads)
        heavy = {"font_weight": "bold"} if count > 1 else {"opacity": 0.7}
        body += text(x, y, count, 13, "middle", **heavy)
    return body


def _key() -> str:
    """Return the SVG of the legend: operands that the even or odd bank delivers, and kept ones."""
    body = ""
    for x, words, bank, fill in (
        (0, "read, even bank", "even", BANKS["even"]),
        (122, "read, odd bank", "odd", BANKS["odd"]),
        (240, "at hand, not read", "even", "none"),
    ):
        body += rect(x, 28, SIDE, SIDE, fill, stroke=BANKS[bank], stroke_width=1.5)
        body += text(x + 18, 39, words, 12)
    return body


def bank_reads(bank: str, reads: Sequence[Read]) -> int:
    """Count the registers that a bank, "even" or "odd", delivers to one instruction.

    Operands that are kept for reuse do not count. A register that two operands share counts once.
    """
    return len({read.register for read in reads if read.bank == bank and not read.kept})


def _description(name: str, rows: Sequence[tuple[Instruction, Sequence[Read]]]) -> str:
    """Return words on a loop for the alt text.

    They are the numbers of its multiply-adds, of operands kept for reuse, and of multiply-adds that
    need more than one register of a bank. rows: each multiply-add with its operands.
    """
    kept = sum(read.kept for _, reads in rows for read in reads)
    crowded = sum(max(bank_reads(bank, reads) for bank in BANKS) > 1 for _, reads in rows)
    return (
        f"{name}: {len(rows)} multiply-adds; {kept} operands are at hand from before; {crowded} "
        "multiply-adds want more than one register of a bank."
    )


def _instruction(words: str) -> Instruction:
    """Return the instruction that a text such as "FFMA R11, R2, R4, R11" describes."""
    opcode, _, operands = words.partition(" ")
    return Instruction(0, "", opcode, tuple(operands.split(", ")), 0)
