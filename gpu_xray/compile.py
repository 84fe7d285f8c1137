"""Compiles a kernel to machine code in the way of Numba-CUDA, but without a GPU.

Numba generates LLVM IR, NVVM compiles it to LTO-IR or PTX, and nvJitLink links the cubin. Numba
takes the same steps, so registers and machine code are those that the driver would load. This is
the only file of the package that uses private functions of Numba.
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

from gpu_xray.errors import CourseError
from gpu_xray.limits import with_budgets
from gpu_xray.versions import explained

# The architectures for which the budgets of the steps are tested; the toolkit knows more.
ARCHITECTURES = with_budgets()

NO_COMPILER = (
    "The CUDA compiler is not installed, so there is no machine code to look at: on Linux or "
    "Windows `make setup` installs it; for macOS there is none."
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
    from numba.cuda.cudadrv import nvrtc

    known = {f"sm_{major}{minor}": (major, minor) for major, minor in nvrtc.get_supported_ccs()}
    if arch not in known:
        raise CourseError(
            f"This CUDA toolkit has no architecture {arch!r}: choose one of {', '.join(known)}."
        )
    return known[arch]


def require_compiler() -> None:
    """Raise CourseError unless NVVM and nvJitLink are installed."""
    try:
        from cuda.core import Linker  # noqa: F401
        from numba.cuda.cudadrv.driver import _have_nvjitlink
    except ImportError:  # plain numba, or an old numba-cuda: they link through the driver
        raise CourseError(NO_COMPILER) from None
    if not (nvvm.is_available() and _have_nvjitlink()):
        raise CourseError(NO_COMPILER)


def compile_kernel(
    kernel: Callable, signature, arch: str, lineinfo: bool = False
) -> CompiledKernel:
    """Compile a ``@cuda.jit`` kernel with its own options, or a plain function, to machine code.

    ``signature`` holds the types of the arguments, such as void(float32[::1]). With ``lineinfo``
    the code has a table of source lines, and it may differ in places. Raises CourseError without a
    compiler, for an unknown architecture, and for arguments that the kernel does not take.
    """
    capability = capability_of(arch)
    arguments = argument_types(kernel, signature)
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
    return dict(options if options is not None else cuda.jit(kernel).targetoptions)


def python_of(kernel: Callable) -> Callable:
    """Return the Python function of a decorated kernel, or the function itself."""
    return getattr(kernel, "py_func", kernel)


def argument_types(kernel: Callable, signature) -> tuple:
    """Return the Numba types of the arguments in a signature, as a tuple.

    ``signature`` is a text such as "void(float32[::1])", a Numba signature or a tuple of types.
    Raises CourseError for an invalid signature, for one that returns a value, and for another
    number of arguments than the kernel has.
    """
    from numba.cuda.core import sigutils

    python = python_of(kernel)
    try:
        arguments, result = sigutils.normalize_signature(signature)
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
        listed = ", ".join(map(str, arguments))
        raise CourseError(
            f"{python.__name__} cannot be compiled for ({listed}): {_first_reason(error)} "
            "Compare the signature with what the kernel does with its arguments."
        ) from error


def _first_reason(error: Exception) -> str:
    """Return the line of Numba's report that names the cause, with a full stop."""
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
