"""Occupancy as a ratio over the whole device, as the lab's formula writes it."""

from labs.exercises.device_occupancy import formula
from labs.numbers.exercise import Case, NumbersExercise


def both_brackets(case: Case, answer: float) -> str:
    """Return a sentence with the numerator and the denominator of the right answer.

    answer: not used.
    """
    blocks, threads, room = (case.facts[name] for name in ("blocks", "threads", "room"))
    return (
        f"At most {blocks:,} blocks are on the device at once, {threads:,} threads, and it has "
        f"room for {room:,}."
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
    cases=formula.cases,
    enough=13,  # the last one divides by zero if the ratio is inverted
    right=formula.right,
    draw=formula.draw,
    branch=formula.branch,
    beside=both_brackets,
    hints=(
        "How many blocks can the whole device hold at once? And where the launch has fewer than "
        "that, how many are there?",
        "`min(...)` of both numbers are the blocks that are on the device. Times `threads`, they "
        "are the first bracket.",
    ),
    after="Where a launch fills the device, the number of SMs cancels: it is the share of one SM.",
)  # fmt: skip
