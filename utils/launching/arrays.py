"""The arrays that a call receives: pointer, properties that a plan depends on, and current stream.

`look` takes half a microsecond for arrays of Numba, CuPy and PyTorch, so every call can afford it.
Any other array on a device is first turned into a Numba array.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numba import cuda

from utils.errors import CourseError
from utils.launching import driver, numba_kernels
from utils.launching.slots import WIDE_BYTES, Slot

CUDA_OF_DLPACK = 2
# Part of the key of an array whose memory was freed, so that it never matches a plan.
_FREED = "freed"


@dataclass(frozen=True, eq=False)
class Family:
    """The arrays of one library, or one of the families HOST, OTHER and NO_ARRAY.

    name: of the library, for messages. look: array -> (pointer, key), where the key is a tuple of
    all else that a plan may depend on and begins with the family. slot: (array, number, pointer) ->
    Slot. stream: () -> the handle of the library's current stream; None if the library has no
    current stream. on_device: True if its arrays are in device memory.
    """

    name: str
    look: Callable[[object], tuple[int, Hashable]]
    slot: Callable[[object, int, int], Slot]
    stream: Callable[[], int] | None = None
    on_device: bool = True


def look(array) -> tuple[int, Hashable]:
    """Return (pointer, key) of an array.

    The key is a tuple of all else that a plan depends on: the array's family, then shape, strides,
    dtype and further properties. The pointer is 0 for freed memory, and for the families HOST,
    OTHER and NO_ARRAY, whose key is the family alone.
    """
    return (_LOOKS.get(type(array)) or _first_look(type(array), array))(array)


@dataclass(frozen=True, eq=False)
class Argument:
    """An array that a call received, with the result of `look` for it.

    `pointer` is its address and `known` its key: a tuple of its family and all else that a plan
    depends on.
    """

    array: object
    pointer: int
    known: Hashable

    @property
    def family(self) -> Family:
        """The family of the argument, as `family_of` returns it."""
        return self.known[0]

    def slot(self, number: int) -> Slot:
        """Return the Slot that describes the array in a plan, as array `number`.

        It must not be of the family OTHER or NO_ARRAY. Raises CourseError for a tensor of PyTorch
        that is on the host, requires a gradient or has a pending negation.
        """
        return self.family.slot(self.array, number, self.pointer)

    def on_numbas(self, stream: int) -> Argument:
        """Return an argument of family OTHER as a Numba array over its memory, others unchanged."""
        return argument(on_numbas(self.array, stream)) if self.family is OTHER else self

    def on_device(self, stream: int) -> Argument:
        """Return an argument of family HOST as a copy on the device, of a device family unchanged.

        It must not be of the family OTHER or NO_ARRAY.
        """
        return self if self.family.on_device else argument(on_device(self.array, stream))


def argument(array) -> Argument:
    """Return an array as an `Argument`, with its pointer and key."""
    return Argument(array, *look(array))


def family_of(array) -> Family:
    """Return the family of any object: NUMBA, that of CuPy or PyTorch, HOST, OTHER, or NO_ARRAY.

    HOST is an array of NumPy, and OTHER any other array on a device.
    """
    return look(array)[1][0]


def on_numbas(array, stream: int):
    """Return an array of family OTHER as a Numba array over the same memory, ready for `stream`.

    `stream` is a handle. If the array's interface names a stream of its library, this function
    waits for that stream. With DLPack, the library makes `stream` wait instead. Raises CourseError
    for an array with a mask.
    """
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is not None:
        if interface.get("mask") is not None:
            raise CourseError(
                f"An array is a {type(array).__name__} with a mask, and an array without one is "
                "needed: fill in what is masked."
            )
        return cuda.as_cuda_array(array)
    from cuda.core.utils import StridedMemoryView

    # DLPack calls the default stream 1.
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
    """Copy a host array to the device in C order, on `stream`; return the finished copy."""
    numba_stream = cuda.external_stream(stream) if stream else 0
    copy = cuda.to_device(np.ascontiguousarray(array), stream=numba_stream)
    if numba_stream:
        # The copy reads the caller's pinned memory until then.
        numba_stream.synchronize()
    return copy


def is_read_only(array) -> bool:
    """Return True if a host array or a `__cuda_array_interface__` says that it is read-only.

    It is False for arrays of Numba, CuPy and PyTorch, and for those with DLPack alone.
    """
    if isinstance(array, np.ndarray):
        return not array.flags.writeable
    if family_of(array) is not OTHER:
        # Numba's, CuPy's and PyTorch's may be written, and PyTorch's interface can raise.
        return False
    interface = getattr(array, "__cuda_array_interface__", None)
    return bool(interface and interface["data"][1])


def check_device(name: str, slot: Slot, pointer: int, device: int) -> None:
    """Raise CourseError if an array is on another device than `device`, or its memory was freed.

    `name` names the array in the error. `slot` describes it, `pointer` is its address, `device` a
    device's number. An empty array passes, and so does every array on the virtual GPU.
    """
    if not slot.size or not driver.present():
        return
    try:
        owner = driver.device_of(pointer) if pointer else None
    except driver.DriverError:
        owner = None
    if owner is None:
        raise CourseError(
            f"The memory of {name} was freed, so there is nothing to read: make {name} again."
        )
    if owner != device:
        raise CourseError(
            f"{name} is on device {owner}, and device {device} is the current one: make "
            f"device {owner} current, or copy {name}."
        )


def slot_of(array, number: int) -> Slot:
    """Return the Slot that describes an array in a plan, as array `number`.

    It must not be of the family OTHER or NO_ARRAY. Raises CourseError for a tensor of PyTorch that
    is on the host, requires a gradient or has a pending negation.
    """
    return argument(array).slot(number)


def stream_handle(stream) -> int:
    """Return the handle of a CUDA stream as an int; an int is taken as a handle and returned.

    Streams of Numba, CuPy and PyTorch are accepted, and any object with `__cuda_stream__`. Raises
    CourseError for anything else.
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


def handle_for(arguments: Iterable[Argument], stream) -> int:
    """Return the handle of `stream` as an int; if it is None, that of the arrays' current stream.

    Raises CourseError if `stream` is no stream, or if it is None and the arrays' libraries have
    different current streams.
    """
    if stream is not None:
        return stream_handle(stream)
    return current_stream(tuple(each.family for each in arguments))()


def current_stream(families: tuple[Family, ...]) -> Callable[[], int]:
    """Return a function () -> handle of the stream to use if a call gives none.

    That is the current stream of the arrays' libraries, or the default stream, 0, if none of them
    has one. The function raises CourseError if two libraries have different current streams,
    because neither would wait for the other.
    """
    streams = tuple(dict.fromkeys(family.stream for family in families if family.stream))
    if len(streams) < 2:
        return streams[0] if streams else int

    def common_stream() -> int:
        handles = {current() for current in streams}
        if len(handles) > 1:
            raise CourseError(
                "The arrays belong to libraries whose current streams differ, and neither waits "
                "for the other: give stream=."
            )
        return handles.pop()

    return common_stream


def _look_at_numba(array):
    """Return (pointer, key) of a Numba array; pointer 0 and a mark in the key for freed memory."""
    key = NUMBA, array.shape, array.strides, array.dtype
    memory = array.gpu_data
    if numba_kernels.is_freed(memory):
        return 0, (*key, _FREED)
    return memory.device_ctypes_pointer.value or 0, key


def _look_at_numba_with_device(array):
    """Return (pointer, key) of a Numba array; the key ends with the number of its device.

    For freed and for empty memory the pointer is 0, and the key ends with None.
    """
    pointer, key = _look_at_numba(array)
    return pointer, (*key, driver.device_of(pointer) if pointer else None)


def _look_at_cupy(array):
    """Return (pointer, key) of a CuPy array; the key has its device, and marks freed memory."""
    data = array.data
    key = _CUPY, array.shape, array.strides, array.dtype, data.device_id
    return data.ptr, key if data.ptr else (*key, _FREED)


def _look_at_torch(tensor):
    """Return (pointer, key) of a tensor; the key ends with its device, and True if it is not plain.

    A tensor is not plain if it requires a gradient or its negation is pending. Without memory the
    pointer is 0, and a mark follows in the key.
    """
    pointer = tensor.data_ptr()
    key = (
        _TORCH, tensor.shape, tensor.stride(), tensor.dtype, tensor.get_device(),
        tensor.requires_grad or tensor.is_neg(),
    )  # fmt: skip
    return pointer, key if pointer else (*key, _FREED)


def _slot_of_numpy_like(array, number: int, pointer: int) -> Slot:
    """Return the Slot of an array of NumPy, Numba or CuPy.

    number: the array's position among those of a call. pointer: its address.
    """
    aligned = pointer % WIDE_BYTES == 0
    return Slot(number, tuple(array.shape), tuple(array.strides), np.dtype(array.dtype), aligned)


def _slot_of_torch(tensor, number: int, pointer: int) -> Slot:
    """Return the Slot of a CUDA tensor; raise CourseError for one that cannot be read directly.

    If NumPy does not know the tensor's dtype, such as bfloat16, the Slot has the dtype's name as
    text and no strides. number: the array's position among those of a call. pointer: its address.
    """
    if tensor.requires_grad or tensor.is_neg():
        raise CourseError(
            "A tensor that requires a gradient, or whose negation is still pending, cannot be read "
            "directly: use tensor.detach().resolve_neg()."
        )
    if not tensor.is_cuda:
        raise CourseError(
            "A tensor of PyTorch is on the host: use tensor.numpy() or tensor.cuda()."
        )
    name = str(tensor.dtype).removeprefix("torch.")
    try:
        dtype = np.dtype(name)
    except TypeError:  # NumPy has bfloat16 only where a library brought it
        return Slot(number, tuple(tensor.shape), (), name)
    strides = tuple(dtype.itemsize * step for step in tensor.stride())
    return Slot(number, tuple(tensor.shape), strides, dtype, pointer % WIDE_BYTES == 0)


def _current_stream_of_torch() -> int:
    return sys.modules["torch"].cuda.current_stream().cuda_stream


def _current_stream_of_cupy() -> int:
    return sys.modules["cupy"].cuda.get_current_stream().ptr


def _without_pointer(name: str) -> Family:
    """Return a family whose arrays have the pointer 0 and a key of the family alone."""

    def look(array) -> tuple[int, Hashable]:
        return 0, (family,)

    family = Family(name, look, _slot_of_numpy_like, on_device=False)
    return family


HOST = _without_pointer("the host")
# Arrays with an interface from which Numba can make an array.
OTHER = _without_pointer("another library")
NO_ARRAY = _without_pointer("no array")
NUMBA = Family("Numba", _look_at_numba, _slot_of_numpy_like)
_CUPY = Family("CuPy", _look_at_cupy, _slot_of_numpy_like, _current_stream_of_cupy)
_TORCH = Family("PyTorch", _look_at_torch, _slot_of_torch, _current_stream_of_torch)

_LOOKS: dict[type, Callable] = {}


def _first_look(kind: type, array) -> Callable:
    """Return the `look` function for an array of type `kind`.

    It is cached for the type if the type alone decides the family.
    """
    family = _family(array)
    look_at = family.look
    if family is NUMBA and driver.present() and len(cuda.gpus) > 1:
        # Arrays of CuPy and PyTorch know their device.
        look_at = _look_at_numba_with_device
    if family in (NUMBA, _CUPY, _TORCH):
        _LOOKS[kind] = look_at
    return look_at


def _family(array) -> Family:
    """Return the family of an array, and NO_ARRAY for any other object.

    OTHER is an array of a further library that shows GPU memory by its CUDA array interface or by
    DLPack. An array in host memory that is neither NumPy's nor PyTorch's is NO_ARRAY.
    """
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
