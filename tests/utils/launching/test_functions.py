"""The functions with packed arguments, as on a device, through a simulated driver."""

import sys
import threading

import numpy as np
import pytest
from numba import cuda

from gemm_kernels import sgemm
from reduce_kernels import reduce, reduction
from tools.paper_driver import CAPTURED, installed
from utils.errors import CourseError
from utils.ladder.problems import draw
from utils.launching import driver, pinned_words, plan, workspace
from virtual_gpu.host.hostarrays import DeviceArray

pytestmark = pytest.mark.skipif(cuda.is_available(), reason="a real driver is there")

# `from gemm_kernels import sgemm` is the function.
product = sys.modules["gemm_kernels.sgemm"]


@pytest.fixture
def paper(monkeypatch):
    with installed(monkeypatch) as on_paper:
        for module in (product, reduction):
            monkeypatch.setattr(module, "PLANS", plan.Plans())
        yield on_paper


def on_device(array: np.ndarray) -> DeviceArray:
    """Copy the array to the device with its strides on the host."""
    whole = array if array.base is None else array.base
    copy = cuda.to_device(whole).host
    offset = array.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    return DeviceArray.over(np.ndarray(array.shape, array.dtype, copy.data, offset, array.strides))


LAYOUTS = {
    "rows": lambda m, n, seed: draw("integers", (m, n), seed),
    "columns": lambda m, n, seed: draw("integers", (n, m), seed).T,
    "every other": lambda m, n, seed: draw("integers", (m, 2 * n), seed)[:, ::2],
    "backwards": lambda m, n, seed: draw("integers", (m, n), seed)[::-1],
    "off a boundary": lambda m, n, seed: draw("integers", (m * n + 1,), seed)[1:].reshape(m, n),
}


@pytest.mark.parametrize("of_a", LAYOUTS)
@pytest.mark.parametrize(
    "of_b, of_out",
    [
        ("rows", "columns"),
        ("columns", "rows"),
        ("every other", "off a boundary"),
        ("backwards", "rows"),
    ],
)
@pytest.mark.parametrize("m, n, k", [(6, 8, 12), (5, 7, 9)])
def test_any_layout_gives_what_blas_gives(paper, of_a, of_b, of_out, m, n, k):
    a, b, out = LAYOUTS[of_a](m, k, 1), LAYOUTS[of_b](k, n, 2), LAYOUTS[of_out](m, n, 3)
    before = out.copy()
    da, db, dout = map(on_device, (a, b, out))
    for alpha, beta in ((1, 0), (-2, 3)):
        expected = alpha * (a @ b) + beta * before
        assert sgemm(da, db, dout, alpha, beta) is dout
        np.testing.assert_array_equal(dout.host, expected)
        before = expected
    assert paper.launches


def test_a_plan_is_made_once_and_only_pointers_and_factors_change(paper):
    for seed in range(4):
        a, b = draw("integers", (30, 64), seed), draw("integers", (64, 32), seed + 9)
        out = cuda.device_array((30, 32), np.float32)
        sgemm(cuda.to_device(a), cuda.to_device(b), out, alpha=float(2 + seed))
        np.testing.assert_array_equal(out.copy_to_host(), (2 + seed) * (a @ b))
    assert len(product.PLANS) == 1
    assert paper.loaded.count("autotuned") == 1
    assert len(paper.launches) == 4 * len(paper.loaded)


def with_gaps(rows, columns):
    """A result with a gap after each element, so that its product goes through the workspace."""
    return cuda.device_array((rows, 2 * columns), np.float32)[:, ::2]


def test_the_workspace_is_allocated_once_for_a_stream(paper):
    a, b = (cuda.to_device(draw("integers", (33, 33), seed)) for seed in (1, 2))
    out = with_gaps(33, 33)
    for _ in range(3):
        sgemm(a, b, out)
    once = workspace.POOL.nbytes
    sgemm(a, b, out, stream=5)
    assert workspace.POOL.nbytes == 2 * once > 0
    assert {stream for *_, stream in paper.launches} == {0, 5}


def test_a_graph_that_is_captured_gets_memory_of_its_own(paper):
    a, b = (draw("integers", (33, 33), seed) for seed in (1, 2))
    out = with_gaps(33, 33)
    sgemm(cuda.to_device(a), cuda.to_device(b), out, stream=CAPTURED)
    np.testing.assert_array_equal(out.copy_to_host(), a @ b)
    assert list(paper.lent) == paper.freed != []
    assert workspace.POOL.nbytes == 0
    total = cuda.device_array(1, np.float32)
    reduce(cuda.to_device(a), out=total, stream=CAPTURED)
    assert total.copy_to_host() == [a.sum()]
    assert list(paper.lent) == paper.freed


def test_memory_that_is_lent_is_given_back_when_a_launch_fails(paper):
    x = cuda.to_device(draw("integers", (33, 33), 1))
    paper.answer = "CUDA_ERROR_OUT_OF_MEMORY"
    with pytest.raises(CourseError, match="do not fit into the memory of the GPU"):
        sgemm(x, x, with_gaps(33, 33), stream=CAPTURED)
    assert list(paper.lent) == paper.freed != []


def test_a_stream_that_the_driver_refuses_is_a_sentence(paper):
    x = cuda.to_device(draw("integers", (32, 32), 1))
    paper.answer = "CUDA_ERROR_INVALID_HANDLE"
    with pytest.raises(CourseError, match="The stream is not one of the current device"):
        sgemm(x, x, cuda.device_array((32, 32), np.float32), stream=5)


@pytest.mark.parametrize("elements", [1, 5, 4099, 100_003])
@pytest.mark.parametrize("op, numpys", [("sum", np.sum), ("max", np.max)])
def test_a_reduction_waits_for_one_word_or_not_at_all(paper, elements, op, numpys):
    x = draw("integers", elements, seed=3)
    device = cuda.to_device(x)
    for _ in range(3):
        assert reduce(device, op) == numpys(x)
    assert paper.waited == [0, 0, 0]
    out = cuda.device_array((), np.float32)
    assert reduce(device, op, out, stream=5) is out
    assert out.copy_to_host() == numpys(x)
    assert paper.waited == [0, 0, 0]
    assert len(paper.loaded) == len(reduction.PLANS) == 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize("op, numpys", [("sum", np.sum), ("prod", np.prod), ("min", np.min)])
def test_a_result_has_the_type_that_numpy_gives_it(paper, dtype, op, numpys):
    x = np.array([3, -5, 2, 1], dtype)
    result, expected = reduce(cuda.to_device(x), op), numpys(x)
    assert (type(result), result) == (type(expected), expected)


def test_a_word_comes_back_when_it_was_read_and_not_before(paper, monkeypatch):
    x = cuda.to_device(np.ones(9, np.float32))
    for _ in range(3):
        reduce(x)
    (word,) = pinned_words._FREE[np.dtype(np.float32)]
    with monkeypatch.context() as patch:
        patch.setattr(driver, "synchronize", interrupted)
        with pytest.raises(KeyboardInterrupt):
            reduce(x)
    assert reduce(x) == 9
    assert word not in pinned_words._FREE[np.dtype(np.float32)]


def interrupted(stream: int):
    raise KeyboardInterrupt


def test_threads_read_their_own_words(paper):
    arrays = [cuda.to_device(np.full(1000, n, np.int32)) for n in range(4)]
    results = {}

    def work(n):
        results[n] = [reduce(arrays[n], stream=n) for _ in range(5)]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: [1000 * n] * 5 for n in range(4)}


def test_an_array_whose_memory_is_gone_is_refused(paper):
    x = cuda.to_device(draw("integers", (32, 32), 1))
    out = cuda.device_array((32, 32), np.float32)
    sgemm(x, x, out)
    gone = type("Gone", (), {"__cuda_ndarray__": True, "shape": x.shape, "strides": x.strides,
                             "dtype": x.dtype, "gpu_data": FREED})()  # fmt: skip
    with pytest.raises(CourseError, match="The memory of b was freed"):
        sgemm(x, gone, out)
    with pytest.raises(CourseError, match="The memory of x was freed"):
        reduce(gone)


class Freed:
    alive = False


class OwnedMemory:
    _finalizer = Freed()


class Pointer:
    _mem = OwnedMemory()


FREED = Pointer()


def test_an_array_of_another_device_is_refused(paper, monkeypatch):
    x, out = (cuda.to_device(draw("integers", (32, 32), 1)) for _ in range(2))
    address = out.gpu_data.device_pointer_value
    monkeypatch.setattr(driver, "device_of", lambda pointer: int(pointer == address))
    with pytest.raises(CourseError, match="out is on device 1, and device 0 is the current one"):
        sgemm(x, x, out)


@pytest.mark.parametrize("name, at", [("a", 0), ("b", 1)])
def test_out_that_lies_in_an_input_is_refused_at_each_call(paper, name, at):
    memory = cuda.to_device(np.zeros((96, 32), np.float32))
    apart = cuda.to_device(np.zeros((32, 32), np.float32))
    given = [apart, apart]
    given[at] = memory[:32]
    sgemm(*given, memory[32:64])
    for first in (0, 16, 31):
        with pytest.raises(CourseError, match=f"out shares memory with {name}"):
            sgemm(*given, memory[first : first + 32])
    sgemm(*given, memory[64:])


def test_out_of_a_reduction_that_lies_in_x_is_refused(paper):
    x = cuda.to_device(np.ones(8, np.float32))
    with pytest.raises(CourseError, match="out is part of x"):
        reduce(x, out=x[3:4])
    assert reduce(x[:3], out=x[3:4]).copy_to_host() == [3]


@pytest.mark.parametrize("out, sentence", [
    (np.zeros(1, np.float32), "out is a ndarray on the host"),
    (cuda.to_device(np.zeros(2, np.float32)), r"out has the shape \(2,\) and holds float32"),
    (cuda.to_device(np.zeros(1, np.int64)), r"holds int64, and the result is one float32"),
])  # fmt: skip
def test_an_out_that_holds_no_result_is_refused(out, sentence):
    with pytest.raises(CourseError, match=sentence):
        reduce(cuda.to_device(np.ones(3, np.float32)), out=out)


def test_what_is_no_stream_is_refused():
    x = cuda.to_device(np.ones((4, 4), np.float32))
    with pytest.raises(CourseError, match="stream is a str, and a CUDA stream is needed"):
        sgemm(x, x, cuda.device_array((4, 4), np.float32), stream="fast")
