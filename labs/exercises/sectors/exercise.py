"""Four elements per thread, whose loads cost 16 sectors per request until one line is changed."""

from labs.checking.target import essential
from labs.families.vectors import THREADS, scaling
from labs.targets import counts
from labs.targets.sharing import elements_per_thread
from utils.division import cdiv
from utils.ladder.step import Launch

EXERCISE = scaling(
    name="sectors",
    lesson="00",
    kind="change",
    title="Four sectors per request",
    text=(
        "Each thread scales four elements, and all results are right. But lanes that are "
        "neighbours read elements that lie four words apart, so each request costs 16 sectors. "
        "Change one line, so that a request costs at most four. The result stays the same.",
        "The launch is given: blocks of 256 threads, and one block per 1,024 elements. The last "
        "block may have fewer elements.",
    ),
    shapes=((4096,), (4000,), (1500,), (77,), (1,)),
    launch=lambda shape: Launch(grid=(cdiv(shape[0], 4 * THREADS),), block=(THREADS,)),
    targets=(
        counts.no_negative_index(), counts.one_store_per_element(), counts.no_float64(),
        essential(counts.full_requests()), counts.sectors_per_request(4, with_edges=True),
        essential(elements_per_thread(4)),
    ),
    main=("sectors per request",),
    hints=(
        "A request is made by 32 lanes in the same iteration, so `j` is the same for all of them. "
        "How far apart are the elements of lanes 0 and 1?",
        "Let neighbouring threads take neighbouring elements in each iteration. How far must a "
        "thread go from one iteration to the next, so that no element is taken twice?",
        "In one iteration all threads of the grid together take `threads` elements, one after "
        "another. So the next iteration begins `threads` elements further on.",
    ),
    after="The same elements in another order: 32 neighbours fill four sectors.",
)  # fmt: skip
