"""Finds Numba's counterparts of the types, functions and modules of numba-cuda-mlir.

That compiler, which is called the package here, has copies of Numba's types and stubs, under the
same names. This module is imported when a program has imported the package, and looks up what is
loaded of it.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace

import numba
from numba import cuda
from numba.core import types
from numba.core.typing.templates import AttributeTemplate
from numba.cuda import cg, libdevice, random
from numba.cuda.cudadecl import registry
from numba.cuda.vector_types import vector_types
from numba.np.numpy_support import from_dtype

from ..numbers.library_math import fp16
from ..types import plain_numba, wide_vectors
from .package import PACKAGE

# The package's module `numba_cuda` holds what its `cuda` is made of, under the same names.
_KERNELS = (f"{PACKAGE}.cuda", f"{PACKAGE}.numba_cuda")
_NAMESPACES = {
    "atomic": cuda.atomic, "cg": cg, "const": cuda.const, "fp16": fp16, "libdevice": libdevice,
    "local": cuda.local, "random": random, "shared": cuda.shared, "vector": wide_vectors,
}  # fmt: skip
# What the package's `cuda` has and Numba's does not.
_ONLY_THERE = {
    "vector": wide_vectors,
    "local_array": cuda.local.array,
    "shared_array": cuda.shared.array,
    "fp16": fp16,
    "random": random,
    **plain_numba.FUNCTIONS,
}
_BY_NAME = {str(kind): kind for kind in vars(types).values() if isinstance(kind, types.Type)}


def of_value(value):
    """Return Numba's counterpart of a type, function or stub, and any other value unchanged."""
    if _is_type(value):
        return _type(value)
    return _objects().get(id(value), value)


def _is_type(value) -> bool:
    """Return True for a type of the package, such as its float32."""
    return isinstance(value, sys.modules[f"{PACKAGE}.numba_cuda.types"].Type)


def _type(kind):
    """Return Numba's type for a type of the package; return one without a counterpart unchanged.

    Numbers of 8 bits and more, arrays, tuples, records and vectors have counterparts.
    """
    name = type(kind).__name__
    if name == "Array":
        return types.Array(
            _type(kind.dtype), kind.ndim, kind.layout, not kind.mutable, aligned=kind.aligned
        )
    if name in ("Tuple", "UniTuple"):
        return types.BaseTuple.from_types(tuple(map(_type, kind.types)))
    if name == "Record":
        return from_dtype(kind.dtype)
    if name == "VectorType" and str(kind) in vector_types:
        return vector_types[str(kind)].user_facing_object
    return _BY_NAME.get(str(kind), kind)


@functools.cache
def _objects() -> dict[int, object]:
    """Return a dict from the ids of the package's functions and stubs to Numba's counterparts."""
    found = {}
    for owner, counterpart in _pairs():
        for name in dir(counterpart):
            theirs, ours = getattr(owner, name, None), getattr(counterpart, name)
            if not name.startswith("_") and callable(ours) and theirs is not None:
                found[id(theirs)] = ours
    special = sys.modules[f"{PACKAGE}.numba_cuda.misc.special"]
    return {**found, id(special.literal_unroll): numba.literal_unroll}


def _pairs() -> Iterator[tuple[object, object]]:
    """Yield pairs (object of the package, object of Numba) whose attributes have equal names.

    Such objects are modules or namespaces, for example the two compilers' ``cuda`` and
    ``cuda.atomic``. The first is None if the package has no such namespace.
    """
    for name in _KERNELS:
        module = sys.modules[name]
        yield module, cuda
        yield module, SimpleNamespace(**plain_numba.FUNCTIONS)
        for inner, counterpart in _NAMESPACES.items():
            yield getattr(module, inner, None), counterpart


# --- modules --------------------------------------------------------------------------------


def of_module(module: ModuleType, names: frozenset[str], convert: Callable):
    """Return what a kernel sees instead of a module of the package.

    ``names`` are the attributes that the kernel reads, and ``convert(value, names)`` returns the
    counterpart of an attribute. The result is Numba's module if both have the same of these names,
    and otherwise a namespace with those that the package has.
    """
    name = module.__name__
    ours = cuda if name in _KERNELS else types if name.endswith(".types") else _inner(name)
    if ours is not None and all(hasattr(module, n) == hasattr(ours, n) for n in names):
        return ours
    read = [n for n in names if hasattr(module, n)]
    if ours is cuda:
        return _Kernels({n: _of_kernels(module, n, names, convert) for n in read})
    namespace = ModuleType(name)
    vars(namespace).update({n: convert(getattr(module, n), names) for n in read})
    return namespace


def _inner(name: str) -> object | None:
    """Return the namespace of Numba for a module such as ``numba_cuda_mlir.cuda.shared``.

    For any other module it is None.
    """
    return _NAMESPACES.get(name.rpartition(".")[2])


def _of_kernels(module: ModuleType, name: str, names: frozenset[str], convert: Callable):
    """Return the counterpart of the attribute ``name`` of the package's module ``cuda``.

    It is that of ``numba.cuda`` if there is one, else that of _ONLY_THERE, else what
    ``convert(value, names)`` returns. ``names`` are the attributes that the kernel reads.
    """
    if hasattr(cuda, name):
        return getattr(cuda, name)
    return _ONLY_THERE.get(name) or convert(getattr(module, name), names)


class _Kernels:
    """Replaces ``numba.cuda`` in a kernel that reads a name which ``numba.cuda`` does not have.

    Its attributes are those in the dict ``attributes``.
    """

    def __init__(self, attributes: dict[str, object]):
        vars(self).update(attributes)

    @property
    def _numba_type_(self) -> _KernelsType:
        return _KernelsType(self)


class _KernelsType(types.Module):
    """Numba's type of a ``_Kernels`` object."""


@registry.register_attr
class _AttributesOfKernels(AttributeTemplate):
    """The typing of the attributes of a ``_Kernels`` object.

    A name that ``numba.cuda`` has, too, gets the type that it has there.
    """

    key = _KernelsType

    def generic_resolve(self, namespace: _KernelsType, name: str) -> types.Type:
        """Return the type of the attribute ``name``."""
        if hasattr(cuda, name):
            return self.context.resolve_getattr(types.Module(cuda), name)
        return self.context.resolve_value_type(getattr(namespace.pymod, name))
