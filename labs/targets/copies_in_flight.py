"""Targets of asynchronous copies: that they fill the tiles, and that waits leave some in flight."""

from __future__ import annotations

import ast

from labs.checking.run import Run
from labs.checking.target import Target
from labs.families.warp_products import M, N
from utils.translation import translate
from virtual_gpu.counts.counters import COPY_ASYNC

CHUNK = 8  # elements of 16 bytes
BYTES = 16


def chunks_by_async_copies() -> Target:
    """Return the target of each chunk of a and b copied by `copy8_async`, with two warps per block.

    The count is the fraction of the chunks that are not.
    """

    def needed(run: Run) -> int:
        m, n, k = run.shape
        rows, columns = 2 * M, N
        return m // rows * (n // columns) * k * (rows + columns) // CHUNK

    def copied(run: Run) -> int:
        return sum(
            one.lanes
            for one in run.trace.access_counts
            if (one.space, one.instruction, one.bytes_per_lane) == ("shared", COPY_ASYNC, BYTES)
        )

    def measure(run: Run) -> float:
        return max(0.0, 1 - copied(run) / needed(run))

    def cause(run: Run, value: float) -> str:
        return translate(
            "`copy8_async` copies {copied:,} of the {needed:,} chunks of the tiles. A thread that "
            "loads a chunk and stores it has to wait for the load before it can store.",
            copied=copied(run),
            needed=needed(run),
        )

    words = "each chunk of a tile by `copy8_async`"
    return Target("chunks copied another way", 0, words, measure, cause)


def group_left_in_flight() -> Target:
    """Return the target of waits that leave a group of copies in flight.

    The count is the number of calls of `wait_copies(0)` that run in every iteration of a loop. It
    also counts those under a condition if no other call leaves a group in flight.
    """

    def waits_for_all(run: Run) -> list[ast.Call]:
        loops = [one for one in ast.walk(run.tree) if isinstance(one, ast.For | ast.While)]
        waits = [one for loop in loops for one in ast.walk(loop) if _is_wait(one)]
        if all(map(_is_for_all, waits)):
            return waits
        statements = [one for loop in loops for one in loop.body if isinstance(one, ast.Expr)]
        always = [one.value for one in statements if _is_wait(one.value)]
        return [one for one in always if _is_for_all(one)]

    def measure(run: Run) -> float:
        return len(waits_for_all(run))

    def cause(run: Run, value: float) -> str:
        return translate(
            "`wait_copies(0)` in line {line} leaves no group in flight. The copies of the next "
            "tile could stay in flight while this one is multiplied.",
            line=waits_for_all(run)[0].lineno,
        )

    words = "the wait of each iteration but the last leaves at least one group in flight"
    return Target("waits for all copies", 0, words, measure, cause)


def _is_wait(node: ast.AST) -> bool:
    """Return True for a call of `wait_copies`."""
    return isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "wait_copies"


def _is_for_all(wait: ast.Call) -> bool:
    """Return True if a call of `wait_copies` leaves no group in flight."""
    return [ast.unparse(one) for one in wait.args] == ["0"]
