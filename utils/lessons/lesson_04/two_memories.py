"""Pictures of host memory, device memory and the bus: copies, and pages of managed memory."""

from __future__ import annotations

from collections.abc import Iterable

from utils.figures.roles import MATRIX_A, MATRIX_B, MATRIX_C
from virtual_gpu.pictures.svg import (
    Picture,
    frames,
    legend,
    path,
    rect,
    svg,
    text,
)

COLOURS = {"a": MATRIX_A, "b": MATRIX_B, "c": MATRIX_C}
SIZE, PAGES = 22, 3  # pixels per page, and pages per array
TOP, PITCH = 34, 40  # top of the first array, and distance between arrays
HOST, DEVICE = 12, 268  # left edges of the two memories
WIDE, HIGH = 124, 132
WIDTH, HEIGHT = DEVICE + WIDE + 12, TOP + HIGH + 30

Page = tuple[str, int]  # (array, index of the page)
EVERY = tuple((name, page) for name in COLOURS for page in range(PAGES))


def draw_copies() -> Picture:
    """Draw host and device memory during one product with explicit copies, with a slider over time.

    a and b are copied over the bus to the device, the kernel computes c, and c is copied back.
    """
    a, b, c = (_pages_of(name) for name in COLOURS)
    moments = {
        "a and b are in host memory": _moment(a + b, (), (), "CPU"),
        "copy a to the device": _moment(a + b, a, a, "CPU"),
        "copy b to the device": _moment(a + b, a + b, b, "CPU"),
        "kernel computes c": _moment(a + b, a + b + c, (), "GPU"),
        "copy c to the host": _moment(a + b + c, a + b + c, c, "CPU", back=True),
    }
    alt = (
        "Host memory beside the CPU, device memory beside the GPU, and a bus between them. a and b "
        "are copied over the bus to device memory, the GPU computes c there, and c is copied back. "
        "a and b cross the bus once in one direction, c once in the other."
    )
    return _slider(moments, "Moment of the product", alt)


def draw_pages() -> Picture:
    """Draw host and device memory during one product with managed memory, with a slider over time.

    A page of a, b or c crosses the bus when the other processor touches it.
    """
    a, b, c = (_pages_of(name) for name in COLOURS)
    first_a, first_b, first_c = a[:1], b[:1], c[:1]
    on_host, on_device = a + b, first_a + first_b
    moments = {
        "the CPU has stored a and b": _moment(on_host, (), (), "CPU"),
        "the kernel reads a page of a: it moves": _moment(a[1:] + b, first_a, first_a, "GPU"),
        "the kernel reads a page of b: it moves": _moment(a[1:] + b[1:], on_device, first_b, "GPU"),
        "the kernel stores in c: a page begins here": _moment(
            a[1:] + b[1:], on_device + first_c, (), "GPU", born=first_c
        ),
        "and so on, page after page": _moment(
            (), on_host + c, a[1:] + b[1:], "GPU", born=c[1:]
        ),
        "the CPU reads c: its pages move": _moment(c, on_host, c, "CPU", back=True),
    }  # fmt: skip
    alt = (
        f"The same two memories and three arrays of {PAGES} pages each. No copy stands in the "
        "code. At first the pages of a and b are in host memory, and c has none. When the kernel "
        "reads a page, it waits until this page has moved to device memory. Pages of c begin "
        "there, when the kernel stores in them. When the CPU reads c, its pages move to the host. "
        "Those of a and b stay on the device."
    )
    return _slider(moments, "Moment of the product", alt)


def _slider(moments: dict[str, str], name: str, alt: str) -> Picture:
    """Return a picture with a slider over moments, below a legend of the arrays.

    moments: words for the slider -> SVG elements of the drawing. name: the slider's label.
    """
    drawn = [svg(WIDTH, HEIGHT, body, alt, widest=WIDTH * 1.2) for body in moments.values()]
    key = legend(**COLOURS)
    return Picture(key + frames(drawn, list(moments), name), alt)


def _moment(
    host: Iterable[Page], device: Iterable[Page], moving: Iterable[Page], busy: str,
    back: bool = False, born: Iterable[Page] = (),
) -> str:  # fmt: skip
    """Return the SVG of both memories and the bus at one moment.

    `host` and `device` are the pages in each memory, and `busy` is the processor at work, "CPU" or
    "GPU". `moving` are the pages that have just crossed the bus, to the host if `back`, else to the
    device. `born` are the pages that were just created in device memory.
    """
    body = _memory(HOST, "host memory", "CPU", busy) + _memory(DEVICE, "device memory", "GPU", busy)
    body += _squares(HOST, host) + _squares(DEVICE, device)
    moving = list(moving)
    arrived = HOST if back else DEVICE
    for name, page in [*moving, *born]:
        x, y = _corner(arrived, name, page)
        body += rect(x - 2, y - 2, SIZE + 4, SIZE + 4, "none", stroke="currentColor",
                     stroke_width=2)  # fmt: skip
    return body + _bus(_heights(moving), back)


def _memory(left: float, name: str, processor: str, busy: str) -> str:
    """Return the SVG of an empty memory: a box with its name above and its processor's name below.

    left: x of the box's left edge. processor: "CPU" or "GPU". busy: the processor at work, "CPU" or
    "GPU"; if it is this memory's, the words below are bold, such as "CPU at work".
    """
    is_busy = processor == busy
    box = rect(left, TOP - 8, WIDE, HIGH, "none", stroke="currentColor", stroke_width=1.2,
               opacity=0.7)  # fmt: skip
    label = f"{processor} at work" if is_busy else processor
    return (
        box
        + text(left, TOP - 16, name, 13, font_weight="bold")
        + text(left, TOP + HIGH + 10, label, 13, font_weight="bold" if is_busy else "normal")
    )


def _squares(left: float, pages: Iterable[Page]) -> str:
    """Return the SVG of pages in the memory whose left edge is at `left`."""
    return "".join(
        rect(*_corner(left, name, page), SIZE, SIZE, COLOURS[name]) for name, page in pages
    )


def _bus(heights: Iterable[float], back: bool) -> str:
    """Return the SVG of the bus, with one horizontal arrow per y coordinate in `heights`.

    The arrows point to the host if `back`, else to the device.
    """
    begin, end, middle = HOST + WIDE, DEVICE, (HOST + WIDE + DEVICE) / 2
    body = text(middle, TOP - 16, "bus", 13, "middle")
    body += rect(begin, TOP + 4, end - begin, HIGH - 24, "currentColor", opacity=0.1)
    for y in heights:
        x, step = (begin + 8, 8) if back else (end - 8, -8)
        body += path(f"M{begin + 8} {y}H{end - 8}", stroke_width=2)
        body += path(f"M{x} {y}l{step} -5v10z", fill="currentColor")
    return body


def _heights(moving: Iterable[Page]) -> list[float]:
    """Return y, in pixels, of the middle of each array that has pages in `moving`, in order."""
    names = dict.fromkeys(name for name, _ in moving)
    return [_corner(HOST, name, 0)[1] + SIZE / 2 for name in names]


def _corner(left: float, name: str, page: int) -> tuple[float, float]:
    """Return (x, y), in pixels, of the upper left corner of a page in a memory.

    left: x of the left edge of the memory. name, page: the array, and the index of the page in it.
    """
    return left + 18 + page * (SIZE + 10), TOP + list(COLOURS).index(name) * PITCH + 4


def _pages_of(name: str) -> tuple[Page, ...]:
    """Return all pages of the array with this name, as (name, index of the page), in order."""
    return tuple(one for one in EVERY if one[0] == name)
