"""The functions that replace methods of Numba's CUDADispatcher, such as ``kernel[grid, block]``."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from numba import cuda
from numba.cuda.cudadrv.error import NvvmSupportError
from numba.cuda.dispatcher import CUDADispatcher

from virtual_gpu.common.division import cdiv

from ..checks.report import Report
from ..common.errors import LaunchError, VirtualGpuError, without_interpreter
from ..common.filenames import elsewhere
from ..common.lanes import Geometry
from ..compilers.declarations import TypedFunction, VirtualKernel, needs_machine_code
from ..compilers.kernels import as_numba_arguments, as_numba_kernel
from ..host.streams import check_stream
from ..machine.geometry import MAX_THREADS, make_geometry

FORALL_THREADS = 128
OF_MACHINE_CODE = (
    "get_const_mem_size",
    "get_local_mem_per_thread",
    "get_max_threads_per_block",
    "get_regs_per_thread",
    "get_shared_mem_per_block",
    "inspect_llvm",
    "inspect_lto_ptx",
    "inspect_sass",
    "inspect_sass_cfg",
    "inspect_types",
)
_compile_for_device = CUDADispatcher.compile_device  # Numba's own


@dataclass(frozen=True)
class VirtualLaunch:
    """The result of ``kernel[grid, block]``, which can be called with the kernel's arguments.

    ``shared_bytes`` is the dynamic shared memory of a block in bytes. A call passes itself and its
    arguments to the watcher of ``watching``, or else to ``run_launch``. It raises LaunchError for
    arguments by name, for a device function, and for a kernel with extensions. ``geometry`` has the
    extents of grid and block.
    """

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
        arguments = as_numba_arguments(arguments)
        try:
            current_watcher()(self, arguments)
        except (VirtualGpuError, KeyboardInterrupt) as error:
            raise without_interpreter(error) from None
        for kernel in {self.kernel, as_numba_kernel(self.kernel)}:
            _note_types(kernel, arguments)


def run_launch(call: VirtualLaunch, arguments: tuple) -> None:
    """Run a launch; raise its first flaw as an error, or else issue each warning that it found.

    The warnings are Python warnings.
    """
    from .launch import Observer, launch  # the interpreter is not loaded before it is needed

    observer = Observer(Report(collect=False))
    launch(call.kernel, call.geometry, arguments, call.shared_bytes, observer)
    file = call.kernel.py_func.__code__.co_filename
    for finding in observer.report.findings:
        warnings.warn(f"{finding}{elsewhere(finding.site.file, file)}", stacklevel=3)


def current_watcher() -> Callable[[VirtualLaunch, tuple], None]:
    """Return what runs a launch now: the watcher of ``watching``, or ``run_launch`` without one."""
    return getattr(CUDADispatcher, "virtual_gpu_watcher", None) or run_launch


@contextlib.contextmanager
def watching(watcher: Callable[[VirtualLaunch, tuple], None]) -> Iterator[None]:
    """Pass each launch within the context to ``watcher(launch, arguments)``, which must run it.

    The watcher gets the launches of all threads. It is an attribute of CUDADispatcher, like the
    methods that ``install`` sets, because a ContextVar would be empty in a new thread.
    """
    before = getattr(CUDADispatcher, "virtual_gpu_watcher", None)
    CUDADispatcher.virtual_gpu_watcher = watcher
    try:
        yield
    finally:
        CUDADispatcher.virtual_gpu_watcher = before


def configure(self, griddim, blockdim, stream=0, sharedmem=0) -> VirtualLaunch:
    """Replace ``kernel.configure(...)``: check the configuration and return a VirtualLaunch.

    ``sharedmem`` is in bytes, and is checked only when the launch runs. Raises LaunchError for a
    grid, block or stream that is not valid.
    """
    check_stream(stream)
    return VirtualLaunch(self, make_geometry(griddim, blockdim), sharedmem)


def getitem(self, arguments) -> VirtualLaunch:
    """Replace ``kernel[...]``: return a VirtualLaunch.

    ``arguments`` are the grid and the block, and optionally the stream and the shared memory in
    bytes. Raises LaunchError for another number of arguments, and for those that ``configure``
    refuses.
    """
    if not isinstance(arguments, tuple) or not 2 <= len(arguments) <= 4:
        name = self.py_func.__name__
        raise LaunchError(
            f"{name}[{arguments!r}] is no launch; write {name}[grid, block], or "
            f"{name}[grid, block, stream, shared_bytes]."
        )
    return configure(self, *arguments)


def forall(self, ntasks, tpb=0, stream=0, sharedmem=0) -> Callable:
    """Replace ``kernel.forall(n)``: return a VirtualLaunch of at least ``ntasks`` threads.

    A block has ``tpb`` threads. If ``tpb`` is 0, it has 128, or fewer if the kernel's launch bounds
    are lower. If ``ntasks`` is 0, a function that does nothing is returned. Raises LaunchError if
    ``ntasks`` is negative.
    """
    if ntasks < 0:
        raise LaunchError(f"forall({ntasks}); the number of tasks must not be negative.")
    if ntasks == 0:
        return lambda *arguments: None
    threads = tpb or min(FORALL_THREADS, _most_threads(self))
    return configure(self, cdiv(ntasks, threads), threads, stream, sharedmem)


def _most_threads(kernel: CUDADispatcher) -> int:
    """Return the most threads per block that a kernel's launch bounds allow.

    Without launch bounds it is MAX_THREADS.
    """
    bounds = kernel.targetoptions.get("launch_bounds")
    return (bounds[0] if isinstance(bounds, tuple | list) else bounds) or MAX_THREADS


def compile_device(self, args, return_type=None):
    """Compile a device function with Numba, and return its entry in ``overloads``.

    It serves ``@cuda.jit(signature, device=True)``. ``args`` are the Numba types of the arguments,
    and ``return_type`` that of the result, or None to infer it. If the compiler's library is not
    installed, the function is only typed and the entry is a TypedFunction, which is enough to run
    it on the virtual GPU. Raises Unsupported if the compiler refuses the code.
    """
    try:
        return _compile_for_device(self, args, return_type)
    except NvvmSupportError:
        typed = TypedFunction(self, tuple(args), return_type)
    if typed.signature:
        self.overloads[args] = typed
    return typed


def disable_compile(self, value: bool = True) -> None:
    """Let the function take no types but those of its signatures, or any types again.

    ``value`` is False to allow other types. Unlike Numba's method, this does not need compiled
    code.
    """
    self._can_compile = not value


def specialize(self, *arguments) -> CUDADispatcher:
    """Return a copy of the kernel that takes exactly the types of these arguments.

    The copy is cached per tuple of types. Raises LaunchError if this kernel is specialized already:
    it was declared with one signature, or is a copy that an earlier call returned.
    """
    if self.specialized:
        raise LaunchError(
            f"{self.py_func.__name__} has one signature already; specialize a kernel without."
        )
    declared = tuple(map(self.typeof_pyval, arguments))
    specialized = self.specializations.get(declared)
    if specialized is None:
        specialized = CUDADispatcher(self.py_func, targetoptions=self.targetoptions)
        specialized.compile(declared)
        specialized.disable_compile()
        specialized._specialized = True
        self.specializations[declared] = specialized
    return specialized


def _note_types(kernel: CUDADispatcher, arguments: tuple) -> None:
    """Add the argument types of a launch to ``kernel.overloads``, as its compiler does.

    Adds nothing if the kernel has only declared signatures, or if the compiler does not know a
    type.
    """
    if not kernel._can_compile:
        return
    try:
        noted = tuple(map(kernel.typeof_pyval, arguments))
    except Exception:  # a type that only the virtual GPU knows
        return
    kernel.overloads.setdefault(noted, VirtualKernel(kernel, noted))


def forget_types(kernel: CUDADispatcher) -> None:
    """Remove the entries that launches or ``compile`` added to ``kernel.overloads``."""
    for types_, overload in list(kernel.overloads.items()):
        if isinstance(overload, VirtualKernel):
            del kernel.overloads[types_]


def machine_code_method(name: str) -> Callable:
    """Return a method that raises LaunchError, to replace a method that reads machine code.

    ``name`` is the name of that method, which the message has.
    """

    def refuse(self, *arguments, **named):
        raise needs_machine_code(self, name)

    return refuse


def inspect_asm(self, signature=None):
    """Return the PTX text that Numba's compiler makes for a signature, for compute capability 9.0.

    Without a signature, return a dict from each signature in ``overloads`` to its PTX text.
    """
    if signature is not None:
        return _ptx(self, signature)
    return {declared: _ptx(self, declared) for declared in self.overloads}


def _ptx(kernel: CUDADispatcher, signature) -> str:
    """Return the PTX text of a kernel for a signature and compute capability 9.0.

    It is compiled with the kernel's own options.
    """
    names = ("debug", "lineinfo", "fastmath", "opt", "launch_bounds")
    options = {name: kernel.targetoptions.get(name) for name in names}
    options["opt"] = bool(options["opt"])
    options["device"] = bool(kernel.targetoptions.get("device"))
    text, _ = cuda.compile_ptx(kernel.py_func, signature, cc=(9, 0), **options)
    return text
