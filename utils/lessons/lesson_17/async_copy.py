"""A picture of two ways into shared memory: through a register, or by an asynchronous copy."""

from __future__ import annotations

from virtual_gpu.pictures.svg import BLUE, GREEN, ORANGE, Picture, path, rect, svg, text

BOXES = {"global memory": (6, BLUE), "register": (172, ORANGE), "shared memory": (324, GREEN)}
WIDE, HIGH = 118, 34
WAYS = (
    ("a load and a store", 40, ("LDG", "STS")),
    ("an asynchronous copy", 122, ("LDGSTS",)),
)


def draw_copy_path() -> Picture:
    """Draw a load and a store through a register above one asynchronous copy instruction."""
    body = ""
    for title, y, names in WAYS:
        direct = len(names) == 1
        body += text(6, y - 12, title, 13, font_weight="bold")
        for name, (x, colour) in BOXES.items():
            if direct and name == "register":
                continue
            body += rect(x, y, WIDE, HIGH, colour, fill_opacity=0.3, rx=4)
            body += text(x + WIDE / 2, y + 21, name, 13, "middle")
        stops = [x for name, (x, _) in BOXES.items() if not (direct and name == "register")]
        for name, start, end in zip(names, stops, stops[1:], strict=False):
            begin, middle = start + WIDE + 4, y + HIGH / 2
            body += path(f"M{begin} {middle}H{end - 5}M{end - 11} {middle - 4}l6 4l-6 4")
            body += text((begin + end) / 2, middle - 6, name, 12, "middle")
    alt = (
        "A load (LDG) brings a word from global memory into a register, and a store (STS) from "
        "there into shared memory. An asynchronous copy (LDGSTS) needs one instruction and no "
        "register."
    )
    return Picture(svg(448, 168, body, alt, widest=560), alt)
