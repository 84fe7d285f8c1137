"""What the virtual GPU draws: one access of a warp, and a movie of what a block does.

Pictures are SVG and HTML in the colours of the page, so that they read the same in a notebook and
on a static page, light and dark. A movie adds plain JavaScript and asks no other host.
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
