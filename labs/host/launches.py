"""One launch by a host function: what it asks for, and what is wrong with that.

Each cause is a sentence about one call, or None.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from labs.checking.job import Shape
from labs.checking.phrasing import counted
from labs.checking.run import WORD
from labs.families.product import inputs
from labs.host.exercise import Examined
from utils.machine.occupancy import best_block_size, square_side
from virtual_gpu import installed

H200 = (9, 0)
# Registers of a thread, and the shape. The best side is 32 up to 32 registers and from 57 to 64,
# and 16 for all others.
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


@dataclass(frozen=True)
class Wanted:
    """What a launch should ask for: the driver's suggestion for the kernel, and its square."""

    threads: int
    side: int
    grid: tuple[int, int]

    @property
    def bytes_needed(self) -> int:
        """Of two tiles of float32."""
        return 2 * self.side * self.side * WORD


@dataclass(frozen=True)
class Launched:
    """A launch: blocks and threads along x, y and z, bytes of shared memory, and the arguments."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    arguments: tuple


@dataclass(frozen=True)
class ReaderCall:
    """One call of a reader's function: with which arrays, what it launched, what it returned."""

    registers: int
    shape: Shape
    arrays: tuple[np.ndarray, ...]
    launches: list[Launched]
    result: object

    @property
    def where(self) -> str:
        """The call, to begin a sentence."""
        sizes = "×".join(map(str, self.shape))
        return f"With {self.registers} registers and m×n×k = {sizes}"


@dataclass
class GivenKernel:
    """The kernel that a reader's function gets. It keeps what its launches ask for.

    Nothing runs: a launch that asks for the right numbers gives the right result.
    kernel: it takes the launch and refuses one that Numba would refuse.
    """

    kernel: Callable
    launches: list[Launched] = field(default_factory=list)

    def __getitem__(self, launch) -> Callable:
        ready = self.kernel[launch]

        def run(*arguments):
            sizes = ready.geometry
            self.launches.append(Launched(sizes.grid, sizes.block, ready.shared_bytes, arguments))

        return run

    def __call__(self, *arguments):
        raise TypeError("A kernel is launched as kernel[grid, block, stream, bytes](a, b, c)")


def wanted(registers: int, shape: Shape) -> Wanted:
    """The launch that the task asks for."""
    m, n, _ = shape
    threads = best_block_size(H200, registers, lambda threads: 2 * WORD * threads)
    side = square_side(threads)
    return Wanted(threads, side, (-(-n // side), -(-m // side)))


def examined(kernel: Callable, launch_best: Callable) -> Examined:
    """Call the function for several kernels, until something is wrong.

    kernel: the one that it is to launch.
    """
    for registers, shape in CALLS:
        seen = _called(kernel, launch_best, registers, shape)
        asked_for = wanted(registers, shape)
        for cause in CAUSES:
            if told := cause(seen, asked_for):
                return Examined((told,))
    sides = ", ".join(f"{r} registers: {wanted(r, shape).side}" for r, shape in CALLS)
    return Examined((), (f"The sides that it launches with: {sides}.",), {"launches": len(CALLS)})


def _called(kernel: Callable, launch_best: Callable, registers: int, shape: Shape) -> ReaderCall:
    a, b = inputs(shape, seed=registers)
    c = np.zeros((shape[0], shape[1]), np.float32)
    with installed():
        given = GivenKernel(kernel)
        result = launch_best(given, registers, a, b, c)
    return ReaderCall(registers, shape, (a, b, c), given.launches, result)


def not_once(seen: ReaderCall, asked_for: Wanted) -> str | None:
    """The kernel is not launched, or again and again."""
    if not seen.launches:
        return "The kernel is never launched: `kernel[grid, block, stream, bytes](a, b, c)`."
    if len(seen.launches) > 1:
        return f"The kernel is launched {len(seen.launches)} times, and one launch computes all."
    return None


def arguments(seen: ReaderCall, asked_for: Wanted) -> str | None:
    """The launch gets something else than a, b and c."""
    given = seen.launches[0].arguments
    if len(given) != 3:
        return f"The kernel takes `a`, `b` and `c`, and gets {counted(len(given), 'argument')}."
    for name, right, theirs in zip("abc", seen.arrays, given, strict=True):
        if theirs is not right:
            return f"The kernel gets something else in the place of `{name}`."
    return None


def block(seen: ReaderCall, asked_for: Wanted) -> str | None:
    """The block is not the square that the search ends with."""
    x, y, z = seen.launches[0].block
    if (x, y, z) == (asked_for.side, asked_for.side, 1):
        return None
    story = f"{seen.where} your blocks have {x}×{y}{f'×{z}' * (z > 1)} threads."
    if x != y or z > 1:
        return f"{story} They must be square: `side` threads along x and as many along y."
    threads, side = asked_for.threads, asked_for.side
    if x == threads:
        return f"{story} {threads:,} are the threads of the whole block. Its square has a side."
    return (
        f"{story} The block with the most resident threads has {threads:,}, where each thread asks "
        f"for the bytes of two float32; the square with a power of two that is not larger than it "
        f"is {side}×{side}."
    )


def grid(seen: ReaderCall, asked_for: Wanted) -> str | None:
    """The blocks do not cover c, or more than it."""
    x, y, z = seen.launches[0].grid
    right_x, right_y = asked_for.grid
    if (x, y, z) == (right_x, right_y, 1):
        return None
    m, n, _ = seen.shape
    story = f"{seen.where} your grid has {x}×{y}{f'×{z}' * (z > 1)} blocks of side {asked_for.side}"
    if (x, y) == (right_y, right_x):
        return f"{story}: x and y are exchanged. x counts the columns of `c`."
    if (x, y) == (n, m):
        return f"{story}: a block for each element. A block covers as many as it has threads."
    if (x, y) == (n // asked_for.side, m // asked_for.side):
        return f"{story}: rounded down, so the last rows and columns of `c` belong to no block."
    if (x, y) == (n // asked_for.side + 1, m // asked_for.side + 1):
        return f"{story}: one too many where a side of the block divides. Round up."
    return f"{story}. `c` has {n} columns and {m} rows: {right_x}×{right_y} blocks cover it."


def memory(seen: ReaderCall, asked_for: Wanted) -> str | None:
    """The launch asks for other bytes than those of two tiles."""
    given, right, side = seen.launches[0].shared_bytes, asked_for.bytes_needed, asked_for.side
    if given == right:
        return None
    if not isinstance(given, int):
        return f"The fourth number in the brackets is {given!r}, and bytes are whole numbers."
    story = f"{seen.where} the launch asks for {counted(given, 'byte')} of shared memory."
    known = {
        0: "The fourth number in the brackets is missing: grid, block, stream, bytes. The kernel "
        "has no memory for its tiles.",
        right // WORD: "These are words, and a float32 has 4 bytes.",
        right // 2: "This is one tile, and a block holds two.",
        2 * WORD * asked_for.threads: "This is for the suggested block, before it became a square.",
        2 * WORD: "This is for one thread.",
        2 * WORD * side: "This is one row of each tile.",
        side: "This is the side of the block.",
    }
    return f"{story} {known.get(given, f'Two tiles of {side}×{side} float32 need {right:,}.')}"


def result(seen: ReaderCall, asked_for: Wanted) -> str | None:
    """What is returned is not the side."""
    side, given = asked_for.side, seen.result
    if given is None:
        return "The function returns `None`, and it should return the side of the block."
    if isinstance(given, bool) or not isinstance(given, int | float) or given != side:
        known = {side * side: "These are the threads of a block."}
        told = known.get(given, "") if isinstance(given, int) else ""
        return f"{seen.where} the function returns {given!r}; the side is {side}. {told}".strip()
    return None


# In the order in which they are asked.
CAUSES = (not_once, arguments, block, grid, memory, result)
