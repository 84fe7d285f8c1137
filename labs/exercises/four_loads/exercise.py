"""A copy with four loads in flight in each thread."""

from labs.checking.target import essential
from labs.families.loads_in_flight import (
    EACH,
    copy_exercise,
    waits_in_machine_code,
    waits_in_source,
)
from labs.targets.counts import (
    full_requests,
    no_float64,
    no_negative_index,
    one_store_per_element,
    sectors_per_request,
)
from labs.targets.sharing import elements_per_thread

EXERCISE = copy_exercise(
    name="four_loads",
    lesson="09",
    title="Four loads under way",
    text=(
        "The kernel copies `x` to `out`, four elements per thread, and its result is right. But a "
        "thread waits four times: each load must arrive before its store, and the next load comes "
        "after that. Change it so that a thread has all four loads under way, and waits once. "
        "About 9 lines.",
        "The launch is given: blocks of 256 threads, and one block for 1024 elements. So the last "
        "block may reach beyond the end with some elements of a thread, and not with others. A "
        "thread may take other elements than these, as long as neighbouring threads still load "
        "neighbouring elements (lesson 05).",
    ),
    shapes=((4096,), (4000,), (2305,), (1025,), (257,), (31,), (1,)),
    targets=(
        no_negative_index(),
        one_store_per_element(),
        no_float64(),
        sectors_per_request(4),
        essential(full_requests()),
        essential(elements_per_thread(EACH)),
        waits_in_source(),
        waits_in_machine_code(),
    ),
    hints=(
        "A load does not make a thread wait. The first instruction that uses the loaded value "
        "does, and a store of it is such a use.",
        "So first load all four, each into a place of its own, then store all four. "
        "`cuda.local.array(4, float32)` gives a thread four places. Where every index is known to "
        "the compiler, they are registers.",
        "Two loops, one after the other: the first loads, the second stores. Each needs the test "
        "for the end of the array, for each element by itself.",
    ),
    after=(
        "Four loads are under way in each thread, with as many threads as before. The waits are "
        "counted in two blocks of a long array, where all four elements of a thread are inside. In "
        "a last block that reaches beyond the end a kernel may wait more often."
    ),
)
