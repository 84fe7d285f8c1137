"""Occupancy as a ratio over the whole device, as the lab's formula writes it."""

from random import Random

from labs.numbers.exercise import Case, NumbersExercise

# Blocks of the launch, resident blocks of an SM, threads of a block, threads of an SM, SMs.
CASES = (
    ((100_000, 6, 256, 2048, 132), "Each SM holds 6 · 256 of 2,048 threads, and there is work for "
     "all of them."),
    ((16, 8, 256, 2048, 132), "The launch has 16 blocks, and the device would hold 8 · 132."),
    ((1056, 8, 256, 2048, 132), "8 · 132 blocks are exactly as many as the device holds."),
    ((1055, 8, 256, 2048, 132), "One block less than the device holds."),
    ((1057, 8, 256, 2048, 132), "One block more than the device holds: it waits for its turn."),
    ((1, 8, 256, 2048, 132), "One block is on one SM, and all others are empty."),
    ((132, 1, 1024, 2048, 132), "Each SM holds one block of 1,024 threads."),
    ((16_384, 2, 1024, 2048, 132), "Two blocks of 1,024 threads fill an SM."),
    ((100, 16, 64, 2048, 13), "The launch has 100 blocks, and the device would hold 16 · 13."),
    ((10_000, 16, 64, 2048, 13), "16 blocks of 64 threads fill half of an SM."),
    ((5_000, 5, 96, 1536, 28), "Each SM holds 480 of 1,536 threads."),
    ((70, 3, 192, 1024, 40), "70 blocks on 40 SMs: some have two, and some have one."),
    ((1_000, 2, 1000, 2048, 100), "The formula counts threads: 2,000 of 2,048."),
    ((1_000, 0, 1024, 2048, 132), "Not even one block fits into an SM."),
)  # fmt: skip


def draw(random: Random) -> tuple[int, int, int, int, int]:
    """Return arguments of launches that fill a device, and of smaller ones."""
    threads, threads_per_sm = 32 * random.randint(1, 32), random.choice((1024, 1536, 2048))
    sms, resident = random.randint(8, 160), random.randint(0, threads_per_sm // threads)
    return random.randint(1, 20 * sms), resident, threads, threads_per_sm, sms


def on_device(blocks: int, resident: int, sms: int) -> int:
    """Return the number of blocks that are on the device at once."""
    return min(blocks, resident * sms)


def right(blocks, resident, threads, threads_per_sm, sms):
    """Return the resident threads divided by the threads for which the device has room."""
    return on_device(blocks, resident, sms) * threads / (threads_per_sm * sms)


def both_brackets(arguments: tuple[int, ...], answer: float) -> str:
    """Return a sentence with the numerator and the denominator of the right answer."""
    blocks, resident, threads, threads_per_sm, sms = arguments
    count = on_device(blocks, resident, sms)
    return (
        f"At most {count:,} blocks are on the device at once, {count * threads:,} threads, and it "
        f"has room for {threads_per_sm * sms:,}."
    )


EXERCISE = NumbersExercise(
    name="device_occupancy",
    lesson="08",
    title="The occupancy of the whole device",
    text=(
        "A lab of the University of Sheffield writes occupancy as (active blocks · threads per "
        "block) ÷ (threads per SM · number of SMs). The second bracket counts the threads that the "
        "whole device has room for, so the first one must count those that are on the whole "
        "device. But the driver gives the blocks that one SM alone holds at once.",
        "Write `device_occupancy(blocks, resident, threads, threads_per_sm, sms)`, a share from 0 "
        "to 1: a launch of `blocks` blocks with `threads` threads each, of which an SM holds "
        "`resident` at once, on a device with `sms` SMs that have room for `threads_per_sm` "
        "threads each. A launch may have fewer blocks than the device could hold. About 2 lines.",
    ),
    parameters=("blocks", "resident", "threads", "threads_per_sm", "sms"),
    unit="",
    whole=False,
    promises=("right for launches that fill the device, and for smaller ones",),
    cases=lambda: [Case(given, right(*given), why) for given, why in CASES],
    enough=len(CASES) - 1,  # the last one divides by zero if the ratio is inverted
    right=right,
    draw=draw,
    beside=both_brackets,
    hints=(
        "How many blocks can the whole device hold at once? And where the launch has fewer than "
        "that, how many are there?",
        "`min(...)` of both numbers are the blocks that are on the device. Times `threads`, they "
        "are the first bracket.",
    ),
    after="Where a launch fills the device, the number of SMs cancels: it is the share of one SM.",
)  # fmt: skip
