"""The right answers of `waiting_blocks`."""

from random import Random

from labs.numbers.exercise import Case

KEEP = "The blocks that wait keep their slots, and the others need a slot, too."
FIT = "Each block of this grid has a slot of its own, so nobody needs the slot of one that waits."


def right(blocks: int, sms: int, per_sm: int) -> int:
    """Return the most blocks of a grid that may wait for all others without a deadlock.

    blocks: of the grid. sms: the number of SMs. per_sm: the most resident blocks per SM.
    """
    slots = sms * per_sm
    return blocks if blocks <= slots else slots - 1


def cases() -> list[Case]:
    """Return the cases: first the task's picture, then grids that fit, and larger ones."""
    given = (
        (4, 1, 2), (16_384, 132, 2), (2, 1, 2), (3, 1, 2), (263, 132, 2), (264, 132, 2),
        (265, 132, 2), (5, 1, 1), (1, 1, 1), (528, 132, 4), (100, 16, 6), (96, 16, 6), (40, 16, 6),
        (9_999, 80, 8),
    )  # fmt: skip
    return [Case(one, right(*one), FIT if one[0] <= one[1] * one[2] else KEEP) for one in given]


def draw(random: Random) -> tuple[int, int, int]:
    """Return random arguments of `right`: (blocks, sms, per_sm).

    The grid is about as large as the GPU has room for, or much smaller or larger.
    """
    sms, per_sm = random.randint(1, 150), random.randint(1, 32)
    slots = sms * per_sm
    near, far = max(1, slots + random.randint(-2, 3)), random.randint(1, 50 * slots)
    return random.choice((near, far, random.randint(1, slots))), sms, per_sm


def branch(blocks: int, sms: int, per_sm: int) -> int:
    """Return -1, 0 or 1: the grid has fewer blocks than the GPU has slots, as many, or more."""
    slots = sms * per_sm
    return (blocks > slots) - (blocks < slots)
