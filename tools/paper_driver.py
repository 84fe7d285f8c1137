"""A CUDA driver on paper: it runs what is launched on the virtual GPU, from the packed arguments.

Pointers are those of the host, where the virtual GPU's arrays lie. What a launch is given is read
as the driver would read it, word by word, so a word in the wrong place gives a wrong result or a
crash of this process.
"""

from __future__ import annotations

import contextlib
import ctypes
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
from numba.core import types

from utils.launching import driver, numba_kernels, words, workspace
from virtual_gpu.host.hostarrays import DeviceArray

CAPTURED = 77


@dataclass
class PaperDriver:
    """What was asked of the driver. launches: (kernel's name, grid, block, stream)."""

    launches: list = field(default_factory=list)
    loaded: list = field(default_factory=list)
    lent: dict = field(default_factory=dict)
    freed: list = field(default_factory=list)
    waited: list = field(default_factory=list)
    answer: str | None = None

    def load(self, kernel, arguments: tuple):
        """The kernel with the types that Numba would compile it for."""
        self.loaded.append(kernel.py_func.__name__)
        return kernel, tuple(map(kernel.typeof_pyval, arguments))

    def launch(self, function, *rest):
        """As cuLaunchKernel."""
        *sizes, shared, stream, parameters, extra = rest
        kernel, kinds = function
        if self.answer:
            return (SimpleNamespace(name=self.answer),)
        assert extra == 0
        words = iter_words(parameters)
        arguments = [read(kind, words) for kind in kinds]
        grid, block = tuple(sizes[:3]), tuple(sizes[3:])
        self.launches.append((kernel.py_func.__name__, grid, block, stream))
        kernel[grid, block, 0, shared](*arguments)
        return (0,)

    def lend(self, nbytes: int, stream: int) -> int:
        memory = (ctypes.c_char * (nbytes + 256))()
        pointer = -(-ctypes.addressof(memory) // 256) * 256
        self.lent[pointer] = memory
        return pointer

    def zero(self, pointer: int, nbytes: int, stream: int) -> None:
        ctypes.memset(pointer, 0, nbytes)


def iter_words(parameters: int):
    """The address of each argument, from the address of the first one's."""
    while True:
        yield ctypes.c_void_p.from_address(parameters).value
        parameters += 8


def read(kind, words):
    """One argument of that type."""

    def number(c_type=ctypes.c_int64):
        return c_type.from_address(next(words)).value

    if isinstance(kind, types.UniTuple):
        return tuple(read(kind.dtype, words) for _ in range(kind.count))
    if not isinstance(kind, types.Array):
        dtype = np.dtype(str(kind))
        raw = (ctypes.c_char * dtype.itemsize).from_address(next(words))
        return np.frombuffer(raw, dtype)[0]
    assert (number(), number()) == (0, 0)
    size, itemsize, pointer = number(), number(), number()
    shape = tuple(number() for _ in range(kind.ndim))
    strides = tuple(number() for _ in range(kind.ndim))
    dtype = np.dtype(str(kind.dtype))
    assert (size, itemsize) == (np.prod(shape), dtype.itemsize)
    reach = [step * (count - 1) for step, count in zip(strides, shape, strict=True)]
    low, high = (sum(pick(0, each) for each in reach) for pick in (min, max))
    raw = (ctypes.c_char * (high - low + itemsize)).from_address(pointer + low)
    return DeviceArray.over(np.ndarray(shape, dtype, raw, -low, strides))


@contextlib.contextmanager
def installed(monkeypatch):
    """The fast path as on a device, with this driver, and with an empty pool."""
    paper = PaperDriver()
    for name, value in {
        "present": lambda: True,
        "launch": paper.launch,
        "device": int,
        "device_of": lambda pointer: 0,
        "stream_id": lambda stream: stream,
        "is_capturing": lambda stream: stream == CAPTURED,
        "synchronize": paper.waited.append,
        "synchronize_device": lambda: paper.waited.append("device"),
        "allocate_in_order": paper.lend,
        "free_in_order": lambda pointer, stream: paper.freed.append(pointer),
        "zero": paper.zero,
        "outside_captures": contextlib.nullcontext,
    }.items():
        monkeypatch.setattr(driver, name, value)
    monkeypatch.setattr(numba_kernels, "loaded", paper.load)
    monkeypatch.setattr(workspace, "POOL", workspace.Pool())
    monkeypatch.setattr(words, "_FREE", {})
    yield paper
