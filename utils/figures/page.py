"""How a figure gets onto a page or into a file: SVG in the page's colours, PNG where it must be.

On a page a figure has no ground of its own. Its ink is the page's `currentColor`, so the same text
reads well in light and in dark. JupyterLab takes SVG and styles out of a notebook that is not
trusted; there an opaque picture of the same is left, which the style sheet hides otherwise.
"""

from __future__ import annotations

import base64
import hashlib
import html
import io
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import BinaryIO

from IPython.display import HTML, display
from matplotlib import pyplot, rc_context
from matplotlib.figure import Figure
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from utils.errors import CourseError
from utils.figures.look import (
    CARD,
    COLOURS,
    GREY,
    GRID,
    INK,
    POINTS_PER_INCH,
    QUIET,
    TEXT_SHARE,
    mixed,
    of_text,
)

DOTS_PER_INCH = 100
# What an output of a notebook may take. Beyond it the alt text stands in place of the picture.
MOST_BYTES = 60 * 1024
WIDEST = 560  # pixels on a page: letters are then as large as the page's own

# On a page: how much of the page's ink.
_OF_THE_PAGE = {INK: 1, QUIET: 0.78, GRID: 0.17, GREY: 0.3}
# In files, which have a ground, as GitHub's pages have it.
_GROUNDS = {
    "light": {INK: INK, QUIET: QUIET, GRID: GRID, GREY: GREY, CARD: CARD},
    "dark": {INK: "#e6edf3", QUIET: "#9da7b1", GRID: "#30363d", GREY: "#4c535b", CARD: "#0d1117"},
}
# The labels' colours, and the series that they belong to.
_SERIES = {of_text(colour): colour for colour in COLOURS}
# A sanitiser that takes the sheet leaves the picture and the hidden box; see the module's text.
_SHEET = (
    "<style>.course-figure>div{display:block!important}"
    ".course-figure>.without-styles{display:none!important}</style>"
)
_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_AROUND_LETTERS = re.compile(r"\s*([A-Za-z])\s*")
_COLOUR = re.compile(r"(fill|stroke): (#[0-9a-f]{6})")
_FAMILY = re.compile(r"font-family: [^;]*; ?")
_ID = re.compile(r'(?<= id=")[^"]+|(?<=[("]#)\w+')
_REFERENCE = re.compile(r"#(\w+)")


def show(figure: Figure) -> None:
    """Show the figure with its alt text in a notebook, and close it."""
    display(HTML(as_html(figure)))
    pyplot.close(figure)


def as_html(figure: Figure) -> str:
    """The figure as SVG in the page's colours; CourseError if it has no alt text."""
    drawn = ElementTree.tostring(_svg(figure, _on_page), "unicode")
    alt, hidden = html.escape(figure.alt_text), 'class="without-styles"'
    instead = f'<img {hidden} style="max-width:100%" alt="{alt}" src="{_url(figure)}">'
    if len(drawn) + len(instead) > MOST_BYTES:
        instead = f"<p {hidden}>{alt}</p>"
    return (
        f'{_SHEET}<div class="course-figure"><div style="display:none">{drawn}</div>{instead}</div>'
    )


def save(figure: Figure, file: Path | BinaryIO, ground: str = "light") -> None:
    """Write the figure, its alt text inside: SVG on a ground if the file is named so, else PNG.

    ground: "light" or "dark", of SVG. CourseError if the figure has no alt text.
    """
    if isinstance(file, Path) and file.suffix == ".svg":
        root = _svg(figure, partial(_on_ground, _GROUNDS[ground]))
        root.set("xmlns", "http://www.w3.org/2000/svg")
        background = {"width": "100%", "height": "100%", "fill": _GROUNDS[ground][CARD]}
        root.insert(0, ElementTree.Element("rect", background))
        ElementTree.indent(root, "")
        file.write_text(ElementTree.tostring(root, "unicode") + "\n", encoding="utf-8")
    else:
        # Twice the size at which it is shown, for sharp lines on dense screens.
        _save_png(figure, file, 2 * DOTS_PER_INCH)


def _save_png(figure: Figure, file: Path | BinaryIO, dots_per_inch: float) -> None:
    drawn, text = io.BytesIO(), PngInfo()
    text.add_itxt("Description", _alt_of(figure))
    figure.savefig(drawn, format="png", dpi=dots_per_inch, facecolor=CARD)
    # Few colours: the same picture in a third of the bytes. An octree keeps the rare ones apart.
    image = Image.open(drawn).convert("RGB")
    image = image.quantize(128, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    image.save(file, "PNG", optimize=True, pnginfo=text)


def _url(figure: Figure) -> str:
    png = io.BytesIO()
    _save_png(figure, png, DOTS_PER_INCH)
    return f"data:image/png;base64,{base64.b64encode(png.getvalue()).decode()}"


def _alt_of(figure: Figure) -> str:
    if not getattr(figure, "alt_text", None):
        raise CourseError(
            "This figure has no alt text: say what is to be seen with with_alt(fig, text)."
        )
    return figure.alt_text


def _svg(figure: Figure, paint: Callable[[str, str], str]) -> ElementTree.Element:
    """The figure as an element that can stand in a page beside others, text as text.

    paint: CSS for "fill" or "stroke" and the colour that was drawn. The same figure gives the same
    element each time.
    """
    alt, drawn = _alt_of(figure), io.BytesIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "course"}):
        figure.savefig(drawn, format="svg", facecolor="none", metadata={"Date": None})
    text = _in_order(drawn.getvalue().decode())
    digest = hashlib.blake2s((text + alt).encode(), digest_size=4).hexdigest()
    root = ElementTree.fromstring(text)
    width, height = (value * POINTS_PER_INCH for value in figure.get_size_inches())
    for element in root.iter():
        _rewrite(element, f"f{digest}-", paint)
    for element in root.iter():
        element[:] = [part for child in element for part in _seen(child)]
    root.attrib = {
        "viewBox": f"0 0 {width:g} {height:g}",
        "style": f"width:100%;max-width:{WIDEST}px;height:auto;display:block",
        "role": "img",
        "aria-label": alt,
        "font-family": "system-ui, sans-serif",
        "fill": paint("fill", INK).removeprefix("fill: "),
        "stroke-linejoin": "round",
    }
    return root


def _in_order(text: str) -> str:
    """The text with ids that follow from their order: some of the backend's change at each run."""
    names = {}
    return _ID.sub(lambda found: names.setdefault(found[0], f"i{len(names)}"), text)


def _rewrite(element: ElementTree.Element, prefix: str, paint: Callable[[str, str], str]) -> None:
    """Ids that no other figure has, colours as `paint` gives them, the page's font, few digits."""
    element.tag = element.tag.rpartition("}")[2]
    if element.tag != "text":
        element.text = None
    element.tail = None
    # What has an id is drawn many times, and small.
    digits = 2 if "id" in element.attrib else 1
    old, element.attrib = element.attrib, {}
    for name, value in old.items():
        name = name.rpartition("}")[2]
        if name == "id":
            value = prefix + value
        elif name in ("href", "clip-path"):
            value = _REFERENCE.sub(rf"#{prefix}\1", value)
        elif name == "style":
            value = _FAMILY.sub("", value)
            value = _COLOUR.sub(lambda found: paint(*found.groups()), value)
        else:
            value = _NUMBER.sub(lambda found: f"{float(found[0]):.{digits}f}", value)
            value = _short(value) if name == "d" else value
        if not value.startswith("rotate(-0"):
            element.set(name, value)


def _short(path: str) -> str:
    """A path's commands without needless space; lines by their steps, which have fewer digits."""
    if set(re.findall("[A-Za-z]", path)) - {"M", "L"}:
        return _AROUND_LETTERS.sub(r"\1", path).strip()
    parts, last, at = [], "", (0.0, 0.0)
    for letter, *place in re.findall(r"([ML]) (\S+) (\S+)", path):
        to = tuple(map(float, place))
        steps = "".join(f"{round(b - a, 2):+g}" for a, b in zip(at, to, strict=True))
        parts.append(("" if letter == last else letter.lower()) + steps)
        last, at = letter, to
    return "".join(parts)


def _seen(element: ElementTree.Element) -> list[ElementTree.Element]:
    """What of an element belongs into a page: not a group's name, nor data about the file.

    The backend's style sheet would hold for the whole page.
    """
    if element.tag in ("metadata", "style") or element.get("style") == "fill: none":
        return []
    if element.tag == "g" and set(element.attrib) <= {"id"}:
        return [part for child in element for part in _seen(child)]
    return [element]


def _on_page(what: str, colour: str) -> str:
    """CSS of a colour: neutral ones are parts of the page's ink."""
    if colour in _OF_THE_PAGE:
        share = _OF_THE_PAGE[colour]
        return f"{what}: currentColor" + (f"; {what}-opacity: {share}" if share < 1 else "")
    if colour in _SERIES:
        mix = f"color-mix(in srgb, {_SERIES[colour]} {TEXT_SHARE:.0%}, currentColor)"
        return f"{what}: {colour}; {what}: {mix}"
    return f"{what}: {colour}"


def _on_ground(neutral: dict[str, str], what: str, colour: str) -> str:
    if colour in _SERIES:
        colour = mixed(_SERIES[colour], neutral[INK])
    return f"{what}: {neutral.get(colour, colour)}"
