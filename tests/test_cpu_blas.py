"""sgemm means what BLAS means, for every way to call it, and refuses what BLAS refuses."""

import numpy as np
import pytest

from gemm_kernels.cpu import sgemm

COMBINATIONS = 2000


def stored(generator, rows, cols, ld):
    """A column-major matrix in the middle of NaN, which nothing may read."""
    memory = np.full(ld * cols + 3, np.nan, np.float32)
    matrix = memory[: ld * cols].reshape(cols, ld).T[:rows]
    matrix[...] = generator.uniform(-1, 1, (rows, cols))
    return memory, matrix


def a_call(generator):
    """Arguments of sgemm, what c must be afterwards and what else of c's memory must stay."""
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
    wanted = c.copy()
    wanted[: leading[2] * n].reshape(n, leading[2]).T[:m] = product + beta * old
    arguments = (transa, transb, m, n, k, alpha, a, leading[0], b, leading[1], beta, c, leading[2])
    return arguments, wanted, 1e-6 * max(1, abs(alpha)) * max(1, k)


@pytest.mark.parametrize("seed", range(4))
def test_every_combination_of_arguments_gives_what_the_definition_gives(seed):
    generator = np.random.default_rng(seed)
    for _ in range(COMBINATIONS // 4):
        arguments, wanted, allowed = a_call(generator)
        sgemm(*arguments)
        np.testing.assert_allclose(
            arguments[11], wanted, rtol=0, atol=allowed, err_msg=str(arguments[:6])
        )
