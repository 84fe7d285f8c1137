"""A product by a host function: what crossed the bus for it, and what is wrong with that.

The function gets a kernel that keeps its launches, and runs on the virtual GPU, which counts the
copies and the waits. Each cause is a sentence about one call, or None.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numba import cuda

from gemm_kernels.naive import naive
from labs.exercise import Shape
from labs.host import CallFailed, Examined
from labs.products import inputs
from labs.words import counted, element, quoted
from utils.virtual_gpu import (
    DeviceArray,
    Transfer,
    counting_transfers,
    counting_waits,
    installed,
)
from utils.virtual_gpu.hostarrays import HostMemory
from utils.virtual_gpu.transfers import TO_DEVICE, TO_HOST, Place

# The sizes all differ, so that each array is known by its shape. The first one is called twice; the
# others need the last threads of a block, and the last block.
SHAPES = ((48, 80, 20), (48, 80, 20), (41, 33, 5), (40, 64, 12))
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
            if not empty and [np.shape(_inner(one)) for one in arguments] == list(
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


def launches(seen: Call) -> str | None:
    """The kernel is not launched, or again and again."""
    if not seen.launches:
        return "The kernel is never launched, so the GPU computes nothing."
    if len(seen.launches) > 1:
        return (
            f"The kernel is launched {len(seen.launches)} times. One launch computes all of `c`; "
            "the others do the same work again."
        )
    return None


def arguments(seen: Call) -> str | None:
    """The launch gets something else than a, b and c."""
    given = seen.launches[0].arguments
    wanted = shapes_of(seen.shape)
    said = ", ".join(f"`{name}` of {_size(shape)}" for name, shape in wanted.items())
    if len(given) != len(wanted):
        return (
            f"{seen.where} the kernel is launched with {counted(len(given), 'argument')}. It "
            f"takes three: {said}."
        )
    shapes = [np.shape(_inner(one)) for one in given]
    if shapes != list(wanted.values()):
        theirs = _listed([_size(one) for one in shapes], quoted=False)
        return f"{seen.where} the kernel gets arrays of {theirs}. It needs {said}."
    return None


def other_memory(seen: Call) -> str | None:
    """Managed or mapped arrays in place of copies."""
    for name, given in zip(NEEDED, seen.launches[0].arguments, strict=True):
        if isinstance(given, HostMemory):
            return (
                f"`{name}` lies in managed or mapped memory: the host and the GPU use the same "
                "array, and no copy stands in the code. This task is about the copies."
            )
    return None


def element_type(seen: Call) -> str | None:
    """Elements of another size on their way."""
    for name, given in zip(NEEDED, seen.launches[0].arguments, strict=True):
        dtype = _inner(given).dtype
        if dtype != FLOAT32:
            count = int(np.prod(shapes_of(seen.shape)[name]))
            return (
                f"The kernel gets `{name}` as {dtype}: {_bytes(count * dtype.itemsize)} in memory "
                f"and on the bus. As float32 it is {_bytes(seen.bytes_of(name))}."
            )
    return None


def result(seen: Call) -> str | None:
    """What is returned is no array on the host with c in it."""
    given = seen.result
    if given is None:
        return "The function returns `None`: nobody gets `c`. It has to `return` it."
    if isinstance(given, DeviceArray):
        return (
            "The function returns an array that lies on the device: `c` has not come back, and "
            "whoever called you has no NumPy array."
        )
    if not isinstance(given, np.ndarray):
        return f"The function returns a {type(given).__name__}; a NumPy array is wanted."
    if given.shape != seen.right.shape:
        return (
            f"{seen.where} the result has the shape {_size(given.shape)}; `c` has m rows and n "
            f"columns, {_size(seen.right.shape)}."
        )
    if given.dtype != FLOAT32:
        return f"The result is {given.dtype}. `c` is float32, as `a` and `b` are."
    return None


def order(seen: Call) -> str | None:
    """The kernel is launched before its numbers are there, or after c has come back."""
    launched = seen.launches[0]
    later = seen.copies[launched.copies :]
    for name in launched.empty:
        if of_it := [one for one in later if seen.name_of(one.shape) == name]:
            return f"{_at(of_it)}: `{name}` goes to the device after the kernel has run."
        return (
            f"`{name}` never goes to the device: the kernel gets memory for it that nobody has "
            "filled."
        )
    back = [
        one for one in seen.copies if seen.name_of(one.shape) == "c" and one.direction == TO_HOST
    ]
    if back and not set(back) & set(later):
        return (
            f"{_at(back)}: `c` comes back before the kernel is launched. What comes back is what "
            "lay in the memory until then."
        )
    return None


def grid(seen: Call) -> str | None:
    """Fewer threads than c has columns or rows, or grid and block exchanged."""
    (m, n, _), (x, y) = seen.shape, seen.launches[0].threads
    blocks = seen.launches[0].grid
    if blocks == BLOCK:
        return (
            f"{_line(seen.launches[0].place)}: the launch has {_size(blocks)} blocks of "
            f"{x // blocks[0]}×{y // blocks[1]} threads. Grid and block are exchanged, and at a "
            "larger shape a block would have more than 1,024 threads."
        )
    if x >= n and y >= m:
        return None
    missing = m * n - min(x, n) * min(y, m)
    return (
        f"{seen.where} the whole launch is {x:,} threads wide and {y:,} high, and `c` has "
        f"{counted(n, 'column')} and {counted(m, 'row')}: {missing:,} of its {m * n:,} elements "
        "have no thread."
    )


def values(seen: Call) -> str | None:
    """A wrong result, for which nothing else was found."""
    if not seen.wrong.any():
        return None
    if seen.earlier is not None and np.array_equal(seen.result, seen.earlier):
        return (
            "The check calls the function twice, with other numbers, and the second result is that "
            "of the first call: something is kept from one call to the next."
        )
    if not np.any(seen.result):
        return (
            "Every element of the result is 0: it is an array that was made on the host, and the "
            "result of the kernel has not come there."
        )
    at = tuple(np.argwhere(seen.wrong)[0])
    return (
        f"{seen.where} {np.count_nonzero(seen.wrong):,} of {seen.wrong.size:,} elements are wrong: "
        f"{element('c', at)} is {seen.result[at]:g}, and {seen.right[at]:g} is right."
    )


def arguments_on_the_host(seen: Call) -> str | None:
    """NumPy arrays in the launch, which are copied both ways."""
    copied = [one for one in seen.copies if one.by == "launch"]
    if not any(_wasted(seen, one) for one in copied):
        return None
    given = [name for name in NEEDED if any(seen.name_of(one.shape) == name for one in copied)]
    had = [name for name in given if NEEDED[name] == TO_DEVICE]
    wasted = []
    if had:
        they, them = _verb(had, "come"), _verb(had, "them")
        wasted.append(f"{_listed(had)} {they} back, and the host has {them} already")
    if "c" in given:
        wasted.append("`c` goes to the device, and nobody reads it there")
    return (
        f"{_line(seen.launches[0].place)}: {_listed(given)} {_verb(given, 'are')} in the memory of "
        "the host here. Numba copies such an array to the device before the launch and back to the "
        f"host after it: {'; '.join(wasted)}. {_unused(seen, given)}{_sum(seen)}"
    )


def pieces(seen: Call) -> str | None:
    """Parts of an array, one after the other."""
    parts = [one for one in seen.copies if seen.name_of(one.shape) is None]
    if not parts:
        return None
    first = parts[0]
    same = [one for one in parts if (one.shape, one.direction) == (first.shape, first.direction)]
    what = "one element" if first.nbytes <= 8 else f"an array of shape {_size(first.shape)}"
    again = f"{len(same):,} times {_bytes(first.nbytes)}" if same[1:] else _bytes(first.nbytes)
    return (
        f"{_at(same)}: {what} {_goes(first)}, {again}. Each copy has its own start on the bus, "
        f"which takes longer than so few bytes. {_sum(seen)}"
    )


def crossings(seen: Call) -> str | None:
    """An array that goes the wrong way, or twice, or not at all."""
    for name, way in NEEDED.items():
        of_it = [one for one in seen.copies if seen.name_of(one.shape) == name]
        wrong_way = [one for one in of_it if one.direction != way]
        right_way = [one for one in of_it if one.direction == way]
        if wrong_way:
            reason = (
                "nobody reads them there: the kernel stores every element of `c`"
                if name == "c"
                else "the host has them already"
            )
            return (
                f"{_at(wrong_way)}: `{name}` {_goes(wrong_way[0])}, "
                f"{_bytes(sum(one.nbytes for one in wrong_way))}, and {reason}. {_sum(seen)}"
            )
        if len(right_way) > 1:
            return (
                f"{_at(right_way)}: `{name}` {_goes(right_way[0])} {len(right_way)} times, "
                f"{_bytes(sum(one.nbytes for one in right_way))} in place of "
                f"{_bytes(seen.bytes_of(name))}."
            )
        if not right_way:
            return (
                f"No copy of `{name}` was seen, and the kernel used it: it lies in memory that "
                "host and GPU share. This task is about the copies."
            )
    return None


def copied(seen: Call) -> str | None:
    """Copies where none is wanted."""
    if not seen.copies:
        return None
    first = seen.copies[0]
    name = seen.name_of(first.shape)
    what = f"`{name}`" if name else f"an array of {_size(first.shape)}"
    if first.by == "launch":
        return _no_managed_arrays(seen)
    return (
        f"{_at([first])}: {what} {_goes(first)} by a copy, {_bytes(first.nbytes)}. No copy is "
        "wanted here."
    )


def _no_managed_arrays(seen: Call) -> str:
    """The launch copies some of its arguments; second names of what the function got are told."""
    launched = seen.launches[0]
    moved = [one for one in seen.copies if one.by == "launch" and one.direction == TO_DEVICE]
    shapes = {one.shape for one in moved}
    names, told = [], ""
    for own, name, given in zip(NEEDED, launched.names, launched.arguments, strict=True):
        if np.shape(_inner(given)) not in shapes:
            continue
        names.append(name or own)
        if name not in ("", own) and any(_inner(given) is one for one in seen.given):
            told += f" `{name} = {own}` stores nothing: `{name}` is then the given array itself."
    kind = "arrays of NumPy's, and no managed ones"
    kind = kind if names[1:] else "an array of NumPy's, and no managed one"
    them, nbytes = _verb(names, "them"), _bytes(sum(one.nbytes for one in moved))
    return (
        f"{_line(launched.place)}: {_listed(names)} {_verb(names, 'are')} {kind}. So Numba copies "
        f"{them} at the launch: {nbytes} to the device, and back.{told}"
    )


def unfilled(seen: Call) -> str | None:
    """Managed arrays that hold zeros when the kernel is launched."""
    for name in seen.launches[0].empty:
        return (
            f"{_line(seen.launches[0].place)}: `{name}` has no numbers yet when the kernel is "
            f"launched. Nobody has stored the elements of `{name}` in the memory that it gets."
        )
    return None


def waits(seen: Call) -> str | None:
    """Nothing waits for the kernel before c is given away."""
    if len(seen.waits) > seen.launches[0].waits:
        return None
    early = f"{_line(seen.waits[0])}, waits before the launch. " if seen.waits else ""
    return (
        f"{early}Nothing waits for the kernel after its launch. On a GPU it may still run when the "
        "function returns, and some elements of `c` are then still missing. (On the virtual GPU a "
        "launch has ended when it returns, so here the result is right.)"
    )


Cause = Callable[[Call], str | None]
# What is asked of a call, in this order: with copies, and with managed memory.
COPIED: tuple[Cause, ...] = (
    launches, arguments, order, other_memory, element_type, result, grid, values,
    arguments_on_the_host, pieces, crossings,
)  # fmt: skip
MANAGED: tuple[Cause, ...] = (
    launches, arguments, copied, element_type, unfilled, result, grid, values, waits,
)  # fmt: skip


def examined(multiply: Callable, causes: Sequence[Cause], fact: str) -> Examined:
    """Call a function at each shape; the first cause that is found. fact: of a right one."""
    before = None
    for seed, shape in enumerate(SHAPES):
        seen = call(multiply, shape, seed, before)
        told = next((words for probe in causes if (words := probe(seen))), None)
        before = seen.right
        counts = {"copies": len(seen.copies), "bytes": sum(one.nbytes for one in seen.copies)}
        if told:
            return Examined((told,), counts=counts)
    return Examined(facts=(fact,), counts=counts)


def _inner(argument):
    """The array in `cuda.In`, `cuda.Out` and `cuda.InOut`; anything else as it is."""
    wrapped = isinstance(argument, cuda.In | cuda.Out | cuda.InOut)
    return argument.value if wrapped else argument


def _variables(
    known: Mapping[str, object], arguments: Sequence
) -> tuple[tuple[str, ...], dict[tuple[int, ...], str]]:
    """Names of a launch's arguments, and of the arrays on the device that it does not get.

    known: the variables of the function that launches. Of two names the later one is told.
    """
    arrays = [_inner(one) for one in arguments]
    names = tuple(
        next((name for name in reversed(known) if known[name] is array), "") for array in arrays
    )
    unused = {
        value.shape: name
        for name, value in known.items()
        if isinstance(value, DeviceArray) and not any(value is array for array in arrays)
    }
    return names, unused


def _unused(seen: Call, names: Sequence[str]) -> str:
    """Arrays on the device that were made for what the launch gets from the host."""
    shapes, unused = shapes_of(seen.shape), seen.launches[0].unused
    held = [(name, unused[shapes[name]]) for name in names if shapes[name] in unused]
    if not held:
        lost = [one for one in seen.copies if one.by == "to_device"]
        lost = [one for one in lost if seen.name_of(one.shape) in names]
        return f"{_at(lost)}: what `cuda.to_device` returns is not kept. " if lost else ""
    theirs = [name for _, name in held]
    return (
        f"{_listed(theirs)}, on the device, {_verb(theirs, 'are')} not used: the launch gets "
        f"{_listed([name for name, _ in held])}. "
    )


def _no_device_array(error: str) -> str:
    """What a NumPy array in the place of one on the device means; "" for any other error."""
    if "'numpy.ndarray'" not in error or "copy_to_host" not in error:
        return ""
    return (
        " That is an array of NumPy's, in the memory of the host: only an array on the device has "
        "`copy_to_host`. `cuda.to_device(x)` does not change `x`; it returns the array on the "
        "device, and without a name for it that copy is lost."
    )


def _is_empty(argument) -> bool:
    """Whether this is device memory that nobody has filled, or managed memory full of zeros."""
    if isinstance(argument, HostMemory):
        return not np.any(argument)
    unwritten = getattr(argument, "unwritten", None)
    return unwritten is not None and bool(unwritten.all())


def _wasted(seen: Call, one: Transfer) -> bool:
    return NEEDED.get(seen.name_of(one.shape)) != one.direction


def _goes(one: Transfer) -> str:
    return "goes to the device" if one.direction == TO_DEVICE else "comes back to the host"


def _sum(seen: Call) -> str:
    """What crossed and what had to."""
    moved = sum(one.nbytes for one in seen.copies)
    return (
        f"In all {len(seen.copies):,} copies with {_bytes(moved)}; {len(NEEDED)} copies with "
        f"{_bytes(seen.bytes_needed)} are needed."
    )


def _at(copies: Iterable[Transfer]) -> str:
    """The source lines of these copies: the text of one, or the numbers of several."""
    places = sorted({(one.file, one.line) for one in copies})
    if len(places) > 1:
        return f"Lines {_listed([str(line) for _, line in places], quoted=False)}"
    return _line(places[0])


def _line(place: Place) -> str:
    source = linecache.getline(*place).strip()
    return f"Line {place[1]}, {quoted(source)}" if source else f"Line {place[1]}"


def _listed(names: list[str], quoted: bool = True) -> str:
    told = [f"`{name}`" if quoted else name for name in names]
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"


def _verb(names: list[str], plural: str) -> str:
    """The word for one name or for several."""
    return {"come": "comes", "are": "is", "them": "it"}[plural] if len(names) == 1 else plural


def _bytes(number: int) -> str:
    return counted(number, "byte")


def _size(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "one number"
