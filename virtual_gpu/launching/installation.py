"""Installs the virtual GPU into ``numba.cuda``, so that Numba's launch syntax runs on it.

Only the entry points of ``numba.cuda`` that need a driver are replaced. The compiler is not
touched, so ``cuda.compile_ptx`` still works. ``next_compiler`` does the same for numba-cuda-mlir.
"""

from __future__ import annotations

import contextlib
import itertools
import linecache
import sys
from collections.abc import Iterable, Iterator
from types import ModuleType

import numpy as np
from numba import cuda
from numba.cuda import deviceufunc
from numba.cuda.cudadrv import devicearray
from numba.cuda.dispatcher import CUDADispatcher

from ..common.errors import LaunchError
from ..compilers.declarations import declare
from ..compilers.kernels import as_numba_kernel
from ..host import allocation, virtual_device
from ..host.hostarrays import DeviceArray
from ..host.streams import VirtualEvent, VirtualStream
from ..host.transfers import note_wait
from . import dispatcher_methods, next_compiler

_text_numbers = itertools.count()
_ABSENT = object()
# Replaced attributes, by (id of the owner, name): (owner, name, earlier value).
_Before = dict[tuple[int, str], tuple[object, str, object]]


def active() -> bool:
    """Return True if ``kernel[grid, block](...)`` runs on the virtual GPU in this process."""
    return CUDADispatcher.configure is dispatcher_methods.configure


def install(available: bool = False) -> None:
    """Let launches, arrays, streams and events run on the virtual GPU from now on.

    That holds for ``numba.cuda`` and for ``numba_cuda_mlir.cuda``, also if the program imports the
    latter later. This is for machines without a CUDA device, because a launch on a real device is
    no longer possible afterwards. With ``available``, ``cuda.is_available()`` returns True, for
    programs that check it. A further call can only switch ``available`` on.
    """

    _replace(_replacements(), {})
    _at_import_of_the_next_compiler({})
    if available:
        cuda.is_available = _HOST_NAMES["is_available"] = lambda: True


@contextlib.contextmanager
def installed() -> Iterator[None]:
    """Install the virtual GPU within the context, and restore both compilers at its end.

    This runs part of a program on the virtual GPU although the machine has a CUDA device. Arrays
    and events made within the context cannot be used outside of it. If the virtual GPU is installed
    already, the context changes nothing, and it stays installed.
    """
    if active():
        yield
        return
    before: _Before = {}
    launched: set[CUDADispatcher] = set()

    def run(launch: dispatcher_methods.VirtualLaunch, arguments: tuple) -> None:
        launched.update((launch.kernel, as_numba_kernel(launch.kernel)))
        dispatcher_methods.run_launch(launch, arguments)

    _replace(_replacements(), before)
    finder = _at_import_of_the_next_compiler(before)
    try:
        with dispatcher_methods.watching(run):
            yield
    finally:
        sys.meta_path.remove(finder)
        _restore(before)
        for kernel in launched:
            dispatcher_methods.forget_types(kernel)


def _replace(replacements: Iterable[tuple[object, str, object]], before: _Before) -> None:
    """Set each (owner, name, value), and add the earlier values to ``before``.

    A value that ``before`` holds already is the older one, and remains.
    """
    for owner, name, value in list(replacements):
        before.setdefault((id(owner), name), (owner, name, vars(owner).get(name, _ABSENT)))
        setattr(owner, name, value)


def _at_import_of_the_next_compiler(before: _Before) -> next_compiler.AfterImport:
    """Let the virtual GPU be installed into numba-cuda-mlir as soon as the program imports it.

    The earlier values are then added to ``before``. Returns the finder that was put on
    ``sys.meta_path``.
    """

    def replace_there() -> None:
        _replace(next_compiler.replacements(_HOST_NAMES, _DEVICE_NAMES), before)

    finder = next_compiler.AfterImport(replace_there)
    sys.meta_path.insert(0, finder)
    return finder


def _restore(before: _Before) -> None:
    """Set all attributes in ``before`` to their earlier values, or delete those that are new.

    Modules that were imported after ``install`` get the earlier values, too.
    """
    by_name = {(_is_of_the_next_compiler(o), name): value for o, name, value in before.values()}
    # Modules that were imported in the meantime have imported the virtual GPU's functions.
    late = [(o, name, by_name[_is_of_the_next_compiler(o), name]) for o, name, _ in _replacements()
            if (id(o), name) not in before]  # fmt: skip
    for owner, name, value in (*before.values(), *late):
        if value is _ABSENT:
            delattr(owner, name)
        else:
            setattr(owner, name, value)


def _is_of_the_next_compiler(owner) -> bool:
    """Return True for a module or a class of numba-cuda-mlir, and False for one of Numba."""
    name = owner.__name__ if isinstance(owner, ModuleType) else owner.__module__
    return name.startswith(next_compiler.PACKAGE)


def _replacements() -> Iterator[tuple[object, str, object]]:
    """Yield (owner, name, value) for each attribute that ``install`` sets now.

    The owner is a module or a class, and the value is that of the virtual GPU.
    """
    yield from next_compiler.replacements(_HOST_NAMES, _DEVICE_NAMES)
    for name, method in _KERNEL_METHODS.items():
        yield CUDADispatcher, name, method
    for module in list(sys.modules.values()):
        # Numba's modules have imported the functions that return the device under their own names.
        if getattr(module, "__name__", "").startswith(("numba.cuda.", "numba_cuda.")):
            for name in _DEVICE_NAMES.keys() & vars(module).keys():
                yield module, name, _DEVICE_NAMES[name]
    for name, value in _HOST_NAMES.items():
        yield cuda, name, value
    yield devicearray, "DeviceNDArray", DeviceArray
    yield deviceufunc, "exec", _run_text


def _run_text(text: str, names: dict) -> None:
    """Execute the text that defines a kernel of ``@vectorize``, and keep it for ``linecache``.

    The definitions are added to the dict ``names``, the globals of the text.
    """
    file = f"<vectorize {next(_text_numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), names)


@contextlib.contextmanager
def _pinned(*arrays):
    """Do nothing within the context: all host memory is used in the same way."""
    yield


@contextlib.contextmanager
def _mapped(*arrays: np.ndarray, stream=0) -> Iterator[DeviceArray | list[DeviceArray]]:
    """Yield device arrays over the memory of host arrays, as ``cuda.mapped`` does.

    For one array, yield a single DeviceArray, otherwise a list of them.
    """
    mapped = [DeviceArray.over(array) for array in arrays]
    yield mapped[0] if len(mapped) == 1 else mapped


def _open_ipc_array(*ignored, **named):
    """Raise LaunchError, because processes cannot share the virtual GPU's memory."""
    raise LaunchError(
        "The virtual GPU shares no memory between processes; copy the array to the host and send "
        "that."
    )


_KERNEL_METHODS = {
    "configure": dispatcher_methods.configure,
    "__getitem__": dispatcher_methods.getitem,
    "forall": dispatcher_methods.forall,
    "compile": declare,
    "compile_device": dispatcher_methods.compile_device,
    "disable_compile": dispatcher_methods.disable_compile,
    "specialize": dispatcher_methods.specialize,
    "inspect_asm": dispatcher_methods.inspect_asm,
    **{
        name: dispatcher_methods.machine_code_method(name)
        for name in dispatcher_methods.OF_MACHINE_CODE
    },
}

_DEVICE_NAMES = {
    "get_current_device": virtual_device.current_device,
    "get_context": virtual_device.current_context,
    "current_context": virtual_device.current_context,
    "gpus": virtual_device.VirtualDevices(),
}

_HOST_NAMES = {
    **{name: value for name, value in _DEVICE_NAMES.items() if name != "get_context"},
    "to_device": allocation.to_device,
    "device_array": allocation.device_array,
    "device_array_like": allocation.device_array_like,
    "managed_array": allocation.managed_array,
    "mapped_array": allocation.host_array,
    "mapped_array_like": allocation.host_array_like,
    "pinned_array": allocation.pinned_array,
    "pinned_array_like": allocation.pinned_array_like,
    "as_cuda_array": allocation.as_cuda_array,
    "from_cuda_array_interface": allocation.from_cuda_array_interface,
    "pinned": _pinned,
    "mapped": _mapped,
    "open_ipc_array": _open_ipc_array,
    "synchronize": note_wait,
    "select_device": virtual_device.select_device,
    "close": lambda: None,
    "defer_cleanup": contextlib.nullcontext,
    "profile_start": lambda: None,
    "profile_stop": lambda: None,
    "profiling": contextlib.nullcontext,
    "stream": VirtualStream,
    "default_stream": VirtualStream,
    "legacy_default_stream": lambda: VirtualStream(1),
    "per_thread_default_stream": lambda: VirtualStream(2),
    "external_stream": lambda ptr: VirtualStream(int(ptr), external=True),
    "event": VirtualEvent,
    "event_elapsed_time": lambda start, end: start.elapsed_time(end),
}
