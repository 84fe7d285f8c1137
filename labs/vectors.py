"""The family of vectors: each element of the result is made from one element of the inputs.

A shape is (n,). The launch has whole blocks of 256 threads, and thread number i of the grid has
element i; the last block hangs over the end. Each probe names what it recognises: which elements a
thread stores by the first requests, a missing test by how many threads go too far, and an index
that is off by comparing the result with the right one, moved.
"""

from __future__ import annotations

import ast
import re

import numpy as np

from labs.exercise import Exercise, Probes, Shape
from labs.run import WORD, Run
from labs.words import counted
from utils.ladder.step import Launch
from utils.virtual_gpu import Finding
from utils.virtual_gpu.source import read_source

THREADS = 256
WARPS = THREADS // 32


def launch(shape: Shape) -> Launch:
    """Enough blocks to cover n elements."""
    return Launch(grid=(-(-shape[0] // THREADS),), block=(THREADS,))


def numbers(shape: Shape, seed: int) -> np.ndarray:
    """The numbers from 1 to n in any order, float32: each value says where it comes from."""
    return (np.random.default_rng(seed).permutation(shape[0]) + 1).astype(np.float32)


def elementwise(wrong: tuple = (), **told) -> Exercise:
    """An exercise of this family. wrong: probes for what this exercise computes; they are asked
    before those for moved elements. told: the fields of Exercise that the family leaves open."""
    probes = Probes(
        refused=REFUSED,
        findings=(_other_index, _one_too_far, _outside_of_the_test, _no_test, _test_lets_pass),
        unwritten=(_one_element, _lanes_apart, _blocks_overlap, _blocks_apart, _ends_early, _gaps),
        wrong=(*wrong, *MOVED),
    )
    return Exercise(sizes=("n",), launch=launch, probes=probes, **told)


# ------------------------------------------------------------------------ what cannot be compiled


def _two_indices(kernel, message: str) -> str | None:
    """cuda.grid(2) in place of one index."""
    if "tuple" not in message and "out of range" not in message:
        return None
    for call in _nodes(kernel, ast.Call):
        if ast.unparse(call.func) == "cuda.grid" and ast.unparse(call) != "cuda.grid(1)":
            return (
                f"`{ast.unparse(call)}` gives several numbers, one for each dimension. This launch "
                "and this array have one dimension."
            )
    return None


def _shape_as_number(kernel, message: str) -> str | None:
    """out.shape in place of its only entry."""
    if "tuple of 1" not in message:
        return None
    return "The shape of an array is a tuple, also where the array has one dimension."


def _all_three_coordinates(kernel, message: str) -> str | None:
    """threadIdx without .x."""
    if "Dim3" not in message and not re.search(r"cuda\.(thread|block)(Idx|Dim)\b(?!\.)", message):
        return None
    return (
        "`cuda.threadIdx`, `cuda.blockIdx` and `cuda.blockDim` each hold three numbers, `x`, `y` "
        "and `z`. This launch has one dimension, `x`."
    )


def _whole_arrays(kernel, message: str) -> str | None:
    """NumPy's way: arithmetic with whole arrays."""
    if not re.search(r"\(\) of .*\b1D array|a call of np\.", message):
        return None
    return (
        "Each thread executes this line. It works on one element, and not on a whole array as in "
        "NumPy."
    )


# ---------------------------------------------------------------------------- indices too far out


def _other_index(seen: Run, finding: Finding) -> str | None:
    """A thread that has an element goes to another one."""
    own = _own(seen, finding)
    if own is None or own >= seen.shape[0]:
        return None
    away = finding.index[0] - own
    if away == 1:
        return f"The element of this thread is {own}, and the line goes to the one behind it."
    return (
        f"This is thread number {own} of the whole grid, and it goes to element {finding.index[0]}."
    )


def _one_too_far(seen: Run, finding: Finding) -> str | None:
    """`<=` for `<`."""
    n = seen.shape[0]
    if _own(seen, finding) is None or finding.index_range != (n, n):
        return None
    return (
        f"That is one too far: the elements have the numbers 0 to {n - 1}. A test that lets {n} "
        "pass has `<=` for `<`, or `>` for `>=`."
    )


def _outside_of_the_test(seen: Run, finding: Finding) -> str | None:
    """There is a test, and this line does not stand in it."""
    tests = [node for node in ast.walk(seen.tree) if isinstance(node, ast.If)]
    if _own(seen, finding) is None or not tests or _leaves(tests):
        return None
    line = finding.line
    if any(_holds(test.orelse, line) for test in tests):
        return "The threads that come to `else` are those that have no element."
    if any(_holds(test.body, line) for test in tests):
        return None
    return "This line does not stand in your `if`, so threads without an element execute it, too."


def _no_test(seen: Run, finding: Finding) -> str | None:
    """No thread is stopped."""
    if _own(seen, finding) is None or any(
        isinstance(node, ast.If | ast.While | ast.IfExp) for node in ast.walk(seen.tree)
    ):
        return None
    return f"{_spare(seen)} Nothing in your kernel keeps them away."


def _test_lets_pass(seen: Run, finding: Finding) -> str | None:
    """There is a test that does not stop them."""
    if _own(seen, finding) is None:
        return None
    return f"{_spare(seen)} Your test lets them pass. What does it compare, and with what?"


def _spare(seen: Run) -> str:
    n, threads = seen.shape[0], launch(seen.shape).blocks * THREADS
    return (
        f"The launch has whole blocks of {THREADS} threads: {threads} threads for "
        f"{counted(n, 'element')}. The last {threads - n} have no element."
    )


def _own(seen: Run, finding: Finding) -> int | None:
    """The number of the thread in the grid; None where the finding is about something else."""
    if finding.kind != "out_of_bounds" or seen.parameter(finding.array) is None:
        return None
    thread = finding.threads[0]
    return thread.block[0] * THREADS + thread.thread[0]


def _leaves(tests: list[ast.If]) -> bool:
    """Whether a test sends threads away."""
    return any(isinstance(node, ast.Return) for test in tests for node in ast.walk(test))


def _holds(block: list[ast.stmt], line: int) -> bool:
    """Whether this line of the file stands in these statements."""
    return any(one.lineno <= line <= one.end_lineno for one in block)


# ------------------------------------------------------------------------- elements never written


def _stored(seen: Run) -> np.ndarray:
    """The elements of the first stores: shape (requests, 32), -1 where a lane stores none."""
    stores = seen.accesses(seen.exercise.result, "store")
    if not stores:
        return np.empty((0, 32), np.int64)
    lanes = np.stack(stores[0].first)
    return np.where(lanes < 0, -1, lanes // WORD)


def _two_blocks(seen: Run) -> tuple[int, int] | None:
    """Where blocks 0 and 1 start to store, if every thread of block 0 stores."""
    stored = _stored(seen)
    if len(stored) <= WARPS or (stored[: WARPS + 1] < 0).any():
        return None
    return int(stored[0, 0]), int(stored[WARPS, 0])


def _one_element(seen: Run) -> str | None:
    """All threads of a warp store the same element."""
    if seen.lane_step(seen.exercise.result, "store") != 0:
        return None
    starts = _two_blocks(seen)
    if starts and starts[0] != starts[1]:
        return (
            f"All {THREADS} threads of block 0 store the same element, {starts[0]}, and those of "
            f"block 1 element {starts[1]}. The number of the thread is missing in your index."
        )
    return (
        f"All threads store the same element, {_stored(seen).max()}. What in your index differs "
        "from thread to thread?"
    )


def _lanes_apart(seen: Run) -> str | None:
    """Neighbouring threads store elements that are no neighbours."""
    step = seen.lane_step(seen.exercise.result, "store")
    if step in (None, 1):
        return None
    return (
        f"Threads 0 and 1 of a block store elements that lie {step} apart, and nobody stores those "
        "between them. What is the number of the thread multiplied with?"
    )


def _blocks_overlap(seen: Run) -> str | None:
    """The next block starts before the end of this one."""
    starts = _two_blocks(seen)
    if not starts or starts[1] - starts[0] >= THREADS:
        return None
    apart, blocks = starts[1] - starts[0], launch(seen.shape).blocks
    if apart == 0:
        return (
            "Block 1 stores the same elements as block 0: `threadIdx.x` begins again at 0 in every "
            "block. The number of the block is missing in your index."
        )
    story = f"Block 0 stores {THREADS} elements, and block 1 starts {apart} further: they overlap."
    if apart == blocks:
        return (
            f"{story} {apart} is `gridDim.x`, the number of blocks; `blockDim.x` is the number of "
            "threads in a block."
        )
    return f"{story} What is the number of the block multiplied with?"


def _blocks_apart(seen: Run) -> str | None:
    """The next block starts behind the end of this one."""
    starts = _two_blocks(seen)
    if not starts or starts[1] - starts[0] <= THREADS:
        return None
    return (
        f"Block 0 stores {THREADS} elements, and block 1 starts {starts[1] - starts[0]} further: a "
        "gap is left between them. What is the number of the block multiplied with?"
    )


def _ends_early(seen: Run) -> str | None:
    """All elements from one on are missing."""
    missing = np.flatnonzero(seen.unwritten)
    n, first = seen.shape[0], int(missing[0])
    if missing.size == n or missing.size != n - first:
        return None
    if first == n - 1:
        return f"The last element, n - 1 = {first}, is inside: a test stops its thread."
    if first == THREADS:
        return (
            f"Only the {THREADS} threads of block 0 store. Does a test stop the other blocks, or "
            "is their index too large?"
        )
    if first == n // THREADS * THREADS:
        return (
            f"All elements from {first} on are missing: those of the last block, which is not full."
        )
    return f"All elements from {first} on are missing. Which test or loop ends there?"


def _gaps(seen: Run) -> str | None:
    """Single elements are missing."""
    missing = np.flatnonzero(seen.unwritten)
    if missing.size == seen.shape[0]:
        return "No thread passes your test. Is it the right way round?"
    if missing.size == 1:
        return (
            f"Only element {missing[0]} is missing: its thread is stopped, or stores another one."
        )
    few = ", ".join(map(str, missing[:3]))
    return f"The elements {few} … are missing: their threads are stopped, or store other ones."


# ------------------------------------------------------------------------------- moved elements


def _moved(seen: Run) -> str | None:
    """Each element holds what belongs to a neighbour."""
    if seen.shape[0] < 3:
        return None
    for away, where in ((1, "before"), (-1, "behind")):
        inside = slice(1, None) if away == 1 else slice(0, -1)
        if np.array_equal(seen.out[inside], np.roll(seen.right, away)[inside]):
            return f"Each element holds the result of the element {where} it."
    return None


def _mirrored(seen: Run) -> str | None:
    """The order is turned round."""
    if seen.shape[0] > 1 and np.array_equal(seen.out, seen.right[::-1]):
        return "The result stands in reverse order."
    return None


def _all_alike(seen: Run) -> str | None:
    """Every element holds the same."""
    if seen.shape[0] > 1 and np.unique(seen.out).size == 1:
        return "All elements of the result are alike. Which element does each thread read?"
    return None


def _nodes(kernel, kind: type) -> list:
    return [node for node in ast.walk(read_source(kernel.py_func).tree) if isinstance(node, kind)]


# What other families of vectors share.
REFUSED = (_two_indices, _shape_as_number, _all_three_coordinates, _whole_arrays)
MOVED = (_moved, _mirrored, _all_alike)
