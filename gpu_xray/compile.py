"""Kernel → machine code, on the path that Numba-CUDA itself takes on a GPU, but without one.

Numba makes LLVM IR, NVVM makes LTO-IR or PTX of it, nvJitLink makes the cubin. The last step is
Numba's own as well, so that registers and machine code are those that the driver loads. All that
Numba keeps private and this course needs is used in this file only.
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

from utils.errors import CourseError
from utils.machine.occupancy import with_budgets
from utils.machine.versions import explained

# Those for which the budgets of the steps are tested; the toolkit knows more.
ARCHITECTURES = with_budgets()

NO_COMPILER = (
    "The CUDA compiler is not installed, so there is no machine code to look at: on Linux or "
    "Windows `make setup` installs it; for macOS there is none."
)


@dataclass(frozen=True)
class Compiled:
    """One kernel for one architecture.

    entry: the kernel's name in the code. cubin: the ELF image that a driver would load.
    ptx: what the assembler was given, after link-time optimisation. log: what the assembler said.
    """

    entry: str
    cubin: bytes
    ptx: str
    log: str


def capability_of(arch: str) -> tuple[int, int]:
    """(9, 0) for "sm_90"; CourseError when this toolkit does not know the architecture."""
    require_compiler()
    from numba.cuda.cudadrv import nvrtc

    here = {f"sm_{major}{minor}": (major, minor) for major, minor in nvrtc.get_supported_ccs()}
    if arch not in here:
        raise CourseError(
            f"This CUDA toolkit has no architecture {arch!r}: choose one of {', '.join(here)}."
        )
    return here[arch]


def require_compiler() -> None:
    """CourseError unless NVVM and nvJitLink are here."""
    try:
        from cuda.core import Linker  # noqa: F401
        from numba.cuda.cudadrv.driver import _have_nvjitlink
    except ImportError:  # plain numba, or an old numba-cuda: they link through the driver
        raise CourseError(NO_COMPILER) from None
    if not (nvvm.is_available() and _have_nvjitlink()):
        raise CourseError(NO_COMPILER)


def compile_kernel(kernel: Callable, signature, arch: str, lineinfo: bool = False) -> Compiled:
    """The machine code of a ``@cuda.jit`` kernel with its own options, or of a plain function.

    signature: the types of the arguments, such as void(float32[::1]). lineinfo: with a table of
    source lines; the code may then differ in places. Raises CourseError without a compiler, for an
    unknown architecture, and for arguments that the kernel does not take.
    """
    capability = capability_of(arch)
    types_given = argument_types(kernel, signature)
    with explained(), _pretending(capability):
        compiled = _compile(kernel, types_given, lineinfo)
        library = compiled.library
        cc = library._ensure_cc(None)
        cubin, log = _link(library, cc, lineinfo, "cubin")
        ptx = library.get_asm_str(cc)
        if library._lto:
            ptx = _link(library, cc, lineinfo, "ptx")[0].decode().strip("\0\n ")
    return Compiled(compiled.entry_name, cubin, ptx, log)


def options_of(kernel: Callable) -> dict:
    """What ``@cuda.jit`` was told, such as launch_bounds or fastmath."""
    options = getattr(kernel, "targetoptions", None)
    return dict(options if options is not None else cuda.jit(kernel).targetoptions)


def python_of(kernel: Callable) -> Callable:
    """The Python function that was decorated."""
    return getattr(kernel, "py_func", kernel)


def argument_types(kernel: Callable, signature) -> tuple:
    """The Numba types of a signature's arguments; CourseError unless it can be the kernel's."""
    from numba.cuda.core import sigutils

    python = python_of(kernel)
    try:
        given, result = sigutils.normalize_signature(signature)
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
    if len(given) != len(names):
        raise CourseError(
            f"{python.__name__} takes {len(names)} arguments ({', '.join(names)}), and the "
            f"signature has {len(given)}: give each argument a type."
        )
    return given


def _compile(kernel: Callable, types_given: tuple, lineinfo: bool):
    """Numba's own object for one compiled kernel."""
    from numba.core.errors import NumbaError
    from numba.cuda.core import errors
    from numba.cuda.dispatcher import _Kernel

    python, options = python_of(kernel), options_of(kernel)
    options["lineinfo"] = options["lineinfo"] or lineinfo
    try:
        return _Kernel(python, types_given, **options)
    except (errors.NumbaError, NumbaError, TypeError) as error:
        listed = ", ".join(map(str, types_given))
        raise CourseError(
            f"{python.__name__} cannot be compiled for ({listed}): {_first_reason(error)} "
            "Compare the signature with what the kernel does with its arguments."
        ) from error


def _first_reason(error: Exception) -> str:
    """The line of Numba's report that names the cause."""
    text = re.sub(r"\x1b\[[\d;]*m", "", str(error))
    lines = [line.strip(" -") for line in text.splitlines() if line.strip(" -")]
    lines = [line for line in lines if not line.startswith("Failed in")] or [repr(error)]
    return f"{lines[0].rstrip('.:')}."


def _link(library, cc: tuple, lineinfo: bool, kind: str) -> tuple[bytes, str]:
    """The linked code and the log, with the options of Numba's linker and a talkative assembler."""
    from cuda.bindings.nvjitlink import nvJitLinkError
    from cuda.core import Linker
    from numba.cuda.cudadrv import driver

    numbas = driver._Linker(library._max_registers, lineinfo, cc, library._lto)
    with warnings.catch_warnings():
        # The device runtime has no PTX to show.
        warnings.filterwarnings("ignore", message="Not adding")
        library._link_all(numbas, cc, ignore_nonlto=kind == "ptx")
    options = numbas._get_linker_options(ptx=kind == "ptx")
    if kind == "cubin":
        options = dataclasses.replace(options, ptxas_options=["-v"])
    linker = Linker(*numbas._object_codes, options=options)
    try:
        return linker.link(kind).code, linker.get_info_log()
    except nvJitLinkError as error:
        raise refusal(str(error), numbas.arch) from error
    finally:
        linker.close()


def refusal(message: str, arch: str) -> CourseError:
    """What the assembler does not take, as one sentence."""
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
    """The compiler asks the current device for its compute capability: answer for this one.

    A device function keeps the code that it was first compiled to, whatever the capability: from
    7.5 on Numba makes the same of it for all of them, and NVVM gets the one that is asked for.
    """
    from numba.cuda import dispatcher
    from numba.cuda.cudadrv import devices

    device = SimpleNamespace(compute_capability=capability)
    context = SimpleNamespace(device=device)
    kept = dispatcher.get_current_device, devices.get_context
    dispatcher.get_current_device = lambda: device
    devices.get_context = lambda *ignored: context
    try:
        yield
    finally:
        dispatcher.get_current_device, devices.get_context = kept
