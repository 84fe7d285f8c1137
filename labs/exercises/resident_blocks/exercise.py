"""The occupancy calculator, written by the reader and compared with the driver's answers."""

from labs.exercises.resident_blocks import formula
from labs.numbers.exercise import Case, NumbersExercise


def room_in_each(case: Case, answer: float) -> str:
    """Return a sentence with the number of blocks for which each resource has room.

    answer: not used.
    """
    return f"Room for blocks: {', '.join(f'{name} {count}' for name, count in case.facts.items())}."


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
    cases=formula.cases,
    right=formula.right,
    draw=formula.draw,
    branch=formula.branch,
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
