"""Small SVG pictures in the colours of the page, with alt texts.

A unit of length is a pixel if the picture has its full width; a picture of at most 420 units is
readable on a phone. Lines are drawn in `currentColor`, so light and dark pages need one picture.
"""

from __future__ import annotations

import html
import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..common.wording import translate
from .static_image import static_image

BLUE, ORANGE, GREEN, PURPLE, GREY = "#1f7fc4", "#d9730d", "#0a9a6c", "#8a6fc9", "#8b9096"
PALE = "rgba(217,115,13,.45)"  # moved together with a requested word, but not used
# No plain spaces, because nbconvert's pages collapse several of them into one.
INDENT = "\N{NO-BREAK SPACE}"

_STYLE = """<style>
.picture {font-family: system-ui, sans-serif; font-size: 14px; line-height: 1.5; max-width: 62em}
.picture svg {width: 100%; height: auto; color: inherit; display: block}
.picture svg text {font-family: system-ui, sans-serif; fill: currentColor}
.picture .row {display: flex; flex-wrap: wrap; gap: 8px 36px}
.picture .row svg {flex: 1 1 270px; width: auto}
.picture .frames {display: grid}
.picture .frame {grid-area: 1 / 1; visibility: hidden; min-width: 0}
.picture .frame.on {visibility: visible}
.picture .controls {display: flex; gap: 10px; align-items: center; margin: 6px 0; flex-wrap: wrap}
.picture .controls button {min-width: 4.5em}
.picture .controls input {flex: 1; min-width: 140px; max-width: 300px}
@media (max-width: 600px) {.picture .controls output {flex-basis: 100%; min-height: 3em}}
.picture > .drawn {display: block !important}
.picture > .still {display: none}
</style>"""
_DRAWING = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
_LATER = re.compile(r"<!--later-->.*?<!--/later-->", re.DOTALL)
_LABEL = re.compile(r'aria-label="([^"]*)"')
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Picture:
    """A picture as HTML (``body``) and in words (``alt``), which a notebook displays.

    In a page that removes SVG and styles, such as a notebook that is not trusted, the words are
    shown, and each drawing as an image.
    """

    body: str
    alt: str

    def __str__(self) -> str:
        return self.alt

    def __repr__(self) -> str:
        return f"<Picture: {self.alt}>"

    def _repr_html_(self) -> str:
        drawn = f'<div class="drawn" style="display:none">{self.body}</div>'
        words = f"<p>{html.escape(self.alt)}</p>"
        kept = f'<div class="still">{words}{stills(self.body)}</div>'
        return f'{_STYLE}<div class="picture">{drawn}{kept}</div>'


def stills(body: str) -> str:
    """Return each drawing in an HTML text as an `<img>`, all in one string.

    Of frames, only the drawing that is shown first is returned.
    """
    drawings = _DRAWING.findall(_LATER.sub("", body))
    return "".join(static_image(drawing, alt=_label(drawing)) for drawing in drawings)


def _label(drawing: str) -> str:
    """Return the alt text of an SVG; "" if it has none."""
    match = _LABEL.search(drawing.partition(">")[0])
    return html.unescape(match[1]) if match else ""


def text(x: float, y: float, words: object, size: float = 12, anchor: str = "start", **more) -> str:
    """Return an SVG text element with its baseline at y.

    ``words`` is converted by ``str`` and escaped. ``size`` is in units of the SVG, and ``anchor``
    says which part of the text is at x: "start", "middle" or "end". ``more`` holds SVG attributes,
    with _ instead of -.
    """
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="{anchor}"{_attributes(more)}>'
        f"{html.escape(str(words))}</text>"
    )


def rect(x: float, y: float, width: float, height: float, fill: str, **more) -> str:
    """Return an SVG rectangle whose upper left corner is (x, y).

    ``more`` holds SVG attributes, with _ instead of -.
    """
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}"'
        f"{_attributes(more)}/>"
    )


def path(commands: str, **more) -> str:
    """Return an SVG path in the page's text colour, unless ``more`` has a ``stroke``.

    ``commands`` is its ``d`` attribute, and ``more`` holds SVG attributes, with _ instead of -.
    """
    return f'<path d="{commands}"{_attributes({"stroke": "currentColor", "fill": "none"} | more)}/>'


def svg(width: float, height: float, body: str, alt: str, widest: float = 480) -> str:
    """Return an SVG element that fills its container's width up to ``widest`` pixels.

    ``width`` and ``height`` are those of the view box, ``body`` is the SVG inside, and ``alt`` the
    alt text.
    """
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" style="max-width:{widest:g}px" role="img"'
        f' aria-label="{html.escape(alt)}">{body}</svg>'
    )


def legend(**colours: str) -> str:
    """Return a legend of colours as an SVG; ``legend(read_by_a_lane=BLUE)`` labels blue.

    Each keyword is a label, with _ instead of spaces.
    """
    parts, x = [], 0.0
    labels = [translate(words.replace("_", " ")) for words in colours]
    for words, colour in zip(labels, colours.values(), strict=True):
        parts += [rect(x, 4, 13, 13, colour), text(x + 18, 15, words)]
        x += 18 + 6.6 * len(words) + 20
    alt = translate("Colours: {labels}", labels=", ".join(labels))
    return svg(x, 20, "".join(parts), alt, widest=x)


def in_code(words: str) -> str:
    """Return a sentence as escaped HTML, in which text between backticks becomes code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(words, quote=False))


# JupyterLab takes no key as a shortcut while an element with this attribute has the focus. An
# element around it needs the attribute only if it can have the focus itself.
KEEP_KEYS = 'data-lm-suppress-shortcuts="true"'
# HTML that each picture with such an element contains: with the keyboard the reader leaves the
# element for the notebook again.
LEAVE_KEYS = (
    f"<script>{Path(__file__).with_name('leave_keys.js').read_text(encoding='utf-8')}</script>"
)


def frames(pictures: Sequence[str], labels: Sequence[str], what: str, start: int = 0) -> str:
    """Return HTML with pictures of which one is visible, a slider, and a button to play them.

    Without scripts, the picture with the index ``start`` is visible. ``labels`` describe the
    pictures; a screen reader reads them when the slider moves. ``what`` is the slider's name.
    """
    name = f"frames-{next(_numbers)}"
    drawn = "".join(
        f'<div class="frame on">{picture}</div>'
        if number == start
        else f'<!--later--><div class="frame">{picture}</div><!--/later-->'
        for number, picture in enumerate(pictures)
    )
    drawn = f'<div class="frames">{drawn}</div>'
    play, pause = translate("Play"), translate("Pause")
    script = _PLAYER.replace("NAME", name).replace("LABELS", _json(list(labels)))
    script = script.replace("PLAY", _json(play)).replace("PAUSE", _json(pause))
    return (
        f'<div id="{name}"><div class="controls">'
        f'<button type="button" {KEEP_KEYS}>{html.escape(play)}</button>'
        f'<input type="range" {KEEP_KEYS} min="0" max="{len(pictures) - 1}" value="{start}"'
        f' aria-label="{html.escape(what)}"><output>{html.escape(labels[start])}</output></div>'
        f"{drawn}</div>{LEAVE_KEYS}<script>{script}</script>"
    )


# It plays up to the last picture; from there, it starts again at the first one.
# The same output can be twice in a page, so the script takes the first one that is not alive yet.
_PLAYER = """(function () {
  var root = Array.from(document.querySelectorAll('[id="NAME"]')).find(r => !r.dataset.alive);
  if (!root) return;
  root.dataset.alive = 'yes';
  var frames = root.querySelectorAll('.frame'), slider = root.querySelector('input');
  var output = root.querySelector('output'), button = root.querySelector('button');
  var labels = LABELS, timer = null;
  function stop() { clearInterval(timer); timer = null; button.textContent = PLAY; }
  function show() {
    frames.forEach((frame, at) => frame.classList.toggle('on', at == slider.value));
    output.textContent = labels[slider.value];
    slider.setAttribute('aria-valuetext', labels[slider.value]);
  }
  function next() {
    if (!root.isConnected) return stop();
    slider.value = +slider.value + 1;
    show();
    if (+slider.value === frames.length - 1) stop();
  }
  slider.oninput = function () { stop(); show(); };
  button.onclick = function () {
    if (timer) return stop();
    if (+slider.value === frames.length - 1) { slider.value = 0; show(); }
    button.textContent = PAUSE;
    timer = setInterval(next, 900);
  };
})()"""


def _json(value: object) -> str:
    """Return a value as JSON in which no text can end a script element."""
    return json.dumps(value).replace("<", "\\u003c")


def _attributes(more: dict[str, object]) -> str:
    """Return SVG attributes as text, each after a space, with - instead of _ in the names."""
    return "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
