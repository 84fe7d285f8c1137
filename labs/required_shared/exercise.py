"""Bytes of shared memory as a function of the block's side, as a launch asks for them."""

from labs.numbers import Case, NumbersExercise, Slip

FLOAT32_BYTES = 4


def required(side: int) -> int:
    """Bytes of two square tiles of float32."""
    return 2 * side * side * FLOAT32_BYTES


def cases() -> list[Case]:
    """16 first: there no slip has the answer of another one."""
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
    slips=(
        Slip("This is one tile. A block holds two.", lambda side: 4 * side**2),
        Slip("These are words. A float32 has 4 bytes.", lambda side: 2 * side**2),
        Slip("These are the words of one tile, and a block holds two.", lambda side: side**2),
        Slip("This is one row of each tile. A tile has as many rows.", lambda side: 8 * side),
        Slip("This is twice too much: a float32 has 4 bytes, and a block holds two tiles.",
             lambda side: 16 * side**2),
        Slip("These are bits. Memory is counted in bytes.", lambda side: 64 * side**2),
        Slip("This is in KiB, and bytes are asked for.", lambda side: 8 * side**2 / 1024),
        Slip("A tile has `side` · `side` words, and not `side` + `side`.", lambda side: 16 * side),
        Slip("These are three tiles. The elements of c stay in registers.",
             lambda side: 12 * side**2),
        Slip("There is one row too many in each tile.", lambda side: 8 * side * (side + 1)),
        Slip("There is one row too few in each tile.", lambda side: 8 * side * (side - 1)),
        Slip("This is a tile in three dimensions. It has two.", lambda side: 8 * side**3),
        Slip(
            "These are the threads of a block, added to the bytes.",
            lambda side: 8 * side**2 + side**2,
        ),
        Slip(
            "The KiB that the driver keeps is not asked for by the launch.",
            lambda side: 8 * side**2 + 1024,
        ),
    ),
    hints=(
        "How many words are in a tile with `side` rows and `side` columns?",
        "A float32 has 4 bytes, and a block holds a tile of `a` and a tile of `b`.",
    ),
    after="The driver is given such a function when it looks for a block size.",
)  # fmt: skip
