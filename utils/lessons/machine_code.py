"""Loads per multiply-add in the source code of a product and in its machine code."""

from __future__ import annotations

from gpu_xray import XRay, xray
from gpu_xray.widths import GLOBAL_LOADS, SHARED_LOADS
from utils.errors import CourseError
from utils.figures.look import number
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Card, Table, table
from utils.lessons.counting import as_variant, loads_per_multiply_add, watch
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import NOTHING

NAMES = {"global": GLOBAL_LOADS, "shared": SHARED_LOADS}


def compiled(space: str = "global", **steps: Step | Variant) -> Table | Card:
    """Return a table of loads per multiply-add, in the source code and in compiled hot loops.

    There is one row per step. The other two columns are the instructions per multiply-add and the
    fraction of multiply-adds in the hot loop; they and the loads of the machine code are "–" for a
    kernel without such a loop. space: the memory of the loads, "global" or "shared". steps: the
    keyword is the row's name, with _ for spaces. Without a compiler, return a Card that says so.
    """
    arch = device_shown().arch
    rows = []
    for name, step in steps.items():
        variant = as_variant(step)
        try:
            code = xray(variant.kernel, variant.step.signature, arch)
        except CourseError as error:
            return Card("ask", (f"{error} The lesson goes on without this table.",))
        rows.append((name.replace("_", " "), *_cells(variant, code, space)))
    head = (
        "",
        "loads in the source",
        "loads in the machine code",
        "all instructions",
        "multiply-adds among them",
    )
    caption = f"Per multiply-add in the hot loop, compiled for {arch} (loads: {space} memory)"
    return table(caption, head, rows)


def _cells(variant: Variant, code: XRay, space: str) -> tuple[str, ...]:
    """Return four cells of text on a kernel; "–" is for what is not known.

    They are: loads per multiply-add in the source code; loads, and instructions, per multiply-add
    in the hot loop of the machine code; and the share of multiply-adds in this loop. space:
    "global" or "shared", the memory of the loads.
    """
    words, loop = number(loads_per_multiply_add(watch(variant), space)), code.hot
    if loop is None or not loop.ffma:
        return words, NOTHING, NOTHING, NOTHING
    loads = sum(instruction.name in NAMES[space] for instruction in loop.body)
    return (
        words,
        number(loads / loop.ffma),
        number(len(loop.body) / loop.ffma),
        f"{loop.ffma / len(loop.body):.1%}",
    )
