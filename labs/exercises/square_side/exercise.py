"""The side of a square block for a number of threads, rounded as the lab does."""


from labs.numbers.exercise import Case, NumbersExercise
from utils.machine.occupancy import square_side as right


def cases() -> list[Case]:
    """Return cases with 768 first, where most slips differ, then powers of four and others."""
    sizes = (768, 1024, 640, 256, 64, 1023, 255, 100, 63, 32, 8, 4, 3, 1)
    return [
        Case((threads,), right(threads), f"The largest power of four up to {threads:,} is "
             f"{right(threads) ** 2:,}.")
        for threads in sizes
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
    hints=(
        "By hand for 100 threads: powers of four are 1, 4, 16, 64, 256. The largest that is not "
        "larger than 100 is 64, and its root is 8.",
        "`math.log(x, 4)` is the logarithm with base 4, `math.floor` rounds down, `math.isqrt` is "
        "the root as a whole number.",
    ),
    after="The side is a power of two, so a tile of this side divides larger powers of two.",
)  # fmt: skip
