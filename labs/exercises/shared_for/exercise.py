"""The shared memory with which an SM holds a given number of blocks: rule 4, solved for bytes."""

from labs.exercises.shared_for import formula
from labs.numbers.exercise import NumbersExercise

EXERCISE = NumbersExercise(
    name="shared_for",
    lesson="08",
    title="Shared memory for a number of blocks",
    text=(
        "An SM of an H200 has 233,472 bytes of shared memory. A block takes the `static_bytes` of "
        "its kernel, the bytes that its launch asks for, and 1,024 bytes for the driver, all "
        "together rounded up to a multiple of 128. Write `shared_for(blocks, static_bytes)`: the "
        "most bytes for which a launch can ask so that `blocks` blocks fit. About 2 lines.",
    ),
    parameters=("blocks", "static_bytes"),
    unit="byte",
    promises=("right for 1 to 32 blocks",),
    cases=formula.cases,
    right=formula.right,
    draw=formula.draw,
    hints=(
        "How many bytes of the SM can each of the blocks take, with all that belongs to it?",
        "A block takes a multiple of 128, so round its share down. The driver's bytes and those "
        "of the kernel are part of what it takes.",
    ),
    after="One byte more, and the SM holds one block less.",
)  # fmt: skip
