"""Examine a host function that multiplies two matrices: its copies, launches and waits.

A probe takes one call of the function, and returns sentences on a mistake or None. The matrices are
a, b and c, with c = a·b.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable, Sequence
from inspect import unwrap
from random import Random
from types import CodeType

import numpy as np

from labs.checking.job import Shape
from labs.checking.phrasing import counted, element, quoted
from labs.host.exercise import CallFailed, Examination, Fault
from labs.host.products import BLOCK, FLOAT32, NEEDED, ProductCall, call_multiply, inner, shapes_of
from virtual_gpu import DeviceArray, Transfer
from virtual_gpu.host.hostarrays import HostMemory, ManagedMemory
from virtual_gpu.host.transfers import TO_DEVICE, TO_HOST, SourceLine

# The sizes of a shape all differ, so that its shape identifies an array. The first shape is used
# twice. The third one needs the last threads of a block, and the last block. Two more are drawn.
SHAPES = ((48, 80, 20), (48, 80, 20), (41, 33, 5))
ADDED = 1.0  # by the kernel in a drawn call, so that only the kernel's memory has its result


def wrong_launch_count(call: ProductCall) -> str | None:
    """Return sentences if the kernel is not launched exactly once, else None."""
    if not call.launches:
        return "The kernel is never launched, so the GPU computes nothing."
    if len(call.launches) > 1:
        return (
            f"The kernel is launched {len(call.launches)} times. One launch computes all of `c`; "
            "the others do the same work again."
        )
    return None


def wrong_arguments(call: ProductCall) -> str | None:
    """Return sentences if the launch gets other arguments than three arrays shaped as a, b and c.

    Returns None otherwise.
    """
    arguments = call.launches[0].arguments
    expected = shapes_of(call.shape)
    needed = ", ".join(f"`{name}` of {_size(shape)}" for name, shape in expected.items())
    if len(arguments) != len(expected):
        return (
            f"{call.where} the kernel is launched with {counted(len(arguments), 'argument')}. It "
            f"takes three: {needed}."
        )
    shapes = [np.shape(inner(one)) for one in arguments]
    if shapes != list(expected.values()):
        actual = _listed([_size(one) for one in shapes], quoted=False)
        return f"{call.where} the kernel gets arrays of {actual}. It needs {needed}."
    return None


def managed_memory(call: ProductCall) -> str | None:
    """Return sentences if an argument of the launch is a managed or mapped array, else None.

    It is for a task about copies, which such arrays do not need.
    """
    for name, argument in zip(NEEDED, call.launches[0].arguments, strict=True):
        if isinstance(argument, HostMemory):
            return (
                f"`{name}` lies in managed or mapped memory: the host and the GPU use the same "
                "array, and no copy stands in the code. This task is about the copies."
            )
    return None


def wrong_element_type(call: ProductCall) -> str | None:
    """Return sentences if an argument of the launch is not float32, else None."""
    for name, argument in zip(NEEDED, call.launches[0].arguments, strict=True):
        dtype = inner(argument).dtype
        if dtype != FLOAT32:
            count = int(np.prod(shapes_of(call.shape)[name]))
            return (
                f"The kernel gets `{name}` as {dtype}: {_bytes(count * dtype.itemsize)} in memory "
                f"and on the bus. As float32 it is {_bytes(call.bytes_of(name))}."
            )
    return None


def wrong_result(call: ProductCall) -> str | None:
    """Return sentences if the result is no NumPy array with the shape and type of c, else None."""
    returned = call.result
    if returned is None:
        return "The function returns `None`: nobody gets `c`. It has to `return` it."
    if isinstance(returned, DeviceArray):
        return (
            "The function returns an array that lies on the device, and whoever called you has no "
            "NumPy array. `copy_to_host` returns one."
        )
    if not isinstance(returned, np.ndarray):
        return f"The function returns a {type(returned).__name__}; a NumPy array is wanted."
    if returned.shape != call.right.shape:
        return (
            f"{call.where} the result has the shape {_size(returned.shape)}; `c` has m rows and n "
            f"columns, {_size(call.right.shape)}."
        )
    if returned.dtype != FLOAT32:
        return f"The result is {returned.dtype}. `c` is float32, as `a` and `b` are."
    return None


def wrong_order(call: ProductCall) -> str | None:
    """Return sentences if a or b is copied to the device after the launch, or never, else None.

    Also returns sentences if c is copied back before the launch.
    """
    launch = call.launches[0]
    later = call.copies[launch.copies :]
    for name in launch.empty:
        if copies := [one for one in later if call.name_of(one.shape) == name]:
            return f"{_copy_lines(copies)}: `{name}` goes to the device after the kernel has run."
        return (
            f"`{name}` never goes to the device: the kernel gets memory for it that nobody has "
            "filled."
        )
    copies_of_c = [
        one for one in call.copies if call.name_of(one.shape) == "c" and one.direction == TO_HOST
    ]
    if copies_of_c and not set(copies_of_c) & set(later):
        return (
            f"{_copy_lines(copies_of_c)}: `c` comes back before the kernel is launched. What comes "
            "back is what lay in the memory until then."
        )
    return None


def unordered_copies(call: ProductCall) -> str | None:
    """Return sentences if a copy and the launch are in streams that do not wait for each other.

    Also returns sentences if the function returns c before its copy has ended, and None otherwise.
    """
    first, last = call.launches[0].operation, call.launches[-1].operation
    for copy, operation in call.order.copies:
        name, line = call.name_of(copy.shape), _copy_lines([copy])
        if copy.direction != NEEDED.get(name):
            continue
        if copy.direction == TO_DEVICE:
            if operation.number < first.number and operation.number not in first.before:
                return (
                    f"{line}: `{name}` is copied in another stream than that of the launch, and "
                    f"the launch does not wait for it. On a GPU the kernel may begin before "
                    f"`{name}` is there. Use one stream for both."
                )
        elif operation.number > last.number and last.number not in operation.before:
            return (
                f"{line}: `c` is copied back in another stream than that of the launch, and the "
                "copy does not wait for the kernel. On a GPU it may begin before the kernel has "
                "ended. Use one stream for both."
            )
        elif operation.number not in call.order.ended:
            return (
                f"{line}: a copy to pinned memory in a stream returns at once, and nothing waits "
                "for it. On a GPU elements of `c` may still be missing when the function returns. "
                "Wait for the stream before you return `c`."
            )
    return None


def wrong_grid(call: ProductCall) -> str | None:
    """Return sentences if the grid does not fit c, or is mistaken for the block, else None.

    A grid fits if it covers c, with at most one block too many along x and along y.
    """
    (m, n, _), (x, y) = call.shape, call.launches[0].threads
    blocks = call.launches[0].grid
    if blocks == BLOCK:
        return (
            f"{_line(call.launches[0].place)}: the launch has {_size(blocks)} blocks of "
            f"{x // blocks[0]}×{y // blocks[1]} threads. Grid and block are exchanged, and at a "
            "larger shape a block would have more than 1,024 threads."
        )
    if x >= n and y >= m:
        if x < n + 2 * BLOCK[0] and y < m + 2 * BLOCK[1]:
            return None
        return (
            f"{call.where} the whole launch is {x:,} threads wide and {y:,} high, and `c` has "
            f"{counted(n, 'column')} and {counted(m, 'row')}: whole blocks have no element. "
            "Compute the grid from the sizes of `c`."
        )
    missing = m * n - min(x, n) * min(y, m)
    return (
        f"{call.where} the whole launch is {x:,} threads wide and {y:,} high, and `c` has "
        f"{counted(n, 'column')} and {counted(m, 'row')}: {missing:,} of its {m * n:,} elements "
        "have no thread."
    )


def wrong_values(call: ProductCall) -> str | None:
    """Return sentences if elements of the result are wrong, else None.

    Returns None too if they were read too early or computed on the host; other probes report that.
    """
    if not call.wrong.any() or _was_held_back(call) or computed_on_the_host(call):
        return None
    if call.earlier is not None and np.array_equal(call.result, call.earlier):
        return (
            "The check calls the function twice, with other numbers, and the second result is that "
            "of the first call: something is kept from one call to the next."
        )
    if not np.any(call.result):
        return (
            "Every element of the result is 0: it is an array that was made on the host, and the "
            "result of the kernel has not come there."
        )
    at = tuple(np.argwhere(call.wrong)[0])
    return (
        f"{call.where} {np.count_nonzero(call.wrong):,} of {call.wrong.size:,} elements are wrong: "
        f"{element('c', at)} is {call.result[at]:g}, and {call.right[at]:g} is right."
    )


def computed_on_the_host(call: ProductCall) -> str | None:
    """Return sentences if the result was computed on the host instead of by the kernel, else None.

    In one call, the kernel adds a number to some elements of c. The result is from the host if it
    is a·b without this number. For all other calls, None is returned.
    """
    if not call.added or not np.array_equal(call.result, call.a @ call.b):
        return None
    return (
        "In one call the check gives your function a kernel that adds 1 to some elements of `c`. "
        "Your result is `a` times `b` without it, so it does not come from the kernel: the host "
        "has computed it. Return what the kernel has stored in `c`."
    )


def arguments_on_the_host(call: ProductCall) -> str | None:
    """Return sentences if the launch makes needless copies of arrays in host memory, else None.

    Numba copies a NumPy array to the device before the launch and back after it.
    """
    copies = [one for one in call.copies if one.by == "launch"]
    if not any(_wasted(call, one) for one in copies):
        return None
    names = [name for name in NEEDED if any(call.name_of(one.shape) == name for one in copies)]
    inputs = [name for name in names if NEEDED[name] == TO_DEVICE]
    wasted = []
    if inputs:
        they, them = _verb(inputs, "come"), _verb(inputs, "them")
        wasted.append(f"{_listed(inputs)} {they} back, and the host has {them} already")
    if "c" in names:
        wasted.append("`c` goes to the device, and nobody reads it there")
    return (
        f"{_line(call.launches[0].place)}: {_listed(names)} {_verb(names, 'are')} in the memory of "
        "the host here. Numba copies such an array to the device before the launch and back to the "
        f"host after it: {'; '.join(wasted)}. {_unused(call, names)}{_sum(call)}"
    )


def partial_copies(call: ProductCall) -> str | None:
    """Return sentences if a copy moves only a part of an array, such as one row, else None.

    That is a copy whose shape is none of those of a, b and c.
    """
    parts = [one for one in call.copies if call.name_of(one.shape) is None]
    if not parts:
        return None
    first = parts[0]
    alike = [one for one in parts if (one.shape, one.direction) == (first.shape, first.direction)]
    what = "one element" if first.nbytes <= 8 else f"an array of shape {_size(first.shape)}"
    again = f"{len(alike):,} times {_bytes(first.nbytes)}" if alike[1:] else _bytes(first.nbytes)
    return (
        f"{_copy_lines(alike)}: {what} {_goes(first)}, {again}. Each copy has its own start on the "
        f"bus, which takes longer than so few bytes. {_sum(call)}"
    )


def wrong_directions(call: ProductCall) -> str | None:
    """Return sentences if a, b or c is copied the wrong way, twice, or never, else None."""
    for name, way in NEEDED.items():
        copies = [one for one in call.copies if call.name_of(one.shape) == name]
        wrong_way = [one for one in copies if one.direction != way]
        right_way = [one for one in copies if one.direction == way]
        if wrong_way:
            reason = (
                "nobody reads them there: the kernel stores every element of `c`"
                if name == "c"
                else "the host has them already"
            )
            return (
                f"{_copy_lines(wrong_way)}: `{name}` {_goes(wrong_way[0])}, "
                f"{_bytes(sum(one.nbytes for one in wrong_way))}, and {reason}. {_sum(call)}"
            )
        if len(right_way) > 1:
            return (
                f"{_copy_lines(right_way)}: `{name}` {_goes(right_way[0])} {len(right_way)} times, "
                f"{_bytes(sum(one.nbytes for one in right_way))} in place of "
                f"{_bytes(call.bytes_of(name))}."
            )
        if not right_way:
            return (
                f"No copy of `{name}` was seen, and the kernel used it: it lies in memory that "
                "host and GPU share. This task is about the copies."
            )
    return None


def unwanted_copies(call: ProductCall) -> str | None:
    """Return sentences if there is any copy, else None; for a task that asks for none."""
    if not call.copies:
        return None
    copy = call.copies[0]
    name = call.name_of(copy.shape)
    what = f"`{name}`" if name else f"an array of {_size(copy.shape)}"
    if copy.by == "launch":
        return _no_managed_arrays(call)
    return (
        f"{_copy_lines([copy])}: {what} {_goes(copy)} by a copy, {_bytes(copy.nbytes)}. No copy is "
        "wanted here."
    )


def _no_managed_arrays(call: ProductCall) -> str:
    """Return sentences on the arguments that the launch copies because they are no managed arrays.

    If the reader assigned an argument of the function to a second name, they say that this does not
    make a managed array.
    """
    launch = call.launches[0]
    moved = [one for one in call.copies if one.by == "launch" and one.direction == TO_DEVICE]
    shapes = {one.shape for one in moved}
    names, second_names = [], ""
    for own, name, argument in zip(NEEDED, launch.names, launch.arguments, strict=True):
        if np.shape(inner(argument)) not in shapes:
            continue
        names.append(name or own)
        if name not in ("", own) and any(inner(argument) is one for one in call.arguments):
            second_names += (
                f" `{name} = {own}` stores nothing: `{name}` is then the given array itself."
            )
    kind = "arrays of NumPy's, and no managed ones"
    kind = kind if names[1:] else "an array of NumPy's, and no managed one"
    them, nbytes = _verb(names, "them"), _bytes(sum(one.nbytes for one in moved))
    return (
        f"{_line(launch.place)}: {_listed(names)} {_verb(names, 'are')} {kind}. So Numba copies "
        f"{them} at the launch: {nbytes} to the device, and back.{second_names}"
    )


def unfilled_arrays(call: ProductCall) -> str | None:
    """Return sentences if a or b has not been filled when the kernel is launched, else None.

    Device memory that was never written counts as not filled, and managed memory full of zeros too.
    """
    for name in call.launches[0].empty:
        return (
            f"{_line(call.launches[0].place)}: `{name}` has no numbers yet when the kernel is "
            f"launched. Nobody has stored the elements of `{name}` in the memory that it gets."
        )
    return None


def missing_wait(call: ProductCall) -> str | None:
    """Return sentences if the function does not wait for the kernel after its launch, else None."""
    if len(call.waits) > call.launches[0].waits:
        return None
    early = f"{_line(call.waits[0])}, waits before the launch. " if call.waits else ""
    return (
        f"{early}Nothing waits for the kernel after its launch. On a GPU it may still run when the "
        "function returns, and some elements of `c` are then still missing."
    )


def read_before_the_wait(call: ProductCall) -> str | None:
    """Return sentences if the result was read from c before the function waited, else None.

    Also returns None if the function does not wait after the launch at all.
    """
    if not _was_held_back(call) or len(call.waits) <= call.launches[0].waits:
        return None
    return (
        f"{_line(call.waits[call.launches[0].waits])}, waits for the kernel, but your result was "
        "read from `c` before this wait. On a GPU the kernel may still run then, and elements of "
        "`c` are missing. Wait first, then read `c`."
    )


def wait_for_another_stream(call: ProductCall) -> str | None:
    """Return sentences if the wait after the launch is not for its kernel, else None.

    Also returns None if the function does not wait after the launch at all.
    """
    launch = call.launches[0]
    if len(call.waits) <= launch.waits or launch.operation.number in call.order.ended:
        return None
    return (
        f"{_line(call.waits[-1])}, does not wait for the stream of the launch. On a GPU the kernel "
        "may still run when the function returns, and some elements of `c` are then still missing."
    )


def _was_held_back(call: ProductCall) -> bool:
    """Return True if the result has NaN because it was read from c before the function waited.

    In managed and mapped memory, c is NaN between the launch and the next wait.
    """
    result, c = call.result, inner(call.launches[0].arguments[2])
    if not isinstance(c, HostMemory) or not isinstance(result, np.ndarray):
        return False
    return result.dtype.kind == "f" and bool(np.isnan(result).any())


def mapped_memory(call: ProductCall) -> str | None:
    """Return sentences on an argument in mapped memory, or None; for a task on managed memory."""
    for name in _mapped(call):
        return (
            f"`{name}` is in mapped memory. It stays in the memory of the host, and the GPU "
            "reads and writes it over the bus at each access. This task is about managed "
            "memory, whose pages move to where they are used: `cuda.managed_array`."
        )
    return None


def _mapped(call: ProductCall) -> list[str]:
    """Return the names, "a", "b" or "c", of the arguments that are in mapped memory."""
    return [
        name
        for name, argument in zip(NEEDED, call.launches[0].arguments, strict=True)
        if isinstance(argument, HostMemory) and not isinstance(argument, ManagedMemory)
    ]


Probe = Callable[[ProductCall], str | None]
# The probes for a product with copies, and for one in managed memory, in the order of their calls.
COPIED: tuple[Probe, ...] = (
    wrong_launch_count, wrong_arguments, wrong_order, managed_memory, wrong_element_type,
    wrong_result, wrong_grid, computed_on_the_host, wrong_values, arguments_on_the_host,
    partial_copies, wrong_directions, unordered_copies,
)  # fmt: skip
MANAGED: tuple[Probe, ...] = (
    wrong_launch_count, wrong_arguments, unwanted_copies, mapped_memory, wrong_element_type,
    unfilled_arrays, wrong_result, wrong_grid, missing_wait, read_before_the_wait,
    wait_for_another_stream, computed_on_the_host, wrong_values,
)  # fmt: skip


ALL = 100  # the percentage of a fault after which nothing else can be seen
OF_ONE_FAULT = 25  # a percentage; three arrays that are copied wrongly cost three of them
OF_NO_WAIT = 60  # a percentage; on a GPU elements of the result may then be missing
# The percentages for arrays that are not in managed memory, by their number. A copy of c counts as
# two of them, because it also takes the place of the wait, which such a task is about.
NOT_MANAGED = (0, OF_ONE_FAULT, 60, 75, 75)
# What a probe is about; of several faults about the same, only the first costs points.
PROMISES: dict[Probe, str] = {
    wrong_launch_count: "launch", managed_memory: "copies", arguments_on_the_host: "copies",
    partial_copies: "copies", wrong_directions: "copies", unwanted_copies: "copies",
    wrong_element_type: "type", wrong_result: "type", wrong_grid: "values", wrong_values: "values",
    missing_wait: "wait", read_before_the_wait: "wait", wait_for_another_stream: "wait",
    unordered_copies: "wait", mapped_memory: "memory",
    computed_on_the_host: "source",
}  # fmt: skip


def _faults(call: ProductCall, probes: Sequence[Probe]) -> dict[str, Fault]:
    """Return all faults of a call: a dict from what a fault is about to the first fault about that.

    The key is a value of PROMISES, such as "copies", or "" for a probe that is not in PROMISES.
    After a fault that costs all points, no further probe is called.
    """
    faults: dict[str, Fault] = {}
    for probe in probes:
        promise = PROMISES.get(probe, "")
        if promise not in faults and (words := probe(call)):
            faults[promise] = Fault(words, _cost(probe, call))
            if faults[promise].costs == ALL:
                break
    return faults


def _cost(probe: Probe, call: ProductCall) -> int:
    """Return the percentage of the points that the fault which a probe found costs."""
    promise = PROMISES.get(probe)
    if probe is unwanted_copies:
        return NOT_MANAGED[_copied_arrays(call)]
    if probe is mapped_memory:
        copied = _copied_arrays(call)
        return NOT_MANAGED[min(4, copied + len(_mapped(call)))] - NOT_MANAGED[copied]
    if promise == "copies":
        return OF_ONE_FAULT * len(_copied_wrongly(call))
    if probe is wrong_grid:
        return 2 * OF_ONE_FAULT
    if probe is computed_on_the_host:
        return 3 * OF_ONE_FAULT
    kept = {
        wrong_launch_count: bool(call.launches),
        wrong_result: getattr(call.result, "shape", None) == call.right.shape,
    }
    if promise == "wait":
        return OF_NO_WAIT
    return OF_ONE_FAULT if promise in ("launch", "type") and kept.get(probe, True) else ALL


def _copied_wrongly(call: ProductCall) -> list[str]:
    """Return those of "a", "b" and "c" whose copies are not the ones that the task asks for.

    If all of these are right, only parts of arrays were copied wrongly, and ["a"] is returned.
    """
    ways = {
        name: [one.direction for one in call.copies if call.name_of(one.shape) == name]
        for name in NEEDED
    }
    wrong = [name for name, way in NEEDED.items() if ways[name] != [way]]
    return wrong or [*NEEDED][:1]  # parts of arrays only


def _copied_arrays(call: ProductCall) -> int:
    """Return the number of arrays with a copy, in which c counts as two; see NOT_MANAGED.

    It is 0 without a copy, and at least 1 with a copy of a part.
    """
    names = {call.name_of(one.shape) for one in call.copies}
    return len(names) + ("c" in names)


def examine_product(multiply: Callable, probes: Sequence[Probe], fact: str) -> Examination:
    """Call a host function at each shape and return the outcome, whose cause is the first fault.

    The outcome has all faults, or `fact` if there is none. Its counts are "copies" and "bytes" of
    the first wrong call, or of the last call if none is wrong. probes: in the order in which they
    are called. fact: a sentence about a right function. Raises CallFailed if a call fails and no
    call before it had a fault. If one had, the outcome has only its cause, which costs all points.
    """
    before, counts, faults = None, {}, {}
    random = Random(_digest(multiply))
    shapes = (*SHAPES, *(_drawn_shape(random) for _ in range(2)))
    adding = random.randrange(2, len(shapes))
    for seed, shape in enumerate(shapes):
        added = ADDED if seed == adding else 0.0
        try:
            call = call_multiply(multiply, shape, seed, before, added)
        except CallFailed:
            if not faults:
                raise
            return Examination((next(iter(faults.values())).cause,), counts=counts)
        before = call.right
        if not faults:
            counts = {"copies": len(call.copies), "bytes": sum(one.nbytes for one in call.copies)}
        faults = {**_faults(call, probes), **faults}
        if any(one.costs == ALL for one in faults.values()):
            break
    if not faults:
        return Examination(facts=(fact,), counts=counts)
    named = tuple(faults.values())
    return Examination((named[0].cause,), counts=counts, faults=named)


def _digest(function: Callable) -> str:
    """Return a text that is different for functions with other instructions or constants.

    What is drawn from it is the same for each call of one function, and unknown to its author.
    """
    code = unwrap(function).__code__
    constants = [one for one in code.co_consts if not isinstance(one, CodeType)]
    return f"{code.co_code.hex()} {constants} {code.co_names}"


def _drawn_shape(random: Random) -> Shape:
    """Return a random shape (m, n, k) with different sizes, which may be larger than the others."""
    return random.randrange(24, 72), random.randrange(80, 160), random.randrange(4, 20)


def _unused(call: ProductCall, names: Sequence[str]) -> str:
    """Return a sentence and a space on device arrays that the launch does not use, or "".

    If there are none, the sentence is on calls of `cuda.to_device` whose result is not kept. names:
    those of "a", "b" and "c" that the launch gets in host memory.
    """
    shapes, unused = shapes_of(call.shape), call.launches[0].unused
    pairs = [(name, unused[shapes[name]]) for name in names if shapes[name] in unused]
    if not pairs:
        lost = [one for one in call.copies if one.by == "to_device"]
        lost = [one for one in lost if call.name_of(one.shape) in names]
        return f"{_copy_lines(lost)}: what `cuda.to_device` returns is not kept. " if lost else ""
    unused_names = [name for _, name in pairs]
    return (
        f"{_listed(unused_names)}, on the device, {_verb(unused_names, 'are')} not used: the "
        f"launch gets {_listed([name for name, _ in pairs])}. "
    )


def _wasted(call: ProductCall, one: Transfer) -> bool:
    """Return True if the task does not need a copy of this array in this direction."""
    return NEEDED.get(call.name_of(one.shape)) != one.direction


def _goes(one: Transfer) -> str:
    """Return a verb phrase on the direction of a copy, such as "goes to the device"."""
    return "goes to the device" if one.direction == TO_DEVICE else "comes back to the host"


def _sum(call: ProductCall) -> str:
    """Return a sentence with the number of copies and bytes that were made and that are needed."""
    moved = sum(one.nbytes for one in call.copies)
    return (
        f"In all {len(call.copies):,} copies with {_bytes(moved)}; {len(NEEDED)} copies with "
        f"{_bytes(call.bytes_needed)} are needed."
    )


def _copy_lines(copies: Iterable[Transfer]) -> str:
    """Return a phrase such as "Line 7, `x.copy_to_host()`", or "Lines 7 and 9" for several."""
    places = sorted({(one.file, one.line) for one in copies})
    if len(places) > 1:
        return f"Lines {_listed([str(line) for _, line in places], quoted=False)}"
    return _line(places[0])


def _line(place: SourceLine) -> str:
    """Return a phrase on a source line, such as "Line 7, `x.copy_to_host()`"."""
    source = linecache.getline(*place).strip()
    return f"Line {place[1]}, {quoted(source)}" if source else f"Line {place[1]}"


def _listed(names: list[str], quoted: bool = True) -> str:
    """Return a phrase such as "`a`, `b` and `c`", or without backticks if `quoted` is False."""
    *first, last = (f"`{name}`" if quoted else name for name in names)
    return f"{', '.join(first)} and {last}" if first else last


def _verb(names: list[str], plural: str) -> str:
    """Return the plural word for several names, or its singular for one name.

    plural: "come", "are" or "them".
    """
    return {"come": "comes", "are": "is", "them": "it"}[plural] if len(names) == 1 else plural


def _bytes(number: int) -> str:
    """Return a number of bytes with its noun, such as "1 byte" or "3,840 bytes"."""
    return counted(number, "byte")


def _size(shape: tuple[int, ...]) -> str:
    """Return a shape such as "48×80", or "one number" for the shape ()."""
    return "×".join(map(str, shape)) or "one number"
