"""What a call is given: where an array lies, what a plan must know of it, and on whose stream.

`look` costs half a microsecond for arrays of Numba, CuPy and PyTorch, so it is asked at each call.
Everything else that lies on a device is turned into an array of Numba's first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numba import cuda

from utils.errors import CourseError
from utils.launching import driver, numba_kernels
from utils.launching.slots import Slot

WIDE_BYTES = 16
CUDA_OF_DLPACK = 2
# Part of what is known of an array without memory, so that no plan for others is found for it.
_GONE = "gone"


@dataclass(frozen=True, eq=False)
class Family:
    """The arrays of one library.

    look: array -> (pointer, all else that a plan may depend on, beginning with the family).
    slot: (array, number, pointer) -> Slot. stream: () -> the handle of the library's current
    stream; None where the library has no current one. on_device: whether its arrays lie there.
    """

    name: str
    look: Callable[[object], tuple[int, Hashable]]
    slot: Callable[[object, int, int], Slot]
    stream: Callable[[], int] | None = None
    on_device: bool = True


def look(array) -> tuple[int, Hashable]:
    """(pointer, what a plan depends on) of an array.

    For an array on the host, and for what is no array, the pointer is 0 and no plan is ever kept.
    """
    return (_LOOKS.get(type(array)) or _first_look(type(array), array))(array)


@dataclass(frozen=True, eq=False)
class Argument:
    """An array that a call was given, and what `look` said of it."""

    array: object
    pointer: int
    known: Hashable

    @property
    def family(self) -> Family:
        return self.known[0]

    def slot(self, number: int) -> Slot:
        """What a plan knows of it; of any family but OTHER."""
        return self.family.slot(self.array, number, self.pointer)

    def on_numbas(self, stream: int) -> Argument:
        """One of OTHER as an array of Numba's over the same memory; any other as it is."""
        return argument(on_numbas(self.array, stream)) if self.family is OTHER else self

    def on_device(self, stream: int) -> Argument:
        """One on the host as its copy on the device; any other as it is."""
        return self if self.family.on_device else argument(on_device(self.array, stream))


def argument(array) -> Argument:
    return Argument(array, *look(array))


def family_of(array) -> Family:
    """HOST, OTHER, NO_ARRAY, NUMBA, or that of CuPy or PyTorch."""
    return look(array)[1][0]


def on_numbas(array, stream: int):
    """An array of OTHER as one of Numba's over the same memory, ready for that stream.

    Where an interface names the library's stream, this waits for it; DLPack lets ours wait.
    """
    if hasattr(array, "__cuda_array_interface__"):
        return cuda.as_cuda_array(array)
    from cuda.core.utils import StridedMemoryView

    # 1 is the default stream in the words of DLPack.
    view = StridedMemoryView.from_dlpack(array, stream_ptr=stream or 1)
    interface = {
        "shape": tuple(view.shape),
        "strides": view.strides and tuple(view.dtype.itemsize * step for step in view.strides),
        "typestr": view.dtype.str,
        "data": (view.ptr, view.readonly),
        "version": 3,
    }
    return cuda.from_cuda_array_interface(interface, owner=view)


def on_device(array: np.ndarray, stream: int):
    """A copy of a host array in C order, made on that stream, which this waits for."""
    where = cuda.external_stream(stream) if stream else 0
    copy = cuda.to_device(np.ascontiguousarray(array), stream=where)
    if where:
        # Pinned memory is read until then, and belongs to the caller.
        where.synchronize()
    return copy


def check_device(name: str, slot: Slot, pointer: int, device: int) -> None:
    """Refuse an array on another device than the current one, and one whose memory is gone."""
    if not slot.size or not driver.present():
        return
    try:
        lies_on = driver.device_of(pointer) if pointer else None
    except driver.DriverError:
        lies_on = None
    if lies_on is None:
        raise CourseError(
            f"The memory of {name} was given back, so there is nothing to read: make {name} again."
        )
    if lies_on != device:
        raise CourseError(
            f"{name} lies on device {lies_on}, and device {device} is the current one: make "
            f"device {lies_on} current, or copy {name}."
        )


def slot_of(array, number: int) -> Slot:
    """What a plan knows of an array of any family but OTHER."""
    return argument(array).slot(number)


def stream_handle(stream) -> int:
    """The handle of a stream of Numba, CuPy, PyTorch or any with `__cuda_stream__`; or a handle.

    Raises CourseError for anything else.
    """
    if type(stream) is int:
        return stream
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    for name in ("cuda_stream", "ptr", "handle"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    raise CourseError(
        f"stream is a {type(stream).__name__}, and a CUDA stream is needed: give one of Numba, "
        "CuPy or PyTorch, or its handle."
    )


def handle_for(given: Iterable[Argument], stream) -> int:
    """The handle of the stream, or of the current one of the arrays' libraries."""
    if stream is not None:
        return stream_handle(stream)
    return current_stream(tuple(one.family for one in given))()


def current_stream(families: tuple[Family, ...]) -> Callable[[], int]:
    """A function: on which stream a call with arrays of these families goes when none is given.

    The libraries' current one; the default stream where none has one. It raises CourseError where
    two of them are on different streams, because then nobody knows who waits for whom.
    """
    asked = tuple(dict.fromkeys(family.stream for family in families if family.stream))
    if len(asked) < 2:
        return asked[0] if asked else int

    def agreed() -> int:
        handles = {ask() for ask in asked}
        if len(handles) > 1:
            raise CourseError(
                "The arrays belong to libraries whose current streams differ, and nobody knows "
                "which of them waits: give stream=."
            )
        return handles.pop()

    return agreed


def _of_numba(array):
    known = NUMBA, array.shape, array.strides, array.dtype
    memory = array.gpu_data
    if numba_kernels.is_freed(memory):
        return 0, (*known, _GONE)
    return memory.device_ctypes_pointer.value or 0, known


def _of_numba_on_some_device(array):
    pointer, known = _of_numba(array)
    return pointer, (*known, driver.device_of(pointer) if pointer else None)


def _of_cupy(array):
    data = array.data
    known = _CUPY, array.shape, array.strides, array.dtype, data.device_id
    return data.ptr, known if data.ptr else (*known, _GONE)


def _of_torch(tensor):
    pointer = tensor.data_ptr()
    known = (
        _TORCH, tensor.shape, tensor.stride(), tensor.dtype, tensor.get_device(),
        tensor.requires_grad or tensor.is_neg(),
    )  # fmt: skip
    return pointer, known if pointer else (*known, _GONE)


def _numpy_like(array, number: int, pointer: int) -> Slot:
    aligned = pointer % WIDE_BYTES == 0
    return Slot(number, tuple(array.shape), tuple(array.strides), np.dtype(array.dtype), aligned)


def _slot_of_torch(tensor, number: int, pointer: int) -> Slot:
    if tensor.requires_grad or tensor.is_neg():
        raise CourseError(
            "A tensor that requires a gradient, or is the negative of what lies in memory, cannot "
            "be read as it is: use tensor.detach().resolve_neg()."
        )
    if not tensor.is_cuda:
        raise CourseError(
            "A tensor of PyTorch lies on the host: use tensor.numpy() or tensor.cuda()."
        )
    name = str(tensor.dtype).removeprefix("torch.")
    try:
        dtype = np.dtype(name)
    except TypeError:  # NumPy has bfloat16 only where a library brought it
        return Slot(number, tuple(tensor.shape), (), name)
    strides = tuple(dtype.itemsize * step for step in tensor.stride())
    return Slot(number, tuple(tensor.shape), strides, dtype, pointer % WIDE_BYTES == 0)


def _current_of_torch() -> int:
    return sys.modules["torch"].cuda.current_stream().cuda_stream


def _current_of_cupy() -> int:
    return sys.modules["cupy"].cuda.get_current_stream().ptr


def _without_pointer(name: str) -> Family:
    def look(array) -> tuple[int, Hashable]:
        return 0, (family,)

    family = Family(name, look, _numpy_like, on_device=False)
    return family


HOST = _without_pointer("the host")
# It has an interface that Numba makes an array from.
OTHER = _without_pointer("another library")
NO_ARRAY = _without_pointer("no array")
NUMBA = Family("Numba", _of_numba, _numpy_like)
_CUPY = Family("CuPy", _of_cupy, _numpy_like, _current_of_cupy)
_TORCH = Family("PyTorch", _of_torch, _slot_of_torch, _current_of_torch)

_LOOKS: dict[type, Callable] = {}


def _first_look(kind: type, array) -> Callable:
    """How arrays of a type are looked at, found out once where the type decides it."""
    family = _family(array)
    found = family.look
    if family is NUMBA and driver.present() and len(cuda.gpus) > 1:
        # CuPy and PyTorch say for each array where it lies.
        found = _of_numba_on_some_device
    if family in (NUMBA, _CUPY, _TORCH):
        _LOOKS[kind] = found
    return found


def _family(array) -> Family:
    if getattr(array, "__cuda_ndarray__", False):
        return NUMBA
    if isinstance(array, np.ndarray):
        return HOST
    libraries = {"torch": ("Tensor", _TORCH), "cupy": ("ndarray", _CUPY)}
    for module, (name, family) in libraries.items():
        if module in sys.modules and isinstance(array, getattr(sys.modules[module], name)):
            return family
    if hasattr(array, "__cuda_array_interface__"):
        return OTHER
    on_device = getattr(array, "__dlpack_device__", lambda: (0, 0))()[0] == CUDA_OF_DLPACK
    return OTHER if on_device else NO_ARRAY
