"""The driver's search for a block size, written by the reader and held against its answers."""

import csv
import math
from random import Random

from labs.numbers import Case, NumbersExercise, Slip
from labs.words import counted
from utils.machine.occupancy import WARP, best_block_size, occupancy, square_side
from utils.paths import DATA

ANSWERS = DATA / "measured" / "nvidia_h200" / "block_size.csv"
H200 = (9, 0)
LARGEST = 1024
SIZES = range(WARP, LARGEST + 1, WARP)


def blocks(threads: int, registers: int, shared_bytes: int) -> int:
    """Resident blocks on an H200; 0 for more shared memory than a block may have."""
    return (
        occupancy(H200, threads, registers, shared_bytes).blocks if shared_bytes <= 232_448 else 0
    )


def best(sizes=SIZES, score=lambda blocks, threads: blocks * threads, shared=math.prod, last=True):
    """The search with other sizes, another score, other bytes, or the smallest of equals."""

    def search(registers: int, bytes_per_thread: int) -> int:
        scores = {
            threads: score(blocks(threads, registers, shared((bytes_per_thread, threads))), threads)
            for threads in sizes
        }
        most = max(scores.values())
        found = [threads for threads, one in scores.items() if one == most]
        return found[-1 if last else 0]

    return search


def of_result(change):
    """The search with a further step: change(threads, resident blocks)."""
    search = best()

    def changed(registers, bytes_per_thread):
        threads = search(registers, bytes_per_thread)
        return change(threads, blocks(threads, registers, bytes_per_thread * threads))

    return changed


def first_fit(registers: int, bytes_per_thread: int) -> int:
    """The largest block of which one fits."""
    return max(size for size in SIZES if blocks(size, registers, bytes_per_thread * size))


def cases() -> list[Case]:
    """Some whose shared memory decides, then what the driver of an H200 has suggested."""
    told = "The sizes to try are the multiples of 32 up to 1024."
    chosen = ((32, 8), (40, 8), (32, 200), (168, 8), (65, 0), (32, 112), (32, 400), (40, 130),
              (255, 0), (24, 75), (33, 1000), (16, 0))  # fmt: skip
    asked = [
        Case(one, best_block_size(H200, one[0], lambda threads: one[1] * threads), told)  # noqa: B023
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
    return asked + [Case(*one, driver) for one in recorded.items()]


def draw(random: Random) -> tuple[int, int]:
    """Registers, and bytes of which a block of 32 threads can have as many as it asks for."""
    return random.randint(16, 255), random.choice((random.randint(0, 99), random.randint(0, 7000)))


def resident(given, answer) -> str:
    """What an SM holds of blocks of the right size, and of the size that was returned."""
    sizes = [best()(*given), *([int(answer)] if answer in SIZES else [])]
    registers, per_thread = given
    held = {size: blocks(size, registers, per_thread * size) for size in sizes}
    return " ".join(
        f"With {size:,} threads an SM holds {counted(count, 'block')}, {size * count:,} threads."
        for size, count in held.items()
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
    right=best(),
    draw=draw,
    slips=(
        Slip("Of equals this is the smallest, and the largest is asked for.", best(last=False)),
        Slip("This has the most resident blocks. The most resident threads are asked for.",
             best(score=lambda blocks, threads: blocks)),
        Slip("This is always the smallest size. It has the most resident blocks; the most resident "
             "threads are asked for.", lambda *given: WARP),
        Slip("1024 threads are not tried: a `range` ends before its second number.",
             best(sizes=range(32, 1024, 32))),
        Slip("1024 threads are not tried, and of equals this is the smallest.",
             best(sizes=range(32, 1024, 32), last=False)),
        Slip("Only powers of two are tried. The driver tries every multiple of 32.",
             best(sizes=[32, 64, 128, 256, 512, 1024])),
        Slip("Only square blocks are tried. The driver tries every multiple of 32.",
             best(sizes=[64, 256, 1024])),
        Slip("Sizes that are no multiple of 32 are tried, too.", best(sizes=range(1, 1025))),
        Slip("Only multiples of 64 are tried.", best(sizes=range(64, 1025, 64))),
        Slip("Only multiples of 128 are tried.", best(sizes=range(128, 1025, 128))),
        Slip("The search ends at 512 threads.", best(sizes=range(32, 513, 32))),
        Slip("Shared memory makes no difference to your answers: a block asks for "
             "`bytes_per_thread` times its threads.", best(shared=lambda pair: 0)),
        Slip("`bytes_per_thread` are bytes already. You multiply them by 4.",
             best(shared=lambda pair: 4 * pair[0] * pair[1])),
        Slip("`registers` is not used: you count 32 for every kernel.",
             lambda registers, per_thread: best()(32, per_thread)),
        Slip("This has the fewest resident threads, and the most are asked for.",
             best(score=lambda blocks, threads: -blocks * threads)),
        Slip("These are the resident threads of the best block. Its own threads are asked for.",
             of_result(lambda threads, blocks: threads * blocks)),
        Slip("These are the resident blocks of the best size. Its threads are asked for.",
             of_result(lambda threads, blocks: blocks)),
        Slip("These are the warps of the best block, and threads are asked for.",
             of_result(lambda threads, blocks: threads // WARP)),
        Slip("This is the best block rounded down to a square. The driver's suggestion is asked "
             "for; the square comes after it.",
             of_result(lambda threads, blocks: square_side(threads) ** 2)),
        Slip("This is the side of a square block, and threads are asked for.",
             of_result(lambda threads, blocks: square_side(threads))),
        Slip("This is the next size after the best.",
             of_result(lambda threads, blocks: threads + WARP)),
        Slip("This is the largest block that fits. A smaller one can have more resident threads.",
             first_fit),
        Slip("This is always the largest size.", lambda *given: LARGEST),
        Slip("No size was kept.", lambda *given: 0),
    ),
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
