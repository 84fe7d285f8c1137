"""Shuffles that cannot be compiled: what their arguments are."""

from __future__ import annotations

import re


def other_arguments(kernel, message: str) -> str | None:
    """The mask is missing, or stands in another place."""
    if "shfl_" not in message or not re.search(r"called with these|mask, lane or pred", message):
        return None
    name = re.search(r"shfl_\w+", message)[0]
    return (
        f"`cuda.{name}` takes three arguments, in this order: the mask, which is a whole number, "
        "the value that the lanes hand on, and the distance."
    )


# ----------------------------------------------------------------------------------- wrong values


REFUSED = (other_arguments,)
