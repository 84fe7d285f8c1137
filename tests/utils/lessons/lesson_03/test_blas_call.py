"""The call of `sgemm` for row-major arrays is right, and each wrong argument gets its sentence."""

import numpy as np
import pytest

from utils.lessons.lesson_03 import blas_call


def by_columns(memory: np.ndarray, rows: int, columns: int, leading: int) -> np.ndarray:
    """Return a view of a matrix in column-major memory."""
    step = memory.itemsize
    return np.lib.stride_tricks.as_strided(memory, (rows, columns), (step, leading * step))


def test_the_right_call_computes_the_product():
    m, k, n = blas_call.M, blas_call.K, blas_call.N
    a, b = np.arange(m * k).reshape(m, k), np.arange(k * n).reshape(k, n)
    c, call = np.zeros((m, n), a.dtype), blas_call.RIGHT
    first, second = {"a": (a, b), "b": (b, a)}[call["first"]]
    seen = by_columns(c, call["m"], call["n"], call["ldc"])
    seen[:] = by_columns(first, call["m"], k, call["lda"]) @ by_columns(
        second, k, call["n"], call["ldb"]
    )
    np.testing.assert_array_equal(c, a @ b)
    assert blas_call.row_major(**call).kind == "good"
    said = str(blas_call.row_major(**call))
    assert "{m}, {n}, {k}, 1, b, {lda}, a, {ldb}, 0, c, {ldc})".format(k=k, **call) in said


@pytest.mark.parametrize(
    "changed, words",
    [
        ({"first": "a"}, "whose transpose comes first"),
        ({"m": 2, "n": 4}, "`m`: `sgemm` computes"),
        ({"lda": 3}, "`lda`: a column of a transpose"),
        ({"ldc": 2}, "`ldc`: a column of a transpose"),
        ({"ldb": None}, "Not given yet: `ldb`"),
    ],
)
def test_a_wrong_argument_gets_its_sentence(changed, words):
    card = blas_call.row_major(**(blas_call.RIGHT | changed))
    assert card.kind == "ask"
    assert words in card.sentences[0]
