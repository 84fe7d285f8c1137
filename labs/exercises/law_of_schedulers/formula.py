"""The right answers of `law_of_schedulers`."""

from random import Random

from labs.numbers.exercise import Case

# The threads of an SM, and the chains of each.
CASES = (
    ((128, 1), "128 multiply-adds are under way, a quarter of what is needed, and each scheduler "
               "has one warp."),
    ((128, 4), "Each scheduler has one warp with four chains, which is enough."),
    ((512, 1), "Each scheduler has four warps with one chain, which is enough."),
    ((64, 8), "Two warps are on two schedulers, and the other two schedulers have none."),
    ((32, 4), "One warp keeps one of four schedulers busy."),
    ((32, 8), "One warp keeps one of four schedulers busy, whatever it has under way."),
    ((576, 1), "18 warps are 5, 5, 4 and 4. In the time of 5 warps the SM could do 20."),
    ((160, 4), "5 warps are 2, 1, 1 and 1. In the time of 2 warps the SM could do 8."),
    ((192, 4), "6 warps are 2, 2, 1 and 1. In the time of 2 warps the SM could do 8."),
    ((192, 1), "192 multiply-adds are under way of 512. Each of the 6 warps is slow, because it "
               "waits, and no scheduler is busy all the time."),
    ((64, 2), "128 multiply-adds are under way of 512, and two schedulers are enough for that."),
    ((320, 2), "10 warps are 3, 3, 2 and 2. In the time of 3 warps the SM could do 12."),
    ((1024, 1), "Each scheduler has 8 warps, and no SM is faster than its peak."),
)  # fmt: skip


def cases() -> list[Case]:
    """Return the cases: warps that are distributed evenly and unevenly, enough and too few."""
    return [Case(given, right(*given), why) for given, why in CASES]


def right(threads, chains):
    """Return the rate of multiply-adds on an SM of four schedulers, in percent of its peak.

    threads: those of an SM, a multiple of 32. chains: independent chains per thread.
    """
    warps = threads // 32
    fullest = -(-warps // 4)
    return min(100 * warps / (4 * fullest), 100 * threads * chains / 512)


def draw(random: Random) -> tuple[int, int]:
    """Return random arguments of `right`: (threads, chains)."""
    return 32 * random.randint(1, 64), random.randint(1, 8)


def branch(threads: int, chains: int) -> bool:
    """Return True if the law is the limit, and False if the schedulers without a warp are."""
    return right(threads, chains) == 100 * threads * chains / 512
