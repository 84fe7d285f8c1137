"""Thread and block coordinates: ``cuda.threadIdx``, ``cuda.grid`` and similar."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import cuda

from ..common.lanes import WARP, Batch
from .call_expression import CallExpression
from .frame import Evaluate


class Dim3(NamedTuple):
    """The value of ``cuda.threadIdx``, ``blockIdx``, ``blockDim`` or ``gridDim`` in a kernel.

    Each field is an int32: a NumPy scalar if all threads share it, else a vector of lanes.
    """

    x: object
    y: object
    z: object


def _dim3(values: tuple[int, int, int]) -> Dim3:
    """Return three ints as a Dim3 of int32 scalars."""
    return Dim3(*(np.int32(v) for v in values))


def _lane_id(frame, mask):
    """Return the number of each lane in its warp, from 0 to 31, as an int32 vector of lanes."""
    return (frame.run.batch.thread_number % WARP).astype(np.int32)


_SPECIAL = {
    id(cuda.threadIdx): lambda frame, mask: Dim3(*frame.run.batch.thread_index),
    id(cuda.blockIdx): lambda frame, mask: Dim3(*frame.run.batch.block_index),
    id(cuda.blockDim): lambda frame, mask: _dim3(frame.run.batch.geometry.block),
    id(cuda.gridDim): lambda frame, mask: _dim3(frame.run.batch.geometry.grid),
    id(cuda.laneid): _lane_id,
    id(cuda.warpsize): lambda frame, mask: np.int32(WARP),
}


def special_value(value) -> Evaluate | None:
    """Return the closure that evaluates ``cuda.threadIdx`` or a similar constant of Numba.

    The others are blockIdx, blockDim and gridDim, for which the closure returns a Dim3, too, and
    laneid and warpsize, for which it returns int32 numbers. Returns None for any other object.
    """
    return _SPECIAL.get(id(value))


def grid(call: CallExpression) -> Evaluate:
    """Compile ``cuda.grid``, the thread's position in the whole grid from 0 on, as int64.

    The value is x for one dimension, and the tuple (x, y) or (x, y, z) for two or three.
    """
    return _per_dimension(call, global_position)


def gridsize(call: CallExpression) -> Evaluate:
    """Compile ``cuda.gridsize``, the number of threads of the grid per dimension, as int64.

    The value is that of x for one dimension, and a tuple in the order (x, y) or (x, y, z) for two
    or three.
    """
    return _per_dimension(call, global_extent)


def _per_dimension(call: CallExpression, coordinate: Callable) -> Evaluate:
    """Compile a call that returns ``coordinate(batch, axis)`` for each of ``ndim`` axes.

    The value is a tuple, or a number for one axis. ``ndim`` is the call's argument; unless it is
    the constant 1, 2 or 3, the call raises Unsupported.
    """
    arguments = call.named("ndim")
    if "ndim" not in arguments:
        one = f"{ast.unparse(call.node.func)}(1)"
        raise call.refuse(
            f"{ast.unparse(call.node)} without a number of dimensions (for one: {one})"
        )
    number = call.literal(arguments["ndim"])

    def evaluate(frame, mask):
        dimensions = number(frame)
        if dimensions not in (1, 2, 3):
            raise call.refuse(f"{ast.unparse(call.node)} (Numba takes the constant 1, 2 or 3)")
        values = tuple(coordinate(frame.run.batch, axis) for axis in range(dimensions))
        return values[0] if dimensions == 1 else values

    return evaluate


def global_position(batch: Batch, axis: int):
    """Return the position of each lane in the whole grid along an axis, as int64."""
    block = batch.block_index[axis].astype(np.int64)
    return block * batch.geometry.block[axis] + batch.thread_index[axis]


def global_extent(batch: Batch, axis: int) -> np.int64:
    """Return the number of threads of the whole grid along an axis, as int64."""
    return np.int64(batch.geometry.block[axis] * batch.geometry.grid[axis])
