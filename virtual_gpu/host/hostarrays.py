"""Device arrays: arrays in the virtual GPU's memory, as a host program uses them."""

from __future__ import annotations

import copy
import ctypes
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numba.core import types
from numba.np.numpy_support import from_dtype
from numpy.lib.stride_tricks import as_strided

from ..common.errors import LaunchError
from .layouts import (
    ArrayTypeError,
    ArrayValueError,
    NeedsCopy,
    element_strides,
    extent,
    is_pinned,
    uninitialised,
    whole_shape,
)
from .transfers import TO_DEVICE, TO_HOST, note
from .unwritten import warn_of_gaps


@dataclass(frozen=True, eq=False)
class DevicePointer:
    """A pointer to device memory, as ``DeviceArray.gpu_data`` returns it.

    ``array`` is the NumPy array whose first element it points to. ``unwritten`` marks the elements
    of ``array`` that were never written, or is None if all were.
    """

    array: np.ndarray
    unwritten: np.ndarray | None = None

    def __eq__(self, other) -> bool:
        same = isinstance(other, DevicePointer)
        return same and self.device_pointer_value == other.device_pointer_value

    def __hash__(self) -> int:
        return hash(self.device_pointer_value)

    @property
    def device_pointer_value(self) -> int | None:
        """The address as an int, or None if the array has no elements."""
        return self.array.__array_interface__["data"][0] if self.array.size else None

    @property
    def device_ctypes_pointer(self) -> ctypes.c_void_p:
        """The address as a ctypes pointer, which is null if the array has no elements."""
        return ctypes.c_void_p(self.device_pointer_value)

    @property
    def size(self) -> int:
        """The size of the memory in bytes."""
        return self.array.nbytes


class DeviceArray:
    """An array in the virtual GPU's memory, with the methods of Numba's DeviceNDArray.

    ``host`` is the NumPy array that serves as device memory. As on a GPU, programs read and write
    it with ``copy_to_host`` and ``copy_to_device``. ``unwritten`` is a boolean array of the
    elements that were never written, or None if all were. ``strides`` are in bytes. ``stream`` is
    stored and has no effect. ``fills`` maps the name of each kernel that may have stored to the
    memory to True if it chooses elements by thread index alone; slices and reshaped views share it,
    and a view with another dtype does not.
    """

    __cuda_memory__ = True
    __cuda_ndarray__ = True

    def __init__(self, shape, strides, dtype, stream=0, gpu_data: DevicePointer | None = None):
        """Make an array over the memory ``gpu_data`` or, if it is None, in uninitialised memory."""
        if gpu_data is None:
            host, unwritten = uninitialised(shape, dtype, strides)
        else:
            shape, dtype = whole_shape(shape), np.dtype(dtype)
            strides = tuple(strides or element_strides(shape, dtype.itemsize, "C"))
            host, unwritten = _reinterpreted(gpu_data, shape, strides, dtype)
        self.host, self.unwritten, self.stream = host, unwritten, stream
        self.fills: dict[str, bool] = {}

    @classmethod
    def over(cls, host: np.ndarray, unwritten: np.ndarray | None = None, stream=0) -> DeviceArray:
        """Return the device array whose memory is the NumPy array ``host``.

        ``unwritten`` marks the elements of ``host`` that were never written; None means that all
        were.
        """
        new = cls.__new__(cls)
        new.host, new.unwritten, new.stream = host, unwritten, stream
        new.fills = {}
        return new

    def _view(self, make_view) -> DeviceArray:
        """Return the device array over ``make_view(host)``; raise NeedsCopy if that is a copy."""
        host = make_view(self.host)
        unwritten = None if self.unwritten is None else make_view(self.unwritten)
        if host.size and not np.may_share_memory(host, self.host):
            raise NeedsCopy(
                f"Elements of a device array of shape {self.shape} and strides {self.strides} "
                "would have to move; copy it to the host first."
            )
        view = DeviceArray.over(host, unwritten, self.stream)
        view.fills = self.fills
        return view

    shape = property(lambda self: self.host.shape)
    dtype = property(lambda self: self.host.dtype)
    size = property(lambda self: self.host.size)
    ndim = property(lambda self: self.host.ndim)
    strides = property(lambda self: self.host.strides)
    nbytes = property(lambda self: self.host.nbytes)
    flags = property(lambda self: self.host.flags)
    gpu_data = property(lambda self: DevicePointer(self.host, self.unwritten))
    device_ctypes_pointer = property(lambda self: self.gpu_data.device_ctypes_pointer)
    T = property(lambda self: self.transpose())

    @property
    def alloc_size(self) -> int:
        """The bytes from the element at the lowest address to the end of the one at the highest."""
        return extent(self.shape, self.strides, self.dtype.itemsize)

    @property
    def _numba_type_(self) -> types.Type:
        """Numba's type of the array, with the layout "C", "F" or "A"."""
        return array_type(self.host)

    @property
    def __cuda_array_interface__(self) -> dict:
        """The CUDA array interface, version 3, with a pointer to host memory.

        Only the virtual GPU can use that pointer. It recognises its arrays by the last key.
        """
        return {
            "shape": self.shape,
            "strides": None if self.flags.c_contiguous else self.strides,
            "data": (self.gpu_data.device_pointer_value or 0, False),
            "typestr": self.dtype.str,
            "stream": None,
            "version": 3,
            "virtual_gpu": self,
        }

    def bind(self, stream=0) -> DeviceArray:
        """Return a new DeviceArray on the same memory with this ``stream``, which has no effect."""
        clone = copy.copy(self)
        clone.stream = stream
        return clone

    def copy_to_host(self, ary: np.ndarray | None = None, stream=0) -> np.ndarray:
        """Copy the array to ``ary``, or to a new host array, and return that host array.

        The copy is logged. A UserWarning names elements that the kernels should have written and
        have not. Raises ArrayTypeError or ArrayValueError unless dtype, shape (without dimensions
        of length 1) and strides match, and NeedsCopy for negative strides.
        """
        if any(stride < 0 for stride in self.strides):
            raise NeedsCopy(
                f"The device array has strides {self.strides}; Numba copies no array with negative "
                "strides to the host; copy the whole array and reverse it there."
            )
        if ary is not None:
            _check_match(self.host, ary)
            own, other = self.host.squeeze(), ary.squeeze()
            if self.size and own.strides != other.strides:
                raise ArrayValueError(
                    f"The device array has strides {self.strides} and the host array "
                    f"{ary.strides}; a copy needs the same order of elements on both sides."
                )
        stream = stream or self.stream
        host_waits = stream == 0 or not is_pinned(ary)
        note(TO_HOST, self.host, "copy_to_host", stream, host_waits)
        self._check_gaps("copy_to_host()")
        if ary is None:
            return self.host.copy(order="K")
        ary.reshape(self.shape)[...] = self.host
        return ary

    def copy_to_device(self, ary, stream=0) -> None:
        """Copy a host or device array of the same shape and dtype into this array.

        The copy of a host array is logged. Raises ArrayTypeError for another dtype and
        ArrayValueError for another shape; dimensions of length 1 are ignored.
        """
        if isinstance(ary, DeviceArray):
            source, unwritten = ary.host, ary.unwritten
        else:
            source, unwritten = np.asarray(ary), None
        _check_match(self.host, source)
        if not isinstance(ary, DeviceArray):
            stream = stream or self.stream
            note(TO_DEVICE, source, "copy_to_device", stream, stream == 0)
        self._fill(..., source.reshape(self.shape), unwritten)

    def _check_gaps(self, by: str) -> None:
        """Warn if the array has elements that kernels should have written, and have not.

        ``by`` names the function that copies the array. There is no warning if a kernel may have
        chosen the elements by the content of an array.
        """
        if self.unwritten is None or not self.fills or not all(self.fills.values()):
            return
        if self.unwritten.any() and not self.unwritten.all():
            warn_of_gaps(self.unwritten, tuple(self.fills), by)

    def note_fill(self, kernel: str, by_index: bool) -> None:
        """Note that a launch of a kernel may have stored to the array.

        ``by_index`` is True if the whole grid has run, and if which elements it stores depends on
        thread indices, extents and numbers only.
        """
        self.fills[kernel] = by_index and self.fills.get(kernel, True)

    def _fill(self, index, values, unwritten: np.ndarray | None = None) -> None:
        """Set ``self.host[index]`` to ``values`` and mark these elements as written.

        ``unwritten`` marks those of the values that were never written themselves. If its shape is
        not that of the elements, all of them are marked as written.
        """
        self.host[index] = values
        if unwritten is not None and unwritten.any() and self.unwritten is None:
            self.unwritten = np.zeros_like(self.host, dtype=bool)
        if self.unwritten is not None:
            own = self.unwritten[index]
            same = unwritten is not None and own.shape == unwritten.shape
            self.unwritten[index] = unwritten if same else False

    def reshape(self, *shape, order="C") -> DeviceArray:
        """Return a view in another shape, whose elements follow each other in ``order``.

        Raises NeedsCopy if elements would have to move.
        """
        return self._view(lambda array: array.reshape(*shape, order=order))

    def ravel(self, order="C", stream=0) -> DeviceArray:
        """Return a view with one dimension, in which the elements have the given ``order``.

        Raises NeedsCopy if elements would have to move.
        """
        return self._view(lambda array: array.ravel(order))

    def squeeze(self, axis=None, stream=0) -> DeviceArray:
        """Return a view without dimensions of length 1; with ``axis``, only that one is removed."""
        return self._view(lambda array: array.squeeze(axis))

    def transpose(self, axes=None) -> DeviceArray:
        """Return a transposed copy in new device memory, as Numba does.

        If ``axes`` keep the order of the dimensions, this array itself is returned. Raises
        NeedsCopy unless there are two dimensions, and ArrayValueError for axes that are not 0 and
        1.
        """
        if axes is not None and tuple(axes) == tuple(range(self.ndim)):
            return self
        if self.ndim != 2:
            raise NeedsCopy(
                f"A device array of {self.ndim} dimensions cannot be transposed; Numba transposes "
                "two dimensions."
            )
        if axes is not None and set(axes) != {0, 1}:
            raise ArrayValueError(f"The axes {axes!r} are not those of two dimensions.")
        host = np.ascontiguousarray(self.host.T)
        flags = None if self.unwritten is None else np.ascontiguousarray(self.unwritten.T)
        return DeviceArray.over(host, flags, self.stream)

    def view(self, dtype) -> DeviceArray:
        """Return a DeviceArray over the same memory with another dtype.

        If the element size changes, all elements count as written from then on, in this array, too.
        Raises ArrayValueError if the dtype does not fit.
        """
        try:
            host = self.host.view(dtype)
        except ValueError as error:
            raise ArrayValueError(f"A view as {np.dtype(dtype)}: {error}") from None
        if self.unwritten is None or host.dtype.itemsize == self.dtype.itemsize:
            return DeviceArray.over(host, self.unwritten, self.stream)
        self.unwritten[...] = False
        return DeviceArray.over(host, None, self.stream)

    def split(self, section: int, stream=0) -> Iterator[DeviceArray]:
        """Yield views of ``section`` consecutive elements; the final view may be shorter.

        Raises ArrayValueError unless the array is contiguous and has one dimension.
        """
        if self.ndim != 1 or (self.size and self.strides[0] != self.dtype.itemsize):
            raise ArrayValueError(
                f"A device array of shape {self.shape} and strides {self.strides} cannot be split; "
                "Numba splits contiguous arrays of one dimension."
            )
        for begin in range(0, self.size, section):
            yield self[begin : begin + section]

    def is_c_contiguous(self) -> bool:
        """Return True if the array is contiguous in C order."""
        return self.host.flags.c_contiguous

    def is_f_contiguous(self) -> bool:
        """Return True if the array is contiguous in Fortran order."""
        return self.host.flags.f_contiguous

    def as_cuda_arg(self) -> DevicePointer:
        """Return the pointer to the array's memory."""
        return self.gpu_data

    def get_ipc_handle(self):
        """Raise LaunchError, because processes cannot share the virtual GPU's memory."""
        raise LaunchError(
            "The virtual GPU shares no memory between processes; copy the array to the host and "
            "send that."
        )

    def getitem(self, index, stream=0):
        """Return ``self[index]``: a view on the device, or the value of a single number.

        A single record is a view, too.
        """
        return self[index]

    def setitem(self, index, value, stream=0) -> None:
        """Set ``self[index]`` to ``value``."""
        self[index] = value

    def __getitem__(self, index):
        """Return a view of the selected elements on the device, or the value of a single number.

        The copy of a single number to the host is logged. Raises ArrayTypeError for an index that
        is no integer, slice or ``...``, nor the name of a field.
        """
        _check_index(index, self.dtype)
        part = self.host[index]
        if isinstance(part, np.void):  # a record, which stays on the device
            index = (*(index if isinstance(index, tuple) else (index,)), ...)
            return self._view(lambda array: array[index])
        if isinstance(part, np.ndarray) and not (isinstance(index, str) and part.ndim == 0):
            return self._view(lambda array: array[index])
        note(TO_HOST, np.asarray(part), "[...]")
        return part[()] if isinstance(part, np.ndarray) else part

    def __setitem__(self, index, value) -> None:
        """Set the selected elements to ``value`` and mark them as written.

        The copy of a value that is no DeviceArray is logged. Raises ArrayTypeError for an index
        that is no integer, slice or ``...``, nor the name of a field.
        """
        _check_index(index, self.dtype)
        if isinstance(value, DeviceArray):
            self._fill(index, value.host, value.unwritten)
        else:
            note(TO_DEVICE, np.asarray(value), "[...]")
            self._fill(index, value)

    def __len__(self) -> int:
        return len(self.host)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        """Return a copy of the array on the host, cast to ``dtype`` if that is not None.

        The copy is logged. A UserWarning names elements that the kernels should have written and
        have not. Raises ArrayValueError if ``copy`` is False.
        """
        if copy is False:
            raise ArrayValueError("A device array has no host memory to share; a copy is needed.")
        note(TO_HOST, self.host, "np.asarray")
        self._check_gaps("np.asarray()")
        return np.array(self.host, dtype=dtype)

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype}, on the virtual GPU)"


class HostMemory(np.ndarray):
    """An array in mapped or managed memory: a host array that kernels access directly."""

    __cuda_memory__ = True
    __cuda_ndarray__ = True

    @property
    def _numba_type_(self) -> types.Type:
        """Numba's type of the array, with the layout "C", "F" or "A"."""
        return array_type(self)

    @property
    def gpu_data(self) -> DevicePointer:
        """The pointer to the array's memory."""
        return DevicePointer(np.asarray(self))

    @property
    def __cuda_array_interface__(self) -> dict:
        """The CUDA array interface, version 3; only the virtual GPU can use its pointer."""
        return DeviceArray.over(np.asarray(self)).__cuda_array_interface__

    def copy_to_host(self, ary=None, stream=0) -> np.ndarray:
        """Copy the array to ``ary``, or to a new host array, and return that array.

        The copy is logged as one from the device. Raises ArrayTypeError or ArrayValueError unless
        dtype, shape (without dimensions of length 1) and strides match, and NeedsCopy for negative
        strides.
        """
        return DeviceArray.over(np.asarray(self)).copy_to_host(ary)

    def copy_to_device(self, ary, stream=0) -> None:
        """Copy a host or device array of the same shape and dtype into this array.

        The copy of a host array is logged as one to the device. Raises ArrayTypeError for another
        dtype and ArrayValueError for another shape; dimensions of length 1 are ignored.
        """
        DeviceArray.over(np.asarray(self)).copy_to_device(ary)


class ManagedMemory(HostMemory):
    """A NumPy array in managed memory, which host and kernels access directly.

    The moves of its pages are not modelled; the class only tells it from mapped memory.
    """


def array_type(array: np.ndarray) -> types.Type:
    """Return Numba's type of a device array with the layout "C", "F" or "A".

    An array with a stride of 0 has the layout "A".
    """
    broadcast = 0 in array.strides and array.size != 0
    layout = "A"
    if not broadcast and array.flags.c_contiguous:
        layout = "C"
    elif not broadcast and array.flags.f_contiguous:
        layout = "F"
    return types.Array(from_dtype(array.dtype), array.ndim, layout)


def _reinterpreted(
    memory: DevicePointer, shape: tuple, strides: tuple, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return an array of this shape and dtype over existing memory, and its unwritten elements.

    The second array marks these elements. It is None if all are written, or if the element size
    differs from that of ``memory``. ``strides`` are in bytes.
    """
    first = as_strided(memory.array, (1,), (memory.array.itemsize,)).view(dtype)
    flags = None
    if memory.unwritten is not None and dtype.itemsize == memory.array.itemsize:
        steps = tuple(s // dtype.itemsize for s in strides)
        flags = as_strided(memory.unwritten, shape, steps)
    return as_strided(first, shape, strides), flags


def _check_index(index, dtype: np.dtype) -> None:
    """Raise ArrayTypeError unless an index consists of integers, slices and ``...``.

    A record array may also be indexed with a string, the name of a field.
    """
    for item in index if isinstance(index, tuple) else (index,):
        if isinstance(item, str) and dtype.names:
            continue
        if not isinstance(item, int | np.integer | slice | type(...)) or isinstance(item, bool):
            raise ArrayTypeError(
                f"A device array is indexed with a {type(item).__name__}; it takes whole numbers, "
                "slices and ...; copy it to the host for more."
            )


def _check_match(device: np.ndarray, other: np.ndarray) -> None:
    """Raise an error unless two arrays have the same dtype and shape, up to dimensions of length 1.

    It is an ArrayTypeError for the dtype, and an ArrayValueError for the shape.
    """
    if device.dtype != other.dtype:
        error = ArrayTypeError
    elif device.squeeze().shape != other.squeeze().shape:
        error = ArrayValueError
    else:
        return
    raise error(
        f"A copy between shape {device.shape} of {device.dtype} and shape {other.shape} of "
        f"{other.dtype}; both must be the same."
    )
