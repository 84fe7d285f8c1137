"""Device memory of the virtual GPU, as a host program handles it."""

from __future__ import annotations

import numpy as np

from .errors import LaunchError


class DeviceArray:
    """An array in the virtual GPU's memory: the part of Numba's DeviceNDArray that programs use.

    ``host`` is the NumPy array that stands for the device's memory; elements are read and written
    through ``copy_to_host`` and ``copy_to_device``, as on a GPU. ``unwritten`` says which elements
    have never been given a value; None where all have.
    """

    def __init__(self, host: np.ndarray, unwritten: np.ndarray | None = None):
        self.host = host
        self.unwritten = unwritten

    def _part(self, of) -> DeviceArray:
        """The array that ``of`` makes of this one, with the same memory."""
        return DeviceArray(of(self.host), None if self.unwritten is None else of(self.unwritten))

    shape = property(lambda self: self.host.shape)
    dtype = property(lambda self: self.host.dtype)
    size = property(lambda self: self.host.size)
    ndim = property(lambda self: self.host.ndim)
    strides = property(lambda self: self.host.strides)
    nbytes = property(lambda self: self.host.nbytes)
    alloc_size = property(lambda self: self.host.nbytes)

    @property
    def T(self) -> DeviceArray:
        return self._part(lambda array: array.T)

    def copy_to_host(self, ary: np.ndarray | None = None, stream=0) -> np.ndarray:
        """A new host array, or ``ary`` filled; the shapes and dtypes must match."""
        if ary is None:
            return self.host.copy()
        _check_match(self.host, ary)
        ary[...] = self.host
        return ary

    def copy_to_device(self, ary, stream=0) -> None:
        """Fill this array from a host or device array of the same shape and dtype."""
        source = ary.host if isinstance(ary, DeviceArray) else np.asarray(ary)
        _check_match(self.host, source)
        self[...] = source

    def reshape(self, *shape, order="C") -> DeviceArray:
        return self._part(lambda array: array.reshape(*shape, order=order))

    def ravel(self, order="C", stream=0) -> DeviceArray:
        return self._part(lambda array: array.ravel(order))

    def transpose(self, axes=None) -> DeviceArray:
        return self._part(lambda array: array.transpose(axes))

    def view(self, dtype) -> DeviceArray:
        return DeviceArray(self.host.view(dtype))

    def is_c_contiguous(self) -> bool:
        return self.host.flags.c_contiguous

    def is_f_contiguous(self) -> bool:
        return self.host.flags.f_contiguous

    def __getitem__(self, index):
        part = self.host[index]
        return self._part(lambda array: array[index]) if isinstance(part, np.ndarray) else part

    def __setitem__(self, index, value) -> None:
        self.host[index] = value.host if isinstance(value, DeviceArray) else value
        if self.unwritten is not None:
            self.unwritten[index] = False

    def __len__(self) -> int:
        return len(self.host)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.array(self.host, dtype=dtype)

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype}, on the virtual GPU)"


def _check_match(device: np.ndarray, other: np.ndarray) -> None:
    if device.shape != other.shape or device.dtype != other.dtype:
        raise LaunchError(
            f"A copy between shape {device.shape} of {device.dtype} and shape {other.shape} of "
            f"{other.dtype}; both must be the same."
        )


def to_device(obj, stream=0, copy=True, to=None) -> DeviceArray:
    """A copy of a host array in device memory, or a copy into the device array ``to``."""
    if to is not None:
        to.copy_to_device(obj)
        return to
    if isinstance(obj, DeviceArray):
        return obj
    array = np.asarray(obj)
    return DeviceArray(array.copy(order="K" if copy else "C"))


def device_array(shape, dtype=np.float64, strides=None, order="C", stream=0) -> DeviceArray:
    """Uninitialised device memory. As on a GPU its content is arbitrary: here NaN or a pattern."""
    host = _poisoned(shape, dtype, order)
    return DeviceArray(host, np.ones_like(host, dtype=bool))


def device_array_like(ary, stream=0) -> DeviceArray:
    """Uninitialised device memory of the shape and dtype of ``ary``."""
    return device_array(ary.shape, ary.dtype)


def host_array(shape, dtype=np.float64, strides=None, order="C", **ignored) -> np.ndarray:
    """Managed, mapped or pinned memory: host memory that kernels reach directly."""
    return np.zeros(shape, dtype, order=order)


def host_array_like(ary, **ignored) -> np.ndarray:
    return np.zeros(ary.shape, ary.dtype)


def _poisoned(shape, dtype, order) -> np.ndarray:
    array = np.empty(shape, dtype, order=order)
    array.fill(np.nan if array.dtype.kind in "fc" else np.array(0xA5).astype(array.dtype))
    return array
