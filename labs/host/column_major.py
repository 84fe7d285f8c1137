"""Examine a call of a column-major library by a program whose matrices are stored by rows."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import numpy as np

from labs.checking.job import Shape
from labs.checking.phrasing import counted
from labs.families.product import inputs
from labs.host.exercise import Examination, Fault

SHAPES: tuple[Shape, ...] = ((3, 3, 3), (2, 4, 3), (5, 2, 7), (1, 6, 2), (4, 1, 1))  # (m, n, k)
DRAWN = 4  # shapes that are drawn anew in each examination
OF_MANY_CALLS = 60  # a percentage, for a library that is called for each element
SIZES = "m", "n", "k", "lda", "ldb", "ldc"
PLACES = "first", "second", "third"


@dataclass
class ColumnMajorModel:
    """A NumPy model of a library's `sgemm` that reads memory by columns.

    arrays: the program's a, b and c by their names. before: copies of them, in which the model
    repeats each store into memory; they show what was changed without the library. calls: the
    number of calls. changed: the name of the first array that was found to differ from its copy, at
    a call or at the end, or "".
    """

    arrays: dict[str, np.ndarray]
    before: dict[str, np.ndarray] = field(init=False)
    calls: int = 0
    changed: str = ""

    def __post_init__(self) -> None:
        self.before = {name: array.copy() for name, array in self.arrays.items()}

    def sgemm(self, m, n, k, a, lda, b, ldb, c, ldc) -> None:
        """Multiply the m×k matrix at a by the k×n matrix at b, and store the product at c.

        All are read by columns, and lda, ldb and ldc are the words from one column to the next.
        Raises TypeError or ValueError for arguments that the library would refuse, and for arrays
        that are no memory of the program's.
        """
        self.calls += 1
        self.look_for_changes()  # a program could undo them before its end
        m, n, k, lda, ldb, ldc = map(_whole, SIZES, (m, n, k, lda, ldb, ldc))
        first = _matrix("first", "lda", self._memory("first", a)[0], (m, k), lda)
        second = _matrix("second", "ldb", self._memory("second", b)[0], (k, n), ldb)
        memory, kept = self._memory("third", c)
        product = first @ second
        for one in (memory, kept):
            _matrix("third", "ldc", one, (m, n), ldc)[:] = product

    def look_for_changes(self) -> None:
        """Store in `changed` the name of the first array that was changed without the library.

        A name that is there already stays.
        """
        for name, array in self.arrays.items():
            if not np.array_equal(array, self.before[name], equal_nan=True):
                self.changed = self.changed or name

    def _memory(self, place: str, array: object) -> tuple[np.ndarray, np.ndarray]:
        """Return the words from the beginning of an argument on, in memory and in the copy.

        place: "first", "second" or "third". Raises TypeError if the argument is no array, and
        ValueError if it is no memory of a, b or c, or if the third one is none of c.
        """
        if not isinstance(array, np.ndarray):
            raise TypeError(f"the {place} matrix is no array, but {array!r:.40}")
        for name, own in self.arrays.items():
            if np.shares_memory(array, own):
                if place == "third" and name != "c":
                    raise ValueError(f"the product would be stored in `{name}`, and not in `c`")
                begin = (array.ctypes.data - own.ctypes.data) // own.itemsize
                return own.reshape(-1)[begin:], self.before[name].reshape(-1)[begin:]
        if place == "third":
            raise ValueError("the third array is no memory of `c`, so `c` gets no product")
        raise ValueError(f"the {place} matrix was copied: it is neither in `a` nor in `b`")


def _whole(name: str, number: object) -> int:
    """Return a size as an int; raise TypeError if it is no whole number. name: such as "lda"."""
    try:
        return operator.index(number)
    except TypeError:
        raise TypeError(f"{name} is {number!r:.40}, which is no whole number") from None


def _matrix(
    place: str, leading_name: str, memory: np.ndarray, sides: tuple[int, int], leading: int
) -> np.ndarray:
    """Return a view of memory as a matrix by columns.

    sides: its rows and columns. leading: the words from column to column. Raises ValueError if the
    columns overlap or the matrix has more words than the memory.
    """
    rows, columns = sides
    if leading < max(1, rows):
        raise ValueError(
            f"{leading_name} is {leading}, and a column of the {place} matrix has "
            f"{counted(rows, 'word')}: a leading dimension is at least that"
        )
    needed = (columns - 1) * leading + rows
    if rows > 0 and columns > 0 and needed > memory.size:
        raise ValueError(
            f"the {place} matrix would be {rows}×{columns} with {leading_name} = {leading}. Its "
            f"{needed} words are more than the {memory.size} of the array"
        )
    steps = memory.itemsize, leading * memory.itemsize
    return np.lib.stride_tricks.as_strided(memory, (rows, columns), steps)


def examine_call(call_by_rows: Callable) -> Examination:
    """Call the reader's function with several shapes, and return the outcome with its first cause.

    If all products are right but `sgemm` is called more often than needed, the outcome has that as
    its cause and its only fault. call_by_rows: takes `sgemm`, a, b and c, and should store a·b in c
    by calls of `sgemm`.
    """
    many = None
    for seed, shape in enumerate((*SHAPES, *_drawn(Random()))):
        a, b = inputs(shape, seed + 1)
        c = np.zeros(shape[:2], np.float32)
        model = ColumnMajorModel({"a": a, "b": b, "c": c})
        call_by_rows(model.sgemm, a, b, c)
        if cause := _cause(model, shape):
            return Examination((cause,))
        many = many or _many_calls(model, shape)
    if many:
        return Examination((many,), faults=(Fault(many, OF_MANY_CALLS),))
    shown = ", ".join("×".join(map(str, shape)) for shape in SHAPES[:3])
    return Examination((), (f"`c` holds a·b at m×n×k = {shown} and others.",))


def _drawn(random: Random) -> list[Shape]:
    """Return DRAWN random shapes, so that constants instead of the sizes are of no use.

    m, n and k are from 2 to 9.
    """
    return [tuple(random.randint(2, 9) for _ in range(3)) for _ in range(DRAWN)]


def _many_calls(model: ColumnMajorModel, shape: Shape) -> str | None:
    """Return sentences if there are more calls of `sgemm` than c has rows or columns, else None."""
    m, n, _ = shape
    if model.calls <= max(m, n):
        return None
    return (
        f"`sgemm` is called {model.calls} times for a product of {m}×{n} elements, and one call "
        "computes them all."
    )


def _cause(model: ColumnMajorModel, shape: Shape) -> str | None:
    """Return a sentence on what is wrong after a call of the reader's function, else None."""
    where = f"At m×n×k = {'×'.join(map(str, shape))}"
    if not model.calls:
        return "`sgemm` is never called, and it should compute the product."
    model.look_for_changes()
    if model.changed:
        return f"{where}: `{model.changed}` was changed by something other than `sgemm`."
    a, b, c = model.arrays.values()
    right = a @ b
    if np.array_equal(c, right):
        return None
    if shape[0] == shape[1] == shape[2]:
        others = {"b·a": b @ a, "the transpose of a·b": right.T, "the transpose of b·a": (b @ a).T}
        for words, value in others.items():
            if np.array_equal(c, value):
                return f"{where}: read by rows, `c` holds {words}, and not a·b."
    row, col = np.argwhere(c != right)[0]
    return (
        f"{where}: {int((c != right).sum())} of the {c.size} elements of `c` are wrong, such as "
        f"`c[{row}, {col}]`, which is {c[row, col]:g} instead of {right[row, col]:g}."
    )
