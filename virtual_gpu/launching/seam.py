"""The seam: on a machine without a CUDA device, Numba's own launch syntax runs here.

Only the entry points that need a driver are replaced, in the process's ``numba.cuda`` module. The
compiler stays whole: ``cuda.compile_ptx`` works beside it.
"""

from __future__ import annotations

import contextlib
import itertools
import linecache
import sys
from collections.abc import Iterator

import numpy as np
from numba import cuda
from numba.cuda import deviceufunc
from numba.cuda.cudadrv import devicearray
from numba.cuda.dispatcher import CUDADispatcher

from ..common.errors import LaunchError
from ..host import allocation, virtual_device
from ..host.hostarrays import DeviceArray
from ..host.streams import VirtualEvent, VirtualStream
from ..host.transfers import note_wait
from . import dispatch

_texts = itertools.count()
_ABSENT = object()


def active() -> bool:
    """Whether ``kernel[grid, block](...)`` runs on the virtual GPU in this process."""
    return CUDADispatcher.configure is dispatch.configure


def install(available: bool = False) -> None:
    """Let Numba's launches, arrays, streams and events run on the virtual GPU. Idempotent.

    For machines without a CUDA device: a launch on a real device is no longer possible afterwards.
    ``available``: ``cuda.is_available()`` says yes from now on, for programs that ask it first.
    """
    for owner, name, value in _replacements():
        setattr(owner, name, value)
    if available:
        cuda.is_available = lambda: True


@contextlib.contextmanager
def installed() -> Iterator[None]:
    """Inside, launches, arrays, streams and events are the virtual GPU's; afterwards as before.

    For a program that is to be watched on a machine with a CUDA device. What it keeps of inside
    (arrays, events) is of no use outside.
    """
    if active():
        yield
        return
    before = {(id(o), name): (o, name, _own(o, name)) for o, name, _ in _replacements()}
    launched: set[CUDADispatcher] = set()

    def run(what: dispatch.VirtualLaunch, arguments: tuple) -> None:
        launched.add(what.kernel)
        dispatch.run_launch(what, arguments)

    install()
    try:
        with dispatch.watching(run):
            yield
    finally:
        _put_back(before)
        for kernel in launched:
            dispatch.forget_types(kernel)


def _own(owner, name: str):
    return vars(owner).get(name, _ABSENT)


def _put_back(before: dict[tuple[int, str], tuple[object, str, object]]) -> None:
    by_name = {name: value for _, name, value in before.values()}
    # Modules that were imported in the meantime have taken the virtual GPU's names for Numba's.
    late = [(o, name, by_name[name]) for o, name, _ in _replacements()
            if (id(o), name) not in before]  # fmt: skip
    for owner, name, value in (*before.values(), *late):
        if value is _ABSENT:
            delattr(owner, name)
        else:
            setattr(owner, name, value)


def _replacements() -> Iterator[tuple[object, str, object]]:
    """What ``install`` sets: owner, name and value."""
    for name, method in _KERNEL_METHODS.items():
        yield CUDADispatcher, name, method
    for module in list(sys.modules.values()):
        # The compiler and Numba's own functions ask for the device through names of their own.
        if getattr(module, "__name__", "").startswith(("numba.cuda.", "numba_cuda.")):
            for name in _DEVICE_NAMES.keys() & vars(module).keys():
                yield module, name, _DEVICE_NAMES[name]
    for name, value in _HOST_NAMES.items():
        yield cuda, name, value
    yield devicearray, "DeviceNDArray", DeviceArray
    yield deviceufunc, "exec", _run_text


def _run_text(text: str, names: dict) -> None:
    """``exec`` for the kernels that ``@vectorize`` writes: their text can be read afterwards."""
    file = f"<vectorize {next(_texts)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), names)


@contextlib.contextmanager
def _pinned(*arrays):
    yield


@contextlib.contextmanager
def _mapped(*arrays: np.ndarray, stream=0) -> Iterator[DeviceArray | list[DeviceArray]]:
    """Device arrays over the memory of host arrays; one alone, or several as a list."""
    seen = [DeviceArray.over(array) for array in arrays]
    yield seen[0] if len(seen) == 1 else seen


def _open_ipc_array(*ignored, **named):
    raise LaunchError(
        "The virtual GPU shares no memory between processes; copy the array to the host and send "
        "that."
    )


_KERNEL_METHODS = {
    "configure": dispatch.configure,
    "__getitem__": dispatch.getitem,
    "forall": dispatch.forall,
    "compile": dispatch.declare,
    "compile_device": dispatch.compile_device,
    "disable_compile": dispatch.disable_compile,
    "specialize": dispatch.specialize,
    "inspect_asm": dispatch.inspect_asm,
    **{
        name: dispatch.machine_code_method(name)
        for name in (
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
    "managed_array": allocation.host_array,
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
