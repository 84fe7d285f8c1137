"""From a Python function to a program that runs it on lanes; compiled once, then reused.

What the virtual GPU does not know is refused here, before the kernel starts.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

from .errors import Unsupported
from .expressions import Expressions
from .frame import Execute, Frame
from .inference import Inference
from .lanes import Mask
from .source import ParameterUse, Source, parameter_uses, read_source
from .statements import Statements


@dataclass(frozen=True)
class Program:
    """A function ready to run on lanes."""

    source: Source
    execute: Execute
    inference: Inference
    uses: dict[str, ParameterUse]
    cooperative: bool  # the blocks wait for each other, so all must be there at once
    takes_turns: bool  # the blocks take a lock, so one must be able to finish alone

    def call(self, run, arguments: tuple, mask: Mask, is_kernel: bool = False):
        """Run the function in the lanes of ``mask``; returns its value (None for a kernel)."""
        types = self.inference.of_values(arguments)
        frame = Frame(run, mask, types, is_kernel)
        for name, value in zip(self.source.parameters, arguments, strict=True):
            frame.assign(name, value, mask)
        self.execute(frame, mask)
        if types.refusal:  # said last: a refusal of the virtual GPU's own says it better
            raise Unsupported(f"{types.refusal} (Numba's compiler refuses this.)")
        return frame.result


@functools.lru_cache(maxsize=1024)
def compile_function(function: Callable) -> Program:
    """The Program of a plain Python function. Outer names are frozen now, as Numba does."""
    source = read_source(function)
    expressions = Expressions(source, compile_function)
    body = Statements(expressions).block(source.tree.body)
    inference = Inference(source, lambda callee: compile_function(callee).inference)
    uses = parameter_uses(source.tree)
    return Program(source, body, inference, uses, expressions.cooperative, expressions.takes_turns)
