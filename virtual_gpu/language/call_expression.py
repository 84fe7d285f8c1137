"""One call in a kernel's text, as it is passed to the handler that compiles it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from numba.core.types import Type

from ..common.errors import Site, Unsupported
from ..common.source import Source
from ..types import numba_types
from .frame import Evaluate, Frame


class Compiler(Protocol):
    """The part of ``expressions.Expressions`` that a handler uses to compile the arguments.

    ``inner`` holds the inner functions by name. A handler sets the flags: ``cooperative`` if the
    blocks wait for each other, ``syncs_grid`` if the kernel has a barrier of the whole grid.
    ``uses_lock``: its blocks take a lock.
    """

    source: Source
    compile_function: Callable
    inner: dict
    cooperative: bool
    syncs_grid: bool
    uses_lock: bool

    def expression(self, node: ast.expr) -> Evaluate:
        """Compile an expression."""

    def inner_function(self, node: ast.Lambda) -> object:
        """Compile a function that is defined within this one (inner_functions.InnerFunction)."""

    def try_static(self, node: ast.expr) -> object:
        """Return the value of an expression that is known at compile time, else None."""

    def literal(self, node: ast.expr) -> Callable[[Frame], Type | None]:
        """Return ``kind(frame)``: Numba's literal type of a constant expression, else None."""


@dataclass(frozen=True)
class CallExpression:
    """A call in the kernel's source, and the compiler of the function that contains it."""

    compiler: Compiler
    node: ast.Call
    name: str | None  # the variable that the result is assigned to
    function: object  # the function that is called

    @property
    def source(self) -> Source:
        return self.compiler.source

    @property
    def site(self) -> Site:
        return self.source.site(self.node)

    def refuse(self, what: str) -> Exception:
        """Return the Unsupported error that says that the virtual GPU does not know ``what``."""
        return self.source.refuse(self.node, what)

    def arguments(self, least: int, most: int | None = None) -> list[Evaluate]:
        """Compile the positional arguments, of which there must be ``least`` to ``most``.

        Without ``most`` there must be exactly ``least``. Keyword arguments are refused.
        """
        count = len(self.node.args)
        if self.node.keywords or not least <= count <= (most or least):
            raise self.refuse(f"{ast.unparse(self.node)}, called with these arguments,")
        return [self.compiler.expression(a) for a in self.node.args]

    def only_static(self) -> object:
        """Return the value of the only argument if it is known at compile time, else None."""
        return self.compiler.try_static(self.node.args[0]) if len(self.node.args) == 1 else None

    def literal(self, node: ast.expr) -> Callable[[Frame], int | tuple | None]:
        """Return ``value(frame)``: the integer, or tuple of integers, that Numba knows at compile
        time for this expression; None for any other expression."""
        kind = self.compiler.literal(node)

        def value(frame: Frame) -> int | tuple | None:
            constant, refusal = kind(frame), frame.types.refusal
            if constant is None and refusal and self.function.__name__ not in refusal:
                raise Unsupported(f"{refusal} (Numba's compiler refuses this.)")
            return None if constant is None else numba_types.literal_value(constant)

        return value

    def named(self, *names: str) -> dict[str, ast.expr]:
        """Return the argument expressions by parameter name, passed by position or keyword."""
        by_name = dict(zip(names, self.node.args, strict=False))
        by_name.update({k.arg: k.value for k in self.node.keywords})
        if set(by_name) - set(names) or len(self.node.args) > len(names):
            raise self.refuse(f"an argument of {ast.unparse(self.node)}")
        return by_name


Handler = Callable[[CallExpression], Evaluate]  # compiles one call of a known function
