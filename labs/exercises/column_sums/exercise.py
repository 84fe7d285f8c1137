"""The sum of each column of a matrix, with one thread per column."""

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.target import essential
from labs.families.matrices import matrix
from labs.families.vectors import THREADS
from labs.targets import counts
from labs.targets.other_size import right_for_small_numbers
from labs.targets.sharing import elements_per_thread, loads_of_one_thread
from utils.division import cdiv
from utils.ladder.step import Launch

LOADS = 64  # more than the rows of the matrices whose loads are counted

EXERCISE = KernelExercise(
    name="column_sums",
    lesson="05",
    title="The sum of each column",
    text=(
        "Each thread adds up one column of `x`, and stores the sum in `out`: `out[col]` is the sum "
        "of column `col`. Write the kernel, about 6 lines.",
        "The launch is given: blocks of 256 threads in one direction, and enough blocks for all "
        "columns. The last block may have threads without a column.",
    ),
    parameters=("x", "out"),
    sizes=("m", "n"),
    shapes=((24, 512), (7, 300), (33, 77), (300, 5), (1, 1)),
    launch=lambda shape: Launch(grid=(cdiv(shape[1], THREADS),), block=(THREADS,)),
    inputs=lambda shape, seed: (matrix(shape, seed),),
    reference=lambda x: x.sum(axis=0, dtype=np.float64),
    targets=(
        right_for_small_numbers(), counts.no_negative_index(), counts.one_store_per_element(),
        counts.no_float64(),
        counts.sectors_per_request(4), essential(counts.full_requests()),
        essential(elements_per_thread(1)), essential(loads_of_one_thread(LOADS, every_shape=False)),
        counts.input_loads_per_element(1),
    ),
    main=("sectors per request",),
    plain_goals=("at most 4 sectors per request",),
    plain_usual_goals=("right at any shape", "one store per element", "no float64"),
    hints=(
        "`cuda.grid(1)` is the number of the thread. It is the number of its column, too, so what "
        "must the guard compare it with?",
        "Begin the sum with `float32(0)`. A loop over the rows adds `x[row, col]`, and `out` gets "
        "the sum after the loop.",
    ),
    after="Each thread goes down its column, and neighbouring lanes read neighbouring words.",
)  # fmt: skip
