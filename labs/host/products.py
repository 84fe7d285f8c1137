"""One product by a host function on the virtual GPU: its launches, copies and waits."""

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
from virtual_gpu.host.transfers import TO_DEVICE, TO_HOST, Place

BLOCK = (32, 8)  # threads, as the task gives it
# The one way that each array of a product has to go.
NEEDED = {"a": TO_DEVICE, "b": TO_DEVICE, "c": TO_HOST}
FLOAT32 = np.dtype(np.float32)


@dataclass(frozen=True, eq=False)
class Launched:
    """A launch of the given kernel: where, with what, after how many copies and waits.

    threads: of the whole launch, x and y. grid: blocks, x and y. empty: which of a and b lie in
    memory that nobody filled. names: the reader's variable for each argument, "" for an argument
    that has none. unused: the reader's variables that hold arrays on the device which the launch
    does not get, by the array's shape.
    """

    place: Place
    threads: tuple[int, int]
    grid: tuple[int, int]
    arguments: tuple
    copies: int
    waits: int
    empty: tuple[str, ...]
    names: tuple[str, ...]
    unused: dict[tuple[int, ...], str]


@dataclass(eq=False)
class GivenKernel:
    """The kernel that a reader's function gets: the one of `naive`, which keeps its launches.

    shape: of the product. With arrays of other shapes, or without numbers, it is not launched.
    """

    shape: Shape
    copies: list[Transfer]
    waits: list[Place]
    launches: list[Launched] = field(default_factory=list)

    def __getitem__(self, launch) -> Callable:
        ready = naive[launch]
        sizes = ready.geometry
        x, y, _ = (grid * block for grid, block in zip(sizes.grid, sizes.block, strict=True))

        def run(*arguments):
            reader = sys._getframe(1)
            place = reader.f_code.co_filename, reader.f_lineno
            empty = tuple(name for name, one in zip("ab", arguments) if _is_empty(one))
            done = len(self.copies), len(self.waits)
            known = _variables(reader.f_locals, arguments)
            launched = Launched(place, (x, y), sizes.grid[:2], arguments, *done, empty, *known)
            self.launches.append(launched)
            if not empty and [np.shape(inner(one)) for one in arguments] == list(
                shapes_of(self.shape).values()
            ):
                ready(*arguments)

        return run

    def __call__(self, *arguments):
        raise TypeError("A kernel is launched as kernel[grid, block](a, b, c)")


@dataclass(frozen=True, eq=False)
class Call:
    """One call of a reader's function, and what it did.

    given: the arrays that the function got; a and b are copies of them, in case it changes them.
    waits: where it waited for the device. earlier: the right result of the call before this one.
    """

    shape: Shape
    a: np.ndarray
    b: np.ndarray
    given: tuple[np.ndarray, np.ndarray]
    result: object
    launches: tuple[Launched, ...]
    copies: tuple[Transfer, ...]
    waits: tuple[Place, ...]
    earlier: np.ndarray | None

    @cached_property
    def right(self) -> np.ndarray:
        """The reference; whole numbers, so float32 holds it exactly."""
        return self.a @ self.b

    @cached_property
    def wrong(self) -> np.ndarray:
        """For each element of the result whether its value is wrong."""
        return np.asarray(self.result) != self.right

    @property
    def where(self) -> str:
        """The shape, to begin a sentence."""
        return f"At m×n×k = {'×'.join(map(str, self.shape))}"

    def name_of(self, shape: tuple[int, ...]) -> str | None:
        """Which of a, b and c has this shape."""
        return next((name for name, own in shapes_of(self.shape).items() if own == shape), None)

    def bytes_of(self, name: str) -> int:
        """Of a, b or c as float32."""
        return FLOAT32.itemsize * int(np.prod(shapes_of(self.shape)[name]))

    @property
    def bytes_needed(self) -> int:
        return sum(map(self.bytes_of, NEEDED))


def call(multiply: Callable, shape: Shape, seed: int, earlier: np.ndarray | None = None) -> Call:
    """Call a function with a kernel and two matrices, on the virtual GPU. Raises CallFailed."""
    a, b = inputs(shape, seed)
    with installed(), counting_transfers() as copies, counting_waits() as waits:
        kernel = GivenKernel(shape, copies, waits)
        given = a.copy(), b.copy()
        try:
            result = multiply(kernel, *given)
        except CallFailed as error:
            raise CallFailed(f"{error}{_no_device_array(str(error))}") from None
        # Whatever is asked about the result from here on is not the reader's.
        done = tuple(copies), tuple(waits)
    return Call(shape, a, b, given, result, tuple(kernel.launches), *done, earlier)


def shapes_of(shape: Shape) -> dict[str, tuple[int, int]]:
    m, n, k = shape
    return {"a": (m, k), "b": (k, n), "c": (m, n)}


def inner(argument):
    """The array in `cuda.In`, `cuda.Out` and `cuda.InOut`; anything else as it is."""
    wrapped = isinstance(argument, cuda.In | cuda.Out | cuda.InOut)
    return argument.value if wrapped else argument


def _variables(
    known: Mapping[str, object], arguments: Sequence
) -> tuple[tuple[str, ...], dict[tuple[int, ...], str]]:
    """Names of a launch's arguments, and of the arrays on the device that it does not get.

    known: the variables of the function that launches. Of two names the later one is told.
    """
    arrays = [inner(one) for one in arguments]
    names = tuple(
        next((name for name in reversed(known) if known[name] is array), "") for array in arrays
    )
    unused = {
        value.shape: name
        for name, value in known.items()
        if isinstance(value, DeviceArray) and not any(value is array for array in arrays)
    }
    return names, unused


def _is_empty(argument) -> bool:
    """Whether this is device memory that nobody has filled, or managed memory full of zeros."""
    if isinstance(argument, HostMemory):
        return not np.any(argument)
    unwritten = getattr(argument, "unwritten", None)
    return unwritten is not None and bool(unwritten.all())


def _no_device_array(error: str) -> str:
    """What a NumPy array in the place of one on the device means; "" for any other error."""
    if "'numpy.ndarray'" not in error or "copy_to_host" not in error:
        return ""
    return (
        " That is an array of NumPy's, in the memory of the host: only an array on the device has "
        "`copy_to_host`. `cuda.to_device(x)` does not change `x`; it returns the array on the "
        "device, and without a name for it that copy is lost."
    )
