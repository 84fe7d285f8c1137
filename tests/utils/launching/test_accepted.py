"""Each row of what the docstring of sgemm accepts, tried: NumPy, and stand-ins of each library."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from numba import cuda
from numpy.lib.stride_tricks import as_strided

from gemm_kernels import sgemm
from tests.utils.launching.test_arrays import Foreign, Tensor
from tests.utils.launching.test_functions import on_device
from tools.paper_driver import installed
from utils.ladder.problems import draw
from utils.launching import arrays, plan

pytestmark = pytest.mark.skipif(cuda.is_available(), reason="test_gpu has the libraries")

M, N, K = 6, 8, 12


class CuPys:
    """The part of an array of CuPy that `look` uses."""

    def __init__(self, array):
        self.array, self.shape, self.strides = array, array.shape, array.strides
        self.dtype = array.dtype
        self.data = SimpleNamespace(ptr=array.gpu_data.device_pointer_value, device_id=0)


@pytest.fixture(autouse=True)
def libraries(monkeypatch):
    """Stand-ins of PyTorch and CuPy, and a driver that takes packed arguments."""
    torch = SimpleNamespace(current_stream=lambda: SimpleNamespace(cuda_stream=0))
    stream = SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=0))
    for name, library in {
        "torch": SimpleNamespace(Tensor=Tensor, cuda=torch),
        "cupy": SimpleNamespace(ndarray=CuPys, cuda=stream),
    }.items():
        monkeypatch.setitem(sys.modules, name, library)
    monkeypatch.setattr(arrays, "_LOOKS", {})
    monkeypatch.setattr(sys.modules["gemm_kernels.sgemm"], "PLANS", plan.Plans())
    with installed(monkeypatch):
        yield


def product_of(place, read, **given) -> None:
    """Compare a product of arrays that `place` made with that of NumPy."""
    a, b, out = draw("integers", (M, K), 1), draw("integers", (K, N), 2), np.zeros((M, N), "f4")
    result = place(out)
    assert sgemm(place(a), place(b), result, **given) is result
    alpha = float(given.get("alpha", 1))
    np.testing.assert_array_equal(read(result), alpha * (a @ b))


def of_numpy():
    product_of(np.copy, np.asarray)


def of_numba(**given):
    product_of(cuda.to_device, lambda x: x.copy_to_host(), **given)


def wrapped(kind):
    return lambda: product_of(lambda x: kind(cuda.to_device(x)), lambda x: x.array.copy_to_host())


def of_any_layout():
    b = draw("integers", (K, N), 2)
    a = draw("integers", (M, K), 1)
    layouts = (
        a, np.asfortranarray(a), np.pad(a, ((0, 0), (0, 3)))[:, :K],
        np.repeat(a, 2, axis=1)[:, ::2], np.ascontiguousarray(a[::-1])[::-1],
    )  # fmt: skip
    for layout in layouts:
        for place in (np.asarray, on_device):
            out = cuda.device_array((M, N), np.float32)
            np.testing.assert_array_equal(sgemm(place(layout), b, out).copy_to_host(), a @ b)
    repeated = as_strided(a, (M, K), (0, 4))
    np.testing.assert_array_equal(sgemm(repeated, b), repeated @ b)


def of_parts():
    whole = cuda.to_device(np.ones((M, 2 * M), np.float32))
    sgemm(whole[:, :M], cuda.to_device(np.ones((M, M), np.float32)), whole[:, M:])
    np.testing.assert_array_equal(whole.copy_to_host()[:, M:], M)


def of_any_size():
    for m, n, k in ((0, 3, 4), (3, 0, 4), (3, 4, 0), (1, 1, 1), (33, 1, 5)):
        a, b = draw("integers", (m, k), 1), draw("integers", (k, n), 2)
        np.testing.assert_array_equal(sgemm(a, b), a @ b)


def of_any_factor():
    for alpha in (2, 2.5, np.float32(3), True, np.array(4.0)):
        of_numba(alpha=alpha)


def of_any_stream():
    protocol = SimpleNamespace(__cuda_stream__=lambda: (0, 0))
    for stream in (None, 0, cuda.default_stream(), SimpleNamespace(cuda_stream=0),
                   SimpleNamespace(ptr=0), protocol):  # fmt: skip
        of_numba(stream=stream)


ACCEPTED = {
    "arrays of NumPy, on the host": of_numpy,
    "arrays of Numba, on the device": of_numba,
    "arrays of CuPy": wrapped(CuPys),
    "tensors of PyTorch, on the device": wrapped(Tensor),
    "arrays with `__cuda_array_interface__` or DLPack": wrapped(Foreign),
    "rows, columns, gaps, steps and negative strides; inputs that repeat elements (stride 0)": (
        of_any_layout
    ),
    "parts of one array as input and out, if they have no element in common": of_parts,
    # tests/gemm_kernels/dispatch/test_parts.py has the sizes from 2³² elements on.
    "sizes of 0 and more; from 2³² elements on, the product is computed in parts": of_any_size,
    "`alpha` and `beta`: real numbers, and arrays without dimensions, for which the call waits": (
        of_any_factor
    ),
    "`stream`: one of any of these libraries, its handle, or None": of_any_stream,
}


@pytest.mark.parametrize("row", ACCEPTED)
def test_what_the_docstring_accepts_is_accepted(row):
    ACCEPTED[row]()


def test_each_row_of_the_docstring_is_tried():
    lines = [line.strip() for line in sgemm.__doc__.splitlines()]
    assert [line[2:] for line in lines if line.startswith("- ")] == list(ACCEPTED)
