"""A compiled function, ready to run on lanes."""

from __future__ import annotations

from dataclasses import dataclass

from numba.core.types import Type

from ..common.errors import Unsupported, too_deep
from ..common.lanes import Mask
from ..common.source import ParameterUse, Source
from ..machine.run import Run
from .frame import Execute, Frame
from .inference import Inference


@dataclass(frozen=True)
class Program:
    """A kernel or a device function: its text, its closure, and what the text tells."""

    source: Source
    execute: Execute
    inference: Inference
    uses: dict[str, ParameterUse]
    cooperative: bool  # the blocks wait for each other, so all must be there at once
    takes_turns: bool  # the blocks take a lock, so one must be able to finish alone
    syncs_grid: bool = False  # the launch is cooperative: a device must hold all blocks at once

    def call(
        self,
        run: Run,
        arguments: tuple,
        mask: Mask,
        is_kernel: bool = False,
        literals: tuple[Type | None, ...] = (),
    ):
        """Run the function in the lanes of ``mask``; returns its value (None for a kernel).

        ``literals``: the types of arguments that are constants where the function is called.
        """
        if run.counters:
            run.counters.enter(self.source)
        try:
            types = self.inference.of_values(arguments, literals)
        except RecursionError:
            raise Unsupported(too_deep(self.source.name)) from None
        frame = Frame(run, mask, types, is_kernel)
        for name, value in zip(self.source.parameters, arguments, strict=True):
            frame.assign(name, value, mask)
        try:
            self.execute(frame, mask)
        except RecursionError:
            raise Unsupported(too_deep(self.source.name)) from None
        if types.refusal:  # said last: a refusal of the virtual GPU's own says it better
            raise Unsupported(f"{types.refusal} (Numba's compiler refuses this.)")
        return frame.result
