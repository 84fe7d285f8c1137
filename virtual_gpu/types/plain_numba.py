"""Types that the CUDA target in Numba itself lacks.

They are those of aligned arrays, of cache hints and of some functions of half precision.

numba-cuda has them. Where it is not installed, Numba's own target gives the types of kernels.
"""

from __future__ import annotations

from collections.abc import Callable

from numba import cuda
from numba.core import types
from numba.core.typing import signature
from numba.cuda import cudadecl
from numba.extending import intrinsic

from .numba_passes import PLAIN_NUMBA

LOADS = ("ldca", "ldcg", "ldcs", "ldlu", "ldcv")
STORES = ("stcg", "stcs", "stwb", "stwt")


def no_code(context, builder, signature, arguments):
    """Raise NotImplementedError, because Numba is asked for types alone."""
    raise NotImplementedError


def _load(name: str) -> Callable:
    """Return an intrinsic called ``name``, such as ``ldca(array, index)``, for typing.

    A call of it has the type of an element of the array; a call with no array has no type. The
    intrinsic has no code.
    """

    def typed(typing_context, array, index):
        if not isinstance(array, types.Array):
            return None
        return signature(array.dtype, array, index), no_code

    return _function(name, typed)


def _store(name: str) -> Callable:
    """Return an intrinsic called ``name``, such as ``stcg(array, index, value)``, for typing.

    A call of it has the type of None; a call with no array has no type. The intrinsic has no code.
    """

    def typed(typing_context, array, index, value):
        if not isinstance(array, types.Array):
            return None
        return signature(types.none, array, index, value), no_code

    return _function(name, typed)


def _function(name: str, typed: Callable) -> Callable:
    """Return an intrinsic called ``name`` whose typing function is ``typed``.

    ``typed`` gets the same name, in place.
    """
    typed.__name__ = typed.__qualname__ = name
    return intrinsic(target="cuda")(typed)


def _let_arrays_be_aligned() -> None:
    """Let ``shared.array`` and ``local.array`` take an alignment, which changes no type."""
    declaration = cudadecl.Cuda_array_decl
    without_alignment = declaration.generic

    def generic(self) -> Callable:
        of_shape_and_dtype = without_alignment(self)
        return lambda shape, dtype, alignment=None: of_shape_and_dtype(shape, dtype)

    declaration.generic = generic


def _let_functions_of_half_precision_be_found() -> None:
    """Declare the functions of ``cuda.fp16`` themselves to Numba's typing.

    Numba types them only where a kernel writes them as attributes of ``cuda.fp16``.
    """
    wrapped = [name.removesuffix("_device") for name in vars(cudadecl) if name.endswith("_device")]
    for name in wrapped:
        if hasattr(cuda.fp16, name):
            declare = cudadecl._genfp16_binary if name == "hdiv" else cudadecl._genfp16_unary
            declare(getattr(cuda.fp16, name))


# The functions that `numba.cuda` has only with numba-cuda, by name.
FUNCTIONS: dict[str, Callable] = {}
if PLAIN_NUMBA:
    _let_arrays_be_aligned()
    _let_functions_of_half_precision_be_found()
    FUNCTIONS |= {name: _load(name) for name in LOADS}
    FUNCTIONS |= {name: _store(name) for name in STORES}
