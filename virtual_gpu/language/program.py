"""A compiled function that can run on lanes."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field

from numba.core.types import Type

from ..common.errors import Unsupported, too_deep
from ..common.lanes import Mask
from ..common.regular_stores import filled_by_index
from ..common.source import ParameterUse, Source
from ..machine.run import BatchRun
from .frame import Execute, Frame
from .inference import Inference


@dataclass(frozen=True)
class Program:
    """A compiled kernel or device function, with the properties that its text shows.

    ``uses`` maps parameters to their ParameterUse. ``cooperative`` is True if the blocks wait for
    each other, so all must run at once, and ``uses_lock`` if they take a lock, so one must be able
    to finish alone. ``syncs_grid`` is True if there is a barrier of the whole grid.
    ``device_arrays`` maps the ``id`` of each global device array to its name and the array.
    ``expressions`` is the compiler of its expressions, and ``stores_by_data`` are its stores whose
    lanes the content of an array decides. ``source`` is the text, ``execute`` the closure that runs
    the body, and ``inference`` gives the types of its values.
    """

    source: Source
    execute: Execute
    inference: Inference
    uses: dict[str, ParameterUse]  # by parameter name
    cooperative: bool  # the blocks wait for each other, so all must run at once
    uses_lock: bool  # the blocks take a lock, so one must be able to finish alone
    syncs_grid: bool = False  # the launch is cooperative: a device must hold all blocks at once
    expressions: object = None  # the compiler of its expressions
    stores_by_data: frozenset[ast.AST] = frozenset()
    # The name and the array of each global device array, by the array's id.
    device_arrays: Mapping[int, tuple[str, object]] = field(default_factory=dict)

    @functools.cached_property
    def has_loop(self) -> bool:
        """True if the function has a loop or any call, because what it calls may have a loop."""
        nodes = [node for statement in self.source.tree.body for node in ast.walk(statement)]
        return any(isinstance(n, ast.For | ast.While | ast.Call) for n in nodes)

    @functools.cached_property
    def fills(self) -> dict[str, bool]:
        """A dict with the names of the parameters that the function may write to.

        The value is True if thread indices, extents and numbers alone decide which elements are
        stored, and False if the content of an array may decide it.
        """
        regular = filled_by_index(self.source)
        return {name: name in regular for name, use in self.uses.items() if use.may_write}

    def call(
        self,
        run: BatchRun,
        arguments: tuple,
        mask: Mask,
        is_kernel: bool = False,
        literals: tuple[Type | None, ...] = (),
    ):
        """Run the function in the lanes of ``mask``; return its value, which is None for a kernel.

        ``arguments`` holds one value per parameter. ``literals`` holds Numba's literal types of
        arguments that are constants at the call, and None for the others; it may be shorter. Raises
        Unsupported for code that Numba's compiler refuses.
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
        if types.refusal:  # raised last, because the virtual GPU's own errors are clearer
            raise Unsupported(f"{types.refusal} (Numba's compiler refuses this.)")
        return frame.result
