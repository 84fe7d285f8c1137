"""The usual mistakes of sums in one launch, recognised by what was seen of a run.

A missing order between two blocks by where the fence stands; a wrong block that adds by its number;
missing or doubled partial sums by comparing the result with what such a mistake gives.
"""

from __future__ import annotations

import ast

import numpy as np

from labs.exercise import Probes
from labs.reduction_sums import BASE, DIGITS, again
from labs.run import Run
from labs.shared_memory import calls, in_shared
from labs.words import counted
from utils.virtual_gpu import Finding
from utils.virtual_gpu.source import read_source

BLOCK = 64
BLOCK_SUM = "block_sum"  # the device function of the starter


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


def _nothing_left(seen: Run) -> str | None:
    """The starter as it is given, or without the partial sums."""
    if seen.accesses("partials", "store"):
        return None
    return f"No block leaves its sum in `{seen.names['partials']}` either."


def _nothing_drawn(seen: Run) -> str | None:
    """No tickets."""
    if _drawing(seen):
        return None
    return f"The blocks leave their sums, but none draws a ticket from `{seen.names['drawn']}`."


def _added_in_vain(seen: Run) -> str | None:
    """Partial sums are read, and nothing comes of it."""
    if not seen.accesses("partials"):
        return None
    return "A block reads the partial sums, and no thread of it comes to the store of the result."


def _nobody_is_last(seen: Run) -> str | None:
    """The test for the last ticket is never true."""
    blocks, after = _blocks(seen), int(seen.left[2][0])
    if (tickets := _drawing(seen)[0].lanes) < blocks:
        return f"{counted(tickets, 'ticket')} were drawn, and there are {blocks} blocks."
    if tickets > blocks:
        return _tickets_for_blocks(seen)
    if after != blocks and not calls(seen, "inc"):
        return f"{counted(blocks, 'ticket')} were drawn, and the counter stands at {after}."
    return (
        f"The {blocks} blocks have drawn the numbers 0 to {blocks - 1}, and none of them has "
        "passed your test for the last one."
    )


# ------------------------------------------------------------------- what the virtual GPU has found


def _names_it_alone(seen: Run, finding: Finding) -> str | None:
    """`cuda.threadfence` or `cuda.syncthreads` without brackets."""
    for node in ast.walk(seen.tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Attribute):
            return (
                f"`{ast.unparse(node)}` in line {node.lineno} names the function and does not call "
                "it: its brackets are missing."
            )
    return None


def _waits(seen: Run, finding: Finding) -> str | None:
    """A loop that waits until all have drawn."""
    drawn = seen.names["drawn"]
    for node in ast.walk(seen.tree):
        if isinstance(node, ast.While) and drawn in {
            one.id for one in ast.walk(node.test) if isinstance(one, ast.Name)
        }:
            return (
                f"The loop of line {node.lineno} waits until other blocks have drawn. Where there "
                "are more blocks than the GPU can hold at once, those that wait keep the others "
                "from starting, and nobody ever ends."
            )
    return None


def _three_steps(seen: Run, finding: Finding) -> str | None:
    """The counter is read, raised and stored without an atomic."""
    if finding.kind != "race" or seen.parameter(finding.array) != "drawn" or _drawing(seen):
        return None
    return (
        "Reading the counter, adding 1 and storing it are three steps here. Between them another "
        "block can read the same number, and two blocks get the same ticket."
    )


def _every_thread_draws(seen: Run, finding: Finding) -> str | None:
    return _tickets_for_blocks(seen)


def _tickets_for_blocks(seen: Run) -> str | None:
    """More tickets than blocks."""
    blocks, drawing = _blocks(seen), _drawing(seen)
    if not drawing or drawing[0].lanes <= blocks:
        return None
    tickets, line = drawing[0].lanes, drawing[0].site.line
    return (
        f"{counted(tickets, 'ticket')} are drawn in line {line}, and there are "
        f"{counted(blocks, 'block')}: {tickets // blocks} threads of each block draw one."
    )


def _set_back_too_early(seen: Run, finding: Finding) -> str | None:
    """The counter is stored outside of what the last block does."""
    if seen.parameter(finding.array) != "drawn" or _adders(seen) > 1:
        return None
    stores = seen.accesses("drawn", "store")
    if not stores or stores[-1].lanes < 2:
        return None
    return (
        f"{counted(stores[-1].lanes, 'thread')} store into `{finding.array}` here. While some "
        "blocks set the counter, others still draw."
    )


def _set_by_another_block(seen: Run, finding: Finding) -> str | None:
    """One block sets the counter, and it does not wait for the last ticket."""
    if finding.kind != "race" or seen.parameter(finding.array) != "drawn" or not _drawing(seen):
        return None
    lines = {one.site.line for one in seen.accesses("drawn", "store")}
    for line in (finding.line, finding.other_line):
        if line in lines:
            return (
                f"Line {line} sets the counter while other blocks draw. Only the block with the "
                "last ticket knows that nobody draws any more."
            )
    return None


def _several_add(seen: Run, finding: Finding) -> str | None:
    """The test lets more than one block pass."""
    adders, parameter = _adders(seen), seen.parameter(finding.array)
    if adders < 2 or parameter not in ("drawn", "partials", "out"):
        return None
    if finding.threads[0].block == finding.threads[-1].block:
        return None
    if not seen.accesses("partials"):
        return (
            f"{adders} of {_blocks(seen)} blocks store their own sum there. Nobody adds these sums."
        )
    return (
        f"{adders} of {_blocks(seen)} blocks add the partial sums here, and only the one that "
        "draws the last ticket knows that all sums are there."
    )


def _not_the_last(seen: Run, finding: Finding) -> str | None:
    """One block adds, and it is not the one that has drawn the last ticket."""
    block, last = finding.threads[0].block[0], _blocks(seen) - 1
    if _adders(seen) != 1 or seen.parameter(finding.array) not in ("drawn", "partials"):
        return None
    if block == last or finding.line not in _lines_of_adding(seen):
        return None
    return (
        f"Block {block} adds here, and it has drawn the number {block} of 0 to {last}. The blocks "
        "that draw later may not have stored their sums yet."
    )


def _partials_unordered(seen: Run, finding: Finding) -> str | None:
    """The last block reads what another one has stored, and no fence orders the two."""
    if not _reads_partials(seen, finding) or not _drawing(seen):
        return None
    stored, drawn = finding.other_line, _drawing(seen)[0].site.line
    if stored > drawn:
        return (
            f"The ticket is drawn in line {drawn}, and the sum is stored after that, in line "
            f"{stored}. Whoever has drawn has not stored yet."
        )
    fences = [*calls(seen, "threadfence"), *calls(seen, "threadfence_system")]
    own = calls(seen, "threadfence_block")
    if own and not fences:
        return (
            f"`{ast.unparse(own[0])}` in line {own[0].lineno} is for the threads of the same "
            "block. The one that reads here is in another block."
        )
    if fences and fences[0].lineno <= stored:
        return (
            f"The fence in line {fences[0].lineno} stands before the store in line {stored}. It "
            "says nothing about what comes after it."
        )
    if fences and fences[0].lineno > drawn:
        return (
            f"The fence in line {fences[0].lineno} stands behind the ticket of line {drawn}: when "
            "the ticket can be seen, the sum may not be there yet."
        )
    return (
        f"The block has stored its sum in line {stored} and drawn its ticket in line {drawn}. "
        "Nothing makes other blocks see the two in this order: they may see the ticket, and the "
        "old value of the sum."
    )


def _without_tickets(seen: Run, finding: Finding) -> str | None:
    """A block reads the sums of others and has asked nobody."""
    if not _reads_partials(seen, finding) or _drawing(seen):
        return None
    return "Nothing tells this block whether the other one has come so far."


def _same_partial(seen: Run, finding: Finding) -> str | None:
    """Two blocks store into one partial sum."""
    if seen.parameter(finding.array) != "partials" or " writes " not in finding.message:
        return None
    if finding.threads[0].block == finding.threads[-1].block:
        return (
            f"Several threads of a block store into the same element. `{BLOCK_SUM}` gives the sum "
            "to thread 0 alone."
        )
    return (
        f"Two blocks store into the same element of `{finding.array}`. What in the index differs "
        "from block to block?"
    )


def _number_too_early(seen: Run, finding: Finding) -> str | None:
    """The number of the ticket is read before thread 0 has stored it."""
    if not in_shared(seen, finding, "race") or " reads " not in finding.message:
        return None
    if finding.array == "sums":
        return (
            f"`{BLOCK_SUM}` is called again while threads of the block are still in its first "
            "call: nothing makes them wait for each other between the two."
        )
    return (
        f"Thread 0 draws in line {finding.other_line}. Nothing makes the other threads of the "
        "block wait until it has."
    )


def _known_to_one_thread(seen: Run, finding: Finding) -> str | None:
    """The number of the ticket in a variable of the thread that draws."""
    if finding.kind != "barrier":
        return None
    for node in ast.walk(seen.tree):
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
            continue
        if "atomic." not in ast.unparse(node.value):
            continue
        name = node.targets[0].id
        return (
            f"`{name}` of line {node.lineno} is a variable of each thread by itself. The thread "
            f"that draws knows the number; in the other threads of the block `{name}` is another "
            "one, and they take another way."
        )
    return None


def _sum_in_a_branch(seen: Run, finding: Finding) -> str | None:
    """block_sum is called where only some threads of the block come."""
    if finding.kind != "barrier":
        return None
    for test in (node for node in ast.walk(seen.tree) if isinstance(node, ast.If)):
        inside = [
            one
            for part in test.body
            for one in ast.walk(part)
            if isinstance(one, ast.Call) and ast.unparse(one.func) == BLOCK_SUM
        ]
        if inside and "threadIdx" in ast.unparse(test.test):
            return (
                f"`{BLOCK_SUM}` waits for all threads of the block, and in line {inside[0].lineno} "
                f"it stands in the branch `if {ast.unparse(test.test)}`."
            )
    return None


def _all_store(seen: Run, finding: Finding) -> str | None:
    """All threads of the last block store the result."""
    if seen.parameter(finding.array) != "out" or finding.kind != "race":
        return None
    if finding.threads[0].block != finding.threads[-1].block:
        return None
    return f"Several threads of the block store here, and `{BLOCK_SUM}` gives the sum to thread 0."


def _no_such_partial(seen: Run, finding: Finding) -> str | None:
    """An index of a partial sum that is not there."""
    if finding.kind != "out_of_bounds" or seen.parameter(finding.array) != "partials":
        return None
    blocks = _blocks(seen)
    return f"There is one partial sum per block: the numbers are 0 to {blocks - 1}."


def _no_such_word(seen: Run, finding: Finding) -> str | None:
    """An index of the word with the ticket's number."""
    if not in_shared(seen, finding, "out_of_bounds") or "(shape (1,))" not in finding.message:
        return None
    return f"`{finding.array}` is one word, and its index is 0."


# ---------------------------------------------------------------------------------- wrong values


def _another_thread_stores(seen: Run) -> str | None:
    """The result comes from a thread that has no sum."""
    events = seen.recorded(_blocks(seen) - 1).events
    stores = [one for one in events if (one.kind, one.array) == ("store", seen.result)]
    threads = np.flatnonzero(stores[-1].first >= 0) if stores else np.zeros(1, int)
    if threads.size != 1 or threads[0] == 0 or len(_block_sums(seen.tree)) < 2:
        return None
    return (
        f"Thread {threads[0]} of the block stores the result, and `{BLOCK_SUM}` gives the sum to "
        "thread 0 alone."
    )


def _what_it_is(seen: Run) -> str | None:
    """The result of a mistake that is known, by its value."""
    out, right = float(seen.out[0]), float(seen.right[0])
    sums, left = _partial_sums(seen), float(seen.inputs[1][0])
    blocks, partials = sums.size, seen.names["partials"]
    known = (
        (blocks * left, f"That is the sum of what `{partials}` held before the launch."),
        (
            right + blocks * left,
            f"To each partial sum was added what `{partials}` held before the launch.",
        ),
        (sums[-1], "That is the sum of the last block alone."),
        (
            sums[:BLOCK].sum(),
            f"That is the sum of the first {BLOCK} partial sums, and there are {blocks}.",
        ),
        (
            sums[::BLOCK].sum(),
            f"That is what thread 0 has added: {_some(range(0, blocks, BLOCK))} of the partial "
            "sums. The shares of the other threads are missing.",
        ),
        (right + _left_in_threads(seen), _BEGINS),
        (
            sums[-BLOCK:].sum(),
            f"That is the sum of the last {BLOCK} partial sums, and there are {blocks}: each "
            "thread keeps only the last one that it reads.",
        ),
        (BLOCK * right, f"That is {BLOCK} times too much: each thread has added all of them."),
        *_without_one(sums, right),
    )
    return next((told for value, told in known if value == out != right), None)


def _how_often_each_block(seen: Run) -> str | None:
    """Partial sums that are missing, or count more than once; or are none.

    Blocks are told apart by their first elements: zeros but for powers of eight.
    """
    sums, x = _partial_sums(seen), np.zeros(seen.shape[0], np.float32)
    nothing = again(seen, x)
    if nothing is None or nothing[0] or seen.total("x", "load", "words") < x.size:
        return None
    times = np.zeros(sums.size)
    for start in range(0, sums.size, DIGITS):
        few = np.arange(start, min(start + DIGITS, sums.size))
        x[:] = 0
        x[few * BLOCK] = float(BASE) ** (few - start)
        found = again(seen, x)
        if found is None or not 0 <= found[0] < BASE**DIGITS:
            return None
        times[few] = int(found[0]) // BASE ** (few - start) % BASE
    if times @ sums != seen.out[0]:
        if np.array_equal(seen.left[1], sums):
            return _in_the_last_block(seen)
        return (
            f"What the blocks leave in `{seen.names['partials']}` are not the sums of all their "
            f"elements. `{BLOCK_SUM}` gives the whole sum to thread 0 alone."
        )
    other = np.flatnonzero(times != 1)
    if other.size == sums.size and not times.any():
        return "None of the partial sums is in the result."
    number, often = other[0], times[other[0]]
    rest = f", and {other.size - 1} others are not there once" if other.size > 1 else ""
    how = "is missing" if often == 0 else f"is in the result {often:g} times"
    return f"Number {number} of the {sums.size} partial sums {how}{rest}."


def _in_the_last_block(seen: Run) -> str:
    """The partial sums are right, and the result is not."""
    partials = seen.names["partials"]
    if not seen.accesses("partials"):
        return (
            f"The blocks leave the right sums in `{partials}`, but nobody reads them: the last "
            "block adds only what its own threads have."
        )
    after = [line for line in _block_sums(seen.tree) if line > _first_return(seen.tree)]
    if after and _fewest_at_a_barrier(seen) < BLOCK:
        return (
            f"After the `return` in line {_first_return(seen.tree)} some threads of the block are "
            f"gone. `{BLOCK_SUM}` in line {after[0]} needs all of them: each adds its part."
        )
    return (
        f"What the blocks leave in `{partials}` is right. What the last block makes of it is not."
    )


def _block_sums(tree: ast.AST) -> list[int]:
    """The lines that call block_sum."""
    named = (one for one in ast.walk(tree) if isinstance(one, ast.Call))
    return sorted(one.lineno for one in named if ast.unparse(one.func) == BLOCK_SUM)


def _first_return(tree: ast.AST) -> float:
    """The line of the first return; behind all lines where there is none."""
    return min((one.lineno for one in ast.walk(tree) if isinstance(one, ast.Return)), default=1e9)


def _fewest_at_a_barrier(seen: Run) -> int:
    """How many threads of the last block meet at the barrier where the fewest do."""
    events = seen.recorded(_blocks(seen) - 1).events
    met = [int(np.count_nonzero(one.first >= 0)) for one in events if one.kind == "barrier"]
    return min(met, default=BLOCK)


def _no_step(seen: Run) -> str | None:
    """Each thread of the last block adds from its own number on, one by one."""
    sums = _partial_sums(seen)
    times = np.minimum(np.arange(sums.size), BLOCK - 1) + 1
    if sums.size < 2 or not np.isclose(times @ sums, seen.out[0], rtol=1e-5, atol=0):
        return None
    return (
        f"The partial sums are added more than once: number 1 of them twice, number 2 three times, "
        f"and so on. The threads of the last block do not skip what others add: in a loop from the "
        f"thread's own number on, the step is {BLOCK}."
    )


_BEGINS = (
    "The threads of the last block begin to add with what they have from their first "
    f"`{BLOCK_SUM}`, and not with 0."
)


def _without_one(sums: np.ndarray, right: float):
    """One partial sum is missing, or one was taken by all threads."""
    for number, one in enumerate(sums):
        yield right - one, f"That is the sum without number {number} of the partial sums."
        yield (
            BLOCK * (right - one),
            (
                f"That is {BLOCK} times the sum without number {number} of the partial sums: each "
                "thread has added all the others."
            ),
        )
        yield (
            BLOCK * one,
            (
                f"That is {BLOCK} times number {number} of the partial sums: each thread has "
                "taken the same one."
            ),
        )


def _some(numbers: range) -> str:
    told = ", ".join(str(one) for one in numbers)
    return f"number {told}" if len(numbers) == 1 else f"the numbers {told}"


def _partial_sums(seen: Run) -> np.ndarray:
    """The right ones, float64."""
    return _padded(seen).sum(axis=1)


def _left_in_threads(seen: Run) -> float:
    """The sum of what the threads of the last block get from their first block_sum."""
    sums, half = _padded(seen)[-1].copy(), BLOCK // 2
    while half > 0:
        sums[:half] += sums[half : 2 * half]
        half //= 2
    return float(sums.sum())


def _padded(seen: Run) -> np.ndarray:
    """x by blocks, with zeros behind its end."""
    values = np.zeros(_blocks(seen) * BLOCK)
    values[: seen.shape[0]] = seen.inputs[0]
    return values.reshape(-1, BLOCK)


# --------------------------------------------------------------------------------------- the rest


def _blocks(seen: Run) -> int:
    return seen.exercise.launch(seen.shape).blocks


def _drawing(seen: Run) -> list:
    """The counts of the source lines that update the counter with an atomic, the first first."""
    return seen.accesses("drawn", "atomic")


def _reads_partials(seen: Run, finding: Finding) -> bool:
    return (
        finding.kind == "race"
        and seen.parameter(finding.array) == "partials"
        and " reads " in finding.message
    )


def _adders(seen: Run) -> int:
    """How many blocks store the result, if all that do so store with as many threads."""
    lanes = seen.total("out", "store", "lanes")
    if lanes < 2:
        return lanes
    of_one = (_stores_of(seen, block) for block in (_blocks(seen) - 1, 0))
    return lanes // next((count for count in of_one if count), lanes)


def _stores_of(seen: Run, block: int) -> int:
    """How many threads of a block store the result."""
    events = seen.recorded(block).events
    stores = [one for one in events if (one.kind, one.array) == ("store", seen.result)]
    return sum(int(np.count_nonzero(one.first >= 0)) for one in stores)


def _lines_of_adding(seen: Run) -> set[int]:
    """The source lines that read partial sums, store the result, or set the counter."""
    kinds = (("partials", "load"), ("out", "store"), ("drawn", "store"))
    return {one.site.line for parameter, kind in kinds for one in seen.accesses(parameter, kind)}


_NOTHING = (_nothing_left, _nothing_drawn, _added_in_vain, _nobody_is_last)
PROBES = Probes(
    refused=(_word_overwritten, _arguments_of_add, _adds_an_array),
    idle=_NOTHING,
    unwritten=_NOTHING,
    findings=(
        _names_it_alone,
        _waits,
        _three_steps,
        _every_thread_draws,
        _known_to_one_thread,
        _sum_in_a_branch,
        _set_back_too_early,
        _several_add,
        _not_the_last,
        _partials_unordered,
        _without_tickets,
        _same_partial,
        _number_too_early,
        _all_store,
        _no_such_partial,
        _no_such_word,
        _set_by_another_block,
    ),
    wrong=(_another_thread_stores, _what_it_is, _no_step, _how_often_each_block),
)
