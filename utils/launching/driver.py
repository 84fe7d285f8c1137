"""What the fast path asks of the CUDA driver, by `cuda.bindings`.

Streams and pointers are numbers. All but `launch` raise DriverError with the driver's name of the
error, or CourseError where the caller can mend it.
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

# With the driver's own signature and answer, because each microsecond counts here.
launch = getattr(bindings, "cuLaunchKernel", None)

_NOT_OF_THIS_DEVICE = ("CUDA_ERROR_INVALID_HANDLE", "CUDA_ERROR_INVALID_CONTEXT")
_WHILE_CAPTURING = (
    "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
    "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
)


class DriverError(RuntimeError):
    """The driver refused a call."""


def present() -> bool:
    """Whether launches go to a device; otherwise the virtual GPU runs them."""
    return not virtual_gpu.active()


def refuse(error, call: str) -> None:
    """Raise what the driver answered, as a sentence where it is the caller's to mend."""
    name = getattr(error, "name", str(error))
    if name in _NOT_OF_THIS_DEVICE:
        raise CourseError(
            "The stream is not one of the current device, or is no more: give a stream of the "
            "device that the arrays lie on."
        )
    if name in _WHILE_CAPTURING:
        raise CourseError(
            "A CUDA graph is being captured, and this call waits for the GPU: give an out on the "
            "device, and let the call run once before the capture."
        )
    raise DriverError(f"{name} in {call}")


def function_of(handle):
    """The function of the current context for what Numba loaded: a kernel belongs to none."""
    if isinstance(handle, bindings.CUkernel):
        return _answer("cuKernelGetFunction", handle)
    return bindings.CUfunction(int(handle))


def _current_device() -> int:
    """The number of the device that is current in this thread; the first call makes one current."""
    error, number = bindings.cuCtxGetDevice()
    if error:
        cuda.current_context()
        number = _answer("cuCtxGetDevice")
    return int(number)


# Asked at each call, so what there is was asked before. The virtual GPU is device 0: int() is 0.
device = _current_device if present() else int


def device_of(pointer: int) -> int:
    """The number of the device whose memory that is; DriverError where it is nobody's."""
    kind = bindings.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    return int(_answer("cuPointerGetAttribute", kind, pointer))


def stream_id(stream: int) -> int:
    """What no other stream of this process ever has: a handle is used again."""
    return _answer("cuStreamGetId", stream)


def is_capturing(stream: int) -> bool:
    """Whether what this stream is given becomes part of a CUDA graph."""
    status = _answer("cuStreamIsCapturing", stream)
    return status == bindings.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE


def synchronize(stream: int) -> None:
    """Wait until the stream has nothing left to do."""
    error = bindings.cuStreamSynchronize(stream)[0]
    if error:
        refuse(error, "cuStreamSynchronize")


def synchronize_device() -> None:
    """Wait until the current device has nothing left to do."""
    _answer("cuCtxSynchronize")


def zero(pointer: int, nbytes: int, stream: int) -> None:
    """Clear that memory, in the stream's order."""
    _answer("cuMemsetD8Async", pointer, 0, nbytes, stream)


def allocate_in_order(nbytes: int, stream: int) -> int:
    """Memory that the stream has from here on; where it is captured, memory of the graph."""
    return int(_answer("cuMemAllocAsync", nbytes, stream))


def free_in_order(pointer: int, stream: int) -> None:
    """The stream gives that memory back when it has come here."""
    _answer("cuMemFreeAsync", pointer, stream)


@contextlib.contextmanager
def outside_captures() -> Iterator[None]:
    """Allow this thread to load and to allocate while some stream is captured; see
    cuThreadExchangeStreamCaptureMode."""
    mode = bindings.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    before = _answer("cuThreadExchangeStreamCaptureMode", mode)
    try:
        yield
    finally:
        _answer("cuThreadExchangeStreamCaptureMode", before)


def _answer(call: str, *arguments):
    error, *values = getattr(bindings, call)(*arguments)
    if error:
        refuse(error, call)
    return values[0] if values else None
