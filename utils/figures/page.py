"""Figures as HTML for a notebook and as files: SVG in the page's colours, or PNG.

On a page a figure has no background of its own. Its ink is the page's `currentColor`, so that the
same figure can be read on a light and on a dark page. JupyterLab removes SVG and styles from a
notebook that is not trusted. For this case the HTML also holds a PNG with a background. The style
sheet hides the PNG, unless the sheet itself is removed.
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
# The limit for one output of a notebook. A larger one gets the alt text instead of the PNG.
MOST_BYTES = 60 * 1024
WIDEST = 560  # pixels on a page, at which letters are as large as the page's own

# On a page: the opacity with which a neutral colour is drawn in the page's ink.
_OPACITY = {INK: 1, QUIET: 0.78, GRID: 0.17, GREY: 0.3}
# In files: the neutral colours, and as background that of GitHub's pages.
_GROUNDS = {
    "light": {INK: INK, QUIET: QUIET, GRID: GRID, GREY: GREY, CARD: CARD},
    "dark": {INK: "#e6edf3", QUIET: "#9da7b1", GRID: "#30363d", GREY: "#4c535b", CARD: "#0d1117"},
}
# Colour of a label -> colour of its series.
_SERIES = {of_text(colour): colour for colour in COLOURS}
# A sanitiser that removes this sheet leaves the PNG, and the hidden box stays hidden.
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
    """Show the figure with its alt text in a notebook, and close the figure.

    Raises CourseError if the figure has no alt text.
    """
    display(HTML(as_html(figure)))
    pyplot.close(figure)


def as_html(figure: Figure) -> str:
    """Return the figure as HTML: SVG in the page's colours, and a PNG for untrusted notebooks.

    If both together have more than MOST_BYTES characters, the alt text replaces the PNG. Raises
    CourseError if the figure has no alt text.
    """
    svg = ElementTree.tostring(_svg(figure, _on_page), "unicode")
    alt, hidden = html.escape(figure.alt_text), 'class="without-styles"'
    fallback = f'<img {hidden} style="max-width:100%" alt="{alt}" src="{_url(figure)}">'
    if len(svg) + len(fallback) > MOST_BYTES:
        fallback = f"<p {hidden}>{alt}</p>"
    return (
        f'{_SHEET}<div class="course-figure"><div style="display:none">{svg}</div>{fallback}</div>'
    )


def save(figure: Figure, file: Path | BinaryIO, ground: str = "light") -> None:
    """Write the figure with its alt text, as SVG if `file` is a path that ends in .svg, else PNG.

    ground: the background of an SVG, "light" or "dark". Raises CourseError if the figure has no alt
    text.
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
    """Write the figure as a PNG of 128 colours on white, with its alt text as metadata.

    Raises CourseError if the figure has no alt text.
    """
    buffer, text = io.BytesIO(), PngInfo()
    text.add_itxt("Description", _alt_of(figure))
    figure.savefig(buffer, format="png", dpi=dots_per_inch, facecolor=CARD)
    # With few colours the file has a third of the bytes. An octree keeps rare colours distinct.
    image = Image.open(buffer).convert("RGB")
    image = image.quantize(128, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    image.save(file, "PNG", optimize=True, pnginfo=text)


def _url(figure: Figure) -> str:
    """Return the figure as a PNG in a data URL."""
    png = io.BytesIO()
    _save_png(figure, png, DOTS_PER_INCH)
    return f"data:image/png;base64,{base64.b64encode(png.getvalue()).decode()}"


def _alt_of(figure: Figure) -> str:
    """Return the figure's attribute `alt_text`; raise CourseError if it has none."""
    if not getattr(figure, "alt_text", None):
        raise CourseError(
            "This figure has no alt text: say in words what it shows, with with_alt(fig, text)."
        )
    return figure.alt_text


def _svg(figure: Figure, paint: Callable[[str, str], str]) -> ElementTree.Element:
    """Return the figure as an SVG element whose ids collide with no other figure on a page.

    Words stay text, and the same figure always gives the same element. paint: a function from
    "fill" or "stroke" and a colour such as "#1f2328" to a CSS declaration. Raises CourseError if
    the figure has no alt text.
    """
    alt, buffer = _alt_of(figure), io.BytesIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "course"}):
        figure.savefig(buffer, format="svg", facecolor="none", metadata={"Date": None})
    text = _with_stable_ids(buffer.getvalue().decode())
    digest = hashlib.blake2s((text + alt).encode(), digest_size=4).hexdigest()
    root = ElementTree.fromstring(text)
    width, height = (value * POINTS_PER_INCH for value in figure.get_size_inches())
    for element in root.iter():
        _rewrite(element, f"f{digest}-", paint)
    for element in root.iter():
        element[:] = [part for child in element for part in _visible_parts(child)]
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


def _with_stable_ids(text: str) -> str:
    """Return an SVG with its ids renamed to i0, i1, …: Matplotlib's ids change at each run."""
    names = {}
    return _ID.sub(lambda match: names.setdefault(match[0], f"i{len(names)}"), text)


def _rewrite(element: ElementTree.Element, prefix: str, paint: Callable[[str, str], str]) -> None:
    """Change an SVG element in place: prefix ids, paint colours, drop the font, shorten numbers.

    paint: a function from "fill" or "stroke" and a colour to a CSS declaration.
    """
    element.tag = element.tag.rpartition("}")[2]
    if element.tag != "text":
        element.text = None
    element.tail = None
    # An element with an id is a small marker, drawn many times.
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
            value = _COLOUR.sub(lambda match: paint(*match.groups()), value)
        else:
            value = _NUMBER.sub(lambda match: f"{float(match[0]):.{digits}f}", value)
            value = _short(value) if name == "d" else value
        if not value.startswith("rotate(-0"):
            element.set(name, value)


def _short(path: str) -> str:
    """Return the data of an SVG path without needless spaces, and with relative lines.

    Relative lines have fewer digits. A path with curves only loses spaces.
    """
    if set(re.findall("[A-Za-z]", path)) - {"M", "L"}:
        return _AROUND_LETTERS.sub(r"\1", path).strip()
    parts, last, position = [], "", (0.0, 0.0)
    for letter, *coordinates in re.findall(r"([ML]) (\S+) (\S+)", path):
        target = tuple(map(float, coordinates))
        offset = "".join(f"{round(b - a, 2):+g}" for a, b in zip(position, target, strict=True))
        parts.append(("" if letter == last else letter.lower()) + offset)
        last, position = letter, target
    return "".join(parts)


def _visible_parts(element: ElementTree.Element) -> list[ElementTree.Element]:
    """Return the elements to draw instead of an SVG element: itself, parts of it, or none.

    A group that has only a name is replaced by its visible children. Invisible elements and
    metadata are dropped, and so is the backend's style sheet, which would apply to the whole page.
    """
    if element.tag in ("metadata", "style") or element.get("style") == "fill: none":
        return []
    if element.tag == "g" and set(element.attrib) <= {"id"}:
        return [part for child in element for part in _visible_parts(child)]
    return [element]


def _on_page(attribute: str, colour: str) -> str:
    """Return the CSS declaration of a colour on a page, such as "fill: currentColor".

    attribute: "fill" or "stroke". Neutral colours take the page's ink, colours of labels are mixed
    with it, and all other colours are unchanged.
    """
    if colour in _OPACITY:
        opacity = _OPACITY[colour]
        rest = f"; {attribute}-opacity: {opacity}" if opacity < 1 else ""
        return f"{attribute}: currentColor{rest}"
    if colour in _SERIES:
        mix = f"color-mix(in srgb, {_SERIES[colour]} {TEXT_SHARE:.0%}, currentColor)"
        return f"{attribute}: {colour}; {attribute}: {mix}"
    return f"{attribute}: {colour}"


def _on_ground(neutral: dict[str, str], attribute: str, colour: str) -> str:
    """Return the CSS declaration of a colour in a file, such as "fill: #e6edf3".

    neutral: neutral colour on a light page -> neutral colour on the file's background.
    """
    if colour in _SERIES:
        colour = mixed(_SERIES[colour], neutral[INK])
    return f"{attribute}: {neutral.get(colour, colour)}"
