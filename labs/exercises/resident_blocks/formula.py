"""The right answers of `resident_blocks`: the rules of an SM, and what a driver has answered."""

import csv
from random import Random

from labs.numbers.exercise import Case
from utils.division import cdiv
from utils.paths import DATA

ANSWERS = DATA / "measured" / "nvidia_h200" / "occupancy.csv"
WARP_SLOTS, BLOCK_SLOTS, PART, PARTS, SHARED = 64, 32, 16_384, 4, 233_472

# Each case shows one rule: the arguments, the right answer, and the resource that decides.
BY_RULE = (
    ((256, 16, 0), 8, "A block has 8 warps, and there are 64 warp slots."),
    ((32, 16, 0), 32, "There are warp slots for 64 such blocks, but only 32 block slots."),
    ((256, 64, 0), 4, "Here the registers run out first: a warp takes 2,048."),
    ((256, 32, 50 * 1024), 4, "Here shared memory runs out first."),
    ((100, 16, 0), 16, "100 threads are 4 warps, the last of them not full."),
    ((1, 16, 0), 32, "One thread takes a whole warp slot."),
    ((256, 40, 0), 6, "A warp takes 1,280 registers."),
    ((256, 41, 0), 5, "A warp gets 1,536 registers: 41 · 32, rounded up."),
    ((96, 104, 0), 5, "A warp takes 3,328 registers, all of them from one part."),
    ((33, 40, 0), 24, "33 threads are 2 warps, and registers are given to whole warps."),
    ((1024, 72, 0), 0, "The registers are too few for the 32 warps of a block: none fits."),
    ((64, 16, 28_800), 7, "With the KiB of the driver a block takes 29,824 bytes."),
    ((64, 16, 32_329), 6, "33,353 bytes are rounded up to 33,408, so 7 blocks do not fit."),
    ((64, 16, 232_448), 1, "With the KiB of the driver this block takes all of shared memory."),
    ((1024, 32, 8192), 2, "Warp slots and registers run out together."),
)


def room_by_resource(threads: int, registers: int, shared_bytes: int) -> dict[str, int]:
    """Return a dict from each resource of an SM to the number of blocks for which it has room.

    The keys are "warp slots", "block slots", "registers" and "shared memory". threads: per block.
    registers: per thread. shared_bytes: per block.
    """
    warps = cdiv(threads, 32)
    registers_per_warp = -(-registers * 32 // 256) * 256
    shared_per_block = cdiv(shared_bytes + 1024, 128) * 128
    return {
        "warp slots": WARP_SLOTS // warps,
        "block slots": BLOCK_SLOTS,
        "registers": PART // registers_per_warp * PARTS // warps,
        "shared memory": SHARED // shared_per_block,
    }


def right(*arguments: int) -> int:
    """Return the number of resident blocks per SM.

    arguments: the threads per block, the registers per thread, and the shared memory per block in
    bytes.
    """
    return min(room_by_resource(*arguments).values())


def cases() -> list[Case]:
    """Return a case per rule, then the recorded answers of an H200's driver."""
    with ANSWERS.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if not row["carveout"]]
    arguments = (
        (
            int(row["threads"]),
            int(row["registers"]),
            int(row["static_bytes"]) + int(row["dynamic_bytes"]),
        )
        for row in rows
    )
    recorded = dict(zip(arguments, (int(row["blocks"]) for row in rows), strict=True))
    reason = "The driver of an H200 has answered this."
    every = [*BY_RULE, *((*one, reason) for one in recorded.items())]
    return [Case(*one, room_by_resource(*one[0])) for one in every]


def draw(random: Random) -> tuple[int, int, int]:
    """Return random arguments of `right`: threads, registers per thread, bytes of shared memory.

    The shared memory is none, little or much, so that each resource decides in some cases. In half
    of the cases the answer depends on a rule that rounds.
    """
    by_rounding = random.random() < 0.5
    drawn = _any(random)
    while by_rounding and right(*drawn) == _without_rounding(*drawn):
        drawn = _any(random)
    return drawn


def _without_rounding(threads: int, registers: int, shared_bytes: int) -> int:
    """Return the answer as if an SM gave out threads, registers and bytes one by one."""
    by_threads = min(BLOCK_SLOTS, 32 * WARP_SLOTS // threads)
    return min(by_threads, PARTS * PART // (threads * registers), SHARED // (shared_bytes + 1024))


def _any(random: Random) -> tuple[int, int, int]:
    """Return random arguments of `right`."""
    threads = random.choice((32 * random.randint(1, 32), random.randint(1, 1024)))
    shared_bytes = random.choice((0, random.randint(1, 30_000), random.randint(1, 232_448)))
    registers = random.randint(16, random.choice((32, 64, 128, 255)))
    return threads, registers, shared_bytes


def branch(*arguments: int) -> str:
    """Return the resource that is the limit; of several, the first. arguments: as of `right`."""
    rooms = room_by_resource(*arguments)
    return min(rooms, key=rooms.__getitem__)
