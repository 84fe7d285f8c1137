"""The right answers of `shared_cost`."""

from random import Random

from labs.numbers.exercise import Case

# The grain, and the wavefronts of a word of the tile of a.
CASES = (
    ((1, 1), "One multiply-add reads 2 words, and 2 stores serve 32 multiply-adds."),
    ((2, 1), "2 multiply-adds read 3 words, and 3 stores serve 64 multiply-adds."),
    ((4, 1), "4 multiply-adds read 5 words, and 5 stores serve 128 multiply-adds."),
    ((1, 0.5), "A word of a costs half a wavefront here, and a word of b a whole one."),
    ((4, 0.5), "4 multiply-adds share one word of a, which costs half a wavefront here."),
    ((8, 0.5), "8 multiply-adds share one word of a, which costs half a wavefront here."),
    ((3, 2), "A word of a costs two wavefronts here."),
    ((16, 0), "A word of a costs nothing here. The words of b and the stores are left."),
    ((5, 0.25), "5 multiply-adds share one word of a, which costs a quarter of a wavefront here."),
)


def cases() -> list[Case]:
    """Return the cases: several grains, and several costs of a word of the tile of a."""
    return [Case(given, right(*given), why) for given, why in CASES]


def right(grain, word_of_a):
    """Return the wavefronts of shared memory per multiply-add of a warp.

    grain: the number of tiles of b. word_of_a: the wavefronts of one word of the tile of a.
    """
    return 1 + word_of_a / grain + (1 + grain) / (32 * grain)


def draw(random: Random) -> tuple[int, float]:
    """Return random arguments of `right`: (grain, word_of_a)."""
    return random.randint(1, 32), random.choice((0.25, 0.5, 0.5, 1, 1, 2))
