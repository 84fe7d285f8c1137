"""The bytes of shared memory that a launch needs, as a function of the block's side."""

from labs.numbers.exercise import Case, NumbersExercise

FLOAT32_BYTES = 4


def required(side: int) -> int:
    """Return the bytes of two square tiles of float32."""
    return 2 * side * side * FLOAT32_BYTES


def cases() -> list[Case]:
    """Return cases with side 16 first, where every slip gives a different answer."""
    why = "It is the bytes of two tiles."
    return [Case((side,), required(side), why) for side in (16, 8, 32, 4, 12, 1)]


EXERCISE = NumbersExercise(
    name="required_shared",
    lesson="08",
    title="The shared memory of a block",
    text=(
        "A block of the tiled product has `side` × `side` threads. Each thread keeps one float32 "
        "of `a` and one of `b` in shared memory. Write `required_shared(side)`, which returns the "
        "bytes that a block needs. About 1 line.",
    ),
    parameters=("side",),
    unit="byte",
    promises=("right for every side",),
    cases=cases,
    right=required,
    draw=lambda random: (random.randint(1, 1000),),
    hints=(
        "How many words are in a tile with `side` rows and `side` columns?",
        "A float32 has 4 bytes, and a block holds a tile of `a` and a tile of `b`.",
    ),
    after="The driver is given such a function when it looks for a block size.",
)  # fmt: skip
