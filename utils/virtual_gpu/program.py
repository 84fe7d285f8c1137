"""A compiled function, ready to run on lanes."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import Unsupported
from .frame import Execute, Frame
from .inference import Inference
from .lanes import Mask
from .run import Run
from .source import ParameterUse, Source


@dataclass(frozen=True)
class Program:
    """A kernel or a device function: its text, its closure, and what the text tells."""

    source: Source
    execute: Execute
    inference: Inference
    uses: dict[str, ParameterUse]
    cooperative: bool  # the blocks wait for each other, so all must be there at once
    takes_turns: bool  # the blocks take a lock, so one must be able to finish alone

    def call(self, run: Run, arguments: tuple, mask: Mask, is_kernel: bool = False):
        """Run the function in the lanes of ``mask``; returns its value (None for a kernel)."""
        types = self.inference.of_values(arguments)
        frame = Frame(run, mask, types, is_kernel)
        for name, value in zip(self.source.parameters, arguments, strict=True):
            frame.assign(name, value, mask)
        self.execute(frame, mask)
        if types.refusal:  # said last: a refusal of the virtual GPU's own says it better
            raise Unsupported(f"{types.refusal} (Numba's compiler refuses this.)")
        return frame.result
