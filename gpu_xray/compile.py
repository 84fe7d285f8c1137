"""Compiles a kernel to machine code in the way of its own compiler, but without a GPU.

A kernel belongs to the compiler whose ``cuda.jit`` decorates it. For numba-cuda, Numba generates
LLVM IR, NVVM compiles it to LTO-IR or PTX, and nvJitLink links the cubin. Numba takes the same
steps, so registers and machine code are those that the driver would load. This is the only file of
the package that uses private functions of Numba; `gpu_xray.mlir` is for numba-cuda-mlir.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace

from numba import cuda
from numba.cuda.cudadrv import nvvm

from gpu_xray import mlir
from gpu_xray.errors import CourseError
from gpu_xray.limits import with_budgets
from gpu_xray.mixed_compilers import require_one_compiler
from gpu_xray.versions import explained, supported_capabilities

# The architectures for which the budgets of the steps are tested; the toolkit knows more.
ARCHITECTURES = with_budgets()

NUMBA_CUDA, NUMBA_CUDA_MLIR = "numba-cuda", "numba-cuda-mlir"
NO_COMPILER = (
    "The CUDA compiler is not installed, so there is no machine code to look at. On Linux and "
    "Windows, in a clone of the course `make setup` installs it, elsewhere "
    '`python -m pip install "numba-virtual-gpu[compiler]"`. For macOS there is none.'
)
NUMBA_CUDA_MISSING = (
    "This kernel is one of `numba.cuda`, whose compiler, numba-cuda, is not installed: install it, "
    "or write `from numba_cuda_mlir import cuda`."
)


@dataclass(frozen=True)
class CompiledKernel:
    """A kernel that is compiled for one architecture.

    entry: the kernel's name in the code. cubin: the ELF image that a driver would load.
    ptx: the input of the assembler, after link-time optimisation. log: the assembler's messages.
    """

    entry: str
    cubin: bytes
    ptx: str
    log: str


def capability_of(arch: str) -> tuple[int, int]:
    """Return the compute capability of an architecture, such as (9, 0) for "sm_90".

    Raises CourseError if there is no compiler, or if its toolkit does not know the architecture.
    """
    require_compiler()
    known = {f"sm_{major}{minor}": (major, minor) for major, minor in supported_capabilities()}
    if arch not in known:
        raise CourseError(
            f"This CUDA toolkit has no architecture {arch!r}: choose one of {', '.join(known)}."
        )
    return known[arch]


def require_compiler(kernel: Callable | None = None) -> None:
    """Raise CourseError unless the compiler of this kernel is installed.

    For None, raise it only if no compiler is installed.
    """
    if compiler_of(kernel) == NUMBA_CUDA_MLIR:
        return
    if not _has_numba_cuda():
        raise CourseError(NUMBA_CUDA_MISSING if mlir.is_installed() else NO_COMPILER)


def compiler_of(kernel: Callable | None = None) -> str:
    """Return the name of the compiler whose ``cuda.jit`` decorates the kernel.

    For a plain function, or None, it is numba-cuda where that is installed, else numba-cuda-mlir if
    that is, else numba-cuda.
    """
    if mlir.is_mlir(kernel):
        return NUMBA_CUDA_MLIR
    if hasattr(kernel, "targetoptions") or _has_numba_cuda() or not mlir.is_installed():
        return NUMBA_CUDA
    return NUMBA_CUDA_MLIR


def _has_numba_cuda() -> bool:
    """Return True if numba-cuda, NVVM and nvJitLink are installed."""
    try:
        from cuda.core import Linker  # noqa: F401
        from numba.cuda.cudadrv.driver import _have_nvjitlink
    except ImportError:  # plain numba, or an old numba-cuda: they link through the driver
        return False
    return nvvm.is_available() and _have_nvjitlink()


def compile_kernel(
    kernel: Callable, signature, arch: str, lineinfo: bool = False
) -> CompiledKernel:
    """Compile a ``@cuda.jit`` kernel with its own options, or a plain function, to machine code.

    ``signature`` holds the types of the arguments, such as void(float32[::1]). With ``lineinfo``
    the code has a table of source lines, and it may differ in places. Raises CourseError without a
    compiler, for an unknown architecture, for arguments that the kernel does not take, and for a
    kernel that the compiler refuses or that calls functions of another compiler.
    """
    capability = capability_of(arch)
    arguments = argument_types(kernel, signature)
    require_one_compiler(python_of(kernel), compiler_of(kernel) == NUMBA_CUDA_MLIR)
    if compiler_of(kernel) == NUMBA_CUDA_MLIR:
        return _compile_mlir(kernel, arguments, arch, lineinfo)
    with explained(), _pretending(capability):
        compiled = _compile(kernel, arguments, lineinfo)
        library = compiled.library
        cc = library._ensure_cc(None)
        cubin, log = _link(library, cc, lineinfo, "cubin")
        ptx = library.get_asm_str(cc)
        if library._lto:
            ptx = _link(library, cc, lineinfo, "ptx")[0].decode().strip("\0\n ")
    return CompiledKernel(compiled.entry_name, cubin, ptx, log)


def options_of(kernel: Callable) -> dict:
    """Return a kernel's options of ``@cuda.jit`` by name, such as launch_bounds or fastmath.

    For a plain function they are the defaults. The dict is a copy.
    """
    options = getattr(kernel, "targetoptions", None)
    if options is not None:
        return dict(options)
    if compiler_of(kernel) == NUMBA_CUDA_MLIR:
        return mlir.default_options()
    return dict(cuda.jit(kernel).targetoptions)


def python_of(kernel: Callable) -> Callable:
    """Return the Python function of a decorated kernel, or the function itself."""
    return getattr(kernel, "py_func", kernel)


def argument_types(kernel: Callable, signature) -> tuple:
    """Return the types of the arguments in a signature, those of the kernel's compiler, as a tuple.

    ``signature`` is a text such as "void(float32[::1])", a signature or a tuple of types. Raises
    CourseError for an invalid signature, for one that returns a value, and for another number of
    arguments than the kernel has.
    """
    python = python_of(kernel)
    try:
        arguments, result = _normalized(kernel, signature)
    except Exception as error:  # Numba evaluates a text, which may raise anything
        raise CourseError(
            f"{signature!r} is no signature: write the types of the arguments, for example "
            '"void(float32[::1], float32[::1])".'
        ) from error
    if str(result) not in ("None", "none", "void"):
        raise CourseError(
            f"A kernel returns nothing, and the signature says {result}: begin it with void."
        )
    names = list(inspect.signature(python).parameters)
    if len(arguments) != len(names):
        raise CourseError(
            f"{python.__name__} takes {len(names)} arguments ({', '.join(names)}), and the "
            f"signature has {len(arguments)}: give each argument a type."
        )
    return arguments


def _normalized(kernel: Callable, signature) -> tuple[tuple, object]:
    """Return (types of the arguments, type of the result) of a signature, for a kernel's compiler.

    Raises an exception of any kind for an invalid signature.
    """
    if compiler_of(kernel) == NUMBA_CUDA_MLIR:
        return mlir.normalized(signature)
    from numba.cuda.core import sigutils

    return sigutils.normalize_signature(signature)


def _compile_mlir(kernel: Callable, arguments: tuple, arch: str, lineinfo: bool) -> CompiledKernel:
    """Compile a kernel of numba-cuda-mlir, or a plain function with it.

    ``arguments`` are types of that package. With ``lineinfo``, the code gets line information even
    if the kernel's options do not ask for it. Raises CourseError if it cannot be compiled.
    """
    from cuda.bindings.nvjitlink import nvJitLinkError
    from numba_cuda_mlir.numba_cuda.core.errors import NumbaError

    capability = capability_of(arch)
    try:
        with explained():
            return CompiledKernel(
                *mlir.machine_code(
                    python_of(kernel), options_of(kernel), arguments, capability, lineinfo
                )
            )
    except nvJitLinkError as error:
        raise refusal(str(error), arch) from error
    except (NumbaError, NotImplementedError, RuntimeError, TypeError) as error:
        raise _not_compiled(kernel, arguments, error) from error


def _compile(kernel: Callable, arguments: tuple, lineinfo: bool):
    """Return Numba's object for one compiled kernel; raise CourseError if it cannot be compiled.

    ``arguments`` are Numba types. With ``lineinfo``, the code gets line information even if the
    kernel's options do not ask for it.
    """
    from numba.core.errors import NumbaError
    from numba.cuda.core import errors
    from numba.cuda.dispatcher import _Kernel

    python, options = python_of(kernel), options_of(kernel)
    options["lineinfo"] = options["lineinfo"] or lineinfo
    try:
        return _Kernel(python, arguments, **options)
    except (errors.NumbaError, NumbaError, TypeError) as error:
        raise _not_compiled(kernel, arguments, error) from error


def _not_compiled(kernel: Callable, arguments: tuple, error: Exception) -> CourseError:
    """Return, without raising it, the CourseError for a kernel that its compiler refuses.

    ``arguments`` are the types of the kernel's arguments. ``error`` is the compiler's report.
    """
    listed = ", ".join(map(str, arguments))
    return CourseError(
        f"{python_of(kernel).__name__} cannot be compiled for ({listed}): {_first_reason(error)} "
        "Compare the signature with what the kernel does with its arguments."
    )


def _first_reason(error: Exception) -> str:
    """Return the first line of Numba's report that does not begin with "Failed in", as a sentence.

    Colours are removed, and it ends with a full stop. Without such a line it is the error's repr.
    """
    text = re.sub(r"\x1b\[[\d;]*m", "", str(error))
    lines = [line.strip(" -") for line in text.splitlines() if line.strip(" -")]
    lines = [line for line in lines if not line.startswith("Failed in")] or [repr(error)]
    return f"{lines[0].rstrip('.:')}."


def _link(library, cc: tuple, lineinfo: bool, kind: str) -> tuple[bytes, str]:
    """Link with the options of Numba's linker and a verbose assembler; return (code, log).

    ``kind`` is "cubin" or "ptx". Raises CourseError if the assembler refuses the code. ``cc`` is
    the compute capability, (major, minor). With ``lineinfo``, the code keeps its line numbers.
    """
    from cuda.bindings.nvjitlink import nvJitLinkError
    from cuda.core import Linker
    from numba.cuda.cudadrv import driver

    numba_linker = driver._Linker(library._max_registers, lineinfo, cc, library._lto)
    with warnings.catch_warnings():
        # The device runtime has no PTX to show.
        warnings.filterwarnings("ignore", message="Not adding")
        library._link_all(numba_linker, cc, ignore_nonlto=kind == "ptx")
    options = numba_linker._get_linker_options(ptx=kind == "ptx")
    if kind == "cubin":
        options = dataclasses.replace(options, ptxas_options=["-v"])
    linker = Linker(*numba_linker._object_codes, options=options)
    try:
        return linker.link(kind).code, linker.get_info_log()
    except nvJitLinkError as error:
        raise refusal(str(error), numba_linker.arch) from error
    finally:
        linker.close()


def refusal(message: str, arch: str) -> CourseError:
    """Return, without raising it, the CourseError for an error message of the assembler.

    ``arch`` is the architecture, such as "sm_90".
    """
    if "Unsupported .version" in message:
        return CourseError(
            "The PTX is newer than the assembler (nvJitLink): install the compiler's packages in "
            "one release, for example with `make setup`."
        )
    reason = re.search(r"error\s*: (.*)", message)
    return CourseError(
        f"The assembler refuses this kernel for {arch}: {reason[1] if reason else message} "
        "Choose another architecture, or leave out the instruction."
    )


@contextlib.contextmanager
def _pretending(capability: tuple[int, int]) -> Iterator[None]:
    """Let the compiler find a current device with this compute capability.

    A device function keeps the code of its first compilation, whatever the capability. From 7.5 on
    that is right, because Numba generates the same code for all of them, and NVVM gets the
    requested capability.
    """
    from numba.cuda import dispatcher
    from numba.cuda.cudadrv import devices

    device = SimpleNamespace(compute_capability=capability)
    context = SimpleNamespace(device=device)
    originals = dispatcher.get_current_device, devices.get_context
    dispatcher.get_current_device = lambda: device
    devices.get_context = lambda *ignored: context
    try:
        yield
    finally:
        dispatcher.get_current_device, devices.get_context = originals
