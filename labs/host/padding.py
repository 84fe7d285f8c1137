"""Examine a function that pads two matrices for a product with sides divisible by four."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import numpy as np

from labs.checking.job import Shape
from labs.families.product import inputs
from labs.host.exercise import Examination
from utils.division import cdiv

FOUR = 4
SHAPES: tuple[Shape, ...] = ((3, 8, 4), (3, 6, 4), (2, 4, 7), (5, 9, 6), (1, 1, 1))  # (m, n, k)
DRAWN = 6  # shapes that are drawn anew in each examination


@dataclass
class FastModel:
    """A NumPy model of a kernel that takes only plain rows with numbers of columns in fours.

    added: a number that is added to each element, so that no other product is equal. calls: the
    shapes (m, n, k) of the products that it computed. products: these products, with nothing added.
    """

    added: float = 0.0
    calls: list[Shape] = field(default_factory=list)
    products: list[np.ndarray] = field(default_factory=list)

    def fast(self, a, b) -> np.ndarray:
        """Return a·b + `added`, float32, and record the sizes (m, n, k) and the product a·b.

        Raises TypeError or ValueError for matrices that the kernel cannot take.
        """
        for place, one in (("first", a), ("second", b)):
            if not isinstance(one, np.ndarray) or one.ndim != 2:
                raise TypeError(f"the {place} argument of `fast` is no matrix")
            if one.dtype != np.float32:
                raise TypeError(f"the {place} matrix is {one.dtype}, and `fast` takes float32")
            if one.shape[1] % FOUR:
                raise ValueError(
                    f"the {place} matrix has {one.shape[1]} columns, which is no multiple of four"
                )
            if not one.flags.c_contiguous:
                raise ValueError(
                    f"the {place} matrix is not in plain rows, it is stored by columns; a and b "
                    "may come by columns, and `np.pad` and `np.concatenate` keep that order"
                    if one.flags.f_contiguous
                    else f"the {place} matrix is not in plain rows"
                )
        if a.shape[1] != b.shape[0]:
            raise ValueError(
                f"the first matrix has {a.shape[1]} columns, and the second one {b.shape[0]} rows"
            )
        self.calls.append((a.shape[0], b.shape[1], a.shape[1]))
        self.products.append(a @ b)
        return self.products[-1] + np.float32(self.added)


def examine_padding(pad_to_fours: Callable) -> Examination:
    """Call the reader's function with several shapes, and return the outcome with its first cause.

    pad_to_fours: takes `fast`, a and b, and returns a·b by one call of `fast`.
    """
    for seed, shape in enumerate((*SHAPES, *_drawn(Random()))):
        a, b = inputs(shape, seed + 1)
        if seed % 2:  # another layout: by columns
            a, b = np.asfortranarray(a), np.asfortranarray(b)
        model = FastModel(added=float(seed >= len(SHAPES)))
        result = pad_to_fours(model.fast, a.copy("K"), b.copy("K"))
        if cause := _cause(result, a @ b, shape, model):
            return Examination((cause,))
    shown = ", ".join("×".join(map(str, shape)) for shape in SHAPES[1:4])
    return Examination((), (f"Right at m×n×k = {shown} and others.",))


def _drawn(random: Random) -> list[Shape]:
    """Return DRAWN random shapes, so that constants instead of the sizes are of no use.

    m, n and k are from 1 to 19.
    """
    return [tuple(random.randint(1, 19) for _ in range(3)) for _ in range(DRAWN)]


def _cause(result: object, product: np.ndarray, shape: Shape, model: FastModel) -> str | None:
    """Return a sentence on what is wrong with a result or with the calls of `fast`, else None."""
    where = f"At m×n×k = {'×'.join(map(str, shape))}"
    calls, right = model.calls, product + np.float32(model.added)
    if len(calls) != 1:
        made = "never called" if not calls else f"called {len(calls)} times"
        return f"{where}: `fast` is {made}, and one call is asked for."
    if not isinstance(result, np.ndarray):
        return f"{where}: the function returns `{result!r:.40}`, and not an array."
    if result.shape != right.shape:
        sizes = ("×".join(map(str, one.shape)) for one in (result, right))
        return "{}: the result is {}, and a·b is {}.".format(where, *sizes)
    if model.added and np.array_equal(result, product):
        return "At a drawn shape: the result is not what `fast` has returned."
    if not np.array_equal(result, right):
        row, col = np.argwhere(result != right)[0]
        return (
            f"{where}: element [{row}, {col}] is {result[row, col]:g} instead of "
            f"{right[row, col]:g}. What is in the new columns and rows?"
        )
    if not _holds(model.products[0], product):
        return (
            f"{where}: the product that `fast` has computed does not hold a·b: it got other "
            "matrices than a and b with new columns and rows."
        )
    m, n, k = shape
    least = m, cdiv(n, FOUR) * FOUR, cdiv(k, FOUR) * FOUR
    if calls[0] != least:
        sizes = ("×".join(map(str, one)) for one in (calls[0], least))
        return "{}: `fast` computes a product of {}, and {} is enough.".format(where, *sizes)
    return None


def _holds(computed: np.ndarray, product: np.ndarray) -> bool:
    """Return True if the matrix `computed` has a part that is equal to the matrix `product`."""
    rows, columns = (own - other for own, other in zip(computed.shape, product.shape, strict=True))
    return any(
        np.array_equal(computed[i:, j:][: product.shape[0], : product.shape[1]], product)
        for i in range(rows + 1)
        for j in range(columns + 1)
    )
