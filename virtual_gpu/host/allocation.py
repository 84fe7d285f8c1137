"""Allocates arrays in the virtual GPU's memory and copies host arrays there."""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .hostarrays import DeviceArray, HostMemory, ManagedMemory
from .layouts import (
    PINNED,
    ArrayTypeError,
    ArrayValueError,
    NeedsCopy,
    element_strides,
    empty,
    extent,
    order_of,
    uninitialised,
)
from .transfers import TO_DEVICE, note


def to_device(obj, stream=0, copy=True, to=None) -> DeviceArray:
    """Copy a host array, a number or a list to device memory and return the DeviceArray.

    The result has the shape, dtype and strides of ``obj``. With ``copy=False`` its memory is
    uninitialised. An array that is on the device already, or in mapped or managed memory, is
    returned without a copy. With ``to``, a device array, the elements go into that array instead,
    unless ``copy`` is False, and ``to`` is returned. The copy is logged. Raises ArrayTypeError for
    objects and strings, and ArrayValueError for an array that is not contiguous; dimensions of
    stride 0 are allowed.
    """
    if to is not None:
        if copy:
            to.copy_to_device(obj, stream)
        return to
    obj = on_the_device(obj)
    if isinstance(obj, DeviceArray | HostMemory):
        return obj
    array = np.asarray(obj)
    if array.dtype.kind in "OU":
        raise ArrayTypeError(
            f"An array of dtype {array.dtype} cannot go to the device; it takes numbers."
        )
    repeated = tuple(0 if s == 0 and array.size else slice(None) for s in array.strides)
    core = array[(*repeated, ...)]
    if not (core.flags.c_contiguous or core.flags.f_contiguous):
        raise ArrayValueError(
            f"The array (shape {array.shape}, strides {array.strides}) is not contiguous and "
            "cannot be copied as one piece; pass np.ascontiguousarray() of it."
        )
    if not copy:
        return device_array(array.shape, array.dtype, array.strides)
    note(TO_DEVICE, core, "to_device", stream, stream == 0)
    core = core.copy(order="K")
    if core.shape == array.shape:
        return DeviceArray.over(core, stream=stream)
    return DeviceArray.over(as_strided(core, array.shape, array.strides), stream=stream)


def device_array(shape, dtype=np.float64, strides=None, order="C", stream=0) -> DeviceArray:
    """Return an uninitialised device array; ``strides`` are in bytes.

    If ``strides`` is None, the array is contiguous in ``order``, "C" or "F". As on a GPU, its
    content is arbitrary. Here it is NaN, or a bit pattern for other dtypes.
    """
    return DeviceArray.over(*uninitialised(shape, dtype, strides, order), stream)


def device_array_like(ary, stream=0) -> DeviceArray:
    """Return an uninitialised device array with the shape, dtype and order of ``ary``.

    It is contiguous. If ``ary`` is not, the dimension with the smallest stride in ``ary`` has the
    smallest stride in the new array, and so on.
    """
    return device_array(ary.shape, ary.dtype, *order_of(ary), stream)


def pinned_array(shape, dtype=np.float64, strides=None, order="C") -> np.ndarray:
    """Return a host array filled with zeros, which the virtual GPU uses as pinned memory.

    ``strides`` are in bytes; None means contiguous in ``order``, "C" or "F".
    """
    array = empty(shape, dtype, strides, order)
    array[...] = np.zeros((), array.dtype)
    PINNED[id(array)] = array
    return array


def pinned_array_like(ary) -> np.ndarray:
    """Return a pinned array with the shape, dtype and order of ``ary``, filled with zeros."""
    return pinned_array(ary.shape, ary.dtype, *order_of(ary))


def host_array(shape, dtype=np.float64, strides=None, order="C", **ignored) -> HostMemory:
    """Return an array of zeros in mapped memory, which kernels access directly.

    ``strides`` are in bytes; None means contiguous in ``order``, "C" or "F". Other keyword
    arguments are ignored.
    """
    return pinned_array(shape, dtype, strides, order).view(HostMemory)


def managed_array(shape, dtype=np.float64, strides=None, order="C", **ignored) -> ManagedMemory:
    """Return an array of zeros in managed memory, which kernels access directly.

    ``strides`` are in bytes; None means contiguous in ``order``, "C" or "F". Other keyword
    arguments are ignored.
    """
    return pinned_array(shape, dtype, strides, order).view(ManagedMemory)


def host_array_like(ary, **ignored) -> HostMemory:
    """Return a mapped array with the shape, dtype and order of ``ary``, filled with zeros."""
    return host_array(ary.shape, ary.dtype, *order_of(ary))


def as_cuda_array(obj, sync=True) -> DeviceArray:
    """Return a device array that shares the memory of an object with a CUDA array interface.

    The object must be in the virtual GPU's memory, which is host memory. A DeviceArray gives a new
    DeviceArray. Raises ArrayTypeError for an object without an interface, and NeedsCopy for a
    masked array. ``sync`` has no effect.
    """
    if isinstance(obj, DeviceArray):
        return obj.bind(obj.stream)
    interface = getattr(obj, "__cuda_array_interface__", None)
    if interface is None:
        raise ArrayTypeError(
            f"A {type(obj).__name__} has no __cuda_array_interface__; pass a device array."
        )
    return from_cuda_array_interface(interface, obj, sync)


def on_the_device(obj):
    """Return a DeviceArray over the memory of an object, if that is memory of the virtual GPU.

    It is recognised by the object's CUDA array interface. A DeviceArray, a host array and any other
    object are returned unchanged.
    """
    if isinstance(obj, DeviceArray | HostMemory | np.ndarray | np.generic):
        return obj
    interface = getattr(obj, "__cuda_array_interface__", None)
    is_virtual = isinstance(interface, dict) and "virtual_gpu" in interface
    return from_cuda_array_interface(interface, obj) if is_virtual else obj


def from_cuda_array_interface(desc: dict, owner=None, sync=True) -> DeviceArray:
    """Return the DeviceArray over the memory that the virtual GPU's CUDA array interface describes.

    The array keeps ``owner`` alive. An interface without elements or with the address 0 gives an
    array in new memory. Raises NeedsCopy for a masked array. ``sync`` has no effect.
    """
    if desc.get("mask") is not None:
        raise NeedsCopy("A masked array cannot be a device array; fill it first.")
    shape, dtype = tuple(desc["shape"]), np.dtype(desc["typestr"])
    strides = desc.get("strides") or element_strides(shape, dtype.itemsize, "C")
    address, read_only = desc["data"]
    if not address or 0 in shape:
        return DeviceArray.over(np.empty(shape, dtype))
    # The first element is not the lowest one where a stride is negative.
    ahead = sum((n - 1) * max(0, -s) for n, s in zip(shape, strides, strict=True))
    nbytes = extent(shape, strides, dtype.itemsize)
    buffer = (ctypes.c_char * nbytes).from_address(address - ahead)
    buffer.owner = owner
    host = np.ndarray(shape, dtype, buffer, ahead, strides)
    host.flags.writeable = not read_only
    return DeviceArray.over(host)
