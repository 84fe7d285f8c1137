"""The sum of a block by shuffles, with one word of shared memory per warp."""

from labs.checking.phrasing import counted
from labs.checking.run import Run
from labs.checking.target import Probes, Target, essential
from labs.families.reduction import (
    Sums,
    each_element_once,
    full_loads,
    no_atomics,
    reduction,
    shared_requests_per_block,
)
from labs.families.warp_shuffles import REFUSED, added_by_shuffles, few_shuffles
from labs.targets.counts import (
    barriers_per_block,
    no_float64,
    no_negative_index,
    one_store_per_element,
    sectors_per_request,
)

THREADS = 256
WARPS = THREADS // 32


def shared_words(at_most: int) -> Target:
    """Return the target of at most `at_most` words of 4 bytes of shared memory per block."""

    def arrays(run: Run) -> dict[str, int]:
        """Return the number of words of each shared array of block 0, by its name.

        The kernel is launched again. Arrays without elements are left out.
        """
        return {
            one.name: one.itemsize // 4 * size
            for one in run.recorded(0).arrays
            if one.space == "shared" and (size := _size(one.shape))
        }

    def measure(run: Run) -> float:
        return float(sum(arrays(run).values()))

    def cause(run: Run, value: float) -> str:
        listed = " and ".join(f"`{name}` has {words:,}" for name, words in arrays(run).items())
        return (
            f"a block has {counted(round(value), 'word')} of shared memory ({listed}), and the "
            f"target is {at_most}, one for each warp."
        )

    words = f"at most {at_most} words of shared memory per block"
    return Target("words of shared memory", at_most, words, measure, cause, True)


def _size(shape: tuple[int, ...]) -> int:
    """Return the number of elements of an array with this shape."""
    size = 1
    for extent in shape:
        size *= extent
    return size


EXERCISE = reduction(
    Sums(threads=THREADS),
    probes=Probes(refused=REFUSED),
    name="shuffles",
    lesson="19",
    title="The sum of a block by shuffles",
    text=(
        "Write the sum of a block with shuffles. Each thread has loaded one element into `total`. "
        "First the lanes of each warp add theirs, and one lane stores the sum of its warp into "
        "`of_warps`. After a barrier the 8 words of `of_warps` are added, in the same way by one "
        "warp or in a loop by one thread. This thread stores the sum of the block into "
        "`partials[cuda.blockIdx.x]`. About 12 lines.",
        "The launch is given: blocks of 256 threads, and one block for 256 elements, so the last "
        "block may reach beyond the end of `x`. A thread without an element has a `total` of zero. "
        "Do not send it away: a shuffle needs all lanes of the warp.",
    ),
    shapes=((1024,), (1000,), (513,), (200,), (33,), (1,)),
    targets=(
        no_negative_index(),
        one_store_per_element(),
        no_float64(),
        each_element_once(),
        essential(full_loads()),
        sectors_per_request(4),
        shared_words(WARPS),
        essential(added_by_shuffles()),
        few_shuffles(10),
        essential(no_atomics()),
        shared_requests_per_block(32),
        barriers_per_block(1),
    ),
    hints=(
        "`total += cuda.shfl_down_sync(0xFFFFFFFF, total, 16)` adds to each lane what the lane 16 "
        "further up holds. Which distances follow, until lane 0 has the sum of its warp?",
        "Lane 0 of a warp is the thread with `tid % 32 == 0`, and `tid // 32` is the number of its "
        "warp.",
        "Between the stores into `of_warps` and the reads of it all warps of the block must meet "
        "at a barrier, and not in a branch.",
        "With shuffles: `if tid < 32:` lets one whole warp go on. Its lanes 0 to 7 take a word of "
        "`of_warps`, and the others `float32(0)`. So all 32 lanes come to the shuffles.",
    ),
    after="The lanes of a warp have added without shared memory, and the block meets once.",
)
