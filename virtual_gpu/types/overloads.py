"""Finds the Python functions with which Numba implements others, by ``@overload`` of its API."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from numba.core import types
from numba.core.target_extension import get_local_target, target_override
from numba.np.numpy_support import as_dtype

from .numba_passes import Refused, typed_statements
from .numba_types import TypingRule, context, numba_type

try:
    from numba.cuda.utils import order_by_target_specificity as _ordered
except ImportError:  # plain numba
    from numba.core.utils import order_by_target_specificity

    def _ordered(templates, fnkey=""):
        """Return the templates that the CUDA target can use, the most specific first.

        ``fnkey`` names the function in Numba's error message if there are none.
        """
        return order_by_target_specificity(get_local_target(context()), templates, fnkey=fnkey)


def is_overloaded(function) -> bool:
    """Return True if Numba has a Python implementation of this function for kernels."""
    with target_override("cuda"):
        return any(True for _ in _templates(function))


def implementation(function, arguments: tuple, named: dict[str, types.Type]) -> Callable | None:
    """Return the Python function with which Numba implements ``function`` for these types.

    ``arguments`` holds the Numba types of the positional arguments, and ``named`` maps the names of
    keyword arguments to theirs. Returns None if Numba has no implementation for these types.
    """
    with target_override("cuda"), warnings.catch_warnings():
        # Numba prints performance advice even for a call that it then refuses.
        warnings.simplefilter("ignore")
        for template in _templates(function):
            for change in (_unchanged, types.unliteral):
                positional = tuple(map(change, arguments))
                keywords = {name: change(kind) for name, kind in named.items()}
                try:
                    overload, _ = template._get_impl(positional, keywords)
                except Exception:  # Numba raises several kinds where the types do not fit
                    continue
                if overload is not None:
                    return overload.py_func
    return None


@functools.cache
def rule(function, dtypes: tuple[np.dtype, ...]) -> TypingRule | None:
    """Return the TypingRule for a function that Numba implements in Python, with these dtypes.

    The operands keep their dtypes. Returns None if Numba has no implementation for these dtypes, if
    it refuses to compile its implementation, or if the result is no number.
    """
    arguments = tuple(map(numba_type, dtypes))
    python = implementation(function, arguments, {})
    if python is None:
        return None
    try:
        _, returned = typed_statements(python, arguments, lambda *ignored: None)
    except Refused:
        return None
    if not isinstance(returned, types.Number | types.Boolean):
        return None
    return TypingRule(dtypes, as_dtype(returned))


def _unchanged(kind: types.Type) -> types.Type:
    """Return the type itself."""
    return kind


def _templates(function) -> Iterator:
    """Yield the typing templates of a function for which Python implementations exist.

    The most specific template comes first. Yields nothing for a function that Numba does not know.
    """
    try:
        kind = context().resolve_value_type(function)
    except Exception:  # Numba raises several kinds for what it does not know
        return
    if not isinstance(kind, types.Function):
        return
    for template in _ordered(kind.templates, fnkey=kind.key[0]):
        if hasattr(template, "_overload_func"):
            yield template(context())
