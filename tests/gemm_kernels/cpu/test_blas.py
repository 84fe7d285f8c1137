"""sgemm means what BLAS means, for every way to call it, and refuses what BLAS refuses."""

import numpy as np
import pytest

from gemm_kernels.cpu import matmul, sgemm
from utils.errors import CourseError

# One process compiles the kernels.
pytestmark = pytest.mark.xdist_group("kernels of the CPU")

COMBINATIONS = 2000


def stored(generator, rows, cols, ld):
    """Return a column-major matrix in the middle of NaN, which nothing may read."""
    memory = np.full(ld * cols + 3, np.nan, np.float32)
    matrix = memory[: ld * cols].reshape(cols, ld).T[:rows]
    matrix[...] = generator.uniform(-1, 1, (rows, cols))
    return memory, matrix


def a_call(generator):
    """Return arguments of sgemm, the expected c, and the memory of c that must not change."""
    most = 300 if generator.random() < 0.05 else 70
    m, n, k = (int(size) for size in generator.integers(0, most, 3))
    transa, transb = generator.choice([*"NTCntc"], 2)
    alpha, beta = (float(factor) for factor in generator.choice([0, 1, -0.75, 2.5], 2))
    shapes = ((k, m) if transa in "TtCc" else (m, k)), ((n, k) if transb in "TtCc" else (k, n))
    leading = [max(1, rows) + int(generator.integers(0, 4)) for rows, _ in (*shapes, (m, n))]
    (a, stored_a), (b, stored_b), (c, stored_c) = (
        stored(generator, *shape, ld) for shape, ld in zip((*shapes, (m, n)), leading)
    )
    if alpha == 0:
        a[:], b[:] = np.nan, np.nan
    old = stored_c.astype(np.float64)
    if beta == 0:
        stored_c[...] = np.nan
        old = np.zeros((m, n))
    op_a = stored_a.T if transa in "TtCc" else stored_a
    op_b = stored_b.T if transb in "TtCc" else stored_b
    product = 0 if alpha == 0 else alpha * (op_a.astype(np.float64) @ op_b.astype(np.float64))
    expected = c.copy()
    expected[: leading[2] * n].reshape(n, leading[2]).T[:m] = product + beta * old
    arguments = (transa, transb, m, n, k, alpha, a, leading[0], b, leading[1], beta, c, leading[2])
    return arguments, expected, 1e-6 * max(1, abs(alpha)) * max(1, k)


@pytest.mark.parametrize("seed", range(4))
def test_every_combination_of_arguments_gives_what_the_definition_gives(seed):
    generator = np.random.default_rng(seed)
    for _ in range(COMBINATIONS // 4):
        arguments, expected, allowed = a_call(generator)
        sgemm(*arguments)
        np.testing.assert_allclose(
            arguments[11], expected, rtol=0, atol=allowed, err_msg=str(arguments[:6])
        )


def arguments(**changed):
    """Return a right call with m, n, k = 3, 4, 5, changed by `changes`."""
    right = {
        "transa": "N",
        "transb": "N",
        "m": 3,
        "n": 4,
        "k": 5,
        "alpha": 1.0,
        "a": np.ones(15, np.float32),
        "lda": 3,
        "b": np.ones(20, np.float32),
        "ldb": 5,
        "beta": 0.0,
        "c": np.full(12, np.nan, np.float32),
        "ldc": 3,
    }
    return right | changed


READ_ONLY = np.broadcast_to(np.float32(0), 12).copy()
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    "changed, sentence",
    [
        ({"transa": "X"}, "argument 1, transa, is 'X': give 'N', 'T' or 'C'"),
        ({"transb": 1}, "argument 2, transb, is 1"),
        ({"m": -1}, "argument 3, m, is -1, and a size is 0 or more"),
        ({"n": -4}, "argument 4, n, is -4"),
        ({"k": 2.5}, "argument 5, k, is 2.5, and a size is a whole number"),
        ({"alpha": "1x"}, "argument 6, alpha, is '1x', and a real number"),
        ({"a": np.ones(15)}, "argument 7, a, holds float64, and the s in sgemm is float32"),
        ({"a": [1.0] * 15}, "argument 7, a, is a list"),
        ({"a": np.ones(14, np.float32)}, "argument 7, a, has 14 elements, and 3×5 with ld 3 needs"),
        ({"lda": 2}, "argument 8, lda, is 2, and for columns of 3 rows it must be at least 3"),
        ({"transa": "T"}, "argument 8, lda, is 3, and for columns of 5 rows"),
        ({"b": np.ones(40, np.float32)[::2]}, "argument 9, b, has gaps in memory"),
        ({"ldb": 4}, "argument 10, ldb, is 4"),
        ({"beta": None}, "argument 11, beta, is None"),
        ({"c": np.ones(12, np.float16)}, "argument 12, c, holds float16"),
        ({"c": READ_ONLY}, "argument 12, c, is read-only"),
        ({"ldc": 0, "m": 0}, "argument 13, ldc, is 0, and for columns of 0 rows it must be"),
    ],
)
def test_a_wrong_argument_is_refused_by_its_position_in_blas(changed, sentence):
    with pytest.raises(ValueError, match=sentence) as refusal:
        sgemm(**arguments(**changed))
    assert isinstance(refusal.value, CourseError)


@pytest.mark.parametrize("name", ["a", "b"])
def test_an_output_that_is_also_an_input_is_refused(name):
    memory = np.ones(40, np.float32)
    with pytest.raises(ValueError, match=f"argument 12, c, shares memory with {name}"):
        sgemm(**arguments(**{name: memory[:20], "c": memory[12:]}))


def test_an_output_between_the_columns_of_an_input_is_no_alias():
    memory = np.ones(40, np.float32)
    sgemm(**arguments(a=memory, lda=8, c=memory[3:], ldc=8))
    np.testing.assert_array_equal(memory.reshape(5, 8)[:4, 3:6], np.full((4, 3), 5.0))
    assert (memory.reshape(5, 8)[:, :3] == 1).all()


@pytest.mark.slow
@pytest.mark.parametrize("alpha, k", [(0.0, 5), (1.0, 0)])
def test_nothing_to_add_still_scales_c(alpha, k):
    c = np.arange(12, dtype=np.float32)
    sgemm(**arguments(alpha=alpha, k=k, beta=0.5, c=c))
    np.testing.assert_array_equal(c, np.arange(12) / 2)


LAYOUTS = {
    "rows": lambda x: x,
    "columns": np.asfortranarray,
    "a part of a larger one": lambda x: np.pad(x, 3, constant_values=np.nan)[3:-3, 3:-3],
    "backwards": lambda x: np.ascontiguousarray(x[::-1])[::-1],
    "every other column": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "read-only": lambda x: np.lib.stride_tricks.as_strided(x, writeable=False),
    "no multiple of 4 bytes apart": lambda x: np.rec.fromarrays(
        [x, np.zeros(x.shape, np.int8)], names="x,gap"
    )["x"],
}


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
def test_matmul_takes_every_layout(layout):
    generator = np.random.default_rng(5)
    a, b = generator.random((37, 51), np.float32), generator.random((51, 70), np.float32)
    c = matmul(LAYOUTS[layout](a), LAYOUTS[layout](b))
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)
    assert c.flags.c_contiguous


@pytest.mark.slow
@pytest.mark.parametrize("m, n, k", [(0, 3, 2), (3, 0, 2), (3, 4, 0)])
def test_matmul_of_an_empty_side(m, n, k):
    c = matmul(np.empty((m, k), np.float32), np.empty((k, n), np.float32))
    np.testing.assert_array_equal(c, np.zeros((m, n), np.float32), strict=True)


def test_matmul_refuses_what_the_steps_refuse():
    with pytest.raises(CourseError, match="a holds float64"):
        matmul(np.ones((2, 2)), np.ones((2, 2), np.float32))
    with pytest.raises(CourseError, match="a is 2×2 and b is 3×3"):
        matmul(np.ones((2, 2), np.float32), np.ones((3, 3), np.float32))
    # Compiled code takes what it is given: it would read a second size that is not there.
    with pytest.raises(CourseError, match=r"b has the shape \(2,\)"):
        matmul(np.ones((2, 2), np.float32), np.ones(2, np.float32))
    with pytest.raises(CourseError, match="a holds >f4"):
        matmul(np.ones((2, 2), ">f4"), np.ones((2, 2), np.float32))
    with pytest.raises(CourseError, match="a is a MaskedArray"):
        matmul(np.ma.ones((2, 2), np.float32), np.ones((2, 2), np.float32))


@pytest.mark.slow
def test_matmul_takes_an_array_that_lies_in_a_file(tmp_path):
    a = np.memmap(tmp_path / "a", np.float32, "w+", shape=(2, 3))
    a[:] = 2
    np.testing.assert_array_equal(matmul(a, np.ones((3, 2), np.float32)), np.full((2, 2), 6))


@pytest.mark.slow
def test_a_call_maps_no_new_memory_for_its_panels():
    resource = pytest.importorskip("resource")
    a = np.ones((300, 300), np.float32)
    call = arguments(m=300, n=300, k=300, a=a, b=a, c=a.copy(), lda=300, ldb=300, ldc=300)
    sgemm(**call)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        sgemm(**call)
    # Panels of 720 KB are 175 pages; fresh ones in each call would be faults by the thousand.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 175
