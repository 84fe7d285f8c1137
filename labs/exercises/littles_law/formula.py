"""The right answers of `littles_law`."""

from random import Random

from labs.numbers.exercise import Case

# The latency, the rate, the workers, and the boxes that each of them has under way.
CASES = (
    ((8, 1, 4, 1), "4 boxes are under way, and the full rate needs 8 · 1 = 8."),
    ((8, 1, 8, 1), "8 boxes are under way, as many as the full rate needs."),
    ((8, 1, 10, 1), "No belt is faster than its full rate, which is 100 percent."),
    ((8, 1, 1, 4), "One worker with 4 boxes has as many under way as 4 workers with one each."),
    ((6, 2, 3, 2), "6 boxes are under way, and the full rate needs 6 · 2 = 12."),
    ((9, 2, 2, 3), "6 boxes are under way, and the full rate needs 9 · 2 = 18."),
    ((4, 128, 96, 3), "96 · 3 = 288 are under way, and the full rate needs 4 · 128 = 512."),
    ((4, 128, 512, 2), "1,024 are under way, and more than enough bring no more than 100 percent."),
    ((5, 3, 1, 1), "One box is under way, and the full rate needs 5 · 3 = 15."),
)


def cases() -> list[Case]:
    """Return the cases: belts with too few, enough and too many boxes under way."""
    return [Case(given, right(*given), why) for given, why in CASES]


def right(latency, rate, workers, each):
    """Return the share of the belt's full rate that the workers reach, in percent, at most 100.

    latency: seconds that a box rides. rate: boxes per second that the belt can take. workers: their
    number. each: the boxes that each of them has under way.
    """
    return min(100, 100 * workers * each / (latency * rate))


def draw(random: Random) -> tuple[int, int, int, int]:
    """Return random arguments of `right`: (latency, rate, workers, each)."""
    latency, rate, each = random.randint(2, 60), random.randint(1, 128), random.randint(1, 8)
    return latency, rate, random.randint(1, max(2, 2 * latency * rate // each)), each


def branch(latency: int, rate: int, workers: int, each: int) -> bool:
    """Return True if more boxes are under way than the full rate needs."""
    return workers * each > latency * rate
