"""A call of `sgemm` for row-major arrays, whose arguments the reader finds."""

from __future__ import annotations

from utils.lessons.cards import Card
from utils.translation import translate

M, K, N = 2, 3, 4  # a is 2×3, b is 3×4, c is 2×4
RIGHT = {"first": "b", "m": N, "n": M, "lda": N, "ldb": K, "ldc": N}


def row_major(
    first: str | None = None,
    m: int | None = None,
    n: int | None = None,
    lda: int | None = None,
    ldb: int | None = None,
    ldc: int | None = None,
) -> Card:
    """Return a card on a call of `sgemm` that computes the row-major c = a·b for 2×3 and 3×4.

    It says that all arguments are right, or names those not yet given, or has a hint on the first
    wrong one. If `first` is given and is no text, it says only that `first` must be a name. first:
    the name of the matrix that is handed over first, "a" or "b". m, n: the rows and columns of what
    is computed, as `sgemm` sees it. lda, ldb, ldc: the leading dimensions of the matrix that is
    handed over first, of the second one, and of c. None means that the reader has not answered yet.
    """
    given = {"first": first, "m": m, "n": n, "lda": lda, "ldb": ldb, "ldc": ldc}
    if first is not None and not isinstance(first, str):
        sentence = translate(
            '`first` is the name of an array in quotes, `"a"` or `"b"`, and not the array itself.'
        )
        return Card("ask", (sentence,))
    missing = [f"`{name}`" for name, value in given.items() if value is None]
    if missing:
        return Card("ask", (translate("Not given yet: {names}.", names=", ".join(missing)),))
    wrong = [name for name, value in given.items() if value != RIGHT[name]]
    if not wrong:
        sentence = translate(
            'Right: `sgemm("N", "N", 4, 2, 3, 1, b, 4, a, 3, 0, c, 4)`. It sees bᵀ, aᵀ and cᵀ, '
            "and no element was copied."
        )
        return Card("good", (sentence,))
    return Card("ask", (_said_of(wrong[0]),))


def _said_of(name: str) -> str:
    """Return the hint on an argument that is wrong; name: a key of RIGHT."""
    if name == "first":
        return translate(
            "In the memory of row-major arrays `sgemm` sees their transposes. So the first factor "
            "must be the one whose transpose comes first in cᵀ."
        )
    if name in ("m", "n"):
        return translate(
            "`{name}`: `sgemm` computes cᵀ, and `m` and `n` are the rows and columns of that.",
            name=name,
        )
    return translate(
        "`{name}`: a column of a transpose is a row of the array. How many elements is it from the "
        "start of one row to the start of the next one? `lda` belongs to the matrix that is handed "
        "over first, and `ldb` to the second.",
        name=name,
    )
