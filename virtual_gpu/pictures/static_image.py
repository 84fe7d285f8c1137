"""Converts an SVG to an `<img>`, for pages that remove SVG, style sheets and scripts.

A notebook that is not trusted is such a page. JupyterLab keeps images there, also those with a
`data:` URL, and `style="display:none"`. So the drawing is hidden at first; a style sheet, if it is
kept, shows the drawing and hides the image.
"""

from __future__ import annotations

import html
import re
from urllib.parse import quote

# The characters that need no %xx in a URL in double quotes.
_PLAIN = " !$'()*+,/:;=@-._~?[]{}|^`"
_OPENING = re.compile(r"<svg\b([^>]*)>")
_BACKGROUND = "background:#fff;color:#1c2530;color-scheme:light"


def static_image(svg: str, alt: str, rules: str = "", width: float = 0) -> str:
    """Return a paragraph with an `<img>` of an SVG on white, independent of the page's colours.

    ``rules`` is a style sheet for the image; the drawing is then put into a group with the SVG's
    class. ``width`` is in pixels, and 0 means the width of the view box. An empty ``alt`` hides the
    image from screen readers.
    """
    attributes = _OPENING.match(svg)[1]
    box = re.search(r'viewBox="([^"]+)"', attributes)[1]
    _, _, across, down = map(float, box.split())
    width = width or across
    look = re.search(r'class="([^"]+)"', attributes)
    body = svg[svg.index(">") + 1 : svg.rindex("</svg>")]
    if rules:
        body = f'<style>{rules}</style><g class="{look[1] if look else ""}">{body}</g>'
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="vm" viewBox="{box}" width="{width:g}" '
        f'height="{width * down / across:g}" style="{_BACKGROUND}" '
        f'font-family="system-ui,sans-serif" fill="#1c2530">{body}</svg>'
    )
    hidden = "" if alt else ' aria-hidden="true"'
    return (
        f'<p><img alt="{html.escape(alt)}"{hidden} width="{width:g}" '
        f'src="data:image/svg+xml,{quote(drawn.replace(chr(34), chr(39)), safe=_PLAIN)}"></p>'
    )
