"""The seam: on a machine without a CUDA device, Numba's own launch syntax runs here.

Only the entry points that need a driver are replaced, in the process's ``numba.cuda`` module. The
compiler stays whole: ``cuda.compile_ptx`` works beside it.
"""

from __future__ import annotations

import contextlib
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

from numba import cuda
from numba.core import sigutils, types
from numba.cuda.dispatcher import CUDADispatcher
from numba.np.numpy_support import as_dtype

from . import hostarrays, numba_types
from .errors import VirtualGpuError
from .lanes import Geometry
from .launch import (
    MAX_BLOCK,
    MAX_GRID,
    MAX_THREADS,
    Observer,
    launch,
    make_geometry,
)
from .report import Report
from .shared import MAX_SHARED_BYTES


@dataclass(frozen=True)
class VirtualDevice:
    """What a program may ask of its device. The figures are those of compute capability 9.0."""

    name: str = "virtual GPU"
    id: int = 0
    compute_capability: tuple[int, int] = (9, 0)
    WARP_SIZE: int = 32
    MAX_THREADS_PER_BLOCK: int = MAX_THREADS
    MAX_BLOCK_DIM_X: int = MAX_BLOCK[0]
    MAX_BLOCK_DIM_Y: int = MAX_BLOCK[1]
    MAX_BLOCK_DIM_Z: int = MAX_BLOCK[2]
    MAX_GRID_DIM_X: int = MAX_GRID[0]
    MAX_GRID_DIM_Y: int = MAX_GRID[1]
    MAX_GRID_DIM_Z: int = MAX_GRID[2]
    MAX_SHARED_MEMORY_PER_BLOCK: int = MAX_SHARED_BYTES
    MULTIPROCESSOR_COUNT: int = 1

    def reset(self) -> None:
        """Nothing is kept between launches."""


def _get_current_device(*ignored) -> VirtualDevice:
    return VirtualDevice()


@dataclass(frozen=True)
class VirtualLaunch:
    """``kernel[grid, block]``, ready to be called."""

    kernel: CUDADispatcher
    geometry: Geometry
    shared_bytes: int

    def __call__(self, *arguments) -> None:
        observer = Observer(Report(collect=False))
        arguments = _as_declared(self.kernel, arguments)
        launch(self.kernel.py_func, self.geometry, arguments, self.shared_bytes, observer)
        for finding in observer.report.findings:
            warnings.warn(str(finding), stacklevel=2)


class VirtualStream:
    """A stream: launches here are finished when they return, so there is nothing to order."""

    def synchronize(self) -> None:
        """Nothing is pending."""

    @contextlib.contextmanager
    def auto_synchronize(self):
        yield self


class VirtualEvent:
    """An event that holds the host's clock. It times this interpreter, never a GPU."""

    def __init__(self, timing: bool = True):
        self._seconds: float | None = None

    def record(self, stream=0) -> None:
        self._seconds = time.perf_counter()

    def synchronize(self) -> None:
        """Nothing is pending."""

    def wait(self, stream=0) -> None:
        """Nothing is pending."""

    def query(self) -> bool:
        return True

    def elapsed_time(self, end: VirtualEvent) -> float:
        """Milliseconds of the host's clock from this event to ``end``."""
        if self._seconds is None or end._seconds is None:
            raise VirtualGpuError("An event was not recorded; call record() on both events first.")
        return 1e3 * (end._seconds - self._seconds)


def active() -> bool:
    """Whether ``kernel[grid, block](...)`` runs on the virtual GPU in this process."""
    return CUDADispatcher.configure is _configure


def install() -> None:
    """Let Numba's launches, arrays, streams and events run on the virtual GPU. Idempotent.

    For machines without a CUDA device: a launch on a real device is no longer possible afterwards.
    """
    CUDADispatcher.configure = _configure
    CUDADispatcher.__getitem__ = _getitem
    CUDADispatcher.forall = _forall
    CUDADispatcher.compile = _declare
    CUDADispatcher.disable_compile = _disable_compile
    for module in list(sys.modules.values()):
        # The compiler asks for the device's compute capability through names of its own.
        if getattr(module, "__name__", "").startswith(("numba.cuda.", "numba_cuda.")) and hasattr(
            module, "get_current_device"
        ):
            module.get_current_device = _get_current_device
    for name, function in _HOST_FUNCTIONS.items():
        setattr(cuda, name, function)


def _configure(self, griddim, blockdim, stream=0, sharedmem=0) -> VirtualLaunch:
    return VirtualLaunch(self, make_geometry(griddim, blockdim), int(sharedmem))


def _getitem(self, arguments) -> VirtualLaunch:
    if not isinstance(arguments, tuple) or not 2 <= len(arguments) <= 4:
        raise VirtualGpuError(
            "A launch needs kernel[grid, block], or kernel[grid, block, stream, shared_bytes]."
        )
    return _configure(self, *arguments)


def _forall(self, ntasks, tpb=0, stream=0, sharedmem=0) -> Callable:
    threads = tpb or 128
    if ntasks == 0:
        return lambda *arguments: None
    return _configure(self, -(-ntasks // threads), threads, stream, sharedmem)


def _declare(self, signature) -> None:
    """``@cuda.jit(signature)``: nothing is compiled, but numbers will be passed as declared."""
    types_given, _ = sigutils.normalize_signature(signature)
    self.declared_types = types_given


def _disable_compile(self, value: bool = True) -> None:
    """A function with signatures takes no other types; Numba's own asks for compiled code, too."""
    self._can_compile = not value


def _as_declared(kernel: CUDADispatcher, arguments: tuple) -> tuple:
    """Numbers cast to the types of the kernel's signature, if it has one."""
    declared = getattr(kernel, "declared_types", None)
    if declared is None or len(declared) != len(arguments):
        return arguments
    return tuple(
        numba_types.cast(numba_types.scalar(argument), as_dtype(declared_type))
        if isinstance(declared_type, types.Number | types.Boolean)
        else argument
        for declared_type, argument in zip(declared, arguments, strict=True)
    )


@contextlib.contextmanager
def _pinned(*arrays):
    yield


_HOST_FUNCTIONS = {
    "to_device": hostarrays.to_device,
    "device_array": hostarrays.device_array,
    "device_array_like": hostarrays.device_array_like,
    "managed_array": hostarrays.host_array,
    "mapped_array": hostarrays.host_array,
    "mapped_array_like": hostarrays.host_array_like,
    "pinned_array": hostarrays.host_array,
    "pinned_array_like": hostarrays.host_array_like,
    "pinned": _pinned,
    "synchronize": lambda: None,
    "get_current_device": _get_current_device,
    "select_device": _get_current_device,
    "close": lambda: None,
    "defer_cleanup": contextlib.nullcontext,
    "profile_start": lambda: None,
    "profile_stop": lambda: None,
    "profiling": contextlib.nullcontext,
    "stream": VirtualStream,
    "default_stream": VirtualStream,
    "event": VirtualEvent,
    "event_elapsed_time": lambda start, end: start.elapsed_time(end),
}
