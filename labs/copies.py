"""The family of copies: each thread moves several elements, as many of them at once as it can.

A shape is (n,). The launch has blocks of 256 threads, one for every 1024 elements, so that a thread
has four; which ones is its own choice. The numbers in x are all different: each value of the result
says which element it was. Probes compare what the first two blocks store with what is theirs.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import numpy as np
from numba import typeof, types

from labs.exercise import Exercise, Probes, Shape, Target
from labs.run import Run
from labs.vectors import MOVED, REFUSED, THREADS, numbers
from labs.words import at_line, counted, element
from utils.errors import CourseError
from utils.ladder.step import Launch
from utils.virtual_gpu import Finding
from utils.virtual_gpu.recorder import Event

if TYPE_CHECKING:
    from utils.xray import XRay

EACH = 4  # elements of a thread
BLOCK = THREADS * EACH  # elements of a block


def launch(shape: Shape) -> Launch:
    """A block for every 1024 elements."""
    return Launch(grid=(-(-shape[0] // BLOCK),), block=(THREADS,))


def several(**told) -> Exercise:
    """An exercise of this family: a kernel (x, out) that copies.

    told: the fields of Exercise that the family leaves open.
    """
    probes = Probes(
        refused=REFUSED,
        findings=(
            _below_0, _one_too_far, _outside_of_the_test, _other_is_tested, _no_test,
            _other_element, _one_array_for_all,
        ),
        unwritten=(
            _same_in_a_block, _same_in_all_blocks, _fewer, _meets_its_neighbour, _reaches_too_far,
            _blocks_overlap, _threads_apart, _blocks_apart, _begins_late, _all_or_nothing,
            _ends_early,
        ),
        wrong=(_one_value_for_all, _other_place, *MOVED),
    )  # fmt: skip
    return Exercise(
        parameters=("x", "out"),
        sizes=("n",),
        launch=launch,
        inputs=lambda shape, seed: (numbers(shape, seed),),
        reference=lambda x: x.astype(np.float64),
        probes=probes,
        **told,
    )


# --------------------------------------------------------------------------------------- targets


def waits_in_source() -> Target:
    """How often a thread waits for what it has loaded, by the order of its loads and stores."""

    def measure(seen: Run) -> float:
        return float(max(map(len, _waits(seen))))

    def cause(seen: Run, value: float) -> str:
        waits = _waits(seen)
        thread = max(range(THREADS), key=lambda one: len(waits[one]))
        loads, store = waits[thread][0]
        return (
            f"{_line(seen, store)}: thread {thread} stores here when it has begun "
            f"{counted(loads, 'load')} of its {EACH}. A store waits until its value has arrived, "
            f"and the loads behind it begin later. The thread waits "
            f"{counted(len(waits[thread]), 'time')}.{_slices(seen)}"
        )

    words = "one wait of a thread for all its loads, in the source, counted in block 0"
    return Target("waits in the source", 1, words, measure, cause)


def waits_in_machine_code() -> Target:
    """The same of what the compiler made; unknown where the compiler is missing."""

    def measure(seen: Run) -> float | None:
        machine_code = _compiled(seen)
        return machine_code and EACH / machine_code.loads_before_use

    def cause(seen: Run, value: float) -> str:
        loads = _compiled(seen).loads_before_use
        return (
            f"in the machine code only {counted(loads, 'load')} stand{'s' * (loads == 1)} before "
            f"the first use of a loaded value, and {EACH} "
            "are needed. What does the kernel do with a value before it has begun all its loads? "
            "An element of a local array whose index is not known to the compiler is written to "
            "memory at once, and that is a use."
        )

    words = "one wait in the machine code, too"
    return Target("waits in the machine code", 1, words, measure, cause, of_machine=True)


def _compiled(seen: Run) -> XRay | None:
    """What the compiler made of the kernel; None where it is missing."""
    from utils.xray import xray  # half a second, which a check without it need not wait

    try:
        return xray(seen.kernel, types.void(*map(typeof, (*seen.inputs, seen.out))))
    except CourseError:
        return None


def _waits(seen: Run) -> list[list[tuple[int, Event]]]:
    """For each thread of block 0: the loads before each store that waits, and that store."""
    waits: list[list[tuple[int, Event]]] = [[] for _ in range(THREADS)]
    loads = np.zeros(THREADS, int)
    for event in _moves(seen, 0):
        taking_part = np.flatnonzero(event.first >= 0)
        if event.kind == "load":
            loads[taking_part] += 1
            continue
        for thread in taking_part[loads[taking_part] > 0]:
            waits[thread].append((int(loads[thread]), event))
        loads[taking_part] = 0
    return waits


def _slices(seen: Run) -> str:
    """For who takes a slice for a load."""
    taken = [
        ast.unparse(node)
        for node in ast.walk(seen.tree)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
    ]
    if not taken:
        return ""
    return f" A slice such as `{taken[0]}` loads nothing by itself: each element that you use does."


def _line(seen: Run, event: Event) -> str:
    sites = [one for one in seen.trace.counts if one.line == event.line]
    return at_line(sites[0]) if sites else f"line {event.line}"


def _moves(seen: Run, block: int) -> list[Event]:
    """What a block loads from x and stores into out, in order."""
    arrays = {("load", seen.names["x"]), ("store", seen.result)}
    return [one for one in seen.recorded(block).events if (one.kind, one.array) in arrays]


# ---------------------------------------------------------------------------- indices too far out


def _of_the_array(seen: Run, finding: Finding) -> bool:
    return finding.kind == "out_of_bounds" and seen.parameter(finding.array) is not None


def _below_0(seen: Run, finding: Finding) -> str | None:
    """Before the first element, so far that Numba cannot count it from the end."""
    if not _of_the_array(seen, finding) or finding.index[0] >= 0:
        return None
    return "The elements begin with number 0. What does your index take away?"


def _one_too_far(seen: Run, finding: Finding) -> str | None:
    """`<=` for `<`."""
    n = seen.shape[0]
    if not _of_the_array(seen, finding) or finding.index_range != (n, n):
        return None
    return (
        f"That is one too far: the elements have the numbers 0 to {n - 1}. A test that lets {n} "
        "pass has `<=` for `<`, or `>` for `>=`."
    )


def _outside_of_the_test(seen: Run, finding: Finding) -> str | None:
    """Loads are tested and stores are not, or the other way round."""
    tests = [node for node in ast.walk(seen.tree) if isinstance(node, ast.If)]
    leaves = any(isinstance(one, ast.Return) for test in tests for one in ast.walk(test))
    if not _of_the_array(seen, finding) or not tests or leaves:
        return None
    if any(test.lineno <= finding.line <= test.end_lineno for test in tests):
        return None
    return "This line does not stand in an `if`: loads and stores both need the test."


def _other_is_tested(seen: Run, finding: Finding) -> str | None:
    """One test for all four: another element of this thread is inside, and this one is not."""
    if not _of_the_array(seen, finding) or not _tests(seen) or _is_tested(seen, finding):
        return None
    thread = finding.threads[0]
    own = _stored_by(seen, thread.block[0])[:, thread.thread[0]]
    inside = own[own >= 0]
    if not inside.size:
        return None
    return (
        f"This thread also has element {inside.min()}, which is inside. Each of its elements needs "
        "a test of its own."
    )


def _is_tested(seen: Run, finding: Finding) -> bool:
    """Whether an `if` around this line compares the very index that goes too far."""
    around = [
        node
        for node in ast.walk(seen.tree)
        if isinstance(node, ast.If | ast.While | ast.IfExp)
        and node.lineno <= finding.line <= node.end_lineno
    ]
    compared = {ast.unparse(one) for node in around for one in ast.walk(node.test)}
    indices = {
        ast.unparse(node.slice)
        for node in ast.walk(seen.tree)
        if isinstance(node, ast.Subscript)
        and node.lineno == finding.line
        and ast.unparse(node.value) == finding.array
    }
    return bool(compared & indices)


def _no_test(seen: Run, finding: Finding) -> str | None:
    """Nothing is tested."""
    if not _of_the_array(seen, finding) or _tests(seen):
        return None
    return f"{_spare(seen)} Nothing in your kernel keeps threads from going there."


def _other_element(seen: Run, finding: Finding) -> str | None:
    """A test lets it pass."""
    if not _of_the_array(seen, finding):
        return None
    return f"{_spare(seen)} Your test lets this one pass. What does it compare, and with what?"


def _one_array_for_all(seen: Run, finding: Finding) -> str | None:
    """A shared array in place of a local one."""
    if finding.kind != "race" or seen.parameter(finding.array) is not None:
        return None
    return (
        f"All threads of the block share the one array `{finding.array}`, and they overwrite each "
        "other's values there. A barrier does not help: each thread needs places of its own."
    )


def _spare(seen: Run) -> str:
    n, blocks = seen.shape[0], launch(seen.shape).blocks
    return (
        f"{counted(blocks, 'block')} of {THREADS} threads with {EACH} elements each reach "
        f"{blocks * BLOCK:,} elements, and there {'is' if n == 1 else 'are'} {n:,}."
    )


def _tests(seen: Run) -> bool:
    """Whether the kernel compares anything, besides the turns of its loops."""
    tests = ast.If | ast.While | ast.IfExp
    calls = {ast.unparse(one.func) for one in ast.walk(seen.tree) if isinstance(one, ast.Call)}
    return any(isinstance(node, tests) for node in ast.walk(seen.tree)) or "min" in calls


# ------------------------------------------------------------------------- elements never written


def _stored_by(seen: Run, block: int) -> np.ndarray:
    """The elements that a block stores: shape (stores, 256), -1 where a thread takes no part."""
    stores = [one.first for one in _moves(seen, block) if one.kind == "store"]
    return np.stack(stores) if stores else np.full((1, THREADS), -1)


def _block0(seen: Run) -> np.ndarray | None:
    """What block 0 stores where all its threads do; else None."""
    stored = _stored_by(seen, 0)
    return stored if (stored >= 0).all() else None


def _starts(seen: Run) -> tuple[int, int] | None:
    """The first elements of blocks 0 and 1, if both store."""
    if launch(seen.shape).blocks < 2:
        return None
    blocks = [_stored_by(seen, block) for block in (0, 1)]
    if any((stored < 0).all() for stored in blocks):
        return None
    first, second = (int(stored[stored >= 0].min()) for stored in blocks)
    return first, second


def _same_in_a_block(seen: Run) -> str | None:
    """The number of the thread is missing."""
    stored = _block0(seen)
    if stored is None or (stored[0] != stored[0, 0]).any():
        return None
    return (
        f"All {THREADS} threads of block 0 store the same element, {stored[0, 0]}. The number of "
        "the thread is missing in your index."
    )


def _same_in_all_blocks(seen: Run) -> str | None:
    """The number of the block is missing."""
    starts = _starts(seen)
    if starts is None or starts[0] != starts[1]:
        return None
    return (
        "Block 1 begins with the same element as block 0: `threadIdx.x` begins again at 0 in every "
        "block. The number of the block is missing in your index."
    )


def _fewer(seen: Run) -> str | None:
    """A thread stores fewer than four elements."""
    stored = _block0(seen)
    if stored is None:
        return None
    own = np.unique(stored[:, 0])
    if own.size >= EACH:
        return None
    return (
        f"Thread 0 stores {counted(own.size, 'element')}, "
        f"{', '.join(map(str, own))}, and it has {EACH}."
    )


def _meets_its_neighbour(seen: Run) -> str | None:
    """Two threads of one block store the same element."""
    stored = _block0(seen)
    if stored is None or np.unique(stored).size == stored.size:
        return None
    elements, counts = np.unique(stored, return_counts=True)
    twice = int(elements[counts > 1][0])
    threads = np.unique(np.argwhere(stored == twice)[:, 1])[:2]
    own = ", ".join(map(str, stored[:, threads[0]]))
    return (
        f"Thread {threads[0]} stores the elements {own}, and thread {threads[1]} stores {twice}, "
        "too. How far apart are the elements of one thread, and how many threads lie between?"
        if threads.size > 1
        else f"Thread {threads[0]} stores element {twice} twice."
    )


def _reaches_too_far(seen: Run) -> str | None:
    """Blocks are as far apart as they should be, and one stores elements of the next."""
    stored, starts = _block0(seen), _starts(seen)
    if stored is None or starts is None or starts[1] - starts[0] != BLOCK:
        return None
    if stored.max() < starts[1]:
        return None
    return (
        f"Block 1 begins with element {starts[1]}, and block 0 stores up to element "
        f"{stored.max()}. How far apart are the elements of one thread?"
    )


def _blocks_overlap(seen: Run) -> str | None:
    """Block 1 stores what block 0 stores, too."""
    stored, starts = _block0(seen), _starts(seen)
    if stored is None or starts is None:
        return None
    both = np.intersect1d(stored, _stored_by(seen, 1))
    if not both.size:
        return None
    return (
        f"Blocks 0 and 1 both store {counted(both.size, 'element')}, the first is {both[0]}. Block "
        f"0 begins with element {starts[0]}, block 1 with {starts[1]}, and each stores "
        f"{np.unique(stored).size}. What is the number of the block multiplied with?"
    )


def _threads_apart(seen: Run) -> str | None:
    """Between the elements of a block some are left out."""
    stored = _block0(seen)
    if stored is None:
        return None
    whole = np.unique(stored)
    jumps = np.flatnonzero(np.diff(whole) > 1)
    missing = seen.unwritten
    for jump in jumps:
        gap = whole[jump] + 1
        if missing[gap]:
            return (
                f"Block 0 stores {whole[jump]} and next {whole[jump + 1]}, and nobody stores "
                "those between them. How far apart are the elements of one thread?"
            )
    return None


def _blocks_apart(seen: Run) -> str | None:
    """The next block begins behind the end of this one."""
    stored, starts = _block0(seen), _starts(seen)
    if stored is None or starts is None or starts[1] - starts[0] <= BLOCK:
        return None
    return (
        f"Block 0 stores {BLOCK} elements, and block 1 begins {starts[1] - starts[0]} further: a "
        "gap is left between them. What is the number of the block multiplied with?"
    )


def _begins_late(seen: Run) -> str | None:
    """All elements of a block are one too far, or more."""
    stored = _block0(seen)
    if stored is None or stored.min() == 0 or not seen.unwritten[0]:
        return None
    return (
        f"Block 0 begins with element {stored.min()}, and nobody stores those before it. What is "
        "added to your index?"
    )


def _all_or_nothing(seen: Run) -> str | None:
    """A thread with an element outside stores none of its others."""
    missing = np.flatnonzero(seen.unwritten)
    n = seen.shape[0]
    if n % BLOCK == 0 or missing[0] < n // BLOCK * BLOCK or missing[0] == n - 1:
        return None
    return (
        f"They belong to the last block, which reaches beyond the end. There a thread has elements "
        f"inside and elements outside: {element(seen.result, missing[:1])} is inside, and it is "
        "left out. Each element needs a test of its own."
    )


def _ends_early(seen: Run) -> str | None:
    """All elements from one on are missing."""
    missing = np.flatnonzero(seen.unwritten)
    n, first = seen.shape[0], int(missing[0])
    if missing.size == n:
        return "No thread passes your test. Is it the right way round?"
    if missing.size != n - first:
        return None
    if first == n - 1:
        return f"The last element, n - 1 = {first}, is inside: a test leaves it out."
    return f"All elements from {first} on are missing. Which test or loop ends there?"


# ----------------------------------------------------------------------------------- wrong values


def _origins(seen: Run) -> np.ndarray:
    """For each element of the result the element of x whose value it holds; -1 for none."""
    (x,) = seen.inputs
    places = np.full(x.size + 1, -1)
    places[x.astype(int)] = np.arange(x.size)
    known = np.isfinite(seen.out) & (seen.out >= 1) & (seen.out <= x.size)
    whole = np.where(known, seen.out, 0).astype(int)
    return np.where(known & (whole == seen.out), places[whole], -1)


def _one_value_for_all(seen: Run) -> str | None:
    """All elements of a thread hold one and the same value."""
    stored = _block0(seen)
    if stored is None or len(stored) < 2:
        return None
    own = stored[:, 0]
    values = np.unique(seen.out[own])
    origin = _origins(seen)[own[0]]
    if values.size > 1 or origin < 0:
        return None
    which = "the last" if origin == own[-1] else "the first" if origin == own[0] else "one"
    return (
        f"All elements of thread 0, {', '.join(map(str, own))}, hold the value of "
        f"{element(seen.names['x'], [origin])}, {which} that it loads. Each load needs a place of "
        "its own until the store."
    )


def _other_place(seen: Run) -> str | None:
    """An element holds the value of another one."""
    origins = _origins(seen)
    first = int(np.flatnonzero(seen.wrong)[0])
    if origins[first] < 0:
        return None
    away = int(origins[first]) - first
    return (
        f"That is the value of {element(seen.names['x'], [origins[first]])}, "
        f"{counted(abs(away), 'element')} {'further' if away > 0 else 'before'}: it was loaded for "
        "another element. Which value does the store of this element take?"
    )
