"""The right answers of `wavefronts`."""

from random import Random

from labs.numbers.exercise import Case

LANES, BANKS = 32, 32

# The side of the block, both strides, and the access that they describe.
CASES = (
    (32, 1, 0, "These are lanes that read `tile_b[i, tx]`: 32 neighbours, in 32 banks."),
    (32, 0, 32, "These are lanes that read `tile_a[ty, i]`: all of them want the same word."),
    (4, 1, 31, "Each row of four begins one bank further back: four of them meet in bank 0."),
    (16, 1, 16, "These are lanes that fill `tile_a[ty, tx]`: 32 words, one behind the other."),
    (16, 1, 0, "These are lanes that read `tile_b[i, tx]`: both rows of them want the same words."),
    (16, 0, 16, "These are lanes that read `tile_a[ty, i]`: words 0 and 16, in two banks."),
    (16, 0, 32, "Words 0 and 32 lie in the same bank."),
    (32, 32, 1, "This is a transposed tile: all words lie in one bank."),
    (32, 33, 1, "This is a transposed tile with one more column: 32 banks."),
    (16, 16, 1, "This is a transposed tile: 8 of the 32 words lie in bank 0."),
    (16, 17, 1, "Words 0 and 256 lie in bank 0, and the others alone in theirs."),
    (8, 8, 1, "This is a transposed tile: words 0 and 32 lie in bank 0."),
    (8, 0, 32, "A warp has four rows of a block of 8×8."),
    (8, 1, 8, "32 words, one behind the other."),
    (8, 9, 1, "Words 0 to 66 are asked for, two of them in some banks."),
    (4, 4, 1, "Some lanes want the same word, and that costs one wavefront alone."),
    (32, 2, 0, "Every second bank is used, each by two words."),
    (32, 48, 0, "Two banks are used, each by 16 words."),
    (32, 3, 0, "No two of these words lie in the same bank."),
    (32, 0, 0, "There is one word for all lanes."),
    (32, 64, 0, "All words lie in one bank."),
    (16, 2, 32, "Words 0 and 32 lie in the same bank, and so do 2 and 34."),
)


def draw(random: Random) -> tuple[int, int, int]:
    """Return random arguments of `right`: (side, stride_x, stride_y).

    Some of the strides cause bank conflicts.
    """
    strides = random.randint(0, 70), random.choice((0, 1, random.randint(2, 70)))
    return random.choice((8, 16, 32)), *random.sample(strides, 2)


def words(side: int, stride_x: int, stride_y: int) -> list[int]:
    """Return the index of the word in shared memory that each lane accesses, in the order of lanes.

    side: the width of a block. stride_x, stride_y: the words from one thread to the next along x,
    and along y.
    """
    return [lane % side * stride_x + lane // side * stride_y for lane in range(LANES)]


def right(side: int, stride_x: int, stride_y: int) -> int:
    """Return the number of wavefronts of one request: the most different words in one bank.

    side: the width of a block. stride_x, stride_y: the words from one thread to the next along x,
    and along y.
    """
    banks = [word % BANKS for word in set(words(side, stride_x, stride_y))]
    return max(map(banks.count, banks))


def busiest(side: int, stride_x: int, stride_y: int) -> dict:
    """Return {"bank": index, "words": list} for the bank with the most different words.

    The list has the indices of these words, ascending. If several banks have the most, the first
    one is returned. side: the width of a block. stride_x, stride_y: the words from one thread to
    the next along x, and along y.
    """
    accessed = sorted(set(words(side, stride_x, stride_y)))
    bank = max(range(BANKS), key=lambda bank: sum(word % BANKS == bank for word in accessed))
    return {"bank": bank, "words": [word for word in accessed if word % BANKS == bank]}


def cases() -> list[Case]:
    """Return a Case per entry of CASES, in order.

    Its facts are a dict with the keys "bank" and "words": the bank with the most different words,
    and the list of these words.
    """
    every = [((side, x, y), why) for side, x, y, why in CASES]
    return [Case(given, right(*given), why, busiest(*given)) for given, why in every]
