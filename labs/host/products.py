"""Call a host function that multiplies two matrices, and record its launches, copies and waits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numba import cuda

from gemm_kernels.naive import naive
from labs.checking.job import Shape
from labs.families.product import inputs
from labs.host.exercise import CallFailed
from virtual_gpu import DeviceArray, Transfer, counting_transfers, counting_waits, installed
from virtual_gpu.host.hostarrays import HostMemory
from virtual_gpu.host.stream_order import Operation, StreamOrder
from virtual_gpu.host.transfers import (
    TO_DEVICE,
    TO_HOST,
    SourceLine,
    calling_at_waits,
    ordering_streams,
)

BLOCK = (32, 8)  # threads, as the task gives it
# The one direction in which each array of a product must be copied.
NEEDED = {"a": TO_DEVICE, "b": TO_DEVICE, "c": TO_HOST}
FLOAT32 = np.dtype(np.float32)


@dataclass(frozen=True, eq=False)
class RecordedLaunch:
    """A recorded launch of the product's kernel.

    place: its file and line. threads: the threads of the whole grid along x and y. grid: the blocks
    along x and y. arguments: the kernel's arguments. copies, waits: how many copies and waits were
    made before the launch. empty: those of "a" and "b" whose memory was never filled. names: for
    each argument, the reader's variable, or "". unused: maps the shape of each device array that is
    no argument to the reader's variable. operation: the number of the launch among all copies and
    launches, and the numbers of those that must end before it begins.
    """

    place: SourceLine
    threads: tuple[int, int]
    grid: tuple[int, int]
    arguments: tuple
    copies: int
    waits: int
    empty: tuple[str, ...]
    names: tuple[str, ...]
    unused: dict[tuple[int, ...], str]
    operation: Operation


@dataclass(eq=False)
class RecordingKernel:
    """A replacement for the kernel `naive` that records its launches, for a reader's function.

    The kernel runs only if the arguments have the right shapes and are filled. If c is in managed
    or mapped memory, its elements are NaN until the reader's function waits, because on a GPU the
    kernel may still run until then.

    shape: (m, n, k) of the product. copies, waits: the lists to which the virtual GPU appends.
    order: the virtual GPU's order of the streams.
    added: a number that is added to some elements of c after the kernel ran. launches: the recorded
    launches. held_back: pairs of the memory of c and the result to store there at the next wait.
    """

    shape: Shape
    copies: list[Transfer]
    waits: list[SourceLine]
    order: StreamOrder
    added: float = 0.0
    launches: list[RecordedLaunch] = field(default_factory=list)
    held_back: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)

    def __getitem__(self, launch) -> Callable:
        """Return a function that launches the kernel with this grid and block and records that.

        The launch is recorded in `launches`. The kernel itself only runs if the arguments have the
        shapes of a, b and c and are not uninitialised.
        """
        ready = naive[launch]
        sizes = ready.geometry
        stream = launch[2] if len(launch) > 2 else 0
        x, y, _ = (grid * block for grid, block in zip(sizes.grid, sizes.block, strict=True))

        def run(*arguments):
            reader = sys._getframe(1)
            place = reader.f_code.co_filename, reader.f_lineno
            empty = tuple(name for name, one in zip("ab", arguments) if _is_empty(one))
            done = len(self.copies), len(self.waits)
            known = _variables(reader.f_locals, arguments)
            known = *known, self.order.add(stream, host_waits=False)
            record = RecordedLaunch(place, (x, y), sizes.grid[:2], arguments, *done, empty, *known)
            self.launches.append(record)
            if not empty and [np.shape(inner(one)) for one in arguments] == list(
                shapes_of(self.shape).values()
            ):
                self._run(ready, arguments)

        return run

    def _run(self, ready: Callable, arguments: tuple) -> None:
        """Run the kernel, and add the number `added` to some elements of c.

        If c is in managed or mapped memory, which the host can read, its elements become NaN until
        the next wait, and the result is appended to `held_back`. ready: the kernel with its launch.
        arguments: the kernel's arguments.
        """
        ready(*arguments)
        c = inner(arguments[2])
        memory = c.host if isinstance(c, DeviceArray) else np.asarray(c)
        if memory.dtype.kind != "f":
            return
        memory += _noise(self.shape, self.added)
        if isinstance(c, HostMemory):
            self.held_back.append((memory, memory.copy()))
            memory[...] = np.nan

    def finish(self) -> None:
        """Store all results that were held back into c, as a wait for the device does."""
        for memory, result in self.held_back:
            memory[...] = result
        self.held_back.clear()

    def __call__(self, *arguments):
        """Raise TypeError, because a kernel cannot be called without a launch configuration."""
        raise TypeError("A kernel is launched as kernel[grid, block](a, b, c)")


@dataclass(frozen=True, eq=False)
class ProductCall:
    """One call of a reader's function that multiplies two matrices.

    shape: (m, n, k). a, b: the matrices. arguments: the copies of them that the function got and
    may have changed. result: what it returned. launches: its launches. copies: its copies between
    host and device. waits: the file and line of each wait for the device. earlier: the right result
    of the previous call, or None. added: the number that the kernel has added to elements of c.
    order: the order of the copies in their streams.
    """

    shape: Shape
    a: np.ndarray
    b: np.ndarray
    arguments: tuple[np.ndarray, np.ndarray]
    result: object
    launches: tuple[RecordedLaunch, ...]
    copies: tuple[Transfer, ...]
    waits: tuple[SourceLine, ...]
    earlier: np.ndarray | None
    added: float
    order: StreamOrder

    @cached_property
    def right(self) -> np.ndarray:
        """The right result, a·b plus what was added to it, float32; exact, as all are whole."""
        return self.a @ self.b + _noise(self.shape, self.added)

    @cached_property
    def wrong(self) -> np.ndarray:
        """A boolean array of the result's shape, True for each element whose value is wrong."""
        return np.asarray(self.result) != self.right

    @property
    def where(self) -> str:
        """A phrase on the shape to begin a sentence, such as "At m×n×k = 48×80×20"."""
        return f"At m×n×k = {'×'.join(map(str, self.shape))}"

    def name_of(self, shape: tuple[int, ...]) -> str | None:
        """Return which of "a", "b" and "c" has this shape, or None if none has it."""
        return next((name for name, own in shapes_of(self.shape).items() if own == shape), None)

    def bytes_of(self, name: str) -> int:
        """Return the number of bytes of a matrix as float32; name: "a", "b" or "c"."""
        return FLOAT32.itemsize * int(np.prod(shapes_of(self.shape)[name]))

    @property
    def bytes_needed(self) -> int:
        """The number of bytes that must cross the bus: those of a, b and c, once each."""
        return sum(map(self.bytes_of, NEEDED))


def call_multiply(
    multiply: Callable,
    shape: Shape,
    seed: int,
    earlier: np.ndarray | None = None,
    added: float = 0.0,
) -> ProductCall:
    """Call a function with a kernel and two random matrices, on the virtual GPU; return the record.

    shape: (m, n, k). seed: the seed of the matrices. earlier: the right result of the previous
    call, or None. added: a number that the kernel adds to elements of c. Raises CallFailed if
    the function raises an error or does not end.
    """
    a, b = inputs(shape, seed)
    log, waiting, ordering = counting_transfers(), counting_waits(), ordering_streams()
    with installed(), log as copies, waiting as waits, ordering as order:
        kernel = RecordingKernel(shape, copies, waits, order, added)
        arguments = a.copy(), b.copy()
        try:
            with calling_at_waits(kernel.finish):
                result = multiply(kernel, *arguments)
        except CallFailed as error:
            raise CallFailed(f"{error}{_no_device_array(str(error))}") from None
        kernel.finish()
        # Copies and waits from here on are the check's own and not the reader's.
        done = tuple(copies), tuple(waits)
    launches = tuple(kernel.launches)
    return ProductCall(shape, a, b, arguments, result, launches, *done, earlier, added, order)


def _noise(shape: Shape, added: float) -> np.ndarray:
    """Return an array of c's shape, float32, with `added` in drawn elements and 0 in all others.

    So no element tells what was added to another one. The last row has an element with `added`.
    shape: (m, n, k).
    """
    m, n, _ = shape
    chosen = np.random.default_rng(shape).integers(0, 2, (m, n))
    chosen[-1, chosen[-1].argmin()] = 1
    return np.float32(added) * chosen.astype(np.float32)


def shapes_of(shape: Shape) -> dict[str, tuple[int, int]]:
    """Return a dict from "a", "b" and "c", in this order, to their shapes. shape: (m, n, k)."""
    m, n, k = shape
    return {"a": (m, k), "b": (k, n), "c": (m, n)}


def inner(argument):
    """Return the array that `cuda.In`, `cuda.Out` or `cuda.InOut` wraps, or else the argument."""
    wrapped = isinstance(argument, cuda.In | cuda.Out | cuda.InOut)
    return argument.value if wrapped else argument


def _variables(
    variables: Mapping[str, object], arguments: Sequence
) -> tuple[tuple[str, ...], dict[tuple[int, ...], str]]:
    """Return (variable names of a launch's arguments, dict of unused device arrays).

    The names are in the order of the arguments, "" for an array without a name; if an array has two
    names, the later one is given. The dict maps the shape of each device array that is no argument
    to its variable. variables: the local variables of the function that launches.
    """
    arrays = [inner(one) for one in arguments]
    names = tuple(
        next((name for name in reversed(variables) if variables[name] is array), "")
        for array in arrays
    )
    unused = {
        value.shape: name
        for name, value in variables.items()
        if isinstance(value, DeviceArray) and not any(value is array for array in arrays)
    }
    return names, unused


def _is_empty(argument) -> bool:
    """Return True for device memory that was never filled, and for managed memory full of zeros."""
    if isinstance(argument, HostMemory):
        return not np.any(argument)
    unwritten = getattr(argument, "unwritten", None)
    return unwritten is not None and bool(unwritten.all())


def _no_device_array(error: str) -> str:
    """Return sentences, after a space, on a NumPy array that should be a device array, or "".

    error: an error message; only one on `copy_to_host` of a NumPy array gives sentences.
    """
    if "'numpy.ndarray'" not in error or "copy_to_host" not in error:
        return ""
    return (
        " That is an array of NumPy's, in the memory of the host: only an array on the device has "
        "`copy_to_host`. `cuda.to_device(x)` does not change `x`; it returns the array on the "
        "device, and without a name for it that copy is lost."
    )
