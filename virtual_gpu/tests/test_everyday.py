"""Right kernels of many kinds are right, and get no warning, no finding and no hint of a flaw."""

import warnings

import numpy as np
import pytest

from virtual_gpu import install, trace
from virtual_gpu.launching.dispatcher_methods import VirtualLaunch, run_launch
from virtual_gpu.launching.tracing import make_geometry
from virtual_gpu.tests.everyday import (
    data,
    filters,
    finance,
    games,
    graphs,
    images,
    language,
    matrices,
    networks,
    numerics,
    ordering,
    physics,
    programs,
    signals,
    sums,
    texts,
)
from virtual_gpu.tests.planted import SILENT, Planted
from virtual_gpu.tests.planted.judge import ON_SPEED, remarks

CASES = [*images.CASES, *sums.CASES, *language.CASES, *data.CASES]
FOREIGN = [
    *physics.CASES, *finance.CASES, *signals.CASES, *filters.CASES, *texts.CASES, *graphs.CASES,
    *ordering.CASES, *matrices.CASES, *networks.CASES, *numerics.CASES, *games.CASES,
]  # fmt: skip
# Those of FOREIGN that take less than 0.03 s; the others are slow.
CHEAP = {
    "adam_step", "any_all_and_count", "argmax_by_shuffles", "autocorrelation_one_block_per_lag",
    "charge_deposition_cloud_in_cell", "coo_to_dense", "coo_transposed_product",
    "csr_vector_kernel", "dense_layer", "dropout_by_a_hash", "ellpack_spmv",
    "embedding_with_padding", "floyd_warshall_step", "gauss_legendre_quadrature", "gcd_by_euclid",
    "gray_code", "haar_wavelet_level", "jacobi_iteration", "kronecker", "lower_bounds",
    "mu_law_companding", "ordered_dither", "particles_per_cell", "popcount_by_swar",
    "quantise_to_int8", "rabin_karp_hashes", "radix_histogram", "resample_linear",
    "reverse_bits_by_masks", "reverse_complement", "rotary_embedding",
    "scan_by_shuffles_and_warp_totals", "semi_lagrangian_advection", "sieve_of_eratosthenes",
    "split_k_matmul", "unique_by_ballot", "upper_case", "vigenere_cipher", "word_count",
    "zero_crossings_per_frame",
}  # fmt: skip


def marked(case):
    return case if case.name in CHEAP else pytest.param(case, marks=pytest.mark.slow)


def is_right(case, arguments):
    want = case.reference(*case.arguments())
    np.testing.assert_allclose(arguments[-1], want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("case", [*CASES, *map(marked, FOREIGN)], ids=lambda case: case.name)
def test_a_right_kernel_is_right_and_gets_no_remark(case):
    install()
    arguments = case.arguments()
    run = trace(case.kernel, case.grid, case.block, *arguments, shared_bytes=case.shared_bytes)
    is_right(case, arguments)
    assert run.findings == ()
    assert [str(hint) for hint in run.hints if hint.kind not in ON_SPEED] == []
    arguments, geometry = case.arguments(), make_geometry(case.grid, case.block)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run_launch(VirtualLaunch(case.kernel, geometry, case.shared_bytes), arguments)
    is_right(case, arguments)


@pytest.mark.slow
@pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda program: program.__name__)
def test_a_right_program_gets_no_remark(program):
    assert remarks(Planted(program, SILENT)) == []


def test_there_are_300_of_them_and_no_two_share_a_name():
    names = [case.name for case in (*CASES, *FOREIGN)]
    names += [program.__name__ for program in programs.PROGRAMS]
    assert len(names) >= 300
    assert len(set(names)) == len(names)
    assert set(names) >= CHEAP
