"""The driver's search for a block size, written by the reader and compared with its answers."""

import csv
from random import Random

from labs.checking.phrasing import counted
from labs.numbers.exercise import Case, NumbersExercise
from utils.machine.occupancy import WARP, best_block_size, occupancy
from utils.paths import DATA

ANSWERS = DATA / "measured" / "nvidia_h200" / "block_size.csv"
H200 = (9, 0)
LARGEST = 1024
SIZES = range(WARP, LARGEST + 1, WARP)


def blocks(threads: int, registers: int, shared_bytes: int) -> int:
    """Return the number of resident blocks on an H200 SM.

    It is 0 if a block has more shared memory than allowed.
    """
    return (
        occupancy(H200, threads, registers, shared_bytes).blocks if shared_bytes <= 232_448 else 0
    )


def best(registers: int, bytes_per_thread: int) -> int:
    """Return the block size with the most resident threads; among equals, the largest."""
    held = [(size * blocks(size, registers, bytes_per_thread * size), size) for size in SIZES]
    return max(held)[1]


def cases() -> list[Case]:
    """Return cases in which shared memory decides, then the recorded suggestions of a driver."""
    reason = "The sizes to try are the multiples of 32 up to 1024."
    chosen = ((32, 8), (40, 8), (32, 200), (168, 8), (65, 0), (32, 112), (32, 400), (40, 130),
              (255, 0), (24, 75), (33, 1000), (16, 0))  # fmt: skip
    written = [
        Case(one, best_block_size(H200, one[0], lambda threads: one[1] * threads), reason)  # noqa: B023
        for one in chosen
    ]
    with ANSWERS.open(encoding="utf-8", newline="") as file:
        rows = [{name: int(value) for name, value in row.items()} for row in csv.DictReader(file)]
    recorded = {
        (row["registers"], row["bytes_per_thread"]): row["threads"]
        for row in rows
        if row["static_bytes"] == row["dynamic_bytes"] == 0 and row["max_threads"] == LARGEST
    }
    driver = "The driver of an H200 has suggested this."
    return written + [Case(*one, driver) for one in recorded.items()]


def draw(random: Random) -> tuple[int, int]:
    """Return registers, and bytes per thread that a block of 32 threads can always have."""
    return random.randint(16, 255), random.choice((random.randint(0, 99), random.randint(0, 7000)))


def resident(arguments, answer) -> str:
    """Return sentences on the resident blocks for the right size and for the returned size."""
    sizes = [best(*arguments), *([int(answer)] if answer in SIZES else [])]
    registers, per_thread = arguments
    resident_blocks = {size: blocks(size, registers, per_thread * size) for size in sizes}
    return " ".join(
        f"With {size:,} threads an SM holds {counted(count, 'block')}, {size * count:,} threads."
        for size, count in resident_blocks.items()
    )


EXERCISE = NumbersExercise(
    name="best_block",
    lesson="08",
    title="The block with the most resident threads",
    text=(
        "Write `best_block(registers, bytes_per_thread)`. It tries blocks of 32, 64, 96 … 1024 "
        "threads. A block of so many threads asks for `bytes_per_thread` times as many bytes of "
        "shared memory. It returns the number of threads with the most resident threads on an SM "
        "of an H200; of equals, the largest. That is what the driver does. About 6 lines; call "
        "your `resident_blocks`.",
    ),
    parameters=("registers", "bytes_per_thread"),
    unit="thread",
    promises=(
        "right where shared memory decides, too",
        "equal to the recorded suggestions of the driver",
    ),
    cases=cases,
    right=best,
    draw=draw,
    enough=12,
    beside=resident,
    hints=(
        "A loop over the sizes: `for threads in range(32, 1025, 32)`.",
        "The resident threads of a size are its threads times `resident_blocks(threads, registers, "
        "bytes_per_thread * threads)`. Keep the most so far, and the size that has it.",
        "When two sizes have equally many, the later one is the larger. Which comparison keeps it?",
    ),
    after="The driver's function is called `cudaOccupancyMaxPotentialBlockSizeVariableSMem`.",
)  # fmt: skip
