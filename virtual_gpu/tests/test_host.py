"""The host side of a program: arrays, devices, streams, launches and vectorised functions."""

import asyncio
import os
import subprocess
import sys

import numpy as np
import pytest
from numba import cuda, float64, guvectorize, vectorize
from numba.cuda.cudadrv import devicearray
from numba.cuda.cudadrv.error import NvvmSupportError

from utils.paths import ROOT
from virtual_gpu import DeviceArray, LaunchError, Uninitialised, Unsupported, trace
from virtual_gpu.compilers.declarations import TypedFunction


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


@cuda.jit
def number_all(x):
    y, x_ = cuda.grid(2)
    if y < x.shape[0] and x_ < x.shape[1]:
        x[y, x_] = 10 * y + x_


COLUMNS = np.arange(12.0).reshape(4, 3).T
EVERY_SECOND = np.arange(48.0).reshape(6, 8)[:, ::2]
PERMUTED = np.arange(48.0).reshape(2, 4, 6).transpose(2, 0, 1)[::2]
RECORD = np.dtype([("x", np.float32), ("n", np.int32)])


# --- arrays ----------------------------------------------------------------------------------


@pytest.mark.parametrize("array", [COLUMNS, COLUMNS.T, EVERY_SECOND, PERMUTED, np.float32(1)[()]])
def test_memory_like_an_array_has_the_strides_that_numba_gives_it(array):
    from numba.cuda import api

    array = np.asarray(array) if np.ndim(array) == 0 else array
    expected = api._contiguous_strides_like_array(array)
    if expected is None:
        expected = np.empty_like(array).strides
    for make in (cuda.device_array_like, cuda.mapped_array_like, cuda.pinned_array_like):
        assert make(array).strides == expected
        assert make(array).shape == array.shape


def test_memory_like_a_device_array_keeps_its_order():
    assert cuda.device_array_like(cuda.to_device(COLUMNS)).is_f_contiguous()


@pytest.mark.parametrize("make", [cuda.device_array, cuda.managed_array, cuda.mapped_array])
def test_new_memory_takes_an_order_or_strides(make):
    assert make((2, 3), np.float32, order="F").strides == (4, 8)
    padded = make((2, 3), np.float32, strides=(16, 4))
    assert padded.strides == (16, 4)
    number_all[1, (2, 4)](padded)
    assert padded.copy_to_host().tolist() == [[0, 1, 2], [10, 11, 12]]


def test_a_padded_device_array_is_uninitialised_where_nobody_wrote():
    padded = cuda.device_array((2, 3), np.float32, strides=(16, 4))
    padded[:, 0] = 0
    with pytest.raises(Uninitialised, match="x"):
        add_one[1, 6](padded[1])
    padded[1] = np.ones(3)
    add_one[1, 6](padded[1])
    assert padded.copy_to_host()[1].tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ((2.5,), TypeError, "whole numbers"),
        (((2, -1),), TypeError, "not negative"),
        ((3, np.float32, (4, 4)), ValueError, "do not match the shape"),
    ],
)
def test_a_shape_that_is_none_is_refused(given, error, message):
    with pytest.raises(LaunchError, match=message) as caught:
        cuda.device_array(*given)
    assert isinstance(caught.value, error)


@pytest.mark.parametrize("value", [3.5, [1, 2, 3], np.float32(2), np.zeros((0, 4)), COLUMNS])
def test_numbers_lists_and_arrays_go_to_the_device_as_they_are(value):
    there = cuda.to_device(value)
    assert there.dtype == np.asarray(value).dtype
    back = there.copy_to_host()
    assert back.strides == np.asarray(value).strides
    assert np.array_equal(back, value)


def test_a_repeated_array_goes_to_the_device_with_its_stride_of_zero():
    there = cuda.to_device(np.broadcast_to(np.arange(3.0), (4, 3)))
    assert there.strides == (0, 8)
    assert there.copy_to_host().tolist() == [[0, 1, 2]] * 4


def test_an_array_with_gaps_does_not_go_to_the_device():
    with pytest.raises(ValueError, match=r"not contiguous .*ascontiguousarray"):
        cuda.to_device(EVERY_SECOND)


@pytest.mark.parametrize("value", [np.array(["a"]), np.array([None]), "text"])
def test_text_and_objects_do_not_go_to_the_device(value):
    with pytest.raises(LaunchError, match=r"dtype .* cannot go to the device"):
        cuda.to_device(value)


def test_to_device_without_a_copy_leaves_the_memory_without_content():
    there = cuda.to_device(np.ones(4), copy=False)
    with pytest.raises(Uninitialised):
        add_one[1, 4](there)


def test_views_share_memory_and_what_would_move_elements_is_refused():
    base = cuda.to_device(np.arange(12.0))
    view = base.reshape(3, 4)
    view[1, :] = 0
    assert base[4:8].copy_to_host().tolist() == [0] * 4
    assert view.ravel().shape == (12,)
    assert base.reshape((1, 12)).squeeze().shape == (12,)
    with pytest.raises(NotImplementedError, match="would have to move"):
        view[:, ::2].ravel()


def test_a_transposed_device_array_is_a_copy():
    base = cuda.to_device(np.arange(6.0).reshape(2, 3))
    turned = base.T
    turned[0, 1] = 99
    assert base[1, 0] == 3
    assert turned.copy_to_host().tolist() == [[0, 99], [1, 4], [2, 5]]
    with pytest.raises(NotImplementedError, match="3 dimensions"):
        cuda.to_device(np.zeros((2, 2, 2))).transpose()


def test_parts_of_a_device_array_are_assigned_from_device_arrays():
    whole, part = cuda.to_device(np.zeros(6)), cuda.to_device(np.ones(3))
    whole[::2] = part
    whole.setitem(1, 7.0)
    assert whole.copy_to_host().tolist() == [1, 7, 1, 0, 1, 0]
    assert whole.getitem(1) == 7
    assert [p.size for p in whole.split(4)] == [4, 2]


def test_what_is_assigned_from_uninitialised_memory_stays_uninitialised():
    whole = cuda.to_device(np.zeros(4))
    whole[:2] = cuda.device_array(2)
    with pytest.raises(Uninitialised):
        add_one[1, 4](whole)


@pytest.mark.parametrize("index", [[0, 1], np.array([True, False]), 1.0, None])
def test_a_device_array_takes_no_lists_and_masks_as_index(index):
    with pytest.raises(LaunchError, match="whole numbers, slices and"):
        cuda.to_device(np.zeros(2))[index]


def test_copies_must_match_in_shape_dtype_and_order():
    there = cuda.to_device(np.zeros((2, 3)))
    with pytest.raises(TypeError, match="float32"):
        there.copy_to_host(np.zeros((2, 3), np.float32))
    with pytest.raises(ValueError, match=r"\(3, 2\)"):
        there.copy_to_device(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="same order"):
        there.copy_to_host(np.zeros((2, 3), order="F"))
    with pytest.raises(NotImplementedError, match="negative strides"):
        there[::-1].copy_to_host()


def test_device_arrays_hold_records():
    there = cuda.to_device(np.ones(2, RECORD))
    assert there.copy_to_host()["n"].tolist() == [1, 1]
    assert there[1]["x"] == 1
    assert cuda.device_array(3, RECORD).copy_to_host().shape == (3,)


def test_a_device_array_is_one_for_numba():
    there = cuda.to_device(np.zeros((2, 3)))
    assert devicearray.is_cuda_ndarray(there)
    assert cuda.is_cuda_array(there)
    assert isinstance(there, devicearray.DeviceNDArray)
    assert there.flags["C_CONTIGUOUS"]
    assert there.gpu_data.size == there.alloc_size == there.nbytes == 48
    assert there.bind(cuda.stream()).shape == (2, 3)
    assert there._numba_type_ == float64[:, ::1]


def test_the_cuda_array_interface_gives_the_same_memory():
    class Foreign:
        def __init__(self, array):
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    device = cuda.to_device(np.arange(6.0).reshape(2, 3))
    view = cuda.as_cuda_array(Foreign(device[:, 1:]))
    view[0, 0] = 50
    assert device[0, 1] == 50
    assert view.strides == (24, 8)
    assert cuda.as_cuda_array(device)[1, 2] == 5
    with pytest.raises(TypeError, match="no __cuda_array_interface__"):
        cuda.as_cuda_array(np.zeros(2))


def test_an_object_with_the_interface_of_a_device_array_is_an_argument():
    class Wrapper:
        def __init__(self, array):
            self.array = array

        @property
        def __cuda_array_interface__(self):
            return self.array.__cuda_array_interface__

    there = cuda.to_device(np.zeros(4))
    add_one[1, 4](Wrapper(there))
    assert there.copy_to_host().tolist() == [1] * 4


def test_a_read_only_view_beside_its_array_does_not_protect_it():
    @cuda.jit
    def shift(x, out):
        out[cuda.threadIdx.x] = x[0]

    x = np.array([5.0, 0, 0])
    view = x[:1].view()
    view.flags.writeable = False
    shift[1, 1](view, x[:2])
    shift[1, 2](view, x[1:])
    assert x.tolist() == [5, 5, 5]


def test_strides_that_cut_elements_are_refused():
    cut = cuda.device_array(2, np.float32, strides=(6,))
    with pytest.raises(LaunchError, match="strides must be whole elements"):
        add_one[1, 2](cut)


def test_mapped_memory_is_the_hosts():
    x = np.zeros(4)
    with cuda.mapped(x) as there, cuda.pinned(x):
        add_one[1, 4](there)
    assert x.tolist() == [1] * 4
    shared = cuda.mapped_array(4)
    add_one[1, 4](shared)
    assert np.asarray(shared).tolist() == shared.copy_to_host().tolist() == [1] * 4


def test_memory_is_not_shared_between_processes():
    with pytest.raises(LaunchError, match="between processes"):
        cuda.open_ipc_array(b"", 3, np.float32)
    with pytest.raises(LaunchError, match="between processes"):
        cuda.to_device(np.zeros(2)).get_ipc_handle()


# --- arguments -------------------------------------------------------------------------------


def test_wrapped_arguments_say_which_way_they_are_copied():
    for wrap, wanted in ((cuda.In, 0), (cuda.InOut, 1)):
        x = np.zeros(4)
        add_one[1, 4](wrap(x))
        assert x.tolist() == [wanted] * 4
    there = cuda.to_device(np.zeros(4))
    add_one[1, 4](cuda.In(there))
    assert there.copy_to_host().tolist() == [1] * 4


def test_an_array_that_only_comes_back_has_no_content_in_the_kernel():
    x = np.zeros(4)
    with pytest.raises(Uninitialised):
        add_one[1, 4](cuda.Out(x))

    @cuda.jit
    def first_two(x):
        x[cuda.threadIdx.x] = 5

    first_two[1, 2](cuda.Out(x))
    assert x[:2].tolist() == [5, 5]
    assert np.isnan(x[2:]).all()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1.0], r"a list; a kernel takes no list; pass np\.array"),
        ("text", "a str"),
        (2**64, "more than 64 bits"),
        (-(2**63) - 1, "more than 64 bits"),
        (np.str_("a"), "numpy.str_"),
        (np.array([object()]), "dtype object"),
        (np.array(["a"]), "dtype <U1"),
        (np.array([1.0], ">f8"), "dtype >f8"),
        (np.ma.array([1.0, 2.0], mask=[True, False]), "has a mask"),
        (np.longdouble(1), "numpy.longdouble"),
        (np.zeros(2, np.longdouble), "dtype"),
        (np.datetime64("2020"), "numpy.datetime64"),
        (None, "is or holds None"),
        ((1, None), "is or holds None"),
        (cuda.Out(None), "is or holds None"),
        ({}, "a dict"),
    ],
)
def test_an_argument_that_no_kernel_takes_is_refused(value, message):
    with pytest.raises(LaunchError, match=message):
        add_one[1, 1](value)


@pytest.mark.parametrize("value", [True, np.bool_(True), np.uint8(3), 2**63, 1 + 2j, np.float16(2)])
def test_numbers_of_every_kind_are_arguments(value):
    @cuda.jit
    def store(out, value):
        out[0] = value

    out = np.zeros(1, np.asarray(value).dtype)
    store[1, 1](out, value)
    assert out[0] == value


def test_arrays_without_elements_and_without_dimensions_are_arguments():
    add_one[1, 4](np.zeros(0))
    add_one[1, 4](cuda.device_array(0))

    @cuda.jit
    def fill(x):
        x[()] = 3

    there = cuda.to_device(np.zeros(()))
    fill[1, 1](there)
    assert there.copy_to_host() == 3


def test_a_read_only_array_is_not_written():
    x = np.zeros(4)
    x.flags.writeable = False
    with pytest.raises(Unsupported, match="read-only array x"):
        add_one[1, 4](x)


@pytest.mark.parametrize(
    ("launch", "message"),
    [
        ((0, 32), "at least 1"),
        ((-1, 32), "at least 1"),
        ((1.0, 32), "whole numbers"),
        ((1, "32"), "whole numbers"),
        (((1, 1, 1, 1), 32), "one to three"),
        ((1, 32, 0, 2.5), "whole number of bytes"),
        ((1, 32, 0, -4), "whole number of bytes"),
        ((1, 32, 1024), "the third part of kernel"),
        ((1, 32, "0"), "the third part of kernel"),
        ((1,), "is no launch"),
    ],
)
def test_a_launch_that_is_none_is_refused(launch, message):
    with pytest.raises(LaunchError, match=message):
        add_one[launch](np.zeros(4))


def test_arguments_by_name_or_in_a_wrong_number_are_refused():
    with pytest.raises(LaunchError, match="with x by name"):
        add_one[1, 4](x=np.zeros(4))
    with pytest.raises(LaunchError, match=r"takes 1 argument \(x\); 2 were given"):
        add_one[1, 4](np.zeros(4), 1)
    with pytest.raises(LaunchError, match="must not be negative"):
        add_one.forall(-1)


def test_a_launch_for_all_elements_has_enough_threads():
    x = np.zeros(1000)
    add_one.forall(x.size)(x)
    add_one.forall(0)(x)
    add_one.configure(8, 128, cuda.stream(), 0)(x)
    assert x.tolist() == [2] * 1000


# --- vectorised functions --------------------------------------------------------------------


@vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="cuda")
def difference(a, b):
    return 2 * (a - b)


@guvectorize(
    ["void(float64[:,:], float64[:,:], float64[:,:])"], "(m,n),(n,p)->(m,p)", target="cuda"
)
def product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total


def test_vectorised_functions_broadcast_and_keep_types():
    a = np.arange(12.0).reshape(3, 4)
    assert np.array_equal(difference(a, a[:1]), 2 * (a - a[:1]))
    assert np.array_equal(difference(a, 1.0), 2 * (a - 1))
    assert difference(a.astype(np.float32), a.astype(np.float32)).dtype == np.float32
    with pytest.raises(TypeError, match="No matching version"):
        difference(a.astype(np.int8), a.astype(np.int8))


def test_vectorised_functions_take_and_give_device_arrays():
    a = np.arange(8.0)
    there, out = cuda.to_device(a), cuda.device_array(8)
    result = difference(there, cuda.to_device(a[::-1].copy()))
    assert isinstance(result, DeviceArray)
    difference(there, there[:1], out=out)
    assert out.copy_to_host().tolist() == (2 * a).tolist()
    host = np.zeros(8)
    difference(a, a + 1, out=host)
    assert host.tolist() == [-2] * 8


def test_a_vectorised_function_reduces():
    @vectorize(["int64(int64, int64)"], target="cuda")
    def total(a, b):
        return a + b

    assert total.reduce(np.arange(37)) == 666


def test_generalised_functions_run_over_the_outer_dimensions():
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(16.0).reshape(2, 4, 2)
    assert np.array_equal(product(a, b), a @ b)
    assert np.array_equal(product(cuda.to_device(a), cuda.to_device(b)).copy_to_host(), a @ b)


def test_declared_functions_need_no_compiler(monkeypatch):
    def missing(*ignored):
        raise NvvmSupportError("libNVVM is not there")

    monkeypatch.setattr("numba.cuda.cudadrv.nvvm.NVVM.__new__", missing)

    @cuda.jit("float32(float32)", device=True)
    def halve(x):
        return x / 2

    (typed,) = halve.overloads.values()
    assert isinstance(typed, TypedFunction)

    @vectorize(["float32(float32)"], target="cuda")
    def quarter(x):
        return halve(halve(x))

    x = np.float32([1, 2, 3])
    assert quarter(x).dtype == np.float32
    assert quarter(x).tolist() == (x / 4).tolist()


def test_reductions_of_one_line_are_told_apart():
    # fmt: off
    total, largest = cuda.reduce(lambda a, b: a + b), cuda.Reduce(lambda a, b: max(a, b))
    # fmt: on
    x = np.arange(300.0)
    assert (total(x), largest(x)) == (x.sum(), 299)
    result = cuda.device_array(1)
    assert total(x, res=result) is None
    assert result[0] == x.sum()


# --- devices, streams ------------------------------------------------------------------------


def test_there_is_one_device():
    assert len(cuda.gpus) == len(list(cuda.gpus)) == 1
    with cuda.gpus[0] as device:
        assert device == cuda.get_current_device() == cuda.select_device(0)
    assert device.compute_capability == (9, 0)
    assert device.MAX_THREADS_PER_MULTIPROCESSOR == 2048
    assert cuda.gpus.current.uuid.startswith("GPU-")
    with pytest.raises(LaunchError, match="there is one virtual GPU"):
        cuda.select_device(1)
    with pytest.raises(AttributeError, match="CLOCK_RATE"):
        _ = device.CLOCK_RATE


def test_the_devices_can_be_listed(capsys):
    assert cuda.detect()
    output = capsys.readouterr().out
    assert "virtual GPU" in output
    assert "1/1 devices are supported" in output


def test_the_context_knows_memory_and_occupancy():
    context = cuda.current_context()
    free, total = context.get_memory_info()
    assert 0 < free <= total
    assert context.device.name == "virtual GPU"
    blocks = context.get_active_blocks_per_multiprocessor
    assert (blocks(add_one, 1024, 0), blocks(add_one, 33, 0), blocks(add_one, 32, 0)) == (2, 32, 32)
    assert blocks(add_one, 128, 48 * 1024 - 1024) == 4
    context.synchronize()
    context.reset()


def test_streams_are_done_at_once():
    stream, calls = cuda.stream(), []
    with stream.auto_synchronize():
        add_one[1, 4, stream](np.zeros(4))
    stream.add_callback(lambda *arguments: calls.append(arguments), "mine")
    assert calls == [(stream, 0, "mine")]
    with pytest.warns(UserWarning, match="callback: division"):
        stream.add_callback(lambda *arguments: 1 / 0)

    async def done():
        return await stream.async_done()

    assert asyncio.run(done()) == stream
    for other in (cuda.default_stream(), cuda.per_thread_default_stream(), cuda.external_stream(9)):
        add_one[1, 4, other](np.zeros(4))


def test_a_program_may_be_told_that_a_device_is_there():
    program = (
        "from numba import cuda; import virtual_gpu; virtual_gpu.install(); "
        "before = cuda.is_available(); virtual_gpu.install(available=True); "
        "print(before, cuda.is_available())"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout.split() == ["False", "True"]


def test_a_trace_takes_what_a_launch_takes():
    x = np.zeros(4)
    assert not trace(add_one, 1, 4, cuda.In(x)).findings
    assert x.tolist() == [0] * 4


THREADS = """
import sys, threading
import numpy as np
from numba import cuda, float32
import virtual_gpu

virtual_gpu.install()
sys.setswitchinterval(1e-5)
right = []

@cuda.jit(device=True)
def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)

@cuda.jit
def rotate(x):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[(t + 1) % 64] + factorial(3)

def work():
    x = np.arange(64, dtype=np.float32)
    rotate[1, 64](x)
    right.append(x[:2].tolist() == [7, 8])

threads = [threading.Thread(target=work) for _ in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(right)
"""


def test_the_first_launches_of_several_threads_are_typed_one_after_the_other(tmp_path):
    script = tmp_path / "threads.py"
    script.write_text(THREADS, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert ran.stdout.strip() == str([True] * 6), ran.stderr


def test_an_interface_with_a_negative_stride_begins_at_its_first_element():
    x = cuda.to_device(np.arange(12, dtype=np.float32).reshape(4, 3))
    interface = x.__cuda_array_interface__
    last = dict(interface, strides=(-12, 4), data=(interface["data"][0] + 36, False))
    backwards = cuda.from_cuda_array_interface(last, owner=x)
    np.testing.assert_array_equal(backwards.host, x.copy_to_host()[::-1])
