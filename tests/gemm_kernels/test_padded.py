"""The product of padded copies: stored into a result of any width and alignment."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

from gemm_kernels import sgemm
from gemm_kernels.dispatch import routes
from utils.ladder.problems import draw
from utils.launching.plan import Plans
from utils.machine import devices

H200 = devices.find(devices.REFERENCE)
LAYOUTS = {
    "rows": cuda.to_device,
    "columns": lambda x: cuda.to_device(np.ascontiguousarray(x.T)).T,
    "gaps": lambda x: cuda.to_device(np.pad(x, ((0, 0), (0, 3))))[:, : x.shape[1]],
    "every other": lambda x: cuda.to_device(np.repeat(x, 2, axis=1))[:, ::2],
}
MODULE = sys.modules["gemm_kernels.sgemm"]
layouts = st.sampled_from(sorted(LAYOUTS))


@pytest.fixture(autouse=True)
def always_padded(monkeypatch):
    """Let every product go through padded copies, and none through a copy of the result."""
    monkeypatch.setattr(MODULE, "blend", None)
    monkeypatch.setattr(MODULE, "PLANS", Plans())
    monkeypatch.setattr(routes, "fastest", lambda shape, *_: routes.wide(shape, H200))


@settings(max_examples=12, deadline=None)
@given(
    size=st.tuples(st.integers(1, 70), st.integers(1, 140), st.integers(1, 90)),
    of_a=layouts,
    of_b=layouts,
    gaps=st.booleans(),
    beta=st.sampled_from([0.0, 3.0]),
)
def test_any_shape_and_layout_gives_the_product_in_place(size, of_a, of_b, gaps, beta):
    m, n, k = size
    a, b = draw("integers", (m, k), 1), draw("integers", (k, n), 2)
    before = draw("integers", (m, n), 3) if beta else np.full((m, n), np.nan, np.float32)
    out = LAYOUTS["gaps" if gaps else "rows"](before)
    sgemm(LAYOUTS[of_a](a), LAYOUTS[of_b](b), out, -2.0, beta)
    expected = -2 * (a @ b) + (beta * before if beta else 0)
    np.testing.assert_array_equal(out.copy_to_host(), expected)


@pytest.mark.parametrize("k", [1500, 1501])
def test_tiles_that_are_cut_along_k_are_added(k):
    a, b = draw("integers", (33, k), 1), draw("integers", (k, 45), 2)
    out = cuda.to_device(np.full((33, 45), np.nan, np.float32))
    sgemm(cuda.to_device(a), cuda.to_device(b), out)
    np.testing.assert_array_equal(out.copy_to_host(), a @ b)
