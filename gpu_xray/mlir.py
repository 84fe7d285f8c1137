"""Compiles a kernel of numba-cuda-mlir to machine code, without a GPU.

The compiler makes MLIR and PTX, and nvJitLink links the cubin, as before a launch. So registers and
machine code are those that the driver would load. This is the only file of the package that uses
private functions of numba-cuda-mlir, and it imports that package on demand.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
from collections.abc import Callable, Iterator
from types import FunctionType, SimpleNamespace

PACKAGE = "numba_cuda_mlir"
# Types whose instances are known by their names, such as float32 and bool.
_SCALARS = ("Integer", "Float", "Boolean", "Complex")


def is_installed() -> bool:
    """Return True if numba-cuda-mlir is installed; it is not imported."""
    return importlib.util.find_spec(PACKAGE) is not None


def is_mlir(value) -> bool:
    """Return True for a dispatcher, a type or a function of numba-cuda-mlir."""
    kind = value if isinstance(value, type | FunctionType) else type(value)
    return (getattr(kind, "__module__", None) or "").partition(".")[0] == PACKAGE


def default_options() -> dict:
    """Return the options of ``@cuda.jit`` by name, with their default values."""
    from numba_cuda_mlir import cuda

    return dict(cuda.jit(lambda: None).targetoptions)


def normalized(signature) -> tuple[tuple, object]:
    """Return the types of the arguments and of the result, in numba-cuda-mlir's own types.

    ``signature`` is a text, a signature or a tuple of types, of Numba or of numba-cuda-mlir. For a
    tuple the type of the result is None. Raises an exception of any kind for an invalid signature.
    """
    from numba_cuda_mlir.numba_cuda.core import sigutils

    if isinstance(signature, str):
        return sigutils.normalize_signature(signature)
    arguments = getattr(signature, "args", signature)
    result = getattr(signature, "return_type", None)
    return tuple(map(_own_type, arguments)), result


def _own_type(kind):
    """Return a type of Numba as the type of numba-cuda-mlir with the same meaning.

    Raises TypeError for a type that is neither a scalar nor an array of scalars.
    """
    from numba_cuda_mlir import types

    if is_mlir(kind):
        return kind
    if hasattr(kind, "layout"):
        dtype = _own_type(kind.dtype)
        return types.Array(dtype, kind.ndim, kind.layout, not kind.mutable, aligned=kind.aligned)
    if type(kind).__name__ in _SCALARS and hasattr(types, str(kind)):
        return getattr(types, str(kind))
    raise TypeError(f"numba-cuda-mlir has no type {kind}")


def implementations(value) -> list[FunctionType]:
    """Return the functions that emit the operations of a value which is called in kernels.

    They are those of `numba_cuda_mlir.extending.lower_builtin`. The list is empty for a value
    without any.
    """
    from numba_cuda_mlir.extending import lowering_registry

    return [emit for emit, function, _ in lowering_registry.functions if function is value]


def machine_code(
    python: Callable, options: dict, arguments: tuple, capability: tuple[int, int], lineinfo: bool
) -> tuple[str, bytes, str, str]:
    """Compile a Python function with a kernel's options; return its name in the code and its code.

    The result is (name, cubin, PTX, the assembler's messages). ``arguments`` are types of
    numba-cuda-mlir. With ``lineinfo`` the code has a table of source lines. Raises an exception of
    several kinds if the function cannot be compiled for these types, and nvJitLinkError if the
    assembler refuses the code.
    """
    from numba_cuda_mlir import types
    from numba_cuda_mlir.descriptor import mlir_target
    from numba_cuda_mlir.mlir_compiler import compile_mlir
    from numba_cuda_mlir.mlir_optimization import optimize

    options = {**options, "lineinfo": options.get("lineinfo", False) or lineinfo, "chip": None}
    mlir_target.ensure_initialized()
    # Not through a dispatcher, whose methods the virtual GPU replaces.
    with standing_in(capability):
        compiled = compile_mlir(python, types.none, arguments, targetoptions=options)
        optimize(compiled)
        cubin, log = _link(compiled.metadata)
    return compiled.metadata["func_name"], cubin, compiled.metadata["ptx"], log


def _link(metadata: dict) -> tuple[bytes, str]:
    """Link the PTX of a compiled kernel with its own options; return (cubin, log).

    The log has the assembler's figures of registers and spills. Raises nvJitLinkError if the
    assembler refuses the code.
    """
    from cuda.core import Linker

    linker = metadata["linker"].recreate_with_lto()
    linker.add_ptx(metadata["ptx"].encode())
    options = linker._get_linker_options(ptx=False)
    options = dataclasses.replace(options, ptxas_options=[*(options.ptxas_options or ()), "-v"])
    linked = Linker(*linker._object_codes, options=options)
    try:
        return linked.link("cubin").code, linked.get_info_log()
    finally:
        linked.close()


@contextlib.contextmanager
def standing_in(capability: tuple[int, int]) -> Iterator[None]:
    """Let numba-cuda-mlir find a current device with this compute capability.

    Version 0.6.0 asks the driver for the device's capability even if it is told one, and keeps the
    answer in a private name. Both are replaced, so that each of them may go in a later version.
    """
    from numba_cuda_mlir import tools
    from numba_cuda_mlir.numba_cuda.cudadrv import devices

    context = SimpleNamespace(device=SimpleNamespace(compute_capability=capability))
    originals = devices.get_context, getattr(tools, "_cached_cc", None)
    devices.get_context, tools._cached_cc = (lambda *ignored: context), capability
    try:
        yield
    finally:
        devices.get_context, tools._cached_cc = originals
