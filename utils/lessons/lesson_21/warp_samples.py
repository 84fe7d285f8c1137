"""A bar chart of profiler samples by instruction."""

from __future__ import annotations

from collections.abc import Sequence

from utils.figures.instruction_strip import COLOURS, kind_of
from virtual_gpu.pictures.svg import Picture, legend, path, rect, svg, text

LEFT, RIGHT, TOP, BOTTOM = 40, 404, 34, 170
NAMED = 2  # bars that the alt text names


def draw_samples(title: str, instructions: Sequence[tuple[str, float]]) -> Picture:
    """Draw one bar per instruction, in the given order, as high as its share of the samples.

    `instructions` are pairs of an opcode and the fraction of all samples.
    """
    pitch = (RIGHT - LEFT) / len(instructions)
    top = max(share for _, share in instructions)
    body = text(0, 16, title, 14, font_weight="bold") + path(f"M{LEFT} {BOTTOM}H{RIGHT}")
    body += text(LEFT - 6, TOP + 8, f"{top:.0%}", 12, "end")
    for index, (opcode, share) in enumerate(instructions):
        height = (BOTTOM - TOP) * share / top
        x = LEFT + index * pitch
        colour = COLOURS[kind_of(opcode)]
        body += rect(round(x, 1), round(BOTTOM - height, 1), round(pitch - 1.5, 1),
                     round(max(height, 0.8), 1), colour)  # fmt: skip
    body += text(
        (LEFT + RIGHT) / 2, BOTTOM + 18, "instructions of the loop, in order", 12, "middle"
    )
    most = sorted(instructions, key=lambda one: -one[1])[:NAMED]
    largest = ", ".join(f"{opcode} {share:.0%}" for opcode, share in most)
    alt = f"{title}. {len(instructions)} instructions; the most samples: {largest}."
    key = legend(**{kind.replace(" ", "_"): colour for kind, colour in list(COLOURS.items())[:2]})
    key += legend(**{kind.replace(" ", "_"): colour for kind, colour in list(COLOURS.items())[2:]})
    return Picture(key + svg(416, BOTTOM + 26, body, alt, widest=520), alt)
