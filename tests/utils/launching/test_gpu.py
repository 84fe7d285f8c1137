"""Tests that need a GPU: streams, graphs, libraries' arrays, freed memory."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numba import cuda, uint32

from gemm_kernels import sgemm
from reduce_kernels import reduce
from utils.errors import CourseError
from utils.launching import plan, workspace
from utils.machine.versions import cupy, torch

pytestmark = pytest.mark.skipif(not cuda.is_available(), reason="needs a CUDA device")

SIZES = ((64, 64, 64), (512, 512, 512), (129, 65, 257), (33, 1000, 40))


@pytest.fixture
def xp():
    return cupy() or pytest.skip("needs CuPy")


@pytest.fixture
def pytorch():
    return torch() or pytest.skip("needs PyTorch")


@cuda.jit
def wait_and_fill(x, value, rounds):
    for _ in range(rounds):
        cuda.nanosleep(uint32(1_000_000))
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        x[i] = value


def filled(n: int, value: float):
    return cuda.to_device(np.full((n, n), value, np.float32))


def test_a_call_is_enqueued_behind_what_its_stream_does_and_does_not_wait():
    n, stream = 256, cuda.stream()
    a, b, out, total = filled(n, 0), filled(n, 2), filled(n, 0), cuda.device_array(1, np.float32)
    sgemm(a, b, out, stream=stream)
    reduce(out, out=total, stream=stream)
    stream.synchronize()
    done = cuda.event(timing=False)
    wait_and_fill[1, 256, stream](a.ravel(), np.float32(1), 200)
    sgemm(a, b, out, stream=stream)
    reduce(out, out=total, stream=stream)
    done.record(stream)
    # The kernel before them sleeps for a fifth of a second.
    assert not done.query()
    stream.synchronize()
    assert total.copy_to_host() == [2 * n**3]


@pytest.mark.parametrize("m, n, k", SIZES)
def test_pytorchs_and_cupys_arrays_and_current_streams_are_taken(xp, pytorch, m, n, k):
    a, b = (np.random.default_rng(seed).integers(-4, 5, sides).astype(np.float32)
            for seed, sides in ((1, (m, k)), (2, (k, n))))  # fmt: skip
    with pytorch.cuda.stream(pytorch.cuda.Stream()):
        ta, tb = pytorch.from_numpy(a).cuda(), pytorch.from_numpy(b).cuda()
        out = pytorch.full((m, n), np.nan, device="cuda")
        assert sgemm(ta, tb, out) is out
        np.testing.assert_array_equal(out.cpu().numpy(), a @ b)
        assert reduce(out) == (a @ b).sum(dtype=np.float64)
        transposed = pytorch.empty((n, m), device="cuda").T
        sgemm(ta.T.contiguous().T, tb, transposed, alpha=-2)
        np.testing.assert_array_equal(transposed.cpu().numpy(), -2 * (a @ b))
    with xp.cuda.Stream(non_blocking=True):
        result = xp.full((m, n), xp.nan, xp.float32)
        sgemm(xp.asarray(a), xp.asarray(b), result)
        np.testing.assert_array_equal(xp.asnumpy(result), a @ b)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize("op, numpys", [("sum", np.sum), ("prod", np.prod), ("min", np.min)])
def test_a_result_has_the_type_that_numpy_gives_it(dtype, op, numpys):
    x = np.array([3, -5, 2, 1], dtype)
    found, expected = reduce(cuda.to_device(x), op), numpys(x)
    assert (type(found), found) == (type(expected), expected)


def test_libraries_on_different_streams_are_told_apart(xp, pytorch):
    x, y = pytorch.ones((8, 8), device="cuda"), xp.ones((8, 8), xp.float32)
    out = filled(8, 0)
    sgemm(x, y, out)
    with pytorch.cuda.stream(pytorch.cuda.Stream()):
        with pytest.raises(CourseError, match="current streams differ"):
            sgemm(x, y, out)
        sgemm(x, y, out, stream=pytorch.cuda.current_stream())
    assert (out.copy_to_host() == 8).all()


class DlpackOnly:
    """An array of a library that has nothing but DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **named):
        return self.array.__dlpack__(**named)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_arrays_that_have_only_dlpack_are_taken(xp):
    x, out = xp.arange(64, dtype=xp.float32).reshape(8, 8), xp.zeros((8, 8), xp.float32)
    sgemm(DlpackOnly(x), DlpackOnly(x.T), DlpackOnly(out))
    np.testing.assert_array_equal(xp.asnumpy(out), xp.asnumpy(x) @ xp.asnumpy(x).T)
    assert reduce(DlpackOnly(x)) == 2016


@pytest.mark.parametrize("m, n, k", SIZES)
@pytest.mark.parametrize("warm", [True, False])
def test_a_captured_graph_repeats_the_call(xp, pytorch, m, n, k, warm):
    m += 8 * warm  # another plan than that of the other case
    a, b, out = (pytorch.ones(sides, device="cuda") for sides in ((m, k), (k, n), (m, n)))
    total = pytorch.zeros(1, device="cuda")
    if warm:
        sgemm(a, b, out)
        reduce(out, out=total)
    graph = pytorch.cuda.CUDAGraph()
    with pytorch.cuda.graph(graph):
        sgemm(a, b, out)
        reduce(out, out=total)
    for value in (1, 2, 3):
        a.fill_(value)
        out.fill_(float("nan"))
        graph.replay()
        # On the same stream, with the memory of this process's pool.
        sgemm(b.T.contiguous(), b, pytorch.empty((n, n), device="cuda"))
        assert (out == value * k).all().item()
        assert total.item() == value * k * m * n
    stream = xp.cuda.Stream(non_blocking=True)
    ca, cb, cout = xp.asarray(a), xp.asarray(b), xp.asarray(out)
    with stream:
        stream.begin_capture()
        sgemm(ca, cb, cout, alpha=2)
        again = stream.end_capture()
        again.launch(stream)
        stream.synchronize()
    assert (out == 6 * k).all().item()


def test_what_waits_cannot_be_captured_and_says_so(xp):
    x = xp.ones(100, xp.float32)
    reduce(x)
    with xp.cuda.Stream(non_blocking=True) as stream:
        stream.begin_capture()
        with pytest.raises(CourseError, match="A CUDA graph is being captured"):
            reduce(x)
        # The driver has given the capture up.
        with pytest.raises(xp.cuda.runtime.CUDARuntimeError):
            stream.end_capture()
    assert reduce(x) == 100


def test_repeated_calls_allocate_nothing():
    arrays = [filled(n, 1) for n in (65, 65, 65)]
    total = cuda.device_array(1, np.float32)

    def calls():
        sgemm(*arrays)
        reduce(arrays[0], out=total)
        reduce(arrays[0])

    calls()
    manager = cuda.current_context().memory_manager
    before, held = set(manager.allocations), workspace.POOL.nbytes
    for _ in range(20):
        calls()
    assert set(manager.allocations) == before
    assert workspace.POOL.nbytes == held


def test_threads_on_streams_of_their_own_do_not_disturb_each_other():
    def totals(number: int) -> set[float]:
        stream = cuda.stream()
        a, b, out = filled(200, number), filled(200, 1), filled(200, 0)
        sums = set()
        for _ in range(200):
            sgemm(a, b, out, stream=stream)
            sums.add(float(reduce(out, stream=stream)))
        return sums

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(totals, range(4))) == [{number * 200.0**3} for number in range(4)]


def test_a_tensor_that_cannot_be_read_as_it_is_is_refused(pytorch):
    x = pytorch.ones((8, 8), device="cuda")
    for wrong, sentence in (
        (x.clone().requires_grad_(), "requires a gradient"),
        (pytorch.ones((8, 8)), "PyTorch is on the host"),
        (x.to(pytorch.bfloat16), "holds bfloat16, and float32 is needed"),
    ):
        with pytest.raises(CourseError, match=sentence):
            sgemm(wrong, x, x.clone())
    gone = x.clone()
    sgemm(gone, x, x.clone())
    gone.untyped_storage().resize_(0)
    with pytest.raises(CourseError, match="The memory of a was freed"):
        sgemm(gone, x, x.clone())


def test_memory_that_numba_gave_back_is_refused():
    a, b, out = filled(8, 1), filled(8, 1), filled(8, 1)
    sgemm(a, b, out)
    a.gpu_data._mem.free()
    with pytest.raises(CourseError, match="The memory of a was freed"):
        sgemm(a, b, out)


def test_too_large_is_a_sentence_and_leaves_nothing_allocated(xp):
    a, b = xp.zeros((1 << 19, 1), xp.float32), xp.zeros((1, 1 << 20), xp.float32)
    held = workspace.POOL.nbytes
    with pytest.raises(CourseError, match="do not fit into the memory of the GPU"):
        sgemm(a, b)
    assert workspace.POOL.nbytes == held


@pytest.mark.skipif(not cuda.is_available() or len(cuda.gpus) < 2, reason="needs two devices")
def test_arrays_and_streams_of_another_device_are_refused():
    a, b, out = filled(8, 1), filled(8, 1), filled(8, 1)
    sgemm(a, b, out)
    with cuda.gpus[1]:
        elsewhere, stream = filled(8, 1), cuda.stream()
    with pytest.raises(CourseError, match="b is on device 1, and device 0 is the current one"):
        sgemm(a, elsewhere, out)
    with pytest.raises(CourseError, match="The stream is not one of the current device"):
        sgemm(a, b, out, stream=stream)
    with cuda.gpus[1]:
        result = sgemm(elsewhere, filled(8, 2), filled(8, 0))
        assert (result.copy_to_host() == 16).all()


HUGE = {
    "a huge out": (66000, 66000, 16),
    "a huge a": (131080, 8, 32800),
    "a huge b": (8, 131080, 32800),
    "three rows": (3, 2147483653, 1),
    "one row": (1, 4294967304, 1),
    "one column": (4294967304, 1, 1),
}


@pytest.mark.parametrize("beta", [0.0, 0.5])
@pytest.mark.parametrize("m, n, k", HUGE.values(), ids=HUGE)
def test_last_rows_and_columns_of_a_huge_product_are_where_they_belong(pytorch, m, n, k, beta):
    pytorch.cuda.empty_cache()
    needed = 4 * (m * k + k * n + m * n) + 2**31
    if pytorch.cuda.mem_get_info()[0] < needed:
        pytest.skip(f"needs {needed / 1e9:.0f} GB")
    a, b = (pytorch.randint(-4, 5, size, device="cuda", dtype=pytorch.float32)
            for size in ((m, k), (k, n)))  # fmt: skip
    out = pytorch.full((m, n), 2.0, device="cuda")
    assert sgemm(a, b, out, beta=beta) is out
    for rows, columns in (*((slice(-3, None), piece) for piece in _pieces(n)),
                          *((piece, slice(-3, None)) for piece in _pieces(m)),
                          (slice(920, 930), slice(None, 999)), (slice(3), slice(3))):  # fmt: skip
        # float64 is exact for these integers, whatever the library does in float32.
        expected = (a[rows].double() @ b[:, columns].double()).float() + beta * 2
        assert pytorch.equal(out[rows, columns], expected)


def _pieces(size: int) -> list[slice]:
    """Return slices that cover a size, so that the expected values fit beside the arrays."""
    return [slice(first, first + 2**26) for first in range(0, size, 2**26)]


def test_a_new_array_is_copied_to_the_host_after_the_product_of_its_stream(pytorch):
    x = pytorch.ones((8192, 8192), device="cuda")
    pytorch.cuda.synchronize()
    with pytorch.cuda.stream(pytorch.cuda.Stream()):
        assert (sgemm(x, x).copy_to_host() == 8192).all()


def test_a_tensor_as_a_factor_is_its_number_and_makes_one_plan(pytorch, xp, monkeypatch):
    plans = plan.Plans()
    monkeypatch.setattr(sys.modules["gemm_kernels.sgemm"], "PLANS", plans)
    x = pytorch.ones((8, 8), device="cuda")
    out = pytorch.empty((8, 8), device="cuda")
    for factor in (pytorch.tensor(2.0), pytorch.tensor(3.0, device="cuda"), xp.array(4.0)):
        sgemm(x, x, out, alpha=factor)
        assert (out == 8 * float(factor)).all()
    assert len(plans) == 1
    with pytest.raises(CourseError, match="alpha is a Tensor, and a real number is needed"):
        sgemm(x, x, out, alpha=pytorch.ones(2))


@pytest.mark.parametrize("shape", [(524_288, 2, 0), (600_000, 40, 41), (40, 41, 600_002)])
def test_tall_matrices_are_copied_and_scaled(pytorch, shape):
    m, n, k = shape
    a, b = pytorch.ones((m, k), device="cuda"), pytorch.ones((k, n), device="cuda")
    out = pytorch.ones((m, n), device="cuda")
    sgemm(a.flip(0), b, out, beta=3)
    assert (out == k + 3).all()
