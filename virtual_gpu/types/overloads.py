"""Functions that are written in Python for Numba: ``@overload`` of Numba's extension API."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from numba.core import types
from numba.core.target_extension import get_local_target, target_override
from numba.np.numpy_support import as_dtype

from .numba_passes import Refused, typed_statements
from .numba_types import Rule, context, numba_type

try:
    from numba.cuda.utils import order_by_target_specificity as _ordered
except ImportError:  # plain numba
    from numba.core.utils import order_by_target_specificity

    def _ordered(templates, fnkey=""):
        return order_by_target_specificity(get_local_target(context()), templates, fnkey=fnkey)


def is_overloaded(function) -> bool:
    """Whether Numba has implementations of this function in Python for kernels."""
    with target_override("cuda"):
        return any(True for _ in _templates(function))


def implementation(function, arguments: tuple, named: dict[str, types.Type]) -> Callable | None:
    """The Python function that stands for ``function`` called with these types; None where there
    is none."""
    with target_override("cuda"), warnings.catch_warnings():
        # Numba says what would make a call faster that it then refuses.
        warnings.simplefilter("ignore")
        for template in _templates(function):
            for change in (_as_it_is, types.unliteral):
                given = tuple(map(change, arguments))
                by_name = {name: change(kind) for name, kind in named.items()}
                try:
                    found, _ = template._get_impl(given, by_name)
                except Exception:  # Numba raises several kinds where the types do not fit
                    continue
                if found is not None:
                    return found.py_func
    return None


@functools.cache
def rule(function, dtypes: tuple[np.dtype, ...]) -> Rule | None:
    """How Numba types a call whose implementation is in Python; None where it refuses these."""
    arguments = tuple(map(numba_type, dtypes))
    found = implementation(function, arguments, {})
    if found is None:
        return None
    try:
        _, returned = typed_statements(found, arguments, lambda *ignored: None)
    except Refused:
        return None
    if not isinstance(returned, types.Number | types.Boolean):
        return None
    return Rule(dtypes, as_dtype(returned))


def _as_it_is(kind: types.Type) -> types.Type:
    return kind


def _templates(function) -> Iterator:
    """What Numba asks for an implementation in Python, the most specific first."""
    try:
        kind = context().resolve_value_type(function)
    except Exception:  # Numba raises several kinds for what it does not know
        return
    if not isinstance(kind, types.Function):
        return
    for template in _ordered(kind.templates, fnkey=kind.key[0]):
        if hasattr(template, "_overload_func"):
            yield template(context())
