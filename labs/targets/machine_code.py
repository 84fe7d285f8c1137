"""The machine code of a reader's kernel, on a machine with a compiler."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba import typeof, types

from labs.checking.run import Run
from utils.errors import CourseError

if TYPE_CHECKING:
    from gpu_xray import XRay


def machine_code(run: Run) -> XRay | None:
    """Compile the kernel for the arguments of a run and return the x-ray of its machine code.

    Returns None if it cannot be compiled here, for example because there is no compiler.
    """
    from gpu_xray import xray  # this import takes half a second, which most checks do not need

    arguments = (*run.inputs, run.out)
    try:
        return xray(run.kernel, types.void(*map(typeof, arguments)))
    except CourseError:
        return None
