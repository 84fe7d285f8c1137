"""Pictures of the zig-zag thread order of the 64-thread Maxwell design, bit by bit."""

from __future__ import annotations

from virtual_gpu.pictures.svg import (
    BLUE,
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

# From bit 0 on: the quad's row ("down") or column ("across"), and the bit of that index.
BITS = (("down", 0), ("across", 0), ("across", 1), ("across", 2), ("down", 1), ("down", 2))
THREADS, SIDE = 2 ** len(BITS), 8
_COLOURS = {"down": BLUE, "across": ORANGE}
_SIZE, _LEFT, _TOP, _BOX = 32, 4, 84, 46


def quad_of(thread: int) -> tuple[int, int]:
    """Return the (row, column) of a thread's quad among 8×8 quads, each index from 0 to 7."""
    quad = {"down": 0, "across": 0}
    for bit, (what, at) in enumerate(BITS):
        quad[what] |= (thread >> bit & 1) << at
    return quad["down"], quad["across"]


def draw_thread_bits() -> Picture:
    """Draw 8×8 quads with the numbers of their threads, with a slider over seven pictures.

    The first picture has the path of threads 0 to 15. Each other picture marks the threads that
    have a certain bit of their number set.
    """
    moments = [_drawing(None), *(_drawing(bit) for bit in range(len(BITS)))]
    labels = ["the first 16 threads", *(f"bit {bit}: {_weight(bit)}" for bit in range(len(BITS)))]
    alt = (
        "Six bits of a thread's number, and 8×8 quads with the numbers of their threads. "
        + " ".join(f"Bit {bit}: {_weight(bit)}." for bit in range(len(BITS)))
        + " So threads 0, 1, 2, 3 go down, up to the right, down again: a zig-zag to the right."
    )
    colours = legend(goes_down=BLUE, goes_across=ORANGE)
    return Picture(colours + frames(moments, labels, "bit"), alt)


def _weight(bit: int) -> str:
    """Return text on the distance that this bit adds to a thread's quad, such as "2 quads down"."""
    what, at = BITS[bit]
    distance = 1 << at
    return f"{distance} quad{'s' * (distance > 1)} {'down' if what == 'down' else 'to the right'}"


def _drawing(bit: int | None) -> str:
    """Return SVG of all bits, and of all quads, of which those with this bit set are coloured.

    If `bit` is None, threads 0 to 15 are coloured, and a line joins their quads.
    """
    body = ""
    for at in range(len(BITS)):
        what, number = BITS[at]
        x = _LEFT + (len(BITS) - 1 - at) * (_BOX + 2)
        on = bit in (None, at)
        look = {"fill_opacity": 1 if on else 0.25, "rx": 3}
        body += text(x + _BOX / 2, 14, f"bit {at}", 12, "middle")
        body += rect(x, 20, _BOX, 24, _COLOURS[what], **look)
        style = {"style": "fill:#fff"} if on else {}
        body += text(x + _BOX / 2, 37, f"+{1 << number}", 13, "middle", **style)
        body += text(x + _BOX / 2, 60, what, 11.5, "middle")
    lit = {one for one in range(THREADS) if (one < 16 if bit is None else one >> bit & 1)}
    colour = GREY if bit is None else _COLOURS[BITS[bit][0]]
    for thread in range(THREADS):
        x, y = _corner(thread)
        look = {"fill_opacity": (0.45 if bit is None else 1) if thread in lit else 0.14, "rx": 3}
        body += rect(x, y, _SIZE - 2, _SIZE - 2, colour if thread in lit else GREY, **look)
    body += _thread_path(16) if bit is None else ""
    for thread in range(THREADS):
        x, y = _corner(thread)
        look = {"style": "fill:#fff"} if thread in lit and bit is not None else {}
        body += text(x + _SIZE / 2 - 1, y + 20, thread, 12, "middle", **look)
    caption = "The first 16 threads" if bit is None else f"Bit {bit}: {_weight(bit)}"
    return svg(_LEFT + SIDE * _SIZE + 30, _TOP + SIDE * _SIZE + 4, body, caption, widest=360)


def _thread_path(threads: int) -> str:
    """Return SVG of a line through the quads of threads 0 to `threads` - 1, in this order."""
    half = _SIZE / 2 - 1
    points = " L".join(f"{x + half:g} {y + half:g}" for x, y in map(_corner, range(threads)))
    return path(f"M{points}", stroke=GREY, stroke_width=4, stroke_opacity=0.6)


def _corner(thread: int) -> tuple[float, float]:
    """Return (x, y) of the upper left corner of a thread's quad in pixels."""
    down, across = quad_of(thread)
    return _LEFT + across * _SIZE, _TOP + down * _SIZE
