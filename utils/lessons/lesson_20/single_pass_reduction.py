"""Pictures of a single-pass reduction.

Each block leaves its partial sum and takes the next number, its ticket, from a counter. The block
with the last ticket adds the partial sums.
"""

from __future__ import annotations

from collections.abc import Sequence

from virtual_gpu.pictures.svg import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    Picture,
    frames,
    legend,
    path,
    rect,
    svg,
    text,
)

ENDS = (172, 254, 114, 212)  # when each of four blocks finishes its sum, in units of the drawing
START, ADDS, GAP = 52, 44, 44  # start of the time axis; durations of adding, and of a second launch
_ROW, _THICK, _TOP, _WIDTH = 40, 22, 34, 410
_SLOT = 54  # width of an element of the array


def order_of(ends: Sequence[int] = ENDS) -> list[int]:
    """Return the numbers of the blocks in the order in which they finish their sums.

    `ends` has the time at which each block finishes.
    """
    return sorted(range(len(ends)), key=lambda block: ends[block])


def draw_tickets() -> Picture:
    """Draw four blocks, a counter and the partial sums, with a slider over the tickets taken."""
    steps = range(len(ENDS) + 2)
    captions = [_caption(done) for done in steps]
    colours = legend(a_block_adds_its_elements=BLUE, drawn_number=ORANGE, adds_partial_sums=GREEN)
    body = colours + frames([_step(done) for done in steps], captions, "what is done")
    description = " ".join(f"{caption}." for caption in captions)
    return Picture(body, f"Tickets at a counter. {description} Pale bars are work to be done.")


def _step(done: int) -> str:
    """Return SVG of the state in which `done` blocks have taken a ticket.

    If `done` is one more than the number of blocks, the block with the last ticket has also added
    the partial sums.
    """
    order, added = order_of(), done > len(ENDS)
    drawn = order[:done]
    now = ENDS[drawn[-1]] if drawn else min(ENDS) - 20
    body = text(0, 16, f"counter: {0 if added else len(drawn)}", 14, font_weight="bold")
    body += text(_WIDTH - _SLOT / 2 - 1, 16, "partials", 13, "middle")
    for block, end in enumerate(ENDS):
        y = _TOP + block * _ROW
        body += text(0, y + 15, f"block {block}", 12)
        edge = {"stroke": BLUE, "fill_opacity": 0.2}
        body += rect(START, y, end - START, _THICK, BLUE, **edge)
        body += rect(START, y, min(end, now) - START, _THICK, BLUE, opacity=0.85)
        if block in drawn:
            body += _ticket(end + 6, y, drawn.index(block))
        if added and block == drawn[-1]:
            body += rect(end + 34, y, ADDS, _THICK, GREEN)
            body += text(end + 34 + ADDS / 2, y + 15, "adds", 12, "middle", style="fill:#fff")
        body += rect(_WIDTH - _SLOT - 1, y, _SLOT, _THICK, "none", stroke=GREY)
        if block in drawn:
            body += text(_WIDTH - _SLOT / 2 - 1, y + 15, f"sum {block}", 12, "middle")
    bottom = _TOP + len(ENDS) * _ROW
    return svg(_WIDTH, bottom - 10, body, _caption(done), widest=560)


def _caption(done: int) -> str:
    """Return a sentence on the last event when `done` blocks have taken a ticket.

    If `done` is one more than the number of blocks, it is on the addition of the partial sums.
    """
    if done == 0:
        return "The blocks add their elements; the counter is at 0"
    last, number = order_of()[min(done, len(ENDS)) - 1], min(done, len(ENDS)) - 1
    if done > len(ENDS):
        return f"Block {last} adds the partial sums, and sets the counter back to 0"
    if done == len(ENDS):
        return f"Block {last} leaves its sum and draws number {number}: it is the last of {done}"
    return f"Block {last} leaves its sum, draws number {number}, and is done"


def _ticket(x: float, y: float, number: int) -> str:
    """Return the SVG of a ticket with its number: its left edge is at x, and its row's top at y."""
    box = rect(x, y + 1, 24, _THICK - 2, "none", rx=3, stroke=ORANGE, stroke_width=2)
    return box + text(x + 12, y + 16, number, 13, "middle", font_weight="bold")


def draw_launches() -> Picture:
    """Draw the time lines of four blocks of a reduction with two launches and with one launch.

    The lengths are not to scale.
    """
    order, last = order_of(), max(ENDS)
    body = text(0, 14, "two launches", 14, font_weight="bold")
    y = 24 + 20 * len(ENDS)
    begins = last + GAP
    body += _bars(24, ()) + rect(begins, 24, ADDS, 14, GREEN)
    body += path(f"M{last + 3} 31H{begins - 3}", stroke_dasharray="3 3", opacity=0.7)
    body += text(last + GAP / 2, 19, "second launch", 12, "middle")
    body += _done(begins + ADDS, y)
    top = y + 40
    body += text(0, top, "one launch with tickets", 14, font_weight="bold")
    body += _bars(top + 10, order)
    ends = last + 22
    body += rect(ends, top + 10 + 20 * order[-1], ADDS, 14, GREEN)
    y = top + 10 + 20 * len(ENDS)
    body += _done(ends + ADDS, y)
    alt = (
        "Two launches: four blocks leave their sums, then a second launch adds these. One launch: "
        f"each block draws a ticket, and block {order[-1]}, which draws the last one, adds them. "
        "Not to scale."
    )
    colours = legend(a_block_adds_its_elements=BLUE, ticket=ORANGE, partial_sums_are_added=GREEN)
    return Picture(colours + svg(_WIDTH, y + 26, body, alt, widest=560), alt)


def _bars(top: float, order: Sequence[int]) -> str:
    """Return SVG of the time lines of a launch's blocks, the first one at y = `top`.

    `order` has the numbers of the blocks in the order of their tickets; without blocks no tickets
    are drawn.
    """
    body = ""
    for block, end in enumerate(ENDS):
        y = top + 20 * block
        body += text(0, y + 12, f"block {block}", 12)
        body += rect(START, y, end - START, 14, BLUE, opacity=0.85)
        if order:
            body += rect(end + 2, y, 14, 14, "none", rx=2, stroke=ORANGE, stroke_width=2)
            body += text(end + 9, y + 11.5, order.index(block), 12, "middle")
    return body


def _done(x: float, y: float) -> str:
    """Return the SVG of a time axis at y, with a mark and the word "done" at x, both in pixels."""
    body = path(f"M{START} {y + 2}H{_WIDTH - 10}", opacity=0.4)
    body += path(f"M{x} {y - 4}V{y + 6}")
    body += text(x, y + 19, "done", 12, "middle")
    return body + text(START, y + 19, "time →", 12)
