"""Targets of a tiled product in machine code: wavefronts and instructions per multiply-add."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gpu_xray.loops import Loop, instructions_around
from labs.checking.run import Run
from labs.checking.target import Target
from labs.targets.machine_code import machine_code
from utils.division import cdiv
from utils.translation import translate

WARP = 32
JOINED = "LDS.128"  # reads four words, and takes two wavefronts if all lanes read the same ones


def read_wavefronts(at_most: float) -> Target:
    """Return the target of at most `at_most` shared-memory wavefronts per multiply-add.

    The reads are those of the loop with the most multiply-adds in the machine code, where an
    `LDS.128` counts twice; the stores are counted on the virtual GPU. FFMA and FMUL are
    multiply-adds. The count is None without a compiler for CUDA, for a kernel that the compiler
    refuses, and for machine code without a loop.
    """

    def measure(run: Run) -> float | None:
        if (code := machine_code(run)) is None or code.hot is None:
            return None
        stores = sum(
            one.wavefronts
            for one in run.trace.access_counts
            if (one.space, one.kind) == ("shared", "store")
        )
        reads = _reads(code.hot)
        wavefronts = len(reads) + reads.count(JOINED)
        return wavefronts / max(1, code.hot.products) + WARP * stores / math.prod(run.shape)

    def cause(run: Run, value: float) -> str:
        code = machine_code(run)
        reads = _reads(code.hot)
        return translate(
            "in the machine code ({arch}) the loop with the most multiply-adds has {reads} reads "
            "of shared memory for {multiply_adds} of them, and {joined} of these are `LDS.128`. "
            "With the stores, that is {value:.2f} wavefronts for each; the target is "
            "{at_most:.2f}. {question}",
            arch=code.arch,
            reads=len(reads),
            multiply_adds=code.hot.products,
            joined=reads.count(JOINED),
            value=value,
            at_most=at_most,
            question=_question(reads),
        )

    words = f"at most {at_most:.2f} wavefronts per multiply-add in the machine code"
    return Target("wavefronts per multiply-add", at_most, words, measure, cause, of_machine=True)


def _reads(hot: Loop) -> list[str]:
    """Return the opcodes of a loop's reads of shared memory, such as "LDS.128", in order."""
    return [one.opcode for one in hot.body if one.name == "LDS"]


def _question(reads: Sequence[str]) -> str:
    """Return a question to the reader that hints at how these reads take fewer wavefronts.

    reads: the opcodes of the innermost loop's reads of shared memory.
    """
    if JOINED in reads:
        return translate(
            "Which of the other reads could serve several multiply-adds, or be joined with their "
            "neighbours in a row?"
        )
    return translate(
        "A read of four words needs an address that is a multiple of 16 bytes: does the compiler "
        "know that?"
    )


def instructions_with_tiles(at_most: float) -> Target:
    """Return the target of at most `at_most` instructions per multiply-add in the loop over tiles.

    Those of its innermost loop and those around it are counted in the machine code. The count is
    None without a compiler for CUDA, for a kernel that the compiler refuses, and for machine code
    without a loop of multiply-adds.
    """

    def measure(run: Run) -> float | None:
        code = machine_code(run)
        if code is None or code.hot is None or not code.hot.products:
            return None
        return len(code.hot.body) / code.hot.products + _around(run)

    def cause(run: Run, value: float) -> str:
        code = machine_code(run)
        return translate(
            "in the machine code ({arch}) the loop over the tiles has {value:.3g} instructions for "
            "each multiply-add, {outside:.3g} of them outside of its innermost loop; the target is "
            "{at_most:g}. Numba counts a negative index from the end of the array, so the machine "
            "code tests each index whose type allows negative numbers. Which indices of the "
            "innermost loop have such a type?",
            arch=code.arch,
            value=value,
            outside=_around(run),
            at_most=at_most,
        )

    words = f"at most {at_most:g} instructions per multiply-add in the machine code"
    return Target("instructions per multiply-add", at_most, words, measure, cause, of_machine=True)


def _around(run: Run) -> float:
    """Return the instructions per multiply-add of the loop over tiles around its inner loop.

    Those of the inner loop are not included. The kernel's machine code must have a hottest loop.
    """
    code, trace = machine_code(run), run.trace
    launch = run.job.launch(run.shape)
    warps = launch.blocks * cdiv(launch.threads, WARP)
    tiles = sum(line.barriers for line in trace.counts.values()) / warps / 2
    loads = sum(
        one.requests for one in trace.access_counts if (one.space, one.kind) == ("global", "load")
    )
    per_tile = 1 / (warps * max(1, tiles))
    multiply_adds = math.prod(run.shape) / WARP
    return instructions_around(code.loops, code.hot, multiply_adds * per_tile, loads * per_tile)
