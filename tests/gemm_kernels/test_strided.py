"""The kernel for matrices with any strides: every tiling, every layout."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

from gemm_kernels.parts import row_stores, strided
from gemm_kernels.parts.strided import Tiling
from utils.errors import CourseError
from utils.ladder.problems import draw
from utils.ladder.shapes import GemmShape
from utils.launching import arrays
from utils.launching.plan import LaunchPlan
from utils.launching.slots import Factor
from utils.launching.workspace import WorkspaceLayout
from utils.lessons.edits import Edit, edited
from virtual_gpu.common.errors import VirtualGpuError

TILINGS = {
    "small": Tiling(32, 32, 16, 8, 4, 8),
    "small, in three": Tiling(32, 32, 16, 8, 4, 8, SLICES=3),
    "low": Tiling(16, 128, 8, 4, 8, 8),
    "square, in two": Tiling(64, 64, 8, 8, 8, 6, SLICES=2),
    "high": Tiling(96, 128, 16, 12, 8, 3),
}
LAYOUTS = {
    "rows": cuda.to_device,
    "columns": lambda x: cuda.to_device(np.ascontiguousarray(x.T)).T,
    "gaps": lambda x: cuda.to_device(np.pad(x, ((0, 0), (0, 3))))[:, : x.shape[1]],
    "every other": lambda x: cuda.to_device(np.repeat(x, 2, axis=1))[:, ::2],
}
SIZES = st.tuples(*[st.integers(1, 70)] * 3)
layouts = st.sampled_from(sorted(LAYOUTS))


def product(tiling, a, b, out, alpha=1.0, beta=0.0, module=strided):
    """Compute out = alpha·a·b + beta·out for arrays on a device, a virtual one or a GPU."""
    slots = [arrays.slot_of(array, number) for number, array in enumerate((a, b, out))]
    layout, (m, k) = WorkspaceLayout(first=3), a.shape
    calls = module.products(
        tiling, GemmShape(m, b.shape[1], k), slots[:2], slots[2], layout.allocate,
        (Factor(0), Factor(1)),
    )  # fmt: skip
    run = LaunchPlan(calls, arrays=3, factors=2, layout=layout).ready(0)
    pointers = [array.__cuda_array_interface__["data"][0] for array in (a, b, out)]
    run(pointers, (alpha, beta), 0, (a, b, out))
    return out.copy_to_host()


@settings(max_examples=8, deadline=None)
@given(
    tiling=st.sampled_from(sorted(TILINGS)),
    size=SIZES,
    of_a=layouts,
    of_b=layouts,
    out_gaps=st.booleans(),
    beta=st.sampled_from([0.0, 3.0]),
)
def test_any_layout_gives_the_product_in_place(tiling, size, of_a, of_b, out_gaps, beta):
    m, n, k = size
    a, b = draw("integers", (m, k), 1), draw("integers", (k, n), 2)
    before = draw("integers", (m, n), 3) if beta else np.full((m, n), np.nan, np.float32)
    out = LAYOUTS["gaps" if out_gaps else "rows"](before)
    result = product(TILINGS[tiling], LAYOUTS[of_a](a), LAYOUTS[of_b](b), out, 2.0, beta)
    np.testing.assert_array_equal(result, 2 * (a @ b) + (beta * before if beta else 0))


@pytest.mark.parametrize("n", [44, 45])
def test_rows_that_begin_on_boundaries_are_stored_four_at_a_time(n):
    a, b = draw("integers", (33, 20), 1), draw("integers", (20, n), 2)
    out = cuda.to_device(np.full((33, n), np.nan, np.float32))
    tiling = TILINGS["square, in two"]
    np.testing.assert_array_equal(product(tiling, *map(cuda.to_device, (a, b)), out), a @ b)


WAIT, BARRIER = "            wait_copies(0)\n", "            cuda.syncthreads()\n"
EXCHANGE = "store4(exchange, (warp, uint32(lane * 4)), four)\n"
WRONG = {
    "the short tile is not filled up": (
        "a[at_a[load]] if uint32(start + z) < k else float32(0)",
        "a[at_a[load]]",
    ),
    "rows beyond the last": ("min(uint32(row + r), uint32(m - 1))", "uint32(row + r)"),
    "no wait for the copies": (WAIT + BARRIER, BARRIER),
    "no barrier": (WAIT + BARRIER, WAIT),
    "a slice is not added": ("range(SLICES - 1)", "range(SLICES - 2)"),
}
WRONG_STORES = {
    "lanes do not wait": (EXCHANGE + "            cuda.syncwarp()", EXCHANGE),
    "beta is forgotten": ("value += beta * c[at]", "value += c[at]"),
    "an element twice": ("lane + down * 32", "lane + down // 2 * 64"),
}


@pytest.mark.skipif(cuda.is_available(), reason="a real GPU does not see races")
@pytest.mark.parametrize("old, new", WRONG.values(), ids=WRONG)
def test_a_wrong_kernel_would_be_found(old, new):
    assert is_found(edited(strided, Edit(old, new)))


@pytest.mark.skipif(cuda.is_available(), reason="a real GPU does not see races")
@pytest.mark.parametrize("old, new", WRONG_STORES.values(), ids=WRONG_STORES)
def test_a_wrong_store_would_be_found(old, new):
    module = edited(strided)
    module.narrow_row = edited(row_stores, Edit(old, new)).narrow_row
    assert is_found(module)


def is_found(module) -> bool:
    """Return True if the product by a copy of `strided` is refused, or its result is wrong."""
    tiling = module.Tiling(64, 64, 8, 8, 8, 6, SLICES=2)
    a, b = draw("integers", (70, 75), 1), draw("integers", (75, 67), 2)
    before = draw("integers", (70, 67), 3)
    arguments = [*map(cuda.to_device, (a, b, before)), 1.0, 3.0]
    try:
        result = product(tiling, *arguments, module=module)
    except (VirtualGpuError, CourseError):
        return True
    return not np.array_equal(result, a @ b + 3 * before)


@pytest.mark.skipif(cuda.is_available(), reason="a real GPU does not see races")
def test_a_right_kernel_is_not_accused():
    assert not is_found(edited(strided))


def test_beta_of_zero_reads_nothing_of_the_result():
    a, b = np.ones((5, 3), np.float32), np.ones((3, 7), np.float32)
    out = cuda.to_device(np.full((5, 7), np.nan, np.float32))
    result = product(TILINGS["small"], cuda.to_device(a), cuda.to_device(b), out, 1.0, 0.0)
    np.testing.assert_array_equal(result, 3)
