"""Installs the virtual GPU into ``numba_cuda_mlir.cuda``, the successor of ``numba.cuda``.

The methods of its dispatchers convert the kernel and go on as for a kernel of Numba.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Iterator

from ..common.errors import LaunchError
from ..compilers.declarations import VirtualKernel
from ..compilers.kernels import as_numba_kernel
from ..compilers.package import PACKAGE, declared_types, is_loaded
from ..host.hostarrays import DeviceArray
from . import dispatcher_methods
from .dispatcher_methods import OF_MACHINE_CODE, VirtualLaunch, machine_code_method

CUDA = f"{PACKAGE}.cuda"


def replacements(host_names: dict, device_names: dict) -> Iterator[tuple[object, str, object]]:
    """Yield (owner, name, value) for each attribute of the package that ``install`` sets.

    ``owner`` is a module or a class. ``host_names`` maps the names of functions that host programs
    call, such as "to_device", to the virtual GPU's functions, and ``device_names`` the names of
    those that return the device. Yields nothing before the program has imported the package.
    """
    if not is_loaded():
        return
    from numba_cuda_mlir.descriptor import MLIRDispatcher
    from numba_cuda_mlir.numba_cuda.cudadrv import devicearray
    from numba_cuda_mlir.numba_cuda.dispatcher import CUDADispatcher

    _own_methods()
    yield MLIRDispatcher, "get_call_template", _get_call_template
    for dispatcher in (MLIRDispatcher, CUDADispatcher):
        for name, method in _METHODS.items():
            yield dispatcher, name, method
        for name in _OF_MACHINE_CODE:
            if hasattr(dispatcher, name):
                yield dispatcher, name, machine_code_method(name)
    for module in list(sys.modules.values()):
        # Its compiler has a function `get_context` of another meaning.
        if getattr(module, "__name__", "").startswith((f"{CUDA}.", f"{PACKAGE}.numba_cuda.")):
            for name in device_names.keys() & vars(module).keys():
                yield module, name, device_names[name]
    for module in (sys.modules[CUDA], sys.modules[f"{PACKAGE}.numba_cuda"]):
        for name, value in host_names.items():
            yield module, name, value
    for module in (sys.modules[CUDA], devicearray):
        yield module, "DeviceNDArray", DeviceArray


class AfterImport(importlib.abc.MetaPathFinder):
    """Calls ``then()`` when the program has imported ``numba_cuda_mlir.cuda``.

    It is put at the beginning of ``sys.meta_path``.
    """

    def __init__(self, then: Callable[[], None]):
        self._then = then

    def find_spec(self, name: str, path, target=None) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of ``numba_cuda_mlir.cuda``, and None for every other module.

        Its loader calls the function that was given to AfterImport after it has executed the
        module.
        """
        if name != CUDA:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_install(module) -> None:
                execute(module)
                self._then()

            spec.loader.exec_module = execute_and_install
        return spec


def _configure(
    self, griddim, blockdim, stream=None, sharedmem=None, cluster=None
) -> VirtualLaunch:
    """Replace ``kernel.configure(...)``: return a VirtualLaunch of this kernel.

    ``sharedmem`` is in bytes. Raises LaunchError for a launch in clusters of blocks, and for a
    grid, block or stream that is not valid.
    """
    if cluster is not None:
        raise LaunchError(
            f"{self.py_func.__name__} was launched with cluster={cluster!r}; the virtual GPU knows "
            "no clusters of blocks: launch without."
        )
    return dispatcher_methods.configure(self, griddim, blockdim, stream or 0, sharedmem or 0)


def _getitem(self, arguments) -> VirtualLaunch:
    """Replace ``kernel[...]``: return a VirtualLaunch.

    ``arguments`` are those of ``_configure``: the grid, the block, and optionally the stream, the
    shared memory in bytes and the cluster. Raises LaunchError for another number of them.
    """
    if isinstance(arguments, tuple) and len(arguments) == 5:
        return _configure(self, *arguments)
    return dispatcher_methods.getitem(self, arguments)


@functools.cache
def _own_methods() -> tuple[Callable, Callable, Callable]:
    """Return the package's methods ``compile``, ``get_call_template`` and ``typeof_pyval``.

    They are those of a dispatcher, and are asked for before ``install`` replaces them.
    """
    from numba_cuda_mlir.descriptor import MLIRDispatcher

    return MLIRDispatcher.compile, MLIRDispatcher.get_call_template, MLIRDispatcher.typeof_pyval


def _compile(self, signature, **options):
    """Replace ``kernel.compile(signature)``: note the types of the signature, compile nothing.

    Returns None. The kernel is converted at its first launch, because it may read names that are
    bound later. Functions such as ``cuda.compile_ptx`` pass ``options``; then the package's own
    method compiles the kernel, and its result is returned.
    """
    if options:
        compile_there, _, _ = _own_methods()
        return compile_there(self, signature, **options)
    from numba_cuda_mlir.numba_cuda.core.sigutils import normalize_signature

    types, _ = normalize_signature(signature)
    self.virtual_gpu_signatures = (*declared_types(self), types)
    if not self.targetoptions.get("device"):
        self.overloads.setdefault(types, VirtualKernel(self, types))
    return None


def _typeof_pyval(self, value):
    """Replace ``kernel.typeof_pyval(value)``: return the package's type of an argument.

    A device array has the type of the NumPy array that serves as its memory.
    """
    _, _, type_there = _own_methods()
    return type_there(self, value.host if isinstance(value, DeviceArray) else value)


def _get_call_template(self, arguments, named):
    """Replace ``function.get_call_template(...)``: return the result of the package's own method.

    The package types the call of a device function by it. If the function has signatures, it is
    compiled for them first, because ``compile`` has only noted them.
    """
    _, call_template, _ = _own_methods()
    for types in declared_types(self):
        self._compile_as_device_callee(types)
    return call_template(self, arguments, named)


def _disable_compile(self, value: bool = True) -> None:
    """Let the function take no types but those of its signatures.

    With ``value`` False it takes any types again.
    """
    self._can_compile = not value


def _inspect_asm(self, signature=None):
    """Return the PTX text of the package's compiler for a signature and compute capability 9.0.

    Without a signature, return a dict from each declared signature to its PTX text.
    """
    from numba_cuda_mlir import cuda

    if signature is None:
        return {types: _inspect_asm(self, types) for types in declared_types(self)}
    device = bool(self.targetoptions.get("device"))
    text, _ = cuda.compile_ptx(self.py_func, signature, cc=(9, 0), device=device, abi="numba")
    return text


def _converting(method: Callable) -> Callable:
    """Return a method that converts its kernel to one of Numba and calls ``method`` with that."""

    def convert_and_call(self, *arguments, **named):
        return method(as_numba_kernel(self), *arguments, **named)

    return convert_and_call


_METHODS = {
    "configure": _configure,
    "__getitem__": _getitem,
    "forall": _converting(dispatcher_methods.forall),
    "compile": _compile,
    "compile_device": _compile,
    "typeof_pyval": _typeof_pyval,
    "disable_compile": _disable_compile,
    "specialize": _converting(dispatcher_methods.specialize),
    "inspect_asm": _inspect_asm,
    "inspect_ptx": _inspect_asm,
}
_OF_MACHINE_CODE = (
    *OF_MACHINE_CODE,
    "get_metadata",
    "inspect_mlir",
    "inspect_mlir_optimized",
)
