"""From a Python function to a program that runs it on lanes; compiled once, then reused.

What the virtual GPU does not know is refused here, before the kernel starts.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from .expressions import Expressions
from .inference import Inference
from .program import Program
from .source import parameter_uses, read_source
from .statements import Statements


@functools.lru_cache(maxsize=1024)
def compile_function(function: Callable) -> Program:
    """The Program of a plain Python function. Outer names are frozen now, as Numba does."""
    source = read_source(function)
    expressions = Expressions(source, compile_function)
    body = Statements(expressions).block(source.tree.body)
    inference = Inference(source, lambda callee: compile_function(callee).inference)
    uses = parameter_uses(source.tree)
    return Program(source, body, inference, uses, expressions.cooperative, expressions.takes_turns)
