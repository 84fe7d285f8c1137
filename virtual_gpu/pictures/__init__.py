"""Pictures of a launch: single accesses of a warp, the annotated source, and movies of a block.

Pictures are SVG and HTML in the colours of the page, so they look the same in a notebook and on a
static page, light or dark. A movie adds plain JavaScript and loads nothing from other hosts.
"""

from .accesses import (
    draw_banks,
    draw_request,
    draw_requests,
    draw_sectors,
    what_if_padding,
    what_if_stride,
)
from .movie import Movie, movie, once_per_page

__all__ = [
    "Movie",
    "draw_banks",
    "draw_request",
    "draw_requests",
    "draw_sectors",
    "movie",
    "once_per_page",
    "what_if_padding",
    "what_if_stride",
]
