"""Examine a host function that launches a kernel: its block, its grid and its shared memory.

A probe takes one call and the expected launch, and returns sentences on a mistake or None.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np

from labs.checking.job import Shape
from labs.checking.phrasing import counted
from labs.checking.run import WORD
from labs.families.product import inputs
from labs.host.exercise import CallFailed, Examination, Fault
from utils.division import cdiv
from utils.machine.occupancy import best_block_size, square_side
from virtual_gpu import installed

H200 = (9, 0)  # its compute capability
# The registers of a thread, and the shape. The best side is 32 up to 32 registers and from 57 to
# 64, and 16 for all others.
CALLS = (
    (32, (70, 40, 33)),
    (96, (48, 64, 20)),
    (40, (33, 100, 5)),
    (168, (17, 15, 40)),
    (64, (65, 30, 8)),
    (56, (20, 90, 8)),
    (33, (64, 33, 8)),
    (57, (31, 97, 8)),
)


DRAWN = 8  # further calls, drawn at each examination


@dataclass(frozen=True)
class BestLaunch:
    """The launch that the task asks for.

    threads: the block size that the driver suggests. side: the side of the square block, the
    largest power of two for which the block has at most `threads` threads. grid: the number of
    blocks along x and along y.
    """

    threads: int
    side: int
    grid: tuple[int, int]

    @property
    def bytes_needed(self) -> int:
        """The number of bytes of two float32 tiles with this side."""
        return 2 * self.side * self.side * WORD


@dataclass(frozen=True)
class LaunchRequest:
    """A recorded launch.

    grid, block: the numbers of blocks, and of threads per block, along x, y and z. shared_bytes:
    the dynamic shared memory per block. arguments: the kernel's arguments.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    arguments: tuple


@dataclass(frozen=True)
class ReaderCall:
    """One call of a reader's function.

    registers: the registers per thread that it was called with. shape: (m, n, k). arrays: a, b and
    c. launches: the launches that it made, in order. result: what it returned.
    """

    registers: int
    shape: Shape
    arrays: tuple[np.ndarray, ...]
    launches: list[LaunchRequest]
    result: object

    @property
    def where(self) -> str:
        """A phrase to begin a sentence, such as "With 32 registers and m×n×k = 70×40×33"."""
        sizes = "×".join(map(str, self.shape))
        return f"With {self.registers} registers and m×n×k = {sizes}"


@dataclass
class LaunchRecorder:
    """A replacement for a kernel that records its launches and runs nothing.

    kernel: any kernel; it raises an error for each launch configuration that Numba would refuse.
    launches: the recorded launches, in order.
    """

    kernel: Callable
    launches: list[LaunchRequest] = field(default_factory=list)

    def __getitem__(self, launch) -> Callable:
        """Return a function that records a launch with this configuration.

        launch: (grid, block, stream, shared bytes) or a part of it, as for a kernel.
        """
        ready = self.kernel[launch]

        def run(*arguments):
            """Record a launch with these arguments."""
            sizes, shared_bytes = ready.geometry, ready.shared_bytes
            self.launches.append(LaunchRequest(sizes.grid, sizes.block, shared_bytes, arguments))

        return run

    def __call__(self, *arguments):
        """Raise TypeError, because a kernel cannot be called without a launch configuration."""
        raise TypeError("A kernel is launched as kernel[grid, block, stream, bytes](a, b, c)")


def best_launch(registers: int, shape: Shape) -> BestLaunch:
    """Return the launch with square blocks that has the most resident threads on an H200.

    The driver suggests a block size, given that each thread needs two float32 of shared memory. The
    block is the largest square with a power of two as its side and at most this number of threads,
    and the grid covers the m×n matrix. registers: the kernel's registers per thread. shape: (m, n,
    k) of the product.
    """
    m, n, _ = shape
    threads = best_block_size(H200, registers, lambda threads: 2 * WORD * threads)
    side = square_side(threads)
    return BestLaunch(threads, side, (cdiv(n, side), cdiv(m, side)))


def examine_launches(kernel: Callable, launch_best: Callable) -> Examination:
    """Call the reader's function with several register counts and shapes, and return the outcome.

    For a wrong function, its `causes` has only the first cause, and its `faults` has one fault per
    probe of COSTS that found one. If a call fails, or does not launch the kernel once with a, b and
    c, the `faults` are empty, so that all points are lost. A failed call is the cause only if none
    was found before. kernel: any kernel, which is never run. launch_best: the reader's function,
    which takes a kernel, a number of registers, a, b and c.
    """
    cause, faults = None, {}
    for registers, shape in (*CALLS, *_drawn(Random())):
        try:
            call = _call(kernel, launch_best, registers, shape)
        except CallFailed as error:
            return Examination((cause or str(error),))
        expected = best_launch(registers, shape)
        cause = cause or next((words for one in PROBES if (words := one(call, expected))), None)
        if any(probe(call, expected) for probe in NO_LAUNCH):
            return Examination((cause,))
        faults = {**_faults(call, expected), **faults}
    if cause:
        return Examination((cause,), faults=tuple(faults.values()))
    sides = ", ".join(f"{r} registers: {best_launch(r, shape).side}" for r, shape in CALLS)
    facts = (f"The sides that it launches with: {sides}.",)
    return Examination((), facts, {"launches": len(CALLS)})


def _drawn(random: Random) -> list[tuple[int, Shape]]:
    """Return DRAWN random pairs (registers, shape), so that a table of answers is of no use.

    registers is from 16 to 255; m, n and k are from 5 to 100.
    """
    return [
        (random.randint(16, 255), tuple(random.randint(5, 100) for _ in range(3)))
        for _ in range(DRAWN)
    ]


def _call(kernel: Callable, launch_best: Callable, registers: int, shape: Shape) -> ReaderCall:
    """Call the reader's function and return the record of this call.

    registers: the number of registers per thread that the reader's function is given; it is also
    the seed of the inputs.
    """
    a, b = inputs(shape, seed=registers)
    c = np.zeros((shape[0], shape[1]), np.float32)
    with installed():
        recorder = LaunchRecorder(kernel)
        returned = launch_best(recorder, registers, a, b, c)
    return ReaderCall(registers, shape, (a, b, c), recorder.launches, returned)


def wrong_launch_count(call: ReaderCall, expected: BestLaunch) -> str | None:
    """Return a sentence if the kernel is not launched exactly once, else None."""
    if not call.launches:
        return "The kernel is never launched: `kernel[grid, block, stream, bytes](a, b, c)`."
    if len(call.launches) > 1:
        return f"The kernel is launched {len(call.launches)} times, and one launch computes all."
    return None


def wrong_arguments(call: ReaderCall, expected: BestLaunch) -> str | None:
    """Return a sentence if the launch gets other arguments than a, b and c in order, else None."""
    arguments = call.launches[0].arguments
    if len(arguments) != 3:
        return f"The kernel takes `a`, `b` and `c`, and gets {counted(len(arguments), 'argument')}."
    for name, own, actual in zip("abc", call.arrays, arguments, strict=True):
        if actual is not own:
            return f"The kernel gets something else in the place of `{name}`."
    return None


def wrong_block(call: ReaderCall, expected: BestLaunch) -> str | None:
    """Return sentences if the block of the launch is not the expected square, else None."""
    x, y, z = call.launches[0].block
    if (x, y, z) == (expected.side, expected.side, 1):
        return None
    story = f"{call.where} your blocks have {x}×{y}{f'×{z}' * (z > 1)} threads."
    if x != y or z > 1:
        return f"{story} They must be square: `side` threads along x and as many along y."
    threads, side = expected.threads, expected.side
    if x == threads:
        return f"{story} {threads:,} are the threads of the whole block. Its square has a side."
    return (
        f"{story} The block with the most resident threads has {threads:,}, where each thread asks "
        f"for the bytes of two float32; the square with a power of two that is not larger than it "
        f"is {side}×{side}."
    )


def wrong_grid(call: ReaderCall, expected: BestLaunch) -> str | None:
    """Return sentences if the grid is not the expected one, else None.

    The expected grid has the fewest blocks that cover c.
    """
    x, y, z = call.launches[0].grid
    expected_x, expected_y = expected.grid
    if (x, y, z) == (expected_x, expected_y, 1):
        return None
    m, n, _ = call.shape
    story = f"{call.where} your grid has {x}×{y}{f'×{z}' * (z > 1)} blocks of side {expected.side}"
    if (x, y) == (expected_y, expected_x):
        return f"{story}: x and y are exchanged. x counts the columns of `c`."
    if (x, y) == (n, m):
        return f"{story}: a block for each element. A block covers as many as it has threads."
    if (x, y) == (n // expected.side, m // expected.side):
        return f"{story}: rounded down, so the last rows and columns of `c` belong to no block."
    if (x, y) == (n // expected.side + 1, m // expected.side + 1):
        return f"{story}: one too many where a side of the block divides. Round up."
    return f"{story}. `c` has {n} columns and {m} rows: {expected_x}×{expected_y} blocks cover it."


def wrong_shared_bytes(call: ReaderCall, expected: BestLaunch) -> str | None:
    """Return sentences if the launch does not ask for the bytes of two tiles, else None."""
    requested, needed, side = call.launches[0].shared_bytes, expected.bytes_needed, expected.side
    if requested == needed:
        return None
    if not isinstance(requested, int):
        return f"The fourth number in the brackets is {requested!r}, and bytes are whole numbers."
    story = f"{call.where} the launch asks for {counted(requested, 'byte')} of shared memory."
    known = {
        0: "The fourth number in the brackets is missing: grid, block, stream, bytes. The kernel "
        "has no memory for its tiles.",
        needed // WORD: "These are words, and a float32 has 4 bytes.",
        needed // 2: "This is one tile, and a block holds two.",
        2 * WORD * expected.threads: "This is for the suggested block, before it became a square.",
        2 * WORD: "This is for one thread.",
        2 * WORD * side: "This is one row of each tile.",
        side: "This is the side of the block.",
    }
    return f"{story} {known.get(requested, f'Two tiles of {side}×{side} float32 need {needed:,}.')}"


def wrong_result(call: ReaderCall, expected: BestLaunch) -> str | None:
    """Return sentences if the function does not return the side of the block, else None."""
    side, returned = expected.side, call.result
    if returned is None:
        return "The function returns `None`, and it should return the side of the block."
    if isinstance(returned, bool) or not isinstance(returned, int | float) or returned != side:
        known = {side * side: "These are the threads of a block."}
        why = known.get(returned, "") if isinstance(returned, int) else ""
        return f"{call.where} the function returns {returned!r}; the side is {side}. {why}".strip()
    return None


Probe = Callable[[ReaderCall, BestLaunch], str | None]
NO_LAUNCH: tuple[Probe, ...] = (wrong_launch_count, wrong_arguments)
# The percentage of the points that each costs; the task is about the block.
COSTS: dict[Probe, int] = {
    wrong_block: 60, wrong_grid: 15, wrong_shared_bytes: 15, wrong_result: 10,
}  # fmt: skip
PROBES = (*NO_LAUNCH, *COSTS)  # in the order in which they are called


def _faults(call: ReaderCall, expected: BestLaunch) -> dict[Probe, Fault]:
    """Return a dict from each probe that finds a fault in one call to this fault.

    Grid, bytes and result are compared with the right ones for the reader's own block, so that a
    wrong block does not count several times.
    """
    own = expected if wrong_block(call, expected) is None else _with_own_block(call, expected)
    messages = {one: one(call, expected if one is wrong_block else own) for one in COSTS}
    return {one: Fault(words, COSTS[one]) for one, words in messages.items() if words}


def _with_own_block(call: ReaderCall, expected: BestLaunch) -> BestLaunch:
    """Return the expected launch with the side of the reader's block and the grid for it.

    If the reader's block is not square, return the expected launch unchanged.
    """
    (m, n, _), (x, y, z) = call.shape, call.launches[0].block
    if x != y or z > 1:
        return expected
    return replace(expected, side=x, grid=(cdiv(n, x), cdiv(m, x)))
