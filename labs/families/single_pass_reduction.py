"""Reductions in one launch: each block stores a partial sum, and the last block adds these.

The launch has blocks of 64 threads, and thread i of the grid has element i. The kernel gets an
array with one partial sum per block, which holds old values, and a counter, which is zero before
the launch and must be zero after it. Each block increments the counter atomically. The old value
that it gets is called its ticket, and the block with the highest ticket adds the partial sums.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.checking.phrasing import at_line, counted, rounded
from labs.checking.run import Run, run_kernel
from labs.checking.target import Probes, Target, essential
from labs.families import reduction as reductions
from labs.families.reduction import Sums, full_loads, reduction
from labs.targets.counts import no_float64, no_negative_index, one_store_per_element
from utils.translation import translate
from virtual_gpu import Finding, LimitReached
from virtual_gpu.common.source import read_source
from virtual_gpu.counts.recorder import Event

BLOCK, WARP = 64, 32
BARRIERS = ("barrier", "syncwarp")
SUMS = Sums(threads=BLOCK, whole=True)
_ALL_OF_THEM = f" Each of the {BLOCK} threads of the block reads all of them."
LEFT = np.float32(4096)  # the old value of each partial sum, as if from an earlier launch
STARTS = (1, 63, 101)  # of the counter: block 254, 192 or 154 draws the last ticket, not block 255
BITS_SHAPE = (256 * BLOCK,)  # each thread adds four partial sums, so their order matters


def sum_in_one_launch(**fields) -> KernelExercise:
    """Return an exercise whose kernel (x, partials, drawn, out) stores the sum of x into out[0].

    partials: one partial sum per block. drawn: the counter, of one element. fields: the remaining
    fields of KernelExercise.
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
        whole=lambda shape, random: (shape[0] // 2,),  # whole warps of partial sums, exact sums
        targets=(
            no_negative_index(),
            essential(no_block_waits()),
            essential(chosen_by_its_ticket()),
            stored_before_its_ticket(),
            fenced_after_its_ticket(),
            counter_after(0),
            essential(no_atomics_on_the_result()),
            essential(same_bits_from_each_block()),
            essential(full_loads()),
            # Shares that are shifted by a number spread the last lanes over two warps.
            essential(full_loads("partials", spare=1)),
            each_partial(1, "store"),
            each_partial(1, "load"),
            essential(each_element_once()),
            one_store_per_element(),
            no_float64(),
        ),
        **fields,
    )


def inputs(shape: Shape, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (x, partials, drawn) for a shape (n,) and a seed.

    x: as for all reductions, float32, (n,). partials: old values, 4096 in each element, float32,
    (blocks,). drawn: the counter, a uint32 zero, (1,).
    """
    partials = np.full(SUMS.blocks(shape[0]), LEFT)
    return (*reductions.inputs(shape, seed), partials, np.zeros(1, np.uint32))


def counter_after(value: int) -> Target:
    """Return the target that the counter has this value after the launch, at every shape.

    The count is the absolute difference between the counter and the value.
    """

    def measure(run: Run) -> float:
        return abs(float(run.left[2][0]) - value)

    def cause(run: Run, away: float) -> str:
        after, name = int(run.left[2][0]), run.names["drawn"]
        return translate(
            "after the launch `{name}[0]` is {after}, and not {value}. The blocks of the next "
            "launch would draw the numbers from {after} on.",
            name=name,
            after=after,
            value=value,
        )

    return Target("counter off by", 0, f"the counter is {value} again", measure, cause, True)


def first_half(shape: Shape) -> int:
    """Return half of the number of blocks, rounded down. shape: (n,)."""
    return SUMS.blocks(shape[0]) // 2


def no_block_waits(alone: Callable[[Shape], int] = first_half) -> Target:
    """Return the target that the first blocks end even if the others have not started.

    The measurement runs the first blocks alone. If they wait for others, they never end, as on a
    GPU that has no room for all blocks at once. The count is 1 then, and for a kernel with a
    barrier of the whole grid, else 0. alone: takes a shape and returns the number of blocks that
    run alone.
    """

    def measure(run: Run) -> float:
        waits = _barrier_of_the_grid(run.kernel) or _wait_of_the_first(run, alone(run.shape))
        return float(bool(waits))

    def cause(run: Run, value: float) -> str:
        barrier = _barrier_of_the_grid(run.kernel)
        if barrier:
            return translate(
                "line {line} is a barrier of the whole grid: there each block waits for all "
                "others. Only a cooperative launch may have one, and not with more blocks than the "
                "GPU has slots for. The number makes waiting unnecessary: the block that draws the "
                "last one comes after all others.",
                line=barrier,
            )
        line = _wait_of_the_first(run, alone(run.shape))
        where = translate("in line {line}", line=line) if line > 0 else translate("in a loop")
        return translate(
            "{where} a block waits for other blocks. On a GPU that has no room for all of them at "
            "once, those that wait keep the others from starting, and the launch never ends. The "
            "virtual GPU started only the first blocks, {first} of {blocks}, and they never ended. "
            "The number makes waiting unnecessary: the block that draws the last one comes after "
            "all others.",
            first=alone(run.shape),
            blocks=run.job.launch(run.shape).blocks,
            where=where[:1].lower() + where[1:],
        )

    words = "no block waits for another one"
    return Target("blocks that wait", 0, words, measure, cause)


def _barrier_of_the_grid(kernel) -> int:
    """Return the number of the source line that calls `sync` of a grid, or 0 if there is none."""
    for node in ast.walk(read_source(kernel.py_func).tree):
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if is_call and node.func.attr == "sync":
            return node.lineno
    return 0


def _wait_of_the_first(run: Run, blocks: int) -> int:
    """Run only the first `blocks` blocks; return the number of the line in which they wait forever.

    Returns 0 if these blocks end, and -1 if the line is not known.
    """
    try:
        run.at(run.shape, blocks=blocks)
    except LimitReached as error:
        line = re.search(r"line (\d+)", str(error))
        return int(line[1]) if line else -1
    return 0


def fenced_after_its_ticket() -> Target:
    """Return the target of a fence between drawing the last ticket and loading the partial sums.

    Each thread that loads must pass the fence, or must meet at a barrier a thread that has passed
    it. The count is the number of threads that load without such a fence, in the last block of the
    grid, which draws the last ticket on the virtual GPU.
    """

    def measure(run: Run) -> float:
        return float(np.count_nonzero(_loads_without_fence(run)))

    def cause(run: Run, value: float) -> str:
        load, fence = run.accesses("partials")[0], _lonely_fence(run)
        if fence is not None:
            return translate(
                "{threads} of the last block load `{partials}` in {where}, without a fence. The "
                "fence in line {fence} is passed by {passing} alone, and no barrier between that "
                "fence and the loads makes the other threads wait for it.",
                threads=counted(round(value), "thread"),
                partials=run.names["partials"],
                where=at_line(load.site),
                fence=fence[0],
                passing=counted(fence[1], "thread"),
            )
        return translate(
            "{threads} of the last block load `{partials}` in {where}, and no fence is between the "
            "ticket and these loads. CUDA's rules ask for two fences: one between the store of a "
            "sum and its ticket, and one, `cuda.threadfence()`, between the last ticket and the "
            "loads, so that no sum is read that was loaded before the ticket was drawn.",
            threads=counted(round(value), "thread"),
            partials=run.names["partials"],
            where=at_line(load.site),
        )

    words = "a fence between the last ticket and the loads of the partial sums, too"
    return Target("loads without a fence", 0, words, measure, cause)


def _events_of_the_last(run: Run) -> tuple[Event, ...]:
    """Launch the kernel again and return the events of the grid's last block, in order."""
    return run.recorded(SUMS.blocks(run.shape[0]) - 1).events


def _loads_without_fence(run: Run) -> np.ndarray:
    """Return which threads of the last block load a partial sum without a fence, as a bool array.

    Its shape is (threads,). A fence counts if a thread passes it that knows the ticket. It protects
    the later loads of this thread, and those of threads that meet it at a barrier afterwards.
    """
    partials = run.names["partials"]
    fenced = unfenced = np.zeros(SUMS.threads, bool)
    for one, knowing in _with_knowledge(run):
        taking_part = one.first >= 0
        if one.kind == "fence":
            fenced = fenced | (taking_part & knowing)
        elif one.kind in BARRIERS:
            fenced = _met(fenced, one)
        elif (one.kind, one.array) == ("load", partials):
            unfenced = unfenced | (taking_part & ~fenced)
    return unfenced


def _with_knowledge(run: Run) -> Iterator[tuple[Event, np.ndarray]]:
    """Yield each event of the last block, with a bool array of the threads that know the ticket.

    A thread knows the ticket after it has drawn it, or has met a thread that knows it at a barrier.
    """
    drawn, knowing = run.names["drawn"], np.zeros(SUMS.threads, bool)
    for one in _events_of_the_last(run):
        if (one.kind, one.array) == ("atomic", drawn) and not knowing.any():
            knowing = one.first >= 0
        elif one.kind in BARRIERS:
            knowing = _met(knowing, one)
        yield one, knowing


def _met(threads: np.ndarray, meeting: Event) -> np.ndarray:
    """Return a bool array: the given threads, and those that meet one of them at a barrier.

    threads: True per thread of the block that is given. meeting: the event of a barrier, which
    concerns the block, or of a syncwarp, which concerns one warp.
    """
    taking_part = meeting.first >= 0
    size = len(threads) if meeting.kind == "barrier" else WARP
    groups = (threads & taking_part).reshape(-1, size).any(axis=1)
    return threads | (taking_part & np.repeat(groups, size))


def _lonely_fence(run: Run) -> tuple[int, int] | None:
    """Return (line number, number of threads) of the last block's first fence that counts, or None.

    The second number is that of the threads that pass the fence. A fence counts if a thread passes
    it that knows the ticket. Returns None if there is none before the first load of a partial sum.
    """
    partials = run.names["partials"]
    for one, knowing in _with_knowledge(run):
        if (one.kind, one.array) == ("load", partials):
            return None
        if one.kind == "fence" and (knowing & (one.first >= 0)).any():
            return one.line, int((one.first >= 0).sum())
    return None


def chosen_by_its_ticket() -> Target:
    """Return the target that the adding block is chosen by its ticket, not by its block index.

    The virtual GPU runs blocks in the order of their indices, so the last block draws the last
    ticket. The measurement launches the kernel again with a counter that starts at 1, so that the
    second to last block draws that ticket. The count is 1 if the last block stores the result
    nevertheless and the second to last one does not, else 0.
    """

    def measure(run: Run) -> float:
        blocks = SUMS.blocks(run.shape[0])
        later = replace(run.job, inputs=_counter_at_one)
        again = run_kernel(later, run.kernel, run.shape, run.patience)
        return float(_stores(again, blocks - 1) and not _stores(again, blocks - 2))

    def cause(run: Run, value: float) -> str:
        last = SUMS.blocks(run.shape[0]) - 1
        return translate(
            "block {last} adds the partial sums whatever number it draws. Blocks do not end in "
            "the order of their numbers: others may still be at work when it is done.",
            last=last,
        )

    words = "the ticket decides which block adds"
    return Target("blocks that add without the ticket", 0, words, measure, cause)


def stored_before_its_ticket() -> Target:
    """Return the target that a block's sum is stored before its ticket is drawn.

    The thread that draws must have stored the sum, or must have met at a barrier the thread that
    did. The count is 1 if block 0 draws too early, else 0. The race detector cannot check this,
    because it orders fences and atomics by warp and does not distinguish the threads of a warp.
    """

    def measure(run: Run) -> float:
        partials, drawn = run.names["partials"], run.names["drawn"]
        stored = None
        for one in run.recorded(0).events:
            if (one.kind, one.array) == ("store", partials):
                stored = one.first >= 0
            elif one.kind in ("barrier", "syncwarp"):
                stored = None
            elif (one.kind, one.array) == ("atomic", drawn) and stored is not None:
                return float(not (stored & (one.first >= 0)).any())
        return 0.0

    def cause(run: Run, value: float) -> str:
        store, draw = run.accesses("partials", "store")[0], run.accesses("drawn", "atomic")[0]
        return translate(
            "one thread stores the sum in {where}, and another one of the block draws in line "
            "{line}. Nothing makes it wait: it may draw before the sum is stored.",
            where=at_line(store.site),
            line=draw.site.line,
        )

    words = "each sum stored before its ticket is drawn"
    return Target("tickets drawn too early", 0, words, measure, cause)


def _counter_at_one(shape: Shape, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (x, partials, drawn) for a shape (n,) and a seed, with a counter that starts at 1.

    x: numbers, float32, (n,). partials: old values, float32, (blocks,). drawn: the counter, a
    uint32 one, (1,).
    """
    return (*inputs(shape, seed)[:2], np.ones(1, np.uint32))


def _stores(run: Run, block: int) -> bool:
    """Launch the kernel again; return True if the block with this index stores the result."""
    events = run.recorded(block).events
    return any((one.kind, one.array) == ("store", run.result) for one in events)


def no_atomics_on_the_result() -> Target:
    """Return the target of no atomics on the result, because their order is not fixed.

    Each active lane counts as one atomic.
    """

    def measure(run: Run) -> float:
        return float(sum(one.lanes for one in run.accesses(run.job.result, "atomic")))

    def cause(run: Run, value: float) -> str:
        site = run.accesses(run.job.result, "atomic")[0].site
        return translate(
            "at {where}, {threads} add to `{result}` in the order in which they come. Each "
            "addition of float32 rounds, so another order can give other bits.",
            where=at_line(site),
            threads=counted(round(value), "thread"),
            result=run.result,
        )

    return Target("atomics on the result", 0, "no atomics on the result", measure, cause)


def same_bits_from_each_block() -> Target:
    """Return the target that the result has the same bits, whichever block adds the partial sums.

    The kernel is launched with counters that start above 0, so that a block before the last one
    draws the last ticket. It finds the same partial sums as the last block would, but their float32
    sum depends on the order of the additions. The count is the number of pairs of launches whose
    results differ.
    """

    def measure(run: Run) -> float:
        return float(len(_different_sums(run)))

    def cause(run: Run, value: float) -> str:
        block, sums = next(iter(_different_sums(run).items()))
        return translate(
            "with the same {blocks} partial sums the result is {first:.9g} if block {last} draws "
            "the last ticket, and {other:.9g} if block {block} draws it. The order of the "
            "additions must not depend on the block that adds.",
            blocks=SUMS.blocks(BITS_SHAPE[0]),
            first=sums[0],
            last=SUMS.blocks(BITS_SHAPE[0]) - 1,
            other=sums[1],
            block=block,
        )

    words = "the same bits, whichever block adds"
    return Target("other bits from another block", 0, words, measure, cause)


def _different_sums(run: Run) -> dict[int, tuple[float, float]]:
    """Return the sums that depend on which block draws the last ticket, as a dict.

    Of the blocks other than the grid's last one, only those that draw the last ticket for the
    STARTS of the counter are tried. The key is the index of such a block. The value is (sum if the
    grid's last block draws it, sum if the block of the key draws it). Each key has its own x. A
    launch that stores no result is left out, because another target reports that. The dict is empty
    if all pairs are equal.
    """
    last, found = SUMS.blocks(BITS_SHAPE[0]) - 1, {}
    for start in STARTS:
        first, other = (_with_rounding(run, begin, seed=start) for begin in (0, start))
        is_written = not first.unwritten.any() and not other.unwritten.any()
        if is_written and first.out.tobytes() != other.out.tobytes():
            found[last - start] = float(first.out[0]), float(other.out[0])
    return found


def _with_rounding(run: Run, start: int, seed: int) -> Run:
    """Launch the kernel with inputs whose float32 sum depends on the order, and return the run.

    start: the counter's value before the launch, which decides which block draws the last ticket.
    seed: the seed of the inputs.
    """
    job = replace(run.job, inputs=partial(_sums_with_rounding, start))
    return run_kernel(job, run.kernel, BITS_SHAPE, run.patience, seed=seed, counts=False)


def _sums_with_rounding(
    start: int, shape: Shape, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (x, partials, drawn) for which the order of additions changes the sum's bits.

    start: the value of the counter, drawn. The blocks of the first quarter have numbers of large
    magnitude, and those of the third quarter their opposites, so that the smaller numbers between
    the two lose digits. The numbers of one block add up exactly in any order. partials holds the
    right sums already, so that a block which draws the last ticket before others have stored their
    sums finds them. shape: (n,), with four times 64 full blocks.
    """
    rng = np.random.default_rng(seed)
    bound = 2**17  # so the sum of 64 numbers is below 2^24
    large, small, other = rng.integers(-bound, bound, (3, BLOCK, BLOCK))
    x = np.concatenate([1024 * large, small, -1024 * large, other]).astype(np.float32)
    return x.ravel(), x.sum(axis=1), np.full(1, start, np.uint32)


def each_element_once() -> Target:
    """Return the target of at most one load per element of x, on average and counted per lane."""

    def measure(run: Run) -> float:
        return run.total("x", "load", "lanes") / run.shape[0]

    def cause(run: Run, value: float) -> str:
        most = run.accesses("x")[-1]
        return translate(
            "{where} loads {lanes:,} elements of `{array}` again. The blocks have added them "
            "already, and their sums are in `{partials}`.",
            where=at_line(most.site),
            lanes=most.lanes,
            array=most.array,
            partials=run.names["partials"],
        )

    words = "each element of x read once"
    return Target("loads of each element", 1, words, measure, cause)


def each_partial(at_most: int, kind: str) -> Target:
    """Return the target of at most `at_most` loads, or stores, per partial sum.

    The count is an average over the partial sums, counted per lane. kind: "load" or "store".
    """

    def measure(run: Run) -> float:
        return run.total("partials", kind, "lanes") / SUMS.blocks(run.shape[0])

    def cause(run: Run, value: float) -> str:
        most = max(run.accesses("partials", kind), key=lambda one: one.lanes)
        where = {"load": "from", "store": "into"}[kind]
        return (
            f"{at_line(most.site)} {kind}s {most.lanes:,} times {where} `{most.array}`, which has "
            f"{counted(SUMS.blocks(run.shape[0]), 'element')}: {rounded(value)} {kind}s for each."
            f"{_ALL_OF_THEM if (kind, value) == ('load', BLOCK) else ''}"
        )

    verb = {"load": "read", "store": "written"}[kind]
    return Target(
        f"{kind}s of each partial sum", at_most, f"each partial sum {verb} once", measure, cause
    )


# --------------------------------------------------------------- probes for kernels that run


def _added_atomically(run: Run, finding: Finding | None = None) -> str | None:
    """Return sentences on the threads that add to the result by atomics, or None if none does.

    finding: the flaw that the virtual GPU found. Returns None if it concerns another array.
    """
    accesses = run.accesses(run.job.result, "atomic")
    if not accesses or (finding and finding.array != run.result):
        return None
    block, threads = next(_atomics_of_blocks(run, run.result))
    return translate(
        "{threads} add to `{result}` in line {line}, in the order in which they come; the first is "
        "thread {first} of block {block}. Each addition of float32 rounds, so another order can "
        "give other bits.",
        threads=counted(accesses[0].lanes, "thread"),
        result=run.result,
        line=accesses[0].site.line,
        first=threads[0],
        block=block,
    )


def _left_by_many(run: Run, finding: Finding) -> str | None:
    """Return a sentence if several threads of block 0 store into the same partial sum, or None.

    finding: the flaw that the virtual GPU found. Returns None unless it is a race on `partials`.
    """
    if (finding.kind, finding.array) != ("race", run.names["partials"]):
        return None
    for one in run.recorded(0).events:
        threads = np.flatnonzero(one.first >= 0)
        same_place = len(set(one.first[threads])) == 1 < len(threads)
        if (one.kind, one.array) == ("store", finding.array) and same_place:
            return translate(
                "{threads} of block 0, from thread {first} to thread {last}, store into the same "
                "element in line {line}. `block_sum` gives the sum to thread 0 alone.",
                threads=counted(len(threads), "thread"),
                first=threads[0],
                last=threads[-1],
                line=one.line,
            )
    return None


def _drawn_by_many(run: Run, finding: Finding | None = None) -> str | None:
    """Return sentences if several threads of the first block that draws do so, else None.

    finding: the flaw that the virtual GPU found, if any; it is not used.
    """
    if not (draws := run.accesses("drawn", "atomic")):
        return None
    block, threads = next(_atomics_of_blocks(run, run.names["drawn"]))
    if len(threads) < 2:
        return None
    blocks, draw = SUMS.blocks(run.shape[0]), draws[0]
    return translate(
        "{tickets:,} tickets are drawn in line {line}, and there are {blocks} blocks: in block "
        "{block}, {threads} draw one each, from thread {first} to thread {last}. So block {early} "
        "already draws the number {number}, before other blocks have stored their sums.",
        tickets=draw.lanes,
        line=draw.site.line,
        blocks=blocks,
        block=block,
        threads=counted(len(threads), "thread"),
        first=threads[0],
        last=threads[-1],
        early=(blocks - 1) // len(threads),
        number=blocks - 1,
    )


def _atomics_of_blocks(run: Run, array: str) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (block, threads) for each block with an atomic on an array, in the blocks' order.

    The kernel is launched again for each block. threads: the numbers of the threads that take part
    in the block's first atomic. array: the reader's name of a parameter.
    """
    for block in range(SUMS.blocks(run.shape[0])):
        events = run.recorded(block).events
        found = (e.first for e in events if (e.kind, e.array) == ("atomic", array))
        first = next(found, None)
        if first is not None:
            yield block, np.flatnonzero(first >= 0)


# -------------------------------------------------------- probes for kernels that do not compile


def _word_overwritten(kernel, story: str) -> str | None:
    """Return a sentence if a kernel gives the name of a shared array to something else, or None.

    story: the error message of the kernel, which cannot be compiled; it is not used.
    """
    tree = read_source(kernel.py_func).tree
    shared = None
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
            continue
        name = node.targets[0].id
        if "shared.array" in ast.unparse(node.value):
            shared = name
        elif name == shared:
            return translate(
                "`{name}` names an array of one word in shared memory, and line {lineno} gives "
                "this name to something else. The word itself is `{name}[0]`.",
                name=name,
                lineno=node.lineno,
            )
    return None


def _arguments_of_add(kernel, story: str) -> str | None:
    """Return a sentence if atomic.add gets an element instead of an array and an index, else None.

    story: the error message of the kernel, which cannot be compiled.
    """
    if "atomic.add(" not in story or "called with these arguments" not in story:
        return None
    return translate("`cuda.atomic.add` takes an array, an index and a number.")


def _adds_an_array(kernel, story: str) -> str | None:
    """Return a sentence if the kernel was refused for adding up a whole array, else None.

    story: the error message of the kernel, which cannot be compiled.
    """
    if " sum() of " not in story and ".sum() is " not in story:
        return None
    return translate("A kernel has no sum of a whole array: each thread adds elements in a loop.")


def _waits_for_the_counter(kernel, story: str) -> str | None:
    """Return sentences if the kernel does not end in a loop that looks at the counter, else None.

    story: the message on the loop.
    """
    counter = list(inspect.signature(kernel.py_func).parameters)[2]
    for node in ast.walk(read_source(kernel.py_func).tree):
        is_stuck = isinstance(node, ast.While) and f"Line {node.lineno}," in story
        if is_stuck and counter in ast.unparse(node.test):
            return translate(
                "The loop of line {line} waits until other blocks have drawn. Where there are more "
                "blocks than the GPU can hold at once, those that wait keep the others from "
                "starting, and nobody ever ends.",
                line=node.lineno,
            )
    return None


PROBES = Probes(
    refused=(_word_overwritten, _arguments_of_add, _adds_an_array),
    endless=(_waits_for_the_counter,),
    early=(_added_atomically,),
    flaws=(_left_by_many, _added_atomically, _drawn_by_many),
    wrong=(_drawn_by_many,),
)
