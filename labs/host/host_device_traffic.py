"""A product by a host function: what crossed the bus for it, and what is wrong with that.

Each cause is a sentence about one call, or None.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from labs.checking.phrasing import counted, element, quoted
from labs.host.exercise import Examined
from labs.host.products import BLOCK, FLOAT32, NEEDED, Call, call, inner, shapes_of
from virtual_gpu import DeviceArray, Transfer
from virtual_gpu.host.hostarrays import HostMemory
from virtual_gpu.host.transfers import TO_DEVICE, TO_HOST, Place

# The sizes all differ, so that each array is known by its shape. The first one is called twice; the
# others need the last threads of a block, and the last block.
SHAPES = ((48, 80, 20), (48, 80, 20), (41, 33, 5), (40, 64, 12))


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
    shapes = [np.shape(inner(one)) for one in given]
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
        dtype = inner(given).dtype
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
        if np.shape(inner(given)) not in shapes:
            continue
        names.append(name or own)
        if name not in ("", own) and any(inner(given) is one for one in seen.given):
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
