"""What the compiler made of a product, beside what the source code asks for."""

from __future__ import annotations

from gpu_xray import XRay, xray
from gpu_xray.widths import GLOBAL_LOADS, SHARED_LOADS
from utils.errors import CourseError
from utils.figures.look import number
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Card, Table, table
from utils.lessons.counting import as_variant, loads_per_multiply_add, watch
from utils.lessons.lesson import device_shown

NAMES = {"global": GLOBAL_LOADS, "shared": SHARED_LOADS}


def compiled(space: str = "global", **steps: Step | Variant) -> Table | Card:
    """Loads per multiply-add, in the source code and in the hot loop of the machine code.

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
