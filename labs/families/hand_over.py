"""Pairs of blocks: each block stores a number and draws a ticket, and the second adds both numbers.

A shape is (pairs,). Blocks 2p and 2p + 1 are pair p, and each of them has one thread. The ticket
comes from an atomic addition to the pair's counter: 0 for the block that comes first, 1 for the one
that comes second. "Words" are the numbers that the blocks store for each other.
"""

from __future__ import annotations

import ast
from dataclasses import replace

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.checking.phrasing import at_line
from labs.checking.run import Run, run_kernel
from labs.checking.target import Probes, Target, essential
from labs.families.single_pass_reduction import LEFT, no_block_waits
from labs.families.vectors import signed_numbers
from labs.targets.counts import no_float64, no_negative_index, one_store_per_element
from utils.ladder.step import Launch
from utils.translation import translate
from virtual_gpu import Finding
from virtual_gpu.counts.recorder import Event

FIRST, SECOND = 0, 1  # the two blocks of the first pair, in the order in which they run


def hand_over(**fields) -> KernelExercise:
    """Return an exercise whose kernel (x, words, drawn, out) stores x[2p] + x[2p + 1] in out[p].

    words: one number per block, which the block stores there. drawn: a counter per pair, from which
    the blocks draw. fields: the remaining fields of KernelExercise.
    """
    return KernelExercise(
        parameters=("x", "words", "drawn", "out"), scratch=("words", "drawn"), sizes=("pairs",),
        launch=lambda shape: Launch(grid=(2 * shape[0],), block=(1,)),
        inputs=inputs, reference=lambda x, words, drawn: x[::2].astype(np.float64) + x[1::2],
        shapes=((32,), (21,), (7,), (2,), (1,)), timed=False,
        probes=Probes(flaws=(race_without_a_fence_of_the_grid,)),
        targets=(
            no_negative_index(), one_store_per_element(), no_float64(),
            essential(no_block_waits(lambda shape: 1)), essential(second_adds()),
            essential(fenced_before_its_draw()), essential(fenced_before_its_loads()),
            essential(fences_of_the_second(2)),
            essential(each_word("words", "store")), essential(each_word("words", "load")),
            essential(each_word("x", "load")),
        ),
        **fields,
    )  # fmt: skip


def inputs(shape: Shape, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (x, words, drawn) for a shape (pairs,) and a seed.

    x: random numbers, float32, (2·pairs,). words: old values, float32, (2·pairs,). drawn: counters,
    uint32 zeros, (pairs,).
    """
    blocks = 2 * shape[0]
    old = np.full(blocks, LEFT)
    return signed_numbers((blocks,), seed), old, np.zeros(shape[0], np.uint32)


def second_adds() -> Target:
    """Return the target that the block which draws 1 adds, whichever block of a pair it is.

    The kernel is launched again with counters that start at 1, so that block 0 draws 1. The count
    is 1 if block 0 does not store a sum then, else 0.
    """

    def measure(run: Run) -> float:
        first = _first_comes_second(run)
        return float(not any((e.kind, e.array) == ("store", run.result) for e in first))

    def cause(run: Run, value: float) -> str:
        return translate(
            "block 0 does not add when it draws 1. Blocks do not end in the order of their "
            "numbers: either block of a pair may come second."
        )

    words = "the block that draws 1 adds"
    return Target("blocks that add whatever they draw", 0, words, measure, cause)


def _first_comes_second(run: Run) -> tuple[Event, ...]:
    """Launch the kernel with counters that start at 1, and return the events of block 0.

    It draws 1 then, as if block 1 had come first.
    """
    later = replace(run.job, inputs=_counters_at_one)
    again = run_kernel(later, run.kernel, run.shape, run.patience, record=FIRST)
    return again.trace.recording.events


def fenced_before_its_draw() -> Target:
    """Return the target that both blocks of a pair pass a fence between their word and their draw.

    The count is the number of blocks of the first pair that store their word and draw without a
    fence between the two. Only that of block 0 can lead to a wrong result on the virtual GPU.
    """

    def draws_too_early(run: Run, block: int) -> bool:
        """Return True if a block draws after a store into `words` without a fence behind it."""
        stored = False
        for one in run.recorded(block).events:
            if one.kind == "fence":
                stored = False
            elif (one.kind, one.array) == ("store", run.names["words"]):
                stored = True
            elif (one.kind, one.array) == ("atomic", run.names["drawn"]) and stored:
                return True
        return False

    def measure(run: Run) -> float:
        return float(sum(draws_too_early(run, block) for block in (FIRST, SECOND)))

    def cause(run: Run, value: float) -> str:
        if told := instead_of_a_fence(run):
            return told
        store, draw = run.accesses("words", "store")[0], run.accesses("drawn", "atomic")[0]
        return translate(
            "a block stores its word at {where} and draws its number in line {draw}, and not every "
            "block passes a fence between the two. The other block may find the old word. Either "
            "block of a pair may come first.",
            where=at_line(store.site),
            draw=draw.site.line,
        )

    words = "a fence between the word of a block and its number"
    return Target("words without a fence", 0, words, measure, cause)


def fenced_before_its_loads() -> Target:
    """Return the target that a fence is passed between drawing 1 and loading both words.

    The count is the number of loads from `words` without such a fence, in block 1, which comes
    second on the virtual GPU, and in block 0 where that one comes second.
    """

    def measure(run: Run) -> float:
        second = (run.recorded(SECOND).events, _first_comes_second(run))
        return float(sum(loads_without_a_fence(run, one) for one in second))

    def loads_without_a_fence(run: Run, events: tuple[Event, ...]) -> int:
        fenced, loads = False, 0
        for one in events:
            if (one.kind, one.array) == ("atomic", run.names["drawn"]):
                fenced = False
            fenced = fenced or one.kind == "fence"
            loads += (one.kind, one.array) == ("load", run.names["words"]) and not fenced
        return loads

    def cause(run: Run, value: float) -> str:
        if told := instead_of_a_fence(run):
            return told
        load, draw = run.accesses("words")[0], run.accesses("drawn", "atomic")[0]
        return translate(
            "a block draws its number in line {draw} and loads from `{words}` in {where}, and no "
            "fence is between the two: it may load a word before it draws, and find the old one.",
            draw=draw.site.line,
            words=run.names["words"],
            where=at_line(load.site),
        )

    words = "a fence between the number and the loads of the words"
    return Target("loads without a fence", 0, words, measure, cause)


def fences_of_the_second(at_most: int) -> Target:
    """Return the target that block 1, which comes second, passes at most this number of fences."""

    def measure(run: Run) -> float:
        return float(sum(one.kind == "fence" for one in run.recorded(SECOND).events))

    def cause(run: Run, value: float) -> str:
        return translate(
            "the block that comes second passes {value:g} fences; {at_most:g} are enough. Which "
            "two accesses does each of yours keep in order?",
            value=value,
            at_most=at_most,
        )

    return Target("fences", at_most, f"at most {at_most} fences", measure, cause)


def each_word(parameter: str, kind: str) -> Target:
    """Return the target of exactly one load, or store, per element of an array.

    The count is the absolute difference between 1 and their average number per element. parameter:
    "x" or "words". kind: "load" or "store".
    """

    def measure(run: Run) -> float:
        return abs(run.total(parameter, kind, "lanes") / (2 * run.shape[0]) - 1)

    def cause(run: Run, value: float) -> str:
        counted = {
            "array": run.names[parameter],
            "size": 2 * run.shape[0],
            "number": run.total(parameter, kind, "lanes"),
        }
        if parameter == "x":
            return translate(
                "`{array}` has {size} elements, and {number} are loaded: each block takes its own, "
                "and learns the other one of its pair from the other block.",
                **counted,
            )
        if kind == "load":
            return translate(
                "`{array}` has {size} elements, and {number} are loaded: the block that comes "
                "second adds both of its pair.",
                **counted,
            )
        return translate(
            "`{array}` has {size} elements, and {number} are stored: each block leaves its own.",
            **counted,
        )

    verb = {"load": "loaded", "store": "stored"}[kind]
    words = f"each element of `{parameter}` is {verb} once"
    return Target(f"{kind}s of each element of {parameter} off by", 0, words, measure, cause)


def race_without_a_fence_of_the_grid(run: Run, finding: Finding) -> str | None:
    """Return a sentence on a barrier or fence of one block if the finding is a race, else None.

    It is the sentence of `instead_of_a_fence`, None if the kernel has no such call. finding: the
    flaw that the virtual GPU found.
    """
    return instead_of_a_fence(run) if finding.kind == "race" else None


def instead_of_a_fence(run: Run) -> str | None:
    """Return a sentence on the kernel's first call of a barrier or of a fence of one block.

    It says that another block needs `cuda.threadfence()`. Returns None without such a call.
    """
    for node in ast.walk(run.tree):
        name = ast.unparse(node.func).split(".")[-1] if isinstance(node, ast.Call) else ""
        if name == "threadfence_block":
            return translate(
                "`{name}` in line {line} is a fence for the threads of its own block. The two "
                "words are handed from block to block, which takes `cuda.threadfence()`.",
                name=name,
                line=node.lineno,
            )
        if name in ("syncthreads", "syncwarp"):
            return translate(
                "`{name}` in line {line} is a barrier of one block. It keeps nothing in order for "
                "another block: that takes `cuda.threadfence()`.",
                name=name,
                line=node.lineno,
            )
    return None


def _counters_at_one(shape: Shape, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (x, words, drawn) for a shape (pairs,) and a seed, with counters that start at 1.

    x: random numbers, float32, (2·pairs,). words: old values, float32, (2·pairs,). drawn: counters,
    uint32 ones, (pairs,).
    """
    return (*inputs(shape, seed)[:2], np.ones(shape[0], np.uint32))
