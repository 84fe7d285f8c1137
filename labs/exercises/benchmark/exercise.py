"""A benchmark with four faults to repair."""

from labs.host.benchmark.faults import examine
from labs.host.exercise import HostExercise

EXERCISE = HostExercise(
    name="benchmark",
    lesson="01",
    kind="repair",
    title="Repair the benchmark",
    text=(
        "`benchmark(device, m, n, k)` should return the rate of a matrix product, of one launch "
        "and its kernel with cold caches, in GFLOP/s. It has four faults. Find and repair them, "
        "and let no outlier change the result. About 8 lines.",
        "The device has four methods. `launch()` puts the product into the queue and returns. "
        "`synchronize()` waits until the queue is empty. `flush()` puts work into the queue that "
        "empties the cache. `now()` is the host's clock, in seconds.",
        "The check calls your function with models of a device, and it does not show what your "
        "function prints.",
    ),
    hints=(
        "You have seen all four faults above: one is in what the first launch does, one in what "
        "nobody waits for, one in the caches, which are hot, and one in the last source line.",
        "Which work may lie between your two readings of the clock, and which may not? Draw the "
        "two rows, host and device, for one repetition.",
        "One launch before the loop compiles. In the loop, each repetition needs its own two "
        "readings, because the flush must not lie between them.",
        "A flush is work in the queue, like a kernel. When must it have ended?",
        "In the loop: flush, synchronize, read the clock, launch, synchronize, read the clock. "
        "Keep at least 7 differences in a list. A few of them are disturbed: take the median of "
        "the list, and not the mean. (`median` comes from the module `statistics`.)",
    ),
    after=(
        "Its rate holds no compiler, no cache that was filled before, and no launch that something "
        "else disturbed. It waits for the kernel, and it counts as the data sheets do."
    ),
    parameters=("device", "m", "n", "k"),
    promises=(
        "the rate of one launch and its kernel, cold caches, within 2 %, on three devices",
        "at least 7 launches timed",
    ),
    examine=examine,
)
