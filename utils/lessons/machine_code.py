"""What the compiler made of a product, beside what the source asks for."""

from __future__ import annotations

from collections.abc import Callable

from utils.errors import CourseError
from utils.figures.look import number
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Card, Table, table
from utils.lessons.counting import as_variant, loads_per_multiply_add, watch
from utils.lessons.lesson import device_shown
from utils.xray import XRay, xray
from utils.xray.sass import Instruction
from utils.xray.widths import GLOBAL_LOADS, SHARED_LOADS

NAMES = {"global": GLOBAL_LOADS, "shared": SHARED_LOADS}


def compiled(space: str = "global", **steps: Step | Variant) -> Table | Card:
    """Loads per multiply-add, in the source and in the hot loop of the machine code.

    space: of the loads, "global" or "shared". steps: by the name that the reader sees, with _ for
    spaces. Where the compiler is missing a sentence takes the table's place.
    """
    arch = device_shown().arch
    rows = []
    for name, step in steps.items():
        variant = as_variant(step)
        try:
            seen = xray(variant.kernel, variant.step.signature, arch)
        except CourseError as error:
            return Card("ask", (f"{error} The lesson goes on without this table.",))
        rows.append((name.replace("_", " "), *_cells(variant, seen, space)))
    head = (
        "",
        "loads in the source",
        "loads in the machine code",
        "all instructions",
        "multiply-adds among them",
    )
    caption = f"Per multiply-add in the hot loop, compiled for {arch} (loads: {space} memory)"
    return table(caption, head, rows)


def _cells(variant: Variant, seen: XRay, space: str) -> tuple[str, ...]:
    loads = sum(one.name in NAMES[space] for one in seen.hot.body)
    return (
        number(loads_per_multiply_add(watch(variant), space)),
        number(loads / seen.hot.ffma),
        number(len(seen.hot.body) / seen.hot.ffma),
        f"{seen.hot.ffma / len(seen.hot.body):.1%}",
    )


def factors(signature, **kernels: Callable) -> Table | Card:
    """The last multiplication of each kernel, and where its factor comes from.

    signature: of all kernels. kernels: by the name that the reader sees, with _ for spaces. Where
    the compiler is missing a sentence takes the table's place.
    """
    arch, rows = device_shown().arch, []
    for name, kernel in kernels.items():
        try:
            code = xray(kernel, signature, arch).code
        except CourseError as error:
            return Card("ask", (f"{error} The lesson goes on without this table.",))
        place = max(at for at, one in enumerate(code) if one.name.startswith("IMAD"))
        factor = code[place].operands[2]
        written = [one for one in code[:place] if one.operands[:1] == (factor,)]
        source = f"`{_text(written[-1])}`" if written else "the instruction itself"
        rows.append((name.replace("_", " "), f"`{_text(code[place])}`", source))
    head = ("", "the multiplication", "its factor comes from")
    return table(f"Compiled for {arch}", head, rows)


def _text(one: Instruction) -> str:
    return f"{one.opcode} {', '.join(one.operands)}"
