"""The signatures that a kernel or a device function was declared with, kept without machine code.

They are the entries of ``overloads`` of Numba's dispatcher.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from numba.core import sigutils, types, typing
from numba.cuda.dispatcher import CUDADispatcher

from ..common.errors import LaunchError, Unsupported
from ..machine.geometry import make_geometry
from ..machine.occupancy import resident_blocks


@dataclass(frozen=True)
class VirtualKernel:
    """An entry of ``kernel.overloads``: the kernel for one tuple of argument types.

    Nothing is compiled for it. Numba reads ``entry_point`` and ``objectmode``. Any other attribute
    needs machine code and raises LaunchError. ``dispatcher`` is the kernel.
    """

    dispatcher: CUDADispatcher
    argument_types: tuple[types.Type, ...]
    entry_point: None = None
    objectmode: bool = False

    def max_cooperative_grid_blocks(self, blockdim, dynsmemsize: int = 0) -> int:
        """Return the largest number of blocks that a cooperative launch can have.

        It is the number that a device with 132 multiprocessors can hold at once. ``blockdim`` is an
        int or a tuple of up to three ints, and ``dynsmemsize`` is the dynamic shared memory per
        block in bytes. Registers and static shared memory are not counted.
        """
        return resident_blocks(make_geometry(1, blockdim).threads, dynsmemsize)

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        raise needs_machine_code(self.dispatcher, name)


@dataclass(frozen=True)
class TypedFunction:
    """An entry of the ``overloads`` of a device function that is typed but not compiled.

    Numba reads ``entry_point`` and ``objectmode``. ``dispatcher`` is the device function, and
    ``return_type`` the type of its result, or None if that is to be inferred.
    """

    dispatcher: CUDADispatcher
    argument_types: tuple[types.Type, ...]
    return_type: types.Type | None = None
    entry_point: None = None
    objectmode: bool = False

    @functools.cached_property
    def signature(self) -> typing.Signature:
        """The types of the arguments and of the result.

        The result has the declared type if there is one. Otherwise its type is inferred when it is
        asked for, because the function may call one that is defined later. Raises Unsupported for
        code that Numba's compiler refuses.
        """
        from ..language.compiler import compile_function  # not loaded before it is needed

        inferred = compile_function(self.dispatcher.py_func).inference.of_types(self.argument_types)
        if inferred.refusal:
            raise Unsupported(f"{inferred.refusal} (Numba's compiler refuses this.)")
        return typing.signature(self.return_type or inferred.returned, *self.argument_types)


def declare(kernel: CUDADispatcher, signature) -> VirtualKernel:
    """Add the types of a signature to ``kernel.overloads``, and return the VirtualKernel of it.

    If the kernel has these types already, their VirtualKernel is returned and nothing is added.
    Nothing is compiled. A launch then casts its arguments to a declared signature.
    """
    declared, _ = sigutils.normalize_signature(signature)
    if declared not in kernel.overloads:
        kernel.overloads[declared] = VirtualKernel(kernel, declared)
    return kernel.overloads[declared]


def needs_machine_code(kernel: CUDADispatcher, name: str) -> LaunchError:
    """Return, without raising it, the LaunchError for a name that needs machine code.

    ``name`` is that of a method or an attribute.
    """
    return LaunchError(
        f"{name} of {kernel.py_func.__name__} needs machine code, which the virtual GPU does not "
        "make; cuda.compile_ptx(function, signature) gives the compiler's PTX without a device."
    )
