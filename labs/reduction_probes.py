"""The usual mistakes of reductions, recognised by what the virtual GPU has found.

What is told by wrong sums stands in `reduction_sums`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from labs.run import WORD, Run
from labs.shared_memory import (
    calls,
    computed_size,
    in_a_branch,
    in_shared,
    never_called,
    nobody_stores,
    of_each_thread,
)
from labs.vectors import REFUSED
from labs.words import counted, element
from utils.virtual_gpu import Finding
from utils.virtual_gpu.source import read_source

if TYPE_CHECKING:
    from labs.reductions import Sums


def other_block(sums: Sums, constant: str | None) -> tuple[Callable, ...]:
    """The probe for a constant of the reader's that is not the number of threads."""
    return (partial(_other_block, sums, constant),) if constant else ()


def refused() -> tuple[Callable, ...]:
    """For what cannot be compiled."""
    return (computed_size, _divided, *REFUSED)


def findings(sums: Sums) -> tuple[Callable[[Run, Finding], str | None], ...]:
    """For what the virtual GPU found, in the order in which they are asked."""
    return (
        never_called,
        _never_set,
        _one_warp_waits,
        _left_before,
        _all_store_the_result,
        _same_step,
        _read_too_early,
        _still_in_use,
        _same_word,
        in_a_branch,
        of_each_thread,
        nobody_stores,
        partial(_nobody_of_the_block, sums),
        partial(_without_an_element, sums),
        partial(_no_partner, sums),
        partial(_other_result, sums),
        partial(_one_too_far, sums),
        partial(_behind_the_end, sums),
    )


def unwritten(sums: Sums) -> tuple[Callable[[Run], str | None], ...]:
    """For sums that no thread has stored."""
    return (_all_into_one, _some_blocks)


# -------------------------------------------------------------------- what does not fit the launch


def _other_block(sums: Sums, constant: str, kernel) -> str | None:
    """The reader's constant is not the number of threads."""
    code = kernel.py_func.__code__
    threads = read_source(kernel.py_func).names.get(constant)
    uses = constant in code.co_names + code.co_freevars
    if not uses or not isinstance(threads, int) or threads == sums.threads:
        return None
    return f"This launch has blocks of {sums.threads} threads, and your `{constant}` is {threads}."


def _divided(kernel, message: str) -> str | None:
    """`/` makes a float, which is no index."""
    for node in ast.walk(read_source(kernel.py_func).tree):
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div):
            return (
                f"`{ast.unparse(node)}` in line {node.lineno} divides with `/`, and that makes a "
                "number with a fraction, also where nothing is left over. For whole numbers "
                "there is `//`."
            )
    return None


# ----------------------------------------------------------------- what the virtual GPU has found


def _never_set(seen: Run, finding: Finding) -> str | None:
    """A variable that only some threads set."""
    if finding.kind != "uninitialised" or "the variable" not in finding.message:
        return None
    return "Which threads come to this line and have passed none that sets it?"


def _one_warp_waits(seen: Run, finding: Finding) -> str | None:
    """syncwarp in place of syncthreads."""
    warp = calls(seen, "syncwarp")
    if not in_shared(seen, finding, "race") or not warp or calls(seen, "syncthreads"):
        return None
    warps = seen.exercise.launch(seen.shape).threads // 32
    return (
        f"`syncwarp` in line {warp[0].lineno} makes the 32 threads of a warp wait for each other. "
        f"The block has {warps} warps."
    )


def _left_before(seen: Run, finding: Finding) -> str | None:
    """Threads without an element return before the barrier."""
    barriers = calls(seen, "syncthreads")
    gone = [node.lineno for node in ast.walk(seen.tree) if isinstance(node, ast.Return)]
    if not barriers or not gone or min(gone) > max(call.lineno for call in barriers):
        return None
    kinds = ("uninitialised", "race", "barrier")
    if not any(in_shared(seen, finding, kind) for kind in kinds):
        return None
    return (
        f"Some threads leave at `return` in line {min(gone)}. But the others wait for all threads "
        "of the block at the barrier, and add what each of them has stored."
    )


def _all_store_the_result(seen: Run, finding: Finding) -> str | None:
    """Several threads of a block store its sum."""
    if finding.kind != "race" or seen.parameter(finding.array) != seen.exercise.result:
        return None
    mine, other = finding.threads[:2]
    if mine.block != other.block:
        return f"Both blocks store into {element(finding.array, finding.index)}."
    return (
        f"Threads {other.thread[0]} and {mine.thread[0]} of the block both store there. Which "
        "thread has the sum of the whole block?"
    )


def _loop_of(seen: Run, line: int) -> ast.While | ast.For | None:
    """The innermost loop that holds a source line."""
    loops = [
        node
        for node in ast.walk(seen.tree)
        if isinstance(node, ast.While | ast.For) and node.lineno <= line <= node.end_lineno
    ]
    return max(loops, key=lambda node: node.lineno, default=None)


def _waits(seen: Run, first: int, last: int) -> bool:
    """Whether the block waits somewhere in these source lines."""
    return any(first <= call.lineno <= last for call in calls(seen, "syncthreads"))


def _same_step(seen: Run, finding: Finding) -> str | None:
    """A race within one step of a loop that has its barrier: wrong threads add."""
    loop = _loop_of(seen, finding.line)
    # What is read after it was written was written in an earlier step, or by an earlier line.
    if not in_shared(seen, finding, "race") or loop is None or " reads " in finding.message:
        return None
    if _loop_of(seen, finding.other_line) is not loop:
        return None
    if not _waits(seen, loop.lineno, loop.end_lineno):
        return None
    low, high = sorted((finding.line, finding.other_line))
    if low != high and _waits(seen, low, high) and _waits(seen, high, loop.end_lineno):
        return None
    mine, other = (thread.thread[0] for thread in finding.threads[:2])
    return (
        f"Both happen in one step of the tree: threads {mine} and {other} use "
        f"{element(finding.array, finding.index)}, and one of them changes it. Which threads add "
        "in a step, and is there a barrier between two steps?"
    )


def _read_too_early(seen: Run, finding: Finding) -> str | None:
    """Read after write: a barrier is missing."""
    if not in_shared(seen, finding, "race") or " reads " not in finding.message:
        return None
    if finding.other_line == finding.line:
        return (
            f"Nothing makes the threads wait from one turn of line {finding.line} to the next: "
            "this word may be read before the other thread has finished it."
        )
    return (
        f"Nothing makes the threads wait between line {finding.other_line}, which stores this "
        f"word, and line {finding.line}, which reads it: it may be read before it is there."
    )


def _still_in_use(seen: Run, finding: Finding) -> str | None:
    """Write after read: a barrier is missing."""
    if not in_shared(seen, finding, "race") or "has read" not in finding.message:
        return None
    return (
        f"Nothing makes the threads wait after line {finding.other_line}: a fast one changes a "
        "word that a slow one still has to read."
    )


def _same_word(seen: Run, finding: Finding) -> str | None:
    """Write after write."""
    if not in_shared(seen, finding, "race"):
        return None
    return "Two threads store different values into one word."


def _nobody_of_the_block(sums: Sums, seen: Run, finding: Finding) -> str | None:
    """A word behind those of the block's threads."""
    if not in_shared(seen, finding, "uninitialised") or finding.index[0] < sums.threads:
        return None
    return f"The block has {sums.threads} threads, and none of them stores into that word."


def _without_an_element(sums: Sums, seen: Run, finding: Finding) -> str | None:
    """Words of threads that have no element of x."""
    if not in_shared(seen, finding, "uninitialised"):
        return None
    block = finding.threads[0].block[0]
    if block * sums.per_block + finding.index[0] < seen.shape[0]:
        return "Which thread should have stored this word?"
    return (
        f"Thread {finding.index[0]} of this block has no element of `{seen.names['x']}`, and "
        "stores nothing. But its word is added all the same."
    )


def _no_partner(sums: Sums, seen: Run, finding: Finding) -> str | None:
    """The words of a step lie beyond the array."""
    if not in_shared(seen, finding, "out_of_bounds"):
        return None
    thread, blocks = finding.threads[0], seen.exercise.launch(seen.shape).blocks
    apart = finding.index[0] - thread.thread[0]
    if apart == 0:
        return f"The block has {sums.threads} threads, and this array has {finding.index[0]} words."
    if apart == thread.block[0] * sums.threads:
        return (
            "This is the number of the thread in the whole grid. Each block has a shared array of "
            f"its own, and {sums.threads} threads."
        )
    if finding.threads_in_all == blocks and apart < sums.threads:
        return (
            f"This concerns one thread of each block: thread {thread.thread[0]} has no partner "
            f"{counted(apart, 'word')} further. Which is the last thread that your test lets pass?"
        )
    return (
        f"This concerns {counted(finding.threads_in_all, 'thread')}. Thread {thread.thread[0]} "
        f"goes {counted(apart, 'word')} further than its own number: which threads have such a "
        "partner, and how many words has the array?"
    )


def _other_result(sums: Sums, seen: Run, finding: Finding) -> str | None:
    """An element of the result that there is not."""
    if finding.kind != "out_of_bounds":
        return None
    if seen.parameter(finding.array) != seen.exercise.result:
        return None
    if sums.whole:
        return f"There is one sum of everything, {element(seen.result, [0])}."
    blocks = sums.blocks(seen.shape[0])
    return (
        f"There is one sum for each block, and this launch has {counted(blocks, 'block')}. Which "
        "block is this, and which number stands in your index?"
    )


def _one_too_far(sums: Sums, seen: Run, finding: Finding) -> str | None:
    """`<=` for `<`."""
    n = seen.shape[0]
    if not _of_x(seen, finding) or finding.index_range != (n, n):
        return None
    return (
        f"That is one too far: the elements have the numbers 0 to {n - 1}. A test that lets {n} "
        "pass has `<=` for `<`, or `>` for `>=`."
    )


def _behind_the_end(sums: Sums, seen: Run, finding: Finding) -> str | None:
    """Threads without an element load one."""
    n = seen.shape[0]
    if not _of_x(seen, finding):
        return None
    blocks = sums.blocks(n)
    each = "" if sums.each == 1 else f" with {sums.each} elements each"
    return (
        f"{counted(blocks, 'block')} of {sums.threads} threads{each} reach "
        f"{blocks * sums.per_block:,} elements, and there {'is' if n == 1 else 'are'} {n:,}. "
        "Nothing keeps this thread from going there, or what does compares something else."
    )


def _of_x(seen: Run, finding: Finding) -> bool:
    return finding.kind == "out_of_bounds" and seen.parameter(finding.array) == "x"


# -------------------------------------------------------------------- sums that nobody has stored


def _stored(seen: Run) -> np.ndarray:
    """The elements of the result in the first stores."""
    lanes = [one for access in seen.accesses(seen.exercise.result, "store") for one in access.first]
    elements = np.concatenate(lanes)
    return np.unique(elements[elements >= 0] // WORD)


def _all_into_one(seen: Run) -> str | None:
    """All blocks store into one element."""
    stored = _stored(seen)
    if stored.size != 1 or seen.total(seen.exercise.result, "store", "lanes") == 1:
        return None
    return (
        f"All blocks store into {element(seen.result, stored)}. What in your index differs from "
        "block to block?"
    )


def _some_blocks(seen: Run) -> str | None:
    """Only some blocks store."""
    missing = np.flatnonzero(seen.unwritten)
    written = np.flatnonzero(~seen.unwritten)
    few = ", ".join(map(str, missing[:3])) + (" …" if missing.size > 3 else "")
    what = "Block" if missing.size == 1 else "Blocks"
    verb = "stores" if missing.size == 1 else "store"
    others = f", and {counted(written.size, 'other')} did" if written.size else ""
    return f"{what} {few} never {verb} a sum{others}. Which test decides whether a thread stores?"
