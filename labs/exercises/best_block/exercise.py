"""The driver's search for a block size, written by the reader and compared with its answers."""

from labs.checking.phrasing import counted
from labs.exercises.best_block import formula
from labs.exercises.resident_blocks.exercise import EXERCISE as RESIDENT_BLOCKS
from labs.numbers.exercise import Case, NumbersExercise
from utils.machine.occupancy import WARP, occupancy

H200 = (9, 0)
SIZES = range(WARP, 1024 + 1, WARP)


def blocks(threads: int, registers: int, shared_bytes: int) -> int:
    """Return the number of resident blocks on an H200 SM.

    It is 0 if a block has more shared memory than is allowed. threads: of a block. registers: of a
    thread. shared_bytes: the shared memory of a block.
    """
    return (
        occupancy(H200, threads, registers, shared_bytes).blocks if shared_bytes <= 232_448 else 0
    )


def resident(case: Case, answer: float) -> str:
    """Return sentences on the resident blocks for the right block size and for the returned one.

    The latter is left out if it is no possible size.
    """
    sizes = [case.right, *([int(answer)] if answer in SIZES else [])]
    registers, per_thread = case.given
    resident_blocks = {size: blocks(size, registers, per_thread * size) for size in sizes}
    return " ".join(
        f"With {size:,} threads an SM holds {counted(count, 'block')}, {size * count:,} threads."
        for size, count in resident_blocks.items()
    )


EXERCISE = NumbersExercise(
    name="best_block",
    lesson="08",
    title="The block with the most resident threads",
    kind="repair",
    text=(
        "`best_block(registers, bytes_per_thread)` is meant to do what the driver does. It tries "
        "blocks of 32, 64, 96 … 1024 threads. A block asks for `bytes_per_thread` bytes of shared "
        "memory for each of its threads. The function returns the size with the most resident "
        "threads on an SM of an H200; of equals, the largest. The search below is wrong. Repair "
        "it; it calls your `resident_blocks`.",
    ),
    parameters=("registers", "bytes_per_thread"),
    unit="thread",
    promises=(
        "right where shared memory decides, too",
        "equal to the recorded suggestions of the driver",
    ),
    cases=formula.cases,
    right=formula.right,
    draw=formula.draw,
    enough=12,
    calls=RESIDENT_BLOCKS,
    beside=resident,
    hints=(
        "Which sizes does the loop try? Print `list(range(32, 1024, 32))[-1]`.",
        "Call `resident_blocks(1024, 32, 8)` and `resident_blocks(1024, 32, 8 * 1024)`. Which of "
        "the two is a block of 1024 threads with 8 bytes per thread?",
        "A small block is often resident many times. What is compared, and what should be?",
    ),
    after="The driver's function is called `cuOccupancyMaxPotentialBlockSize`.",
)  # fmt: skip
