"""A probe for warp shuffles that cannot be compiled."""

from __future__ import annotations

import re

from utils.translation import translate


def other_arguments(kernel, message: str) -> str | None:
    """Return a sentence if a shuffle lacks its mask, or does not have it first, else None.

    message: the error message of the kernel, which cannot be compiled.
    """
    if "shfl_" not in message or not re.search(r"called with these|mask, lane or pred", message):
        return None
    name = re.search(r"shfl_\w+", message)[0]
    return translate(
        "`cuda.{name}` takes three arguments, in this order: the mask, which is a whole "
        "number, the value that the lanes hand on, and the distance.",
        name=name,
    )


REFUSED = (other_arguments,)
