"""The right answers of `room_in_sets`."""

from collections import Counter
from random import Random

from labs.numbers.exercise import Case

WORD_BYTES, LINE_BYTES = 4, 64
SETS, WAYS = 64, 12  # of the L1 cache of a Zen 5

# The words of a row and the rows of a column.
CASES = (
    ((16, 5), "All 5 cache lines are in different sets."),
    ((1024, 1024), "Row 1 begins 4,096 bytes after row 0, which are 64 cache lines: the same set."),
    ((1024, 7), "All 7 cache lines belong to one set, and it has room for 12."),
    ((128, 128), "A row is 8 cache lines long, so the column uses 8 of the 64 sets."),
    ((64, 1000), "A row is 4 cache lines long, so the column uses 16 of the 64 sets."),
    ((512, 512), "A row is 32 cache lines long, so the column uses 2 of the 64 sets."),
    ((1040, 1024), "A row is 65 cache lines long, so the column uses all sets in turn."),
    ((992, 1024), "A row is 62 cache lines long, so the column uses every second set."),
    ((600, 2000), "A row is 37.5 cache lines long, and the column uses all sets."),
    ((320, 400), "A row is 20 cache lines long, so the column uses 16 of the 64 sets."),
    ((16, 1000), "The column uses all sets, and 768 cache lines have room in the whole cache."),
    ((521, 800), "Some sets are full before others, and the column goes on."),
    ((192, 900), "A row is 12 cache lines long, so the column uses 16 of the 64 sets."),
    ((783, 768), "Some sets are not full, and 12 for each set that the column uses is too many."),
    ((4096, 13), "All 13 cache lines belong to one set, and it has room for 12."),
    ((100, 1), "One cache line always has room."),
)


def cases() -> list[Case]:
    """Return the cases: a short column first, and the shortest one last."""
    return [Case(given, right(*given), why) for given, why in CASES]


def in_each_set(words: int, rows: int) -> dict[int, int]:
    """Return set -> the number of the column's cache lines that belong to it.

    words: the words of a row, at least 16. rows: the rows of the matrix.
    """
    lines = (row * words * WORD_BYTES // LINE_BYTES for row in range(rows))
    return dict(Counter(line % SETS for line in lines))


def right(words: int, rows: int) -> int:
    """Return how many cache lines of a column can be in the cache at the same time.

    words: the words of a row, at least 16. rows: the rows of the matrix.
    """
    return sum(min(count, WAYS) for count in in_each_set(words, rows).values())


def draw(random: Random) -> tuple[int, int]:
    """Return random arguments of `right`: (words, rows). Most columns fill some of the sets only.

    Three quarters of the rows have 16·2^x words, and their columns are too long for their sets.
    """
    if random.random() < 0.25:
        return random.randint(16, 3000), random.randint(1, 1200)
    power = random.randint(1, 8)
    most = WAYS * max(1, SETS >> power)  # cache lines of the column that have room
    return 16 << power, random.randint(most + 1, most + 1200)
