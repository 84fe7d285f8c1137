"""Functions of the CUDA driver that fast launches need, called through `cuda.bindings`.

Streams and pointers are integers. All functions but `launch` raise DriverError with the driver's
name of the error, or CourseError if the caller can fix it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from numba import cuda

import virtual_gpu
from utils.errors import CourseError

try:
    from cuda.bindings import driver as bindings
except ImportError:  # macOS
    bindings = None

# Unwrapped, with the driver's own signature and return value, because each microsecond counts.
launch = getattr(bindings, "cuLaunchKernel", None)
# A stream's handle as `launch` takes it with the least work; an int would be converted each time.
stream_argument = getattr(bindings, "CUstream", int)

_NOT_OF_THIS_DEVICE = ("CUDA_ERROR_INVALID_HANDLE", "CUDA_ERROR_INVALID_CONTEXT")
_WHILE_CAPTURING = (
    "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
    "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
)


class DriverError(RuntimeError):
    """An error code that the CUDA driver returned."""


def present() -> bool:
    """Return True if launches go to a CUDA device, False if the virtual GPU runs them."""
    return not virtual_gpu.active()


def refuse(error, call: str) -> None:
    """Raise DriverError with the name of an error code, or CourseError if the caller can fix it.

    `error` is the code, and `call` the name of the driver's function that returned it.
    """
    name = getattr(error, "name", str(error))
    if name in _NOT_OF_THIS_DEVICE:
        raise CourseError(
            "The stream is not one of the current device, or was destroyed: give a stream of the "
            "device that the arrays are on."
        )
    if name in _WHILE_CAPTURING:
        raise CourseError(
            "A CUDA graph is being captured, and this call would wait for the GPU: give an out on "
            "the device, and make the call once before the capture."
        )
    raise DriverError(f"{name} in {call}")


def function_of(handle):
    """Return the CUfunction, in the current context, of a kernel that Numba loaded.

    `handle` is Numba's: a CUfunction, or in newer versions a CUkernel, which belongs to no context.
    """
    if isinstance(handle, bindings.CUkernel):
        return _answer("cuKernelGetFunction", handle)
    return bindings.CUfunction(int(handle))


def _current_device() -> int:
    """Return the number of this thread's current device; make a device current if none is."""
    error, number = bindings.cuCtxGetDevice()
    if error:
        cuda.current_context()
        number = _answer("cuCtxGetDevice")
    return int(number)


# Called at each launch, so it is chosen once, here. The virtual GPU is device 0, and int() is 0.
device = _current_device if present() else int


def device_of(pointer: int) -> int:
    """Return the number of the device that owns the memory at an address.

    Raises DriverError if no device owns it.
    """
    kind = bindings.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    return int(_answer("cuPointerGetAttribute", kind, pointer))


def stream_id(stream: int) -> int:
    """Return an id of the stream that, unlike its handle, is never reused in this process."""
    return _answer("cuStreamGetId", stream)


def is_capturing(stream: int) -> bool:
    """Return True if work on this stream is being captured into a CUDA graph."""
    status = _answer("cuStreamIsCapturing", stream)
    return status == bindings.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE


def synchronize(stream: int) -> None:
    """Wait until all work on the stream is done."""
    error = bindings.cuStreamSynchronize(stream)[0]
    if error:
        refuse(error, "cuStreamSynchronize")


def synchronize_device() -> None:
    """Wait until all work on the current device is done."""
    _answer("cuCtxSynchronize")


def zero(pointer: int, nbytes: int, stream: int) -> None:
    """Enqueue setting `nbytes` bytes of device memory to zero on the stream."""
    _answer("cuMemsetD8Async", pointer, 0, nbytes, stream)


def allocate_in_order(nbytes: int, stream: int) -> int:
    """Allocate device memory in stream order and return its address.

    If the stream is being captured, the graph owns the memory.
    """
    return int(_answer("cuMemAllocAsync", nbytes, stream))


def free_in_order(pointer: int, stream: int) -> None:
    """Free device memory in stream order: after the stream's earlier work, without waiting."""
    _answer("cuMemFreeAsync", pointer, stream)


@contextlib.contextmanager
def outside_captures() -> Iterator[None]:
    """Let this thread load and allocate within this context even if a stream is being captured.

    See cuThreadExchangeStreamCaptureMode in the CUDA driver API.
    """
    mode = bindings.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    before = _answer("cuThreadExchangeStreamCaptureMode", mode)
    try:
        yield
    finally:
        _answer("cuThreadExchangeStreamCaptureMode", before)


def _answer(call: str, *arguments):
    """Call a driver function by name; return its first value, or None if it has none.

    Raises DriverError or CourseError if the function returns an error code.
    """
    error, *values = getattr(bindings, call)(*arguments)
    if error:
        refuse(error, call)
    return values[0] if values else None
