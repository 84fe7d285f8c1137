"""The occupancy calculator, written by the reader and compared with the driver's answers."""

import csv
from random import Random

from labs.numbers.exercise import Case, NumbersExercise
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
    """Return the number of blocks for which each resource of an SM has room."""
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
    """Return the number of resident blocks: the scarcest resource decides."""
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
    return [Case(*one) for one in BY_RULE] + [Case(*one, reason) for one in recorded.items()]


def draw(random: Random) -> tuple[int, int, int]:
    """Return threads, registers and bytes of shared memory.

    Shared memory is none, little or much, so that each resource decides in some cases.
    """
    threads = random.choice((32 * random.randint(1, 32), random.randint(1, 1024)))
    shared_bytes = random.choice((0, random.randint(1, 30_000), random.randint(1, 232_448)))
    registers = random.randint(16, random.choice((32, 64, 128, 255)))
    return threads, registers, shared_bytes


def room_in_each(arguments, answer) -> str:
    """Return a sentence with the number of blocks for which each resource has room."""
    room = room_by_resource(*arguments)
    return f"Room for blocks: {', '.join(f'{name} {count}' for name, count in room.items())}."


EXERCISE = NumbersExercise(
    name="resident_blocks",
    lesson="08",
    title="How many blocks an SM holds",
    text=(
        "Write `resident_blocks(threads, registers, shared_bytes)`: how many blocks of so many "
        "threads, with so many registers per thread and so many bytes of shared memory per block, "
        "an SM of an H200 holds at once. It is 0 where not even one fits. About 6 lines.",
        "The four rules are the rows of the table `course.sm_limits()`. Hint 1 has them as "
        "sentences.",
    ),
    parameters=("threads", "registers", "shared_bytes"),
    unit="block",
    promises=("right for one kernel for each rule", "equal to the recorded answers of the driver"),
    cases=cases,
    right=right,
    draw=draw,
    beside=room_in_each,
    hints=(
        "(1) A block takes whole warps, of 32 threads; the SM has 64 warp slots. (2) It has 32 "
        "block slots. (3) A warp takes 32 · `registers` registers, rounded up to a multiple of "
        "256. The registers lie in 4 equal parts of 16,384, and a warp takes all of its own from "
        "one part. (4) A block takes `shared_bytes` and 1,024 bytes for the driver, together "
        "rounded up to a multiple of 128; the SM has 233,472 bytes.",
        "Work out one case by hand, as in the picture: what does one block take of each resource, "
        "and how often does that go into what the SM has? The smallest of the four numbers is the "
        "answer: `min(...)`.",
        "Python rounds a division down with `//`. To round up to a multiple: `math.ceil(x / unit) "
        "* unit`, or without `math` `-(-x // unit) * unit`.",
        "Registers: first the warps that one part has room for, then those of all 4 parts, and "
        "only then the blocks. Each of these steps rounds down.",
    ),
    after="You have written an occupancy calculator, and it agrees with the driver.",
)  # fmt: skip
