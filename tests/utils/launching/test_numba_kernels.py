"""This version of Numba has the private parts that fast launches use."""

import inspect
import re
from types import SimpleNamespace

import numpy as np
import pytest
from cuda.bindings import driver as bindings
from numba import cuda, void
from numba.cuda import api, codegen, dispatcher
from numba.cuda.cudadrv import devicearray, driver

from gemm_kernels import autotuned
from gemm_kernels.sgemm import blend, fitted
from utils.launching import numba_kernels
from utils.launching.slots import Factor, Slot

pytest.importorskip("cuda.bindings")

ARRAYS = {
    "rows": np.zeros((3, 4), np.float32),
    "columns": np.zeros((4, 3), np.float32).T,
    "every other": np.zeros((3, 8), np.float32)[:, ::2],
    "backwards": np.zeros((3, 4), np.float64)[::-1],
    "one row": np.zeros((1, 4), np.float32),
    "repeated": np.broadcast_to(np.zeros(4, np.float32), (3, 4)),
    "a vector": np.zeros(5, np.int64),
    "one number": np.zeros((), np.int32),
}
every_array = pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)


class OnDevice(devicearray.DeviceNDArrayBase):
    """Return Numba's device array class, which the virtual GPU replaces by its own."""

    flags = property(lambda self: self._dummy.flags)


def slot_like(array: np.ndarray) -> Slot:
    return Slot(0, array.shape, array.strides, array.dtype)


def numbers_at(pointer: int, array: np.ndarray) -> list[int]:
    """Return the numbers that a kernel receives for an array at this address."""
    numbers = list(numba_kernels.numbers_of(fitted, slot_like(array)))
    for index in numba_kernels.pointers_of(fitted):
        numbers[index] = pointer
    return numbers


def numbas(array: np.ndarray, pointer: int = 4096):
    """Return a device array of Numba's own class, over memory that nobody reads."""
    memory = driver.AutoFreePointer(
        None, bindings.CUdeviceptr(pointer), array.nbytes, finalizer=lambda: None
    )
    device_array = OnDevice(array.shape, array.strides, array.dtype, gpu_data=memory.own())
    return device_array, memory


@every_array
def test_a_slot_has_the_type_that_numba_gives_the_array(array):
    assert slot_like(array)._numba_type_ == numbas(array)[0]._numba_type_


@every_array
def test_an_array_is_packed_as_numba_passes_it(array):
    # The numbers that Numba's launch passes for an array on the device.
    there = SimpleNamespace(
        size=array.size, dtype=array.dtype, ptr=4096, shape=array.shape,
        _layout=SimpleNamespace(
            strides_in_bytes=array.strides, is_contiguous_c=True, is_contiguous_f=True
        ),
    )  # fmt: skip

    class Argument(cuda.args.ArgHint):
        def to_device(self, retr, stream=0):
            return there

    passed = []
    kernel = dispatcher._Kernel.__new__(dispatcher._Kernel)
    kernel.extensions = []
    kernel._prepare_args(slot_like(array)._numba_type_, Argument(array), 0, [], passed)
    assert numbers_at(4096, array) == passed


def test_a_kernel_takes_as_many_words_as_are_packed(compiler):
    from gpu_xray.compile import compile_kernel

    matrix, factor = slot_like(ARRAYS["every other"]), Factor(0)
    kernels = {
        fitted: (matrix, matrix),
        blend: (matrix, factor, factor, matrix),
        autotuned.STEP.build(**autotuned.STEP.constants()): (
            *[slot_like(np.zeros(8, np.float32))] * 4, factor, *[np.uint32(1)] * 5,
        ),
    }  # fmt: skip
    for kernel, arguments in kernels.items():
        signature = void(*map(kernel.typeof_pyval, arguments))
        ptx = compile_kernel(kernel, signature, "sm_90").ptx
        entry = re.search(r"\.entry[^(]*\(([^)]*)\)", ptx)[1]
        words = [
            numba_kernels.numbers_of(kernel, each) if isinstance(each, Slot) else (0,)
            for each in arguments
        ]
        assert entry.count(".param") == sum(map(len, words))


def test_numba_says_where_its_function_is():
    assert "_codelibrary" in dispatcher._Kernel.library.fget.__code__.co_names
    assert callable(codegen.CUDACodeLibrary.get_cufunc)
    assert "handle" in driver.CudaPythonFunction.__slots__


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_a_pinned_array_is_read_as_numpys(monkeypatch, dtype):
    # One of the class of mapped arrays took its own bytes for addresses of Python's objects.
    context = SimpleNamespace(memhostalloc=bytearray)
    monkeypatch.setattr(api, "current_context", lambda: context)
    array = inspect.unwrap(api.pinned_array)(1, dtype)
    array[0] = 7
    assert (type(array), type(array[0]), array[0]) == (np.ndarray, dtype, 7)


def test_numba_says_whether_memory_was_given_back():
    array, memory = numbas(ARRAYS["rows"])
    assert array.gpu_data.device_ctypes_pointer.value == 4096
    assert not numba_kernels.is_freed(array.gpu_data)
    part = memory.view(8)
    assert not numba_kernels.is_freed(part)
    memory._finalizer()
    memory.is_managed = False  # its owners would free it once more
    assert numba_kernels.is_freed(array.gpu_data)
    assert numba_kernels.is_freed(part)
    forgotten, owner = numbas(ARRAYS["rows"])
    del memory, owner
    assert numba_kernels.is_freed(forgotten.gpu_data)
    foreign = driver.MemoryPointer(None, bindings.CUdeviceptr(4096), 8, owner=object())
    assert not numba_kernels.is_freed(foreign)
