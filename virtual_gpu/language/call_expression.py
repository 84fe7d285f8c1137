"""One call in a kernel's text, as it is passed to the handler that compiles it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numba.core.types import Type

from ..common.errors import Site, Unsupported
from ..common.source import Source
from ..types import numba_types
from .frame import Evaluate, Frame


class Compiler(Protocol):
    """The part of ``expressions.Expressions`` that a handler uses to compile the arguments.

    ``compile_function`` maps a Python function to its Program, ``inner`` the names of inner
    functions to InnerFunctions, and ``device_arrays`` the ``id`` of a global device array to its
    name and the array. A handler sets the flags: ``cooperative`` if the blocks wait for each other,
    ``syncs_grid`` if the kernel has a barrier of the whole grid, and ``uses_lock`` if the blocks
    take a lock. ``source`` is the text of the function that is compiled.
    """

    source: Source
    compile_function: Callable
    inner: dict
    cooperative: bool
    syncs_grid: bool
    uses_lock: bool
    device_arrays: dict

    def expression(self, node: ast.expr) -> Evaluate:
        """Return the closure ``evaluate(frame, mask)`` that evaluates an expression."""

    def inner_function(self, node: ast.Lambda) -> object:
        """Compile a lambda of the function; return it as an inner_functions.InnerFunction."""

    def try_static(self, node: ast.expr) -> object:
        """Return the Python value of an expression that is known at compile time, else None.

        Raises Unsupported for a name or an attribute that does not exist.
        """

    def literal(self, node: ast.expr) -> Callable[[Frame], Type | None]:
        """Return ``kind(frame)``, which returns Numba's literal type of an expression.

        It returns None if Numba does not know the value of the expression at compile time.
        """


@dataclass(frozen=True)
class CallExpression:
    """A call in the kernel's source, and the compiler of the function that contains it.

    ``function`` is the object that is called, and ``name`` the variable that the result is assigned
    to, or None. ``node`` is the call's syntax node.
    """

    compiler: Compiler
    node: ast.Call
    name: str | None  # the variable that the result is assigned to
    function: object  # the function that is called

    @property
    def source(self) -> Source:
        """The Source of the function that contains the call."""
        return self.compiler.source

    @property
    def site(self) -> Site:
        """The source line of the call."""
        return self.source.site(self.node)

    def refuse(self, what: str) -> Exception:
        """Return an Unsupported error which says that the virtual GPU does not know ``what``.

        The caller raises it.
        """
        return self.source.refuse(self.node, what)

    def arguments(self, least: int, most: int | None = None) -> list[Evaluate]:
        """Compile the positional arguments; return their closures in order.

        There must be ``least`` to ``most`` arguments; without ``most``, exactly ``least``. Raises
        Unsupported for another number and for keyword arguments.
        """
        count = len(self.node.args)
        if self.node.keywords or not least <= count <= (most or least):
            raise self.refuse(f"{ast.unparse(self.node)}, called with these arguments,")
        return [self.compiler.expression(a) for a in self.node.args]

    def only_static(self) -> object:
        """Return the Python value of the only positional argument.

        Returns None if the value is not known at compile time, or if there is not exactly one
        argument.
        """
        return self.compiler.try_static(self.node.args[0]) if len(self.node.args) == 1 else None

    def literal(self, node: ast.expr) -> Callable[[Frame], int | tuple | None]:
        """Return ``value(frame)``, the integer, or tuple of integers, that an argument always has.

        It returns None if Numba does not know the value of the expression at compile time. If that
        is because Numba refuses the function for another reason than this call, it returns the
        present value if all threads share it, and raises Unsupported otherwise.
        """
        kind, evaluate = self.compiler.literal(node), self.compiler.expression(node)

        def value(frame: Frame) -> int | tuple | None:
            constant, refusal = kind(frame), frame.types.refusal
            if constant is None and refusal and not self._is_refused(refusal):
                # Go on with the value at hand: the virtual GPU may name the line of the refusal.
                present = _uniform(evaluate(frame, frame.everyone))
                if present is not None:
                    return present
                raise Unsupported(f"{refusal} (Numba's compiler refuses this.)")
            return None if constant is None else numba_types.literal_value(constant)

        return value

    def _is_refused(self, refusal: str) -> bool:
        """Return True if ``refusal``, Numba's message, is about the function called here."""
        name = getattr(self.function, "__qualname__", self.function.__name__)
        about = (f"Function(<function {name} ", f"Function(<intrinsic {self.function.__name__}>)")
        return any(text in refusal for text in about)

    def named(self, *names: str) -> dict[str, ast.expr]:
        """Return a dict from parameter names to the argument expressions of this call.

        ``names`` are the parameters in order. An argument may be passed by position or by keyword;
        one that is missing is missing in the dict. Raises Unsupported for any other argument.
        """
        by_name = dict(zip(names, self.node.args, strict=False))
        by_name.update({k.arg: k.value for k in self.node.keywords})
        if set(by_name) - set(names) or len(self.node.args) > len(names):
            raise self.refuse(f"an argument of {ast.unparse(self.node)}")
        return by_name


def _uniform(value) -> int | tuple | None:
    """Return a NumPy integer as an int, and a tuple of NumPy integers as a tuple of ints.

    These are the same in all threads. Returns None for any other value, such as a lane vector.
    """
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, tuple) and all(isinstance(item, np.integer) for item in value):
        return tuple(map(int, value))
    return None


Handler = Callable[[CallExpression], Evaluate]  # compiles one call of a known function
