"""A picture of lane, warp and block on the virtual GPU, on a GPU, and in the roofline's model.

``python -m utils.figures.readme`` writes it for `notebooks/three_machines.md`.
"""

from __future__ import annotations

from dataclasses import dataclass

from utils.figures.traced_kernel import INKS, PAPERS
from utils.machine import devices
from utils.machine.devices import REFERENCE
from virtual_gpu.pictures.svg import BLUE, ORANGE, path, rect, text

NAME = "three_machines"
SIDE = 4096  # of the product in the roofline
WORD = 4  # bytes
WIDTH = 480
ALT = (
    "Three panels. The virtual GPU: one statement runs for all lanes of several blocks at once. A "
    "GPU: an SM holds blocks, each of its four schedulers picks one warp per cycle, and data comes "
    "through caches. The roofline: two totals, operations and bytes, and two rates; there is no "
    "lane, warp or block."
)
_LANES, _LANE = 8, 9  # lanes drawn per warp, and the side of one
_WARP = _LANES * _LANE + 8
_MARGIN, _HEADING, _GAP = 12, 44, 14
_HEIGHTS = (112, 214, 128)  # of the panels' bodies
_FAINT = {"fill_opacity": "0.12"}


@dataclass(frozen=True)
class _Panel:
    """A panel of the picture.

    title, lead: its heading, and the line below it. body: SVG that begins at y = 0. height: of the
    body.
    """

    title: str
    lead: str
    body: str
    height: float


def svg_text() -> str:
    """Return the picture as the text of an SVG file, which follows the reader's light or dark."""
    panels = (
        _Panel(
            "The virtual GPU", "one statement, for all lanes of several blocks at once",
            _virtual(), _HEIGHTS[0],
        ),
        _Panel(
            "A GPU", "each cycle, each scheduler of an SM picks one warp that is ready",
            _real(), _HEIGHTS[1],
        ),
        _Panel(
            "The roofline", "two totals and two rates; the longer time decides",
            _roofline(), _HEIGHTS[2],
        ),
    )  # fmt: skip
    drawn, y = [], _MARGIN
    for one in panels:
        head = text(_MARGIN, 16, one.title, 15, font_weight=650)
        head += text(_MARGIN, 35, one.lead, 12, opacity=0.8)
        body = f'<g transform="translate(0 {_HEADING})">{one.body}</g>'
        drawn.append(f'<g transform="translate(0 {y:g})">{head}{body}</g>')
        y += _HEADING + one.height + _GAP
    rules = (
        f"svg{{color:{INKS['light']};fill:{INKS['light']}}}.paper{{fill:{PAPERS['light']}}}"
        f"@media (prefers-color-scheme:dark){{svg{{color:{INKS['dark']};fill:{INKS['dark']}}}"
        f".paper{{fill:{PAPERS['dark']}}}}}"
    )
    paper = f'<rect class="paper" width="{WIDTH}" height="{y:g}"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y:g}" width="{WIDTH}" '
        f'height="{y:g}" role="img" aria-label="{ALT}" font-family="system-ui, sans-serif">'
        f"<style>{rules}</style>{paper}{''.join(drawn)}</svg>\n"
    )


def _virtual() -> str:
    """Return the SVG for the panel of the virtual GPU: two blocks, all of whose lanes are busy."""
    blocks = [_block(_MARGIN + at * 228, 0, at, busy=(0, 1)) for at in range(2)]
    statement = text(WIDTH / 2, 78, "total += a[row, i] * b[i, col]", 12.5, "middle",
                     font_family="ui-monospace, Menlo, Consolas, monospace")  # fmt: skip
    arrow = "".join(path(f"M{x} 62V50m-4 5l4 -5l4 5", stroke_width=1.5) for x in (126, 354))
    note = text(WIDTH / 2, 104, "memory: arrays with a number for each element, and no caches",
                12, "middle", opacity=0.8)  # fmt: skip
    return "".join(blocks) + arrow + statement + note


def _real() -> str:
    """Return the SVG for the panel of a GPU: an SM with two blocks, and the memory below it."""
    frame = rect(_MARGIN, 0, WIDTH - 2 * _MARGIN, 116, "none", stroke="currentColor", rx=4)
    sms = f"SM, one of {devices.find(REFERENCE).sms} on an H200"
    label = text(WIDTH - _MARGIN - 8, 16, sms, 12, "end", opacity=0.8)
    blocks = [_block(_MARGIN + 10 + at * 218, 24, at, busy=(at,)) for at in range(2)]
    schedulers = ""
    for at in range(4):
        x, colour = _MARGIN + 10 + at * 110, BLUE if at in (0, 3) else "currentColor"
        schedulers += rect(x, 80, 102, 24, colour, **_FAINT)
        schedulers += text(x + 51, 96, f"scheduler {at}", 11.5, "middle")
    memories = ""
    for at, (name, width) in enumerate(
        (("shared memory and L1, in the SM", 220), ("L2, of the GPU", 330), ("memory", 456))
    ):
        y = 126 + at * 29
        memories += rect((WIDTH - width) / 2, y, width, 22, ORANGE, **_FAINT)
        memories += text(WIDTH / 2, y + 15, name, 12, "middle")
    return frame + label + "".join(blocks) + schedulers + memories


def _roofline() -> str:
    """Return the SVG for the panel of the roofline: two times of a product of square matrices."""
    sheet = devices.find(REFERENCE)
    operations, gigabytes = 2 * SIDE**3, 3 * WORD * SIDE**2 / 1e9
    computing, copying = operations / sheet.peak_gflops / 1e6, gigabytes / sheet.peak_gb_per_s * 1e3
    rows = (
        (f"{operations / 1e9:.1f} · 10⁹ operations ÷ {sheet.peak_gflops / 1e3:.1f} TFLOP/s",
         computing, BLUE),
        (f"{gigabytes:.2f} GB ÷ {sheet.peak_gb_per_s / 1e3:.1f} TB/s", copying, ORANGE),
    )  # fmt: skip
    drawn = ""
    for at, (words, milliseconds, colour) in enumerate(rows):
        y, width = at * 46, 400 * milliseconds / max(computing, copying)
        drawn += text(_MARGIN, y + 13, words, 12) + rect(_MARGIN, y + 20, width, 14, colour)
        drawn += text(_MARGIN + width + 8, y + 31, f"{milliseconds:.2f} ms", 12)
    note = f"the product of two {SIDE}×{SIDE} matrices on an H200, by its data sheet"
    return drawn + text(_MARGIN, 116, note, 12, opacity=0.8)


def _block(x: float, y: float, number: int, busy: tuple[int, ...]) -> str:
    """Return the SVG of a block of two warps at (x, y); busy: the warps that run now."""
    drawn = [
        rect(x, y, 2 * _WARP + 56, 46, "currentColor", rx=4, fill_opacity="0.06"),
        text(x + 6, y + 27, f"block {number}", 12),
    ]
    for warp in range(2):
        left = x + 54 + warp * _WARP
        colour = {"fill_opacity": "1"} if warp in busy else {"fill_opacity": "0.25"}
        drawn.append(text(left, y + 14, f"warp {warp}", 11))
        drawn += [
            rect(left + lane * _LANE, y + 21, _LANE - 1.5, 14, BLUE, **colour)
            for lane in range(_LANES)
        ]
    return "".join(drawn)
