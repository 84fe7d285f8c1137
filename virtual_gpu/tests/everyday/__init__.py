"""Right kernels of the kinds that students and other projects write.

None of them may get a warning, a finding or a refusal. Each module holds those of one field, with
what NumPy or plain Python says that each must leave in its last argument. `programs` holds programs
of several launches, which verify themselves.
"""

from __future__ import annotations

from collections.abc import Callable

from ..kernels import KernelCase, MakeArguments


def collector() -> tuple[list[KernelCase], Callable]:
    """Return a list, and a decorator ``right(arguments, want, grid, block)`` that adds to it.

    ``arguments`` makes the arguments of the launch from a NumPy generator. ``want`` takes them as
    they are before the launch and returns what the last one must hold afterwards. Other keywords
    are fields of KernelCase.
    """
    cases: list[KernelCase] = []

    def right(arguments: MakeArguments, want: Callable, grid=1, block=64, **more) -> Callable:
        def add(kernel):
            case = KernelCase(kernel, "", arguments, grid, block, reference=want, **more)
            cases.append(case)
            return kernel

        return add

    return cases, right
