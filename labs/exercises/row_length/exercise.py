"""Four rows pass through shared memory, and their length there decides whether banks meet."""

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.target import Probes, essential
from labs.families import whole_rows as probes
from labs.families.matrices import matrix
from labs.targets.counts import (
    full_requests,
    input_loads_per_element,
    no_float64,
    no_negative_index,
    one_store_per_element,
)
from labs.targets.sharing import elements_per_thread, from_shared_memory
from utils.ladder.step import Launch

EXERCISE = KernelExercise(
    name="row_length",
    lesson="15",
    title="The length of a row",
    text=(
        "A warp has four rows of 32 words in registers: each lane has the four words `four` of one "
        "row, by the zig-zag. Write about 4 lines: each lane stores its words into `rows` by one "
        "`store4`, the lanes wait for each other by `syncwarp`, and then each of four requests "
        "stores 32 neighbours of a row of `out`.",
        "With rows of 32 words the `store4` takes eight wavefronts, and four would do. Choose "
        "another length of a row; the words at its end stay unused. A `store4` serves eight lanes "
        "at a time. Of lanes 0 to 7, four store into row 0 and four into row 1, from the same "
        "column on. The bank is the number of the word, modulo 32.",
    ),
    parameters=("x", "out"),
    sizes=("warps",),
    shapes=((5,), (3,), (2,), (1,)),
    of_blocks=True,
    launch=lambda shape: Launch(grid=(shape[0],), block=(32,)),
    inputs=lambda shape, seed: (matrix((4 * shape[0], 32), seed),),
    reference=lambda x: x.astype(np.float64),
    probes=Probes(constants=(probes.other_arguments,), refused=(probes.local_rows,)),
    targets=(
        no_negative_index(), one_store_per_element(), no_float64(),
        essential(from_shared_memory(1, "element")), essential(full_requests()),
        essential(elements_per_thread(4)), probes.no_conflicts(), input_loads_per_element(1),
    ),
    main=("wavefronts, times the fewest",),
    remarks=(probes.length_of_rows,),
    hints=(
        "Lanes 0, 2, 4 and 6 store words 0 to 15 of row 0. Which banks are these? Lanes 1, 3, 5 "
        "and 7 store words 0 to 15 of row 1. In which bank must row 1 begin, so that they find "
        "the other banks?",
        "Row 1 begins as many words after row 0 as a row is long. That number modulo 32 is its "
        "bank. It must also be a multiple of 4, because a `store4` begins at such a word.",
    ),
    after="Eight lanes at a time now fill all 32 banks, and each request stores a whole row.",
)  # fmt: skip
