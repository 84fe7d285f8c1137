"""A drawing as an image, for places that take away SVG, styles and scripts.

A notebook that is not trusted is such a place: JupyterLab keeps images, also those whose data is in
their address, and `style="display:none"`. So what needs a style sheet is not displayed, and the
style sheet displays it and hides the image.
"""

from __future__ import annotations

import html
import re
from urllib.parse import quote

# What may stay as it is in an address in double quotes; the rest is written as %xx.
_PLAIN = " !$'()*+,/:;=@-._~?[]{}|^`"
_OPENING = re.compile(r"<svg\b([^>]*)>")
_CARD = "background:#fff;color:#1c2530;color-scheme:light"


def still(svg: str, alt: str, rules: str = "", width: float = 0) -> str:
    """A paragraph with an `<img>` of this SVG as ink on a white card, whatever the page's colours.

    alt: what the image stands for. rules: a style sheet for it; its drawing is then put into a
    group with the class `vm`. width: in pixels; 0: that of its view box.
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
        f'height="{width * down / across:g}" style="{_CARD}" '
        f'font-family="system-ui,sans-serif" fill="#1c2530">{body}</svg>'
    )
    hidden = "" if alt else ' aria-hidden="true"'
    return (
        f'<p><img alt="{html.escape(alt)}"{hidden} width="{width:g}" '
        f'src="data:image/svg+xml,{quote(drawn.replace(chr(34), chr(39)), safe=_PLAIN)}"></p>'
    )
