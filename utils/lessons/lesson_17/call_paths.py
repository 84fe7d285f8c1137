"""How `sgemm` computes a recorded product: as it is, from copies, or word by word."""

from __future__ import annotations

import numpy as np

from gemm_kernels.as_called import LAYOUTS
from gemm_kernels.dispatch import routes
from gemm_kernels.parts.blocks import WIDE
from utils.ladder.shapes import FLOAT32_BYTES, GemmShape
from utils.launching.slots import WIDE_BYTES, Slot
from utils.machine.devices import REFERENCE, find

PATHS = AS_IT_IS, COPIED, BY_WORDS = "as it is", "copied", "word by word"


def path_of(call) -> str:
    """Return how `sgemm` computes a product: "as it is", "copied" or "word by word".

    It is the route that `sgemm` itself chooses. "copied" means that a, b or c is copied for the
    fast kernel. call: a row of the record of calls, with m, n, k and the layouts of a and b.
    """
    shape, inputs, out = product_of(call)
    if routes.fastest(shape, inputs, out, 0.0, find(REFERENCE)).kind == "strided":
        return BY_WORDS
    whole = shape.n % WIDE == 0 and shape.k % WIDE == 0
    return AS_IT_IS if whole and all(map(routes.fits, inputs)) else COPIED


def copies_us(call) -> float:
    """Return the estimated microseconds of the copies of a, b and c for the fast kernel.

    `sgemm` itself compares routes by this estimate. It is that of the copies that the fast kernel
    would need, also if `sgemm` computes the product word by word. call: as in `path_of`.
    """
    return routes.copies_us(*product_of(call), 0.0, find(REFERENCE))


def product_of(call) -> tuple[GemmShape, tuple[Slot, Slot], Slot]:
    """Return the shape of a recorded call, the slots of (a, b), and the slot of c.

    call: its "m", "n", "k" and "layout", the layouts of a and b with a comma between them. c is in
    plain rows.
    """
    m, n, k = (int(call[side]) for side in ("m", "n", "k"))
    of_a, of_b = call["layout"].split(", ")
    inputs = _slot(0, (m, k), of_a), _slot(1, (k, n), of_b)
    return GemmShape(m, n, k), inputs, _slot(2, (m, n), "rows")


def _slot(number: int, sides: tuple[int, int], layout: str) -> Slot:
    """Return the slot of a float32 matrix whose strides follow a layout of `LAYOUTS`."""
    *steps, first = LAYOUTS[layout](*sides)
    strides = tuple(FLOAT32_BYTES * step for step in steps)
    aligned = FLOAT32_BYTES * first % WIDE_BYTES == 0
    return Slot(number, sides, strides, np.dtype(np.float32), aligned)
