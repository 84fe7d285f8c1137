"""One large and seven small products, added by FFMA one after the other and by one mma."""

from __future__ import annotations

import numpy as np
from numba import cuda, float32

from utils.ladder.step import Variant
from utils.lessons.cards import Stack, Table, table
from virtual_gpu import trace
from virtual_gpu.numbers.fragments import COLUMNS, ROWS
from virtual_gpu.numbers.tensor_sums import ALIGNED_BITS, FRACTION_BITS
from virtual_gpu.pictures.svg import BLUE, GREY, ORANGE, Picture, legend, path, rect, svg, text

K = 8  # products of a sum
SMALL = K - 1  # of them are small
EXPONENTS = (-23, -24, -25, -26)  # of the small products
ASKED = -25
UNIT = 2.0**-FRACTION_BITS  # from 1 to the next float32
CELL, LEFT, TOP = 16, 96, 46


@cuda.jit
def one_after_the_other(a, b, c):
    """Compute c = a·b with one thread block of c's shape; each thread has a float32 sum.

    A thread adds the products of its element in the order of k, and the kernel has no guard.
    """
    row, col = cuda.threadIdx.y, cuda.threadIdx.x
    total = float32(0)
    for i in range(a.shape[1]):
        total += float32(a[row, i]) * float32(b[i, col])
    c[row, col] = total


def factors() -> tuple[np.ndarray, np.ndarray]:
    """Return float16 matrices a (16×8) and b (8×8); a row of a and column 0 of b give one sum.

    The products of row r are 1, and seven times 2 to the power of EXPONENTS[r]. Rows beyond are 0.
    """
    a, b = np.zeros((ROWS, K), np.float16), np.zeros((K, COLUMNS), np.float16)
    b[:, 0] = [1] + SMALL * [2.0**-12]
    for row, exponent in enumerate(EXPONENTS):
        a[row] = [1] + SMALL * [2.0 ** (exponent + 12)]
    return a, b


def sums_of(kernel) -> dict[str, list[float]]:
    """Return how far sums are above 1, in steps of float32, under "exact", "FFMA" and "mma".

    Each list has one number per exponent in EXPONENTS. The virtual GPU adds, also where a GPU is
    there. kernel: one that stores the product of 16×8 and 8×8 float16 with one mma, such as
    `one_mma`.
    """
    kernel = kernel.kernel if isinstance(kernel, Variant) else kernel
    a, b = factors()
    by_lanes, by_warp = np.zeros((2, ROWS, COLUMNS), np.float32)
    trace(one_after_the_other, 1, (COLUMNS, ROWS), a, b, by_lanes)
    trace(kernel, 1, 32, a, b, by_warp)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    rows = slice(0, len(EXPONENTS))
    return {
        name: ((sums[rows, 0].astype(np.float64) - 1) / UNIT).tolist()
        for name, sums in (("exact", exact), ("FFMA", by_lanes), ("mma", by_warp))
    }


def steps_above_one(kernel) -> float:
    """Return how many steps of float32 the sum of one mma is above 1; small products: 2^ASKED.

    kernel: as in `sums_of`.
    """
    return sums_of(kernel)["mma"][EXPONENTS.index(ASKED)]


def table_of(kernel) -> Table:
    """Return a table of how far the sums are above 1, with a row per exponent in EXPONENTS.

    The columns are the small product, and the sums of `sums_of`. kernel: as in `sums_of`.
    """
    sums = sums_of(kernel)
    rows = [
        (power(exponent), *(f"{sums[name][row]:g}" for name in ("exact", "FFMA", "mma")))
        for row, exponent in enumerate(EXPONENTS)
    ]
    head = ("each small product", "exact", "eight FFMA", "one mma")
    return table("How many steps of float32 the sum is above 1, on the virtual GPU", head, rows)


def answer(kernel) -> Stack:
    """Return the picture of the exact sum's bits above the table; kernel: as in `sums_of`."""
    return Stack((draw_bits(with_sum=True), table_of(kernel)))


def power(exponent: int) -> str:
    """Return a power of two as text, such as "2⁻²⁴"."""
    return "2" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def draw_bits(with_sum: bool = False) -> Picture:
    """Draw the bits behind the binary point that float32 and a tensor core keep of sums near 1.

    The rows are the largest product, 1, and a small one. with_sum: True for a third row, the exact
    sum of the products.
    """
    last = -EXPONENTS[-1]
    rows = {"1": {0}, power(ASKED): {-ASKED}}
    if with_sum:
        total = SMALL * 2 ** (last + ASKED)  # in steps of the last bit that is drawn
        rows["exact sum"] = {0} | {last - bit for bit in range(last) if total >> bit & 1}
    body = text(
        0, 15, "bits behind the binary point of a sum near 1 (pale: 0)", 13, font_weight="bold"
    )
    for bit in (1, 10, 20, FRACTION_BITS, ALIGNED_BITS, last):
        body += text(LEFT + (bit - 0.5) * CELL, TOP - 8, bit, 10, "middle")
    for row, (name, ones) in enumerate(rows.items()):
        body += text(LEFT - 22, TOP + row * 24 + 13, name, 13, "end")
        body += "".join(_bit(bit, TOP + row * 24, bit in ones) for bit in range(last + 1))
    height = TOP + 24 * len(rows)
    body += path(f"M{LEFT - 2.5} {TOP - 2}V{height}", stroke_width=1.5)
    alt = (
        f"A sum near 1. float32 keeps {FRACTION_BITS} bits behind the binary point. While it adds, "
        f"the tensor core of an H200 keeps {ALIGNED_BITS}. The product {power(ASKED)} is bit "
        f"{-ASKED}."
    )
    if with_sum:
        alt += f" The exact sum has the bits {', '.join(map(str, sorted(rows['exact sum'])))}."
    key = legend(float32=BLUE, while_an_mma_adds=ORANGE, cut_off=GREY)
    return Picture(key + svg(LEFT + last * CELL + 6, height, body, alt, widest=640), alt)


def _bit(bit: int, y: float, one: bool) -> str:
    """Return the SVG of a bit behind the binary point, or of the 1 before it; one: if it is 1."""
    kept = BLUE if bit <= FRACTION_BITS else ORANGE if bit <= ALIGNED_BITS else GREY
    x = LEFT + (bit - 1) * CELL - (4 if bit == 0 else 0)
    body = rect(x, y, CELL - 1, 18, kept, fill_opacity=0.75 if one else 0.25)
    if one:
        body += text(x + CELL / 2 - 0.5, y + 13, 1, 12, "middle", style="fill:#fff")
    return body
