"""The wavefronts of a shared-memory request, computed from the strides of its lanes."""

from random import Random

from labs.checking.phrasing import counted
from labs.numbers.exercise import Case, NumbersExercise

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
    """Return a side, and two strides, some of which cause conflicts."""
    strides = random.randint(0, 70), random.choice((0, 1, random.randint(2, 70)))
    return random.choice((8, 16, 32)), *random.sample(strides, 2)


def words(side: int, stride_x: int, stride_y: int) -> list[int]:
    """Return the word that each lane accesses."""
    return [lane % side * stride_x + lane // side * stride_y for lane in range(LANES)]


def right(side: int, stride_x: int, stride_y: int) -> int:
    """Return the wavefronts of one request: the most different words in one bank."""
    banks = [word % BANKS for word in set(words(side, stride_x, stride_y))]
    return max(map(banks.count, banks))


def busiest_bank(arguments: tuple[int, ...], answer: float) -> str:
    """Return a sentence on the words that meet in the bank with the most of them."""
    accessed = sorted(set(words(*arguments)))
    busiest = max(range(BANKS), key=lambda bank: sum(word % BANKS == bank for word in accessed))
    meeting = [word for word in accessed if word % BANKS == busiest]
    few = ", ".join(map(str, meeting[:4])) + (" …" if len(meeting) > 4 else "")
    return f"Bank {busiest} is asked for {counted(len(meeting), 'word')}: {few}."


EXERCISE = NumbersExercise(
    name="wavefronts",
    lesson="07",
    title="The stride of the lanes, and the banks they meet in",
    text=(
        "A block has `side` × `side` threads, and lane number `lane` of its first warp is thread "
        "`tx = lane % side`, `ty = lane // side`. All 32 lanes ask shared memory for one word "
        "each: word `tx * stride_x + ty * stride_y`. Write `wavefronts(side, stride_x, stride_y)`: "
        "how many wavefronts this request takes. About 8 lines.",
        "Word `w` lies in bank `w % 32`. In one wavefront each bank hands out one word, to all "
        "lanes that want this word. When it is right, ask it about your own kernel: in "
        "`tile_a[ty, i]` a step in `tx` goes 0 words further, and a step in `ty` a whole row.",
    ),
    parameters=("side", "stride_x", "stride_y"),
    unit="wavefront",
    promises=("right for blocks of 8×8, 16×16 and 32×32", "lanes that want one word share it"),
    cases=lambda: [Case(one[:3], right(*one[:3]), one[3]) for one in CASES],
    enough=12,
    right=right,
    draw=draw,
    beside=busiest_bank,
    hints=(
        "By hand for `side = 16`, strides 0 and 32: which word does lane 0 want, which lane 16? "
        "And in which bank is either?",
        "Make a list of the words of all lanes. A word that stands there already is not added "
        "again: `not in` asks for that.",
        "Then count for each bank how many of the words lie in it. `max` keeps the most.",
    ),
    after="Ask it about every access to `tile_a` and `tile_b`: that is why they have no conflict.",
)  # fmt: skip
