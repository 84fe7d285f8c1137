"""Products on tensor cores: right kernels are right and not accused, and planted bugs are named."""

import numpy as np
import pytest

from virtual_gpu.tests.planted import tensor_products
from virtual_gpu.tests.planted.bugs_in_tensor_products import (
    BUGS,
    NAIVE,
    PIPELINED,
    RIGHT,
    SHARED,
    SWIZZLED,
    WRONG_RESULT,
    Launch,
    is_right,
    module_of,
    product,
)

MOST_UNNAMED = 20


def flaws(run):
    return [finding for finding in run.findings if not finding.is_warning]


def launches():
    """Return each right kernel with odd shapes: one element of c, edges, and tails of k."""
    elements, octets = [(1, 1, 1), (35, 36, 44), (33, 9, 17)], [(1, 8, 8), (35, 72, 136)]
    return [
        Launch(one.kernel, shape, one.tile, one.threads)
        for one, shapes in (
            (NAIVE, elements), (SHARED, elements), (SWIZZLED, octets), (PIPELINED, octets)
        )
        for shape in shapes
    ]  # fmt: skip


@pytest.mark.parametrize("launch", launches(), ids=lambda one: f"{one.kernel}{one.shape}")
def test_a_right_product_is_right_and_not_accused(launch):
    run, result, exact = product(tensor_products, launch, np.random.default_rng(2))
    assert flaws(run) == []
    assert is_right(result, exact)


def marked(bug):
    """Return a bug as a parameter; a product in stages takes a second or two."""
    marks = pytest.mark.slow if bug.launch.kernel == PIPELINED.kernel else ()
    return pytest.param(bug, id=bug.name, marks=marks)


@pytest.mark.parametrize("twin", list(map(marked, RIGHT)))
def test_a_right_kernel_that_looks_like_a_broken_one_is_not_accused(twin, tmp_path):
    run, result, exact = product(module_of(twin, tmp_path), twin.launch, np.random.default_rng(3))
    assert flaws(run) == []
    assert is_right(result, exact)


@pytest.mark.parametrize("bug", list(map(marked, BUGS)))
def test_a_planted_bug_is_named_by_its_line_or_by_the_result(bug, tmp_path):
    run, result, exact = product(module_of(bug, tmp_path), bug.launch, np.random.default_rng(3))
    named = [finding for finding in flaws(run) if bug.line in finding.site.source]
    if bug.kind == WRONG_RESULT:
        assert flaws(run) == []
        assert not is_right(result, exact)
    else:
        assert bug.kind in [finding.kind for finding in named]


def test_few_bugs_are_told_by_the_result_alone():
    assert len(BUGS) == 52
    assert sum(bug.kind == WRONG_RESULT for bug in BUGS) <= MOST_UNNAMED


def test_the_swizzle_removes_the_bank_conflicts_that_the_plain_tile_has():
    rng = np.random.default_rng(4)
    shared, _, _ = product(tensor_products, SHARED, rng)
    swizzled, _, _ = product(tensor_products, SWIZZLED, rng)
    hints = [hint for run in (shared, swizzled) for hint in run.hints if "ldmatrix" in str(hint)]
    (hint,) = hints
    assert "ldmatrix_x4(of_a, tile_a" in hint.site.source
    assert "2-way bank conflict at the ldmatrix of tile_a: 8 wavefronts per request" in str(hint)


def test_the_counts_of_a_product_follow_from_its_tiles():
    run, _, _ = product(tensor_products, PIPELINED, np.random.default_rng(5))
    blocks, warps, steps = 2, 4, 5  # 264 / 64 steps of k
    totals = run.totals
    assert totals["mma"] == blocks * warps * steps * 4 * 4
    assert totals["tensor_ops"] == totals["mma"] * 2 * 16 * 8 * 16
    assert totals["ldmatrix"] == blocks * warps * steps * 4 * 3
    assert totals["shared_load_wavefronts"] == 4 * totals["shared_load_requests"]
    assert totals["shared_load_requests"] == totals["ldmatrix"]
    assert totals["async_copy_bytes"] == 2 * (35 * 264 + blocks * 264 * 40)
