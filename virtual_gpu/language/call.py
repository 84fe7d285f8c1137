"""A call in the kernel's text, as it is handed to the function that compiles such calls."""

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
    """What a call needs of the function that it stands in (expressions.Expressions).

    Arguments are expressions, and calls are expressions, too: so what compiles a call is handed the
    compiler of expressions.
    """

    source: Source
    compile_function: Callable
    inner: dict
    cooperative: bool
    syncs_grid: bool
    takes_turns: bool

    def expression(self, node: ast.expr) -> Evaluate:
        """What evaluates an expression while the kernel runs."""

    def inner_function(self, node: ast.Lambda) -> object:
        """A function that is defined within the function (inner.InnerFunction)."""

    def try_static(self, node: ast.expr) -> object:
        """The value of an expression that is known before; None if it is not."""

    def literal(self, node: ast.expr) -> Callable[[Frame], Type | None]:
        """What gives the type of a constant expression, as Numba sees it; None for any other."""


@dataclass(frozen=True)
class Call:
    """A call as it stands in the kernel's source."""

    compiler: Compiler
    node: ast.Call
    name: str | None  # the variable that the result is assigned to
    function: object

    @property
    def source(self) -> Source:
        return self.compiler.source

    @property
    def site(self) -> Site:
        return self.source.site(self.node)

    def refuse(self, what: str) -> Exception:
        return self.source.refuse(self.node, what)

    def arguments(self, least: int, most: int | None = None) -> list[Evaluate]:
        """The positional arguments as expressions; between ``least`` and ``most`` of them."""
        count = len(self.node.args)
        if self.node.keywords or not least <= count <= (most or least):
            raise self.refuse(f"{ast.unparse(self.node)}, called with these arguments,")
        return [self.compiler.expression(a) for a in self.node.args]

    def only_static(self) -> object:
        """The value of the one argument, where it is known before the kernel runs; else None."""
        return self.compiler.try_static(self.node.args[0]) if len(self.node.args) == 1 else None

    def literal(self, node: ast.expr) -> Callable[[Frame], int | tuple | None]:
        """What gives the value of an integer, or of a tuple of them, that Numba knows while it
        compiles; None for any other."""
        kind = self.compiler.literal(node)

        def value(frame: Frame) -> int | tuple | None:
            known, refusal = kind(frame), frame.types.refusal
            if known is None and refusal and self.function.__name__ not in refusal:
                raise Unsupported(f"{refusal} (Numba's compiler refuses this.)")
            return None if known is None else numba_types.literal_value(known)

        return value

    def named(self, *names: str) -> dict[str, ast.expr]:
        """Arguments by name, given by position or keyword."""
        given = dict(zip(names, self.node.args, strict=False))
        given.update({k.arg: k.value for k in self.node.keywords})
        if set(given) - set(names) or len(self.node.args) > len(names):
            raise self.refuse(f"an argument of {ast.unparse(self.node)}")
        return given


Handler = Callable[[Call], Evaluate]  # compiles one call of a function that it knows
