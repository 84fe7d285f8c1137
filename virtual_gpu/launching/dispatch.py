"""Numba's launch syntax: what takes the place of a dispatcher's methods."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from numba import cuda
from numba.core import sigutils, types, typing
from numba.cuda.cudadrv.error import NvvmSupportError
from numba.cuda.dispatcher import CUDADispatcher

from ..checks.report import Report
from ..common.errors import LaunchError, Unsupported, VirtualGpuError, without_interpreter
from ..common.filenames import elsewhere
from ..common.lanes import Geometry
from ..host.streams import check_stream
from ..machine.geometry import MAX_THREADS, make_geometry
from ..machine.occupancy import resident_blocks

FORALL_THREADS = 128
_compile_for_device = CUDADispatcher.compile_device  # Numba's own


@dataclass(frozen=True)
class VirtualLaunch:
    """``kernel[grid, block]``, ready to be called."""

    kernel: CUDADispatcher
    geometry: Geometry
    shared_bytes: int

    def __call__(self, *arguments, **named) -> None:
        __tracebackhide__ = True  # pytest shows the user's line instead of this text
        if named:
            raise LaunchError(
                f"{self.kernel.py_func.__name__} was launched with {', '.join(named)} by name; "
                "pass the arguments by position."
            )
        if self.kernel.targetoptions.get("device"):
            raise LaunchError(
                f"{self.kernel.py_func.__name__} is a device function; launch a kernel that calls "
                "it."
            )
        if getattr(self.kernel, "extensions", None):
            raise LaunchError(
                f"{self.kernel.py_func.__name__} has extensions, which change arguments in a way "
                "that the virtual GPU does not know; declare it without any."
            )
        watcher = getattr(CUDADispatcher, "virtual_gpu_watcher", None) or run_launch
        try:
            watcher(self, arguments)
        except (VirtualGpuError, KeyboardInterrupt) as error:
            raise without_interpreter(error) from None
        _note_types(self.kernel, arguments)


def run_launch(what: VirtualLaunch, arguments: tuple) -> None:
    """Run one launch. The first finding is raised; what is only a warning is warned of."""
    from .launch import Observer, launch  # the interpreter is not loaded before it is needed

    observer = Observer(Report(collect=False))
    launch(what.kernel, what.geometry, arguments, what.shared_bytes, observer)
    file = what.kernel.py_func.__code__.co_filename
    for finding in observer.report.findings:
        warnings.warn(f"{finding}{elsewhere(finding.site.file, file)}", stacklevel=3)


@contextlib.contextmanager
def watching(watcher: Callable[[VirtualLaunch, tuple], None]) -> Iterator[None]:
    """Inside, each launch goes to ``watcher`` with its arguments, and the watcher runs it.

    The watcher sees the launches of all threads. It is kept where ``install`` keeps its hooks: a
    ContextVar would be empty in a thread that the program starts.
    """
    before = getattr(CUDADispatcher, "virtual_gpu_watcher", None)
    CUDADispatcher.virtual_gpu_watcher = watcher
    try:
        yield
    finally:
        CUDADispatcher.virtual_gpu_watcher = before


@dataclass(frozen=True)
class VirtualKernel:
    """One entry of ``kernel.overloads``: the kernel for one list of argument types.

    Nothing is compiled for it. ``entry_point`` and ``objectmode`` are what Numba reads of it.
    """

    dispatcher: CUDADispatcher
    argument_types: tuple[types.Type, ...]
    entry_point: None = None
    objectmode: bool = False

    def max_cooperative_grid_blocks(self, blockdim, dynsmemsize: int = 0) -> int:
        """The most blocks of a cooperative launch, without static shared memory and registers."""
        return resident_blocks(make_geometry(1, blockdim).threads, dynsmemsize)

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        raise _needs_machine_code(self.dispatcher, name)


def configure(self, griddim, blockdim, stream=0, sharedmem=0) -> VirtualLaunch:
    """``kernel.configure(...)``"""
    check_stream(stream)
    return VirtualLaunch(self, make_geometry(griddim, blockdim), sharedmem)


def getitem(self, arguments) -> VirtualLaunch:
    """``kernel[...]``"""
    if not isinstance(arguments, tuple) or not 2 <= len(arguments) <= 4:
        name = self.py_func.__name__
        raise LaunchError(
            f"{name}[{arguments!r}] is no launch; write {name}[grid, block], or "
            f"{name}[grid, block, stream, shared_bytes]."
        )
    return configure(self, *arguments)


def forall(self, ntasks, tpb=0, stream=0, sharedmem=0) -> Callable:
    """``kernel.forall(n)``: a launch with at least ``ntasks`` threads."""
    if ntasks < 0:
        raise LaunchError(f"forall({ntasks}); the number of tasks must not be negative.")
    if ntasks == 0:
        return lambda *arguments: None
    threads = tpb or min(FORALL_THREADS, _most_threads(self))
    return configure(self, -(-ntasks // threads), threads, stream, sharedmem)


def _most_threads(kernel: CUDADispatcher) -> int:
    bounds = kernel.targetoptions.get("launch_bounds")
    return (bounds[0] if isinstance(bounds, tuple | list) else bounds) or MAX_THREADS


def declare(self, signature) -> VirtualKernel:
    """``@cuda.jit(signature)``: nothing is compiled, but arguments will be taken as declared."""
    declared, _ = sigutils.normalize_signature(signature)
    if declared not in self.overloads:
        self.overloads[declared] = VirtualKernel(self, declared)
    return self.overloads[declared]


@dataclass(frozen=True)
class TypedFunction:
    """One entry of the ``overloads`` of a device function that could only be typed.

    ``entry_point`` and ``objectmode`` are what Numba reads of it.
    """

    signature: typing.Signature
    entry_point: None = None
    objectmode: bool = False


def compile_device(self, args, return_type=None):
    """``@cuda.jit(signature, device=True)``: Numba compiles it. Where the compiler's library is not
    installed it is only typed, which is enough to run it here."""
    try:
        return _compile_for_device(self, args, return_type)
    except NvvmSupportError:
        from ..language.compiler import compile_function

        found = compile_function(self.py_func).inference.of_types(tuple(args))
    if found.refusal:
        raise Unsupported(f"{found.refusal} (Numba's compiler refuses this.)")
    self.overloads[args] = TypedFunction(typing.signature(return_type or found.returned, *args))
    return self.overloads[args]


def disable_compile(self, value: bool = True) -> None:
    """A function with signatures takes no other types; Numba's own asks for compiled code, too."""
    self._can_compile = not value


def specialize(self, *arguments) -> CUDADispatcher:
    """A copy of the kernel for exactly the types of these arguments."""
    if self.specialized:
        raise LaunchError(
            f"{self.py_func.__name__} has one signature already; specialize a kernel without."
        )
    declared = tuple(map(self.typeof_pyval, arguments))
    known = self.specializations.get(declared)
    if known is None:
        known = CUDADispatcher(self.py_func, targetoptions=self.targetoptions)
        known.compile(declared)
        known.disable_compile()
        known._specialized = True
        self.specializations[declared] = known
    return known


def _note_types(kernel: CUDADispatcher, arguments: tuple) -> None:
    """A launch adds its argument types to ``kernel.overloads``, as Numba's does."""
    if not kernel._can_compile:
        return
    try:
        declare(kernel, tuple(map(kernel.typeof_pyval, arguments)))
    except Exception:  # only the virtual GPU has learnt this type
        return


def forget_types(kernel: CUDADispatcher) -> None:
    """Take back what launches have added to ``kernel.overloads``: nothing was compiled for it."""
    for types_, made in list(kernel.overloads.items()):
        if isinstance(made, VirtualKernel):
            del kernel.overloads[types_]


def machine_code_method(name: str) -> Callable:
    """What takes the place of a method that reads machine code."""

    def refuse(self, *arguments, **named):
        raise _needs_machine_code(self, name)

    return refuse


def _needs_machine_code(kernel: CUDADispatcher, name: str) -> LaunchError:
    return LaunchError(
        f"{name} of {kernel.py_func.__name__} needs machine code, which the virtual GPU does not "
        "make; cuda.compile_ptx(function, signature) gives the compiler's PTX without a device."
    )


def inspect_asm(self, signature=None):
    """The PTX of one signature, or of all as a dictionary, from Numba's compiler."""
    return _of_signatures(self, signature, _ptx)


def _ptx(kernel: CUDADispatcher, signature) -> str:
    taken = ("debug", "lineinfo", "fastmath", "opt", "launch_bounds")
    options = {name: kernel.targetoptions.get(name) for name in taken}
    options["opt"] = bool(options["opt"])
    options["device"] = bool(kernel.targetoptions.get("device"))
    text, _ = cuda.compile_ptx(kernel.py_func, signature, cc=(9, 0), **options)
    return text


def _of_signatures(kernel: CUDADispatcher, signature, of: Callable):
    if signature is not None:
        return of(kernel, signature)
    return {known: of(kernel, known) for known in kernel.overloads}
