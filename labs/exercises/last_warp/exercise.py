"""A block's sum whose last warp goes on alone without waiting, which is a race."""

from labs.checking.run import Run
from labs.checking.target import Probes, essential
from labs.families.reduction import (
    Sums,
    each_element_once,
    full_loads,
    no_atomics,
    reduction,
)
from labs.targets.counts import (
    barriers_per_block,
    no_float64,
    no_negative_index,
    one_store_per_element,
)
from labs.targets.sharing import loads_of_one_thread
from utils.translation import translate
from virtual_gpu import Finding


def in_a_step(run: Run, finding: Finding) -> str | None:
    """Return a sentence on the race of the starter, whose lanes do not wait for each other.

    One sentence is for a read and a store of a word in the same step of the tree, and another one
    for a read in the step after the store. Returns None for any other flaw. finding: the flaw that
    the virtual GPU found.
    """
    if finding.kind != "race" or finding.array != "shared" or finding.other_line is None:
        return None
    if " writes " in finding.message:
        return translate(
            "One lane reads this word and another lane stores it, and both happen in the same "
            "step. Does anybody need what is stored there?"
        )
    if finding.other_line > finding.line:
        return translate(
            "The store is that of the step before, and nothing makes the lanes wait between the "
            "two steps."
        )
    return None

EXERCISE = reduction(
    Sums(threads=256),
    constant="BLOCK",
    probes=Probes(flaws=(in_a_step,)),
    name="last_warp",
    lesson="19",
    kind="repair",
    title="The last warp waits for nobody",
    text=(
        "In the last six steps of this tree warp 0 goes on alone, and all of its 32 lanes add. Its "
        "sums are right on the virtual GPU, and still it has a race. Repair the last loop, and "
        "leave the block's barriers as they are. About 2 lines.",
        "The launch is given: blocks of 256 threads, and one block for 256 elements.",
    ),
    shapes=((1024,), (1000,), (513,), (200,), (33,), (1,)),
    targets=(
        no_negative_index(), one_store_per_element(), no_float64(), each_element_once(),
        barriers_per_block(3), essential(full_loads()), essential(no_atomics()),
        essential(loads_of_one_thread(26)),
    ),
    main=("barriers per block",),
    plain_goals=("right at any shape, without a race", "at most 3 barriers per block"),
    plain_usual_goals=(
        "each element of x is loaded once and by full warps",
        "many threads share the additions", "no index below 0", "one store per block",
        "no float64, no atomic operations",
    ),
    hints=(
        "In the step with the stride 16 lane 0 reads word 16. Which lane stores this word in the "
        "step before?",
        "Which lane stores word 16 in the same step, and does anybody need its sum?",
        "A step reads two words, adds, and stores one. Where in it must a lane wait until all "
        "others have come there?",
    ),
    after="The lanes of the last warp wait for each other, and for no other warp.",
)  # fmt: skip
