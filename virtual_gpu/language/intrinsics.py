"""The functions of ``numba.cuda``, ``math`` and Python that a kernel can call, with their handlers.
"""

from __future__ import annotations

import builtins
import cmath
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import cuda
from numba.core import types
from numba.cuda.vector_types import vector_types
from numba.np.numpy_support import as_dtype

from ..numbers import library_math, operations
from ..types import plain_numba, wide_vectors
from ..types.tuples import is_named_tuple
from . import (
    arrays,
    atomics,
    barriers,
    cache_hints,
    coordinates,
    functions,
    reductions,
    type_queries,
    ufuncs,
    vectors,
    warps,
)
from .call_expression import Handler


@dataclass(frozen=True)
class _Intrinsic:
    """A function that kernels may call, and the handler that compiles its calls.

    ``reads`` holds the positions of array arguments that the function never writes to.
    """

    function: object  # a reference keeps the function alive, so that no other one gets its id
    handler: Handler
    reads: tuple[int, ...]


_KNOWN: dict[int, _Intrinsic] = {}


def register(function, handler: Handler, reads: tuple[int, ...] = ()) -> None:
    """Let kernels call ``function``; ``handler(call)`` compiles one call of it.

    ``reads`` holds the positions of array arguments that ``function`` never writes to.
    """
    _KNOWN[id(function)] = _Intrinsic(function, handler, reads)


def _register_named(owner, handlers: dict[str, Handler]) -> None:
    """Register the attributes of ``owner`` with the handlers for their names.

    Names that this version of Numba does not have are skipped.
    """
    for name, handler in handlers.items():
        if hasattr(owner, name):
            register(getattr(owner, name), handler)


for _function in operations.COMPUTE:
    register(_function, functions.typed)
for _type in (
    types.boolean, types.int8, types.int16, types.int32, types.int64, types.uint8, types.uint16,
    types.uint32, types.uint64, types.float32, types.float64, types.complex64, types.complex128,
):  # fmt: skip
    register(_type, functions.cast_to(as_dtype(_type)))
    register(as_dtype(_type).type, functions.cast_to(as_dtype(_type)))
register(np.float16, functions.cast_to(np.dtype(np.float16)))
register(types.float16, functions.cast_to(np.dtype(np.float16)))
register(builtins.int, functions.cast_to(np.dtype(np.int64)))
register(builtins.float, functions.cast_to(np.dtype(np.float64)))
register(builtins.bool, functions.cast_to(np.dtype(np.bool_)))
register(builtins.complex, functions.to_complex)
register(builtins.divmod, functions.divided)
register(builtins.ord, functions.character)
register(builtins.sum, functions.total_of)
register(builtins.print, functions.printed)
register(builtins.isinstance, type_queries.is_instance)
register(builtins.hasattr, type_queries.has_attribute)
register(builtins.slice, type_queries.slice_object)
register(cmath.polar, functions.polar)
register(math.modf, functions.two_results(np.modf))
register(math.frexp, functions.two_results(np.frexp, (None, np.int32)))
for _function, _pair in library_math.pairs().items():
    register(_function, functions.two_results(*_pair))
register(builtins.len, functions.length)
register(cuda.shared.array, arrays.shared_array)
register(cuda.local.array, arrays.local_array)
register(cuda.const.array_like, arrays.constant_array_like)
register(cuda.grid, coordinates.grid)
register(cuda.gridsize, coordinates.gridsize)
register(cuda.syncthreads, barriers.syncthreads)
register(cuda.syncthreads_count, barriers.block_vote(lambda votes, voters: votes))
register(cuda.syncthreads_and, barriers.block_vote(lambda votes, voters: votes == voters))
register(cuda.syncthreads_or, barriers.block_vote(lambda votes, voters: votes > 0))
register(cuda.threadfence, barriers.fence(whole_grid=True))
register(cuda.threadfence_system, barriers.fence(whole_grid=True))
register(cuda.threadfence_block, barriers.fence(whole_grid=False))
register(cuda.cg.this_grid, barriers.this_grid)
register(cuda.nanosleep, functions.nothing)
register(cuda.fma, functions.fma)
register(cuda.selp, functions.select)
_register_named(cuda, {"cbrt": functions.cube_root})
_register_named(cuda, warps.HANDLERS)
_register_named(cuda, cache_hints.HANDLERS)
for _name, _function in plain_numba.FUNCTIONS.items():
    register(_function, cache_hints.HANDLERS[_name])
_register_named(cuda.atomic, atomics.HANDLERS)


for _name in reductions.FUNCTIONS:
    register(getattr(np, _name), reductions.function(_name))

for _vector in vector_types.values():
    register(_vector.user_facing_object, vectors.vector)
register(wide_vectors.load, vectors.load, reads=(0,))
register(wide_vectors.store, vectors.store)


def handler_of(function) -> Handler | None:
    """Return the handler that compiles calls of this function, or None if it is no intrinsic.

    Classes of named tuples, and the ufuncs of NumPy that Numba compiles in kernels, are intrinsics,
    too.
    """
    if is_named_tuple(function):
        return vectors.named_tuple
    intrinsic = _KNOWN.get(id(function))
    if intrinsic is None and isinstance(function, np.ufunc) and function in operations.UFUNCS:
        return ufuncs.ufunc
    return intrinsic.handler if intrinsic else None


def only_reads(function, position: int) -> bool:
    """Return True if an intrinsic was registered as never writing to its argument at ``position``.

    Positions count from 0. Returns False for any other intrinsic and for a function that is none.
    """
    intrinsic = _KNOWN.get(id(function))
    return intrinsic is not None and position in intrinsic.reads


def device_function(function) -> Callable | None:
    """Return the Python function behind a ``@cuda.jit`` or ``@njit`` function, else None."""
    python = getattr(function, "py_func", None)
    return python if hasattr(function, "targetoptions") else None
