"""A fake CUDA driver that runs launches on the virtual GPU, from their packed arguments.

Pointers are host addresses, because the virtual GPU's arrays are in host memory. Arguments of a
launch are read as the driver would read them, word by word, so a misplaced word gives a wrong
result or crashes this process.
"""

from __future__ import annotations

import contextlib
import ctypes
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np

from gpu_xray import mlir
from utils.division import cdiv
from utils.launching import driver, numba_kernels, pinned_words, workspace
from virtual_gpu.host.hostarrays import DeviceArray

CAPTURED = 77


@dataclass
class PaperDriver:
    """A fake driver that records the calls made to it.

    launches: (kernel's name, grid, block, stream) of every launch. loaded: names of loaded kernels.
    lent: address -> host memory that was allocated. freed: freed addresses. waited: the streams
    that were synchronised, or "device". answer: the name of an error that launches return instead
    of running; None to run them.
    """

    launches: list = field(default_factory=list)
    loaded: list = field(default_factory=list)
    lent: dict = field(default_factory=dict)
    freed: list = field(default_factory=list)
    waited: list = field(default_factory=list)
    answer: str | None = None

    def load(self, kernel, arguments: tuple):
        """Record the kernel's name and return (kernel, types of its arguments)."""
        self.loaded.append(kernel.py_func.__name__)
        return kernel, numba_kernels.argument_types(kernel, arguments)

    def launch(self, function, *arguments_of_launch):
        """Run a kernel on the virtual GPU, with the parameters of cuLaunchKernel, and return (0,).

        If `answer` is set, nothing is run or recorded, and the result is a tuple with an object
        whose `name` is the error's.
        """
        *sizes, shared, stream, parameters, extra = arguments_of_launch
        kernel, types = function
        if self.answer:
            return (SimpleNamespace(name=self.answer),)
        assert extra == 0
        words = iter_words(parameters)
        read = read_mlir if mlir.is_mlir(kernel) else read_numba
        arguments = [value_of(kind, words, read) for kind in types]
        grid, block = tuple(sizes[:3]), tuple(sizes[3:])
        self.launches.append((kernel.py_func.__name__, grid, block, stream))
        kernel[grid, block, 0, shared](*arguments)
        return (0,)

    def lend(self, nbytes: int, stream: int) -> int:
        """Allocate host memory aligned to 256 bytes, keep it in `lent`, and return its address."""
        memory = (ctypes.c_char * (nbytes + 256))()
        pointer = cdiv(ctypes.addressof(memory), 256) * 256
        self.lent[pointer] = memory
        return pointer

    def zero(self, pointer: int, nbytes: int, stream: int) -> None:
        """Set `nbytes` bytes at an address to zero immediately, whatever the stream."""
        ctypes.memset(pointer, 0, nbytes)


def iter_words(parameters: int):
    """Yield the address of each word of a launch's arguments, without end.

    parameters: the address of the array of these addresses.
    """
    while True:
        yield ctypes.c_void_p.from_address(parameters).value
        parameters += 8


def value_of(kind, words, read_array):
    """Return one argument of this type, read from the words at the next addresses.

    It is a tuple, a NumPy scalar, or an array of the virtual GPU. kind: a type of either compiler.
    words: an iterator of addresses. read_array: `read_numba` or `read_mlir`.
    """
    if hasattr(kind, "count"):  # a tuple
        return tuple(value_of(kind.dtype, words, read_array) for _ in range(kind.count))
    if hasattr(kind, "layout"):  # an array
        return _array(np.dtype(str(kind.dtype)), *read_array(kind, words))
    dtype = np.dtype(str(kind))
    raw = (ctypes.c_char * dtype.itemsize).from_address(next(words))
    return np.frombuffer(raw, dtype)[0]


def read_numba(kind, words) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """Return (pointer, shape, strides in bytes) of an array that numba-cuda's kernels receive."""
    assert _numbers(2, words) == (0, 0)
    size, itemsize, pointer = _numbers(3, words)
    shape, strides = _numbers(kind.ndim, words), _numbers(kind.ndim, words)
    assert (size, itemsize) == (np.prod(shape), np.dtype(str(kind.dtype)).itemsize)
    return pointer, shape, strides


def read_mlir(kind, words) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """Return (pointer, shape, strides in bytes) of an array that numba-cuda-mlir's receive."""
    allocated, pointer, offset = _numbers(3, words)
    assert (allocated, offset) == (pointer, 0)
    shape, steps = _numbers(kind.ndim, words), _numbers(kind.ndim, words)
    return pointer, shape, tuple(np.dtype(str(kind.dtype)).itemsize * step for step in steps)


def _numbers(count: int, words) -> tuple[int, ...]:
    """Return the integers in the next `count` words."""
    return tuple(ctypes.c_int64.from_address(next(words)).value for _ in range(count))


def _array(dtype: np.dtype, pointer: int, shape, strides) -> DeviceArray:
    """Return an array of the virtual GPU over the memory at this address; strides in bytes."""
    reach = [step * (count - 1) for step, count in zip(strides, shape, strict=True)]
    low, high = (sum(pick(0, each) for each in reach) for pick in (min, max))
    raw = (ctypes.c_char * (high - low + dtype.itemsize)).from_address(pointer + low)
    return DeviceArray.over(np.ndarray(shape, dtype, raw, -low, strides))


@contextlib.contextmanager
def installed(monkeypatch):
    """Let fast launches use a new PaperDriver within this context, and yield it.

    The pools of workspaces and of words begin empty. monkeypatch: pytest's fixture, which undoes
    the replacement at the end of the test.
    """
    fake = PaperDriver()
    for name, value in {
        "present": lambda: True,
        "launch": fake.launch,
        "stream_argument": int,
        "device": int,
        "device_of": lambda pointer: 0,
        "stream_id": lambda stream: stream,
        "is_capturing": lambda stream: stream == CAPTURED,
        "synchronize": fake.waited.append,
        "synchronize_device": lambda: fake.waited.append("device"),
        "allocate_in_order": fake.lend,
        "free_in_order": lambda pointer, stream: fake.freed.append(pointer),
        "zero": fake.zero,
        "outside_captures": contextlib.nullcontext,
    }.items():
        monkeypatch.setattr(driver, name, value)
    monkeypatch.setattr(numba_kernels, "loaded", fake.load)
    monkeypatch.setattr(workspace, "POOL", workspace.Pool())
    monkeypatch.setattr(pinned_words, "_FREE", {})
    yield fake
