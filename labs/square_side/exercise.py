"""From a number of threads to the side of a square block, as the lab rounds it."""

import math

from labs.numbers import Case, NumbersExercise, Slip
from utils.machine.occupancy import square_side as right


def square(threads: int, rounded=math.floor) -> float:
    """The power of four that is nearest in one direction."""
    return 4 ** rounded(math.log2(threads) / 2)


def cases() -> list[Case]:
    """768 first: there most slips differ. Powers of four and their neighbours follow."""
    asked = (768, 1024, 640, 256, 64, 1023, 255, 100, 63, 32, 8, 4, 3, 1)
    return [
        Case((threads,), right(threads), f"The largest power of four up to {threads:,} is "
             f"{right(threads) ** 2:,}.")
        for threads in asked
    ]  # fmt: skip


EXERCISE = NumbersExercise(
    name="square_side",
    lesson="08",
    title="The side of a square block",
    text=(
        "Write `square_side(threads)`: the side of the largest square block that has at most "
        "`threads` threads and whose side is a power of two. The lab's way: the number of threads "
        "becomes 4^⌊log₄ threads⌋, where ⌊ ⌋ means rounded down, and the side is its root. About 2 "
        "lines.",
    ),
    parameters=("threads",),
    unit="",
    promises=("right for 1 to 1024 threads",),
    cases=cases,
    right=right,
    draw=lambda random: (random.randint(1, 4 ** random.randint(3, 5)),),
    slips=(
        Slip("This is the number of threads of the square. Its side is asked for.", square),
        Slip("This is the root of `threads`, rounded down. It need not be a power of two.",
             lambda threads: math.isqrt(threads)),
        Slip("This is the root of `threads`, and it is no whole number: first comes the power of "
             "four.", lambda threads: math.sqrt(threads)),
        Slip("The square is rounded up: it has more than `threads` threads.",
             lambda threads: math.sqrt(square(threads, math.ceil))),
        Slip("The nearest power of four is taken, so some squares are too large.",
             lambda threads: math.sqrt(square(threads, round))),
        Slip("`**` is computed from right to left: this is 2 to the root of the exponent. Put "
             "brackets around the power, and take its root.",
             lambda threads: 2 ** math.floor(math.log2(threads)) ** 0.5),
        Slip("`**` is computed from right to left: this is 4 to the root of the exponent. Put "
             "brackets around the power, and take its root.",
             lambda threads: 4 ** math.floor(math.log2(threads) / 2) ** 0.5),
        Slip("This is the largest power of two up to `threads`. Its root need not be a whole "
             "number.", lambda threads: 2 ** math.floor(math.log2(threads))),
        Slip("This is the root of a power of two. Only powers of four have such a root.",
             lambda threads: math.sqrt(2 ** math.floor(math.log2(threads)))),
        Slip("This is the root of a power of two, rounded down. Only powers of four have a root "
             "that is a power of two.",
             lambda threads: math.isqrt(2 ** math.floor(math.log2(threads)))),
        Slip("`math.log` with one argument has the base e, and 4 is needed.",
             lambda threads: math.sqrt(4 ** math.floor(math.log(threads)))),
        Slip("This is the exponent of the power of four. The power and its root are missing.",
             lambda threads: math.floor(math.log2(threads) / 2)),
        Slip("Where `threads` is a power of four already, it is itself the square.",
             lambda threads: math.sqrt(4 ** (math.ceil(math.log2(threads) / 2) - 1))),
        Slip("This is half of the square. The side is its root.",
             lambda threads: square(threads) / 2),
        Slip("This is a quarter of the square. The side is its root.",
             lambda threads: square(threads) / 4),
        Slip("This is twice the side.", lambda threads: 2 * math.sqrt(square(threads))),
        Slip("This is the root of the root.", lambda threads: square(threads) ** 0.25),
        Slip("This is always 16. It fits 256 to 1023 threads alone.", lambda threads: 16),
        Slip("This is always 32. It fits 1024 threads alone.", lambda threads: 32),
    ),
    hints=(
        "By hand for 100 threads: powers of four are 1, 4, 16, 64, 256. The largest that is not "
        "larger than 100 is 64, and its root is 8.",
        "`math.log(x, 4)` is the logarithm with base 4, `math.floor` rounds down, `math.isqrt` is "
        "the root as a whole number.",
    ),
    after="The side is a power of two, so a tile of this side divides larger powers of two.",
)  # fmt: skip
