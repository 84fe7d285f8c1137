"""The right answers of `best_block`: the driver's search, and what a driver has suggested."""

import csv
from random import Random

from labs.numbers.exercise import Case
from utils.machine.occupancy import best_block_size
from utils.paths import DATA

ANSWERS = DATA / "measured" / "nvidia_h200" / "block_size.csv"
H200 = (9, 0)
LARGEST = 1024


def right(registers: int, bytes_per_thread: int) -> int:
    """Return the block size with the most resident threads; if several have, the largest of them.

    registers: per thread. bytes_per_thread: the shared memory per thread.
    """
    return best_block_size(H200, registers, lambda threads: bytes_per_thread * threads)


def cases() -> list[Case]:
    """Return cases in which shared memory decides, then the recorded suggestions of a driver."""
    reason = "Another size has more resident threads, or as many and is larger."
    chosen = ((32, 8), (40, 8), (32, 200), (168, 8), (65, 0), (32, 112), (32, 400), (40, 130),
              (255, 0), (24, 75), (33, 1000), (16, 0))  # fmt: skip
    written = [Case(one, right(*one), reason) for one in chosen]
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
    """Return random arguments of `right`: (registers, bytes_per_thread).

    registers is 16 to 255, and bytes_per_thread 0 to 99 or 0 to 7000. A block of 32 threads can
    always have this memory.
    """
    return random.randint(16, 255), random.choice((random.randint(0, 99), random.randint(0, 7000)))
