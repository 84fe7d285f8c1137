"""Sums in one launch, of the family of reductions: blocks leave partial sums, and one adds these.

The launch has blocks of 64 threads, and thread i of the grid has element i. The kernel gets room
for one partial sum per block, which holds what an earlier launch left there, and a counter, which
is zero before the launch and must be zero after it.
"""

from __future__ import annotations

import ast
from dataclasses import replace

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.checking.phrasing import at_line, counted
from labs.checking.run import Run, run
from labs.checking.target import Probes, Target
from labs.families import reduction as reductions
from labs.families.reduction import Sums, reduction
from labs.targets.counts import no_float64, no_negative_index, one_store_per_element
from virtual_gpu.common.source import read_source

BLOCK = 64
SUMS = Sums(threads=BLOCK, whole=True)
_ALL_OF_THEM = f" Each of the {BLOCK} threads of the block reads all of them."
LEFT = np.float32(4096)  # what another launch has left in each partial sum


def sum_in_one_launch(**told) -> KernelExercise:
    """An exercise of this family: a kernel (x, partials, drawn, out) with out[0] = the sum of x.

    told: the fields of KernelExercise that the family leaves open.
    """
    return reduction(
        SUMS,
        constant="BLOCK",
        probes=PROBES,
        parameters=("x", "partials", "drawn", "out"),
        scratch=("partials", "drawn"),
        inputs=inputs,
        timed=False,  # the counter must be 0 before each launch
        shapes=((4096,), (5760,), (4161,), (1000,), (65,), (64,), (7,), (1,)),
        targets=(
            no_negative_index(),
            chosen_by_its_ticket(),
            stored_before_its_ticket(),
            counter_after(0),
            no_atomics_on_the_result(),
            each_partial(1, "store"),
            each_partial(1, "load"),
            each_element_once(),
            one_store_per_element(),
            no_float64(),
        ),
        **told,
    )


def inputs(shape: Shape, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, as for all reductions; partials; the counter."""
    partials = np.full(SUMS.blocks(shape[0]), LEFT)
    return (*reductions.inputs(shape, seed), partials, np.zeros(1, np.uint32))


def counter_after(value: int) -> Target:
    """What the counter holds when the launch has ended."""

    def measure(seen: Run) -> float:
        return abs(float(seen.left[2][0]) - value)

    def cause(seen: Run, away: float) -> str:
        after, name = int(seen.left[2][0]), seen.names["drawn"]
        return (
            f"after the launch `{name}[0]` is {after}, and not {value}. The blocks of the next "
            f"launch would draw the numbers from {after} on."
        )

    return Target("counter off by", 0, f"the counter is {value} again", measure, cause, True)


def chosen_by_its_ticket() -> Target:
    """Whether the block that adds is found by its ticket, and not by its own number.

    The virtual GPU starts blocks in their order, so the one with the highest number comes last.
    With a counter that begins at 1, the last number but one does.
    """

    def measure(seen: Run) -> float:
        blocks = SUMS.blocks(seen.shape[0])
        later = replace(seen.job, inputs=_counter_at_one)
        again = run(later, seen.kernel, seen.shape, seen.patience)
        return float(_stores(again, blocks - 1) and not _stores(again, blocks - 2))

    def cause(seen: Run, value: float) -> str:
        last = SUMS.blocks(seen.shape[0]) - 1
        return (
            f"block {last} adds the partial sums whatever number it draws. Blocks do not end in "
            "the order of their numbers: others may still be at work when it is done."
        )

    words = "the ticket decides which block adds"
    return Target("blocks that add without the ticket", 0, words, measure, cause)


def stored_before_its_ticket() -> Target:
    """Whether the thread that draws has stored the sum, or has met the one that did at a barrier.

    The virtual GPU keeps fences and atomics by warp: two threads of a warp are one for it.
    """

    def measure(seen: Run) -> float:
        partials, drawn = seen.names["partials"], seen.names["drawn"]
        stored = None
        for one in seen.recorded(0).events:
            if (one.kind, one.array) == ("store", partials):
                stored = one.first >= 0
            elif one.kind in ("barrier", "syncwarp"):
                stored = None
            elif (one.kind, one.array) == ("atomic", drawn) and stored is not None:
                return float(not (stored & (one.first >= 0)).any())
        return 0.0

    def cause(seen: Run, value: float) -> str:
        store, draw = seen.accesses("partials", "store")[0], seen.accesses("drawn", "atomic")[0]
        return (
            f"one thread stores the sum in {at_line(store.site)}, and another one of the block "
            f"draws in line {draw.site.line}. Nothing makes it wait: it may draw before the sum "
            "is stored."
        )

    words = "each sum stored before its ticket is drawn"
    return Target("tickets drawn too early", 0, words, measure, cause)


def _counter_at_one(shape: Shape, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return (*inputs(shape, seed)[:2], np.ones(1, np.uint32))


def _stores(seen: Run, block: int) -> bool:
    """Whether this block stores into the result."""
    events = seen.recorded(block).events
    return any((one.kind, one.array) == ("store", seen.result) for one in events)


def no_atomics_on_the_result() -> Target:
    """The order of the additions is fixed."""

    def measure(seen: Run) -> float:
        return float(sum(one.lanes for one in seen.accesses(seen.job.result, "atomic")))

    def cause(seen: Run, value: float) -> str:
        site = seen.accesses(seen.job.result, "atomic")[0].site
        return (
            f"at {at_line(site)}, {counted(round(value), 'thread')} add to `{seen.result}` in the "
            "order in which they come. Each addition of float32 rounds, so another order can give "
            "other bits."
        )

    return Target("atomics on the result", 0, "a fixed order of additions", measure, cause)


def each_element_once() -> Target:
    """How often each element of x is loaded."""

    def measure(seen: Run) -> float:
        return seen.total("x", "load", "lanes") / seen.shape[0]

    def cause(seen: Run, value: float) -> str:
        most = seen.accesses("x")[-1]
        return (
            f"{at_line(most.site)} loads {most.lanes:,} elements of `{most.array}` again. The "
            "blocks have added them already, and their sums are in "
            f"`{seen.names['partials']}`."
        )

    words = "each element of x read once"
    return Target("loads of each element", 1, words, measure, cause)


def each_partial(at_most: int, kind: str) -> Target:
    """How often each partial sum is loaded, or stored."""

    def measure(seen: Run) -> float:
        return seen.total("partials", kind, "lanes") / SUMS.blocks(seen.shape[0])

    def cause(seen: Run, value: float) -> str:
        most = max(seen.accesses("partials", kind), key=lambda one: one.lanes)
        where = {"load": "from", "store": "into"}[kind]
        return (
            f"{at_line(most.site)} {kind}s {most.lanes:,} times {where} `{most.array}`, which has "
            f"{counted(SUMS.blocks(seen.shape[0]), 'element')}: {value:.3g} {kind}s for each."
            f"{_ALL_OF_THEM if (kind, value) == ('load', BLOCK) else ''}"
        )

    verb = {"load": "read", "store": "written"}[kind]
    return Target(
        f"{kind}s of each partial sum", at_most, f"each partial sum {verb} once", measure, cause
    )


# ------------------------------------------------------------------------------------- refused


def _word_overwritten(kernel, story: str) -> str | None:
    """A name of shared memory is given to a number, or compared like one."""
    tree = read_source(kernel.py_func).tree
    shared = None
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
            continue
        name = node.targets[0].id
        if "shared.array" in ast.unparse(node.value):
            shared = name
        elif name == shared:
            return (
                f"`{name}` names an array of one word in shared memory, and line {node.lineno} "
                f"gives this name to something else. The word itself is `{name}[0]`."
            )
    return None


def _arguments_of_add(kernel, story: str) -> str | None:
    """An atomic with an element in place of an array and an index."""
    if "atomic.add(" not in story or "called with these arguments" not in story:
        return None
    return "`cuda.atomic.add` takes an array, an index and a number."


def _adds_an_array(kernel, story: str) -> str | None:
    """A sum as in Python or NumPy."""
    if " sum() of " not in story and ".sum() is " not in story:
        return None
    return "A kernel has no sum of a whole array: each thread adds elements in a loop."


# -------------------------------------------------------------- nothing is stored into the result


# ------------------------------------------------------------------- what the virtual GPU has found


# ---------------------------------------------------------------------------------- wrong values


# --------------------------------------------------------------------------------------- the rest


PROBES = Probes(refused=(_word_overwritten, _arguments_of_add, _adds_an_array))
