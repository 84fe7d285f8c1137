"""Where a warp waits for its loads in a loop, as the flags of the machine code say.

The model is simple: a load takes one unit of time, and everything else takes none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpu_xray.loops import FFMA
from gpu_xray.sass import Instruction
from virtual_gpu.pictures.svg import BLUE, GREEN, Picture, legend, path, rect, svg, text

LOADS = ("LDG", "LDL")
WIDTH, SIDE, PITCH, GAP = 416, 9, 11, 9
ROW = 16  # pixels from one group to the next, below it


def groups_between_waits(code: Sequence[Instruction]) -> list[list[Instruction]]:
    """Return the loads and multiply-adds of an iteration in groups, with a wait between two groups.

    A warp waits where an instruction needs a flag that a load has set since the last wait. All
    other instructions are left out. code: one iteration of a loop.
    """
    groups = [[]]
    for one, waits in zip(code, waits_before(code), strict=True):
        if waits:
            groups.append([])
        if one.name in (*LOADS, *FFMA):
            groups[-1].append(one)
    return groups


def waits_before(code: Sequence[Instruction]) -> list[bool]:
    """Return whether a warp waits for loads before each instruction of an iteration.

    code: one iteration of a loop.
    """
    now, free, waits = 0, {}, []
    for one in code:
        waits.append(any(free.get(flag, 0) > now for flag in one.control.waits))
        now += waits[-1]
        if one.name in LOADS:
            free[one.control.write_barrier] = now + 1
    return waits


def waits_per_8(code: Sequence[Instruction]) -> float:
    """Return the waits for loads per 8 multiply-adds in one iteration of a loop."""
    groups = groups_between_waits(code)
    multiply_adds = sum(one.name in FFMA for group in groups for one in group)
    return 8 * (len(groups) - 1) / multiply_adds


def draw_waits(
    loops: Mapping[str, Sequence[Instruction]],
    title: str = "Loads and multiply-adds of one iteration, in the order of the machine code",
) -> Picture:
    """Draw the loads and multiply-adds of each loop in order, with a row per group.

    A row begins with a bar if the warp waits there.

    loops: one or more iterations of machine code by the name that the reader sees. title: the
    heading, which says how many iterations these are.
    """
    body, y, descriptions = "", 0, []
    for name, code in loops.items():
        groups = groups_between_waits(code)
        y += 16
        body += text(0, y, name, 13, font_weight="bold")
        y += 9
        for number, group in enumerate(groups):
            if number:
                body += path(f"M3 {y - 2}v{SIDE + 4}", stroke_width=3)
            for place, one in enumerate(group):
                colour = BLUE if one.name in LOADS else GREEN
                body += rect(GAP + PITCH * place, y, SIDE, SIDE, colour)
            y += ROW
        y += SIDE
        words = ", ".join(_counted(group) for group in groups)
        descriptions.append(f"{name}, with a wait at each comma: {words}.")
    alt = f"{title}. {' '.join(descriptions)}"
    key = legend(**{"load": BLUE, "multiply-add": GREEN})
    bar = svg(
        WIDTH, 24, path("M6 3v15", stroke_width=3) + text(18, 16, "the warp waits for loads"),
        "Bar: the warp waits for loads.", widest=1.2 * WIDTH,
    )  # fmt: skip
    return Picture(
        f"<p><b>{title}</b></p>{key}{bar}{svg(WIDTH, y, body, alt, widest=1.2 * WIDTH)}", alt
    )


def _counted(group: Sequence[Instruction]) -> str:
    """Return words on the number of loads and multiply-adds of a group."""
    loads = sum(one.name in LOADS for one in group)
    return f"{loads} loads and {len(group) - loads} multiply-adds"
