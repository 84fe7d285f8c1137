"""How a host program gets memory on the virtual GPU, and moves arrays there."""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .hostarrays import DeviceArray, HostMemory
from .layouts import (
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
    """A copy of a host array, a number or a list in device memory, or one into the array ``to``.

    The order of the elements is kept. Raises LaunchError for an array that is not contiguous;
    dimensions that are repeated (stride 0) are left out of that.
    """
    if to is not None:
        if copy:
            to.copy_to_device(obj)
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
    note(TO_DEVICE, core, "to_device")
    core = core.copy(order="K")
    if core.shape == array.shape:
        return DeviceArray.over(core, stream=stream)
    return DeviceArray.over(as_strided(core, array.shape, array.strides), stream=stream)


def device_array(shape, dtype=np.float64, strides=None, order="C", stream=0) -> DeviceArray:
    """Uninitialised device memory. As on a GPU its content is arbitrary: here NaN or a pattern.

    ``strides`` are in bytes.
    """
    return DeviceArray.over(*uninitialised(shape, dtype, strides, order), stream)


def device_array_like(ary, stream=0) -> DeviceArray:
    """Uninitialised device memory of the shape, dtype and order of ``ary``."""
    return device_array(ary.shape, ary.dtype, *order_of(ary), stream)


def pinned_array(shape, dtype=np.float64, strides=None, order="C") -> np.ndarray:
    """Pinned memory: host memory that is copied fast. Here it is filled with zeros."""
    array = empty(shape, dtype, strides, order)
    array[...] = np.zeros((), array.dtype)
    return array


def pinned_array_like(ary) -> np.ndarray:
    """Pinned memory of the shape, dtype and order of ``ary``."""
    return pinned_array(ary.shape, ary.dtype, *order_of(ary))


def host_array(shape, dtype=np.float64, strides=None, order="C", **ignored) -> HostMemory:
    """Managed or mapped memory: host memory that kernels reach directly, filled with zeros."""
    return pinned_array(shape, dtype, strides, order).view(HostMemory)


def host_array_like(ary, **ignored) -> HostMemory:
    """Mapped memory of the shape, dtype and order of ``ary``."""
    return host_array(ary.shape, ary.dtype, *order_of(ary))


def as_cuda_array(obj, sync=True) -> DeviceArray:
    """A device array over the memory of an object with a CUDA array interface."""
    if isinstance(obj, DeviceArray):
        return obj.bind(obj.stream)
    interface = getattr(obj, "__cuda_array_interface__", None)
    if interface is None:
        raise ArrayTypeError(
            f"A {type(obj).__name__} has no __cuda_array_interface__; pass a device array."
        )
    return from_cuda_array_interface(interface, obj, sync)


def on_the_device(obj):
    """A device array for an object that hands out the interface of one; anything else as it is."""
    if isinstance(obj, DeviceArray | HostMemory | np.ndarray | np.generic):
        return obj
    interface = getattr(obj, "__cuda_array_interface__", None)
    ours = isinstance(interface, dict) and "virtual_gpu" in interface
    return from_cuda_array_interface(interface, obj) if ours else obj


def from_cuda_array_interface(desc: dict, owner=None, sync=True) -> DeviceArray:
    """The device array that an interface of the virtual GPU describes; it keeps ``owner`` alive."""
    if desc.get("mask") is not None:
        raise NeedsCopy("A masked array cannot be a device array; fill it first.")
    shape, dtype = tuple(desc["shape"]), np.dtype(desc["typestr"])
    strides = desc.get("strides") or element_strides(shape, dtype.itemsize, "C")
    address, read_only = desc["data"]
    if not address or 0 in shape:
        return DeviceArray.over(np.empty(shape, dtype))
    buffer = (ctypes.c_char * extent(shape, strides, dtype.itemsize)).from_address(address)
    buffer.owner = owner
    host = np.ndarray(shape, dtype, buffer, 0, strides)
    host.flags.writeable = not read_only
    return DeviceArray.over(host)
