"""A product by three stages that reads each tile before the other threads' copies are complete."""

from dataclasses import replace

from labs.checking.job import in_steps
from labs.checking.run import Run
from labs.checking.target import essential
from labs.families.warp_products import (
    barriers_per_iteration,
    one_mma_per_tile,
    two_warp_product,
)
from labs.targets.copies_in_flight import chunks_by_async_copies, group_left_in_flight
from labs.targets.counts import no_float64, no_negative_index, one_store_per_element
from utils.translation import translate
from virtual_gpu import Finding


def race_of_a_copy(run: Run, finding: Finding) -> str | None:
    """Return a sentence on a race with an asynchronous copy for which its thread has waited.

    Returns None for any other finding, and for a copy for which no thread has waited, because the
    finding itself names that.
    """
    copies = {one.site.line for one in run.trace.access_counts if one.instruction == "cp.async"}
    if finding.kind != "race" or "copies since line" in finding.message:
        return None
    if finding.line in copies:
        return translate(
            "The stage is filled anew while slower threads may still read the tile that is in it."
        )
    if finding.other_line not in copies:
        return None
    return translate(
        "`wait_copies()` waits for the copies of the thread that calls it, and the element is a "
        "copy of another thread. Between that thread's wait and this line is no barrier."
    )


_PRODUCT = two_warp_product(
    name="stage_ready",
    lesson="23",
    kind="repair",
    title="A stage too early",
    text=(
        "Two warps multiply 32 rows of `a` by 8 columns of `b`, with tiles in three stages that "
        "are copied two iterations ahead. The kernel reads tiles that are not complete. Repair it. "
        "One barrier per iteration is enough.",
        "The launch is given: blocks of 64 threads, and one block for every 32×8 of `c`. Every "
        "shape fits: m is a multiple of 32, n of 8, and k of 16.",
    ),
    shapes=((32, 16, 64), (64, 8, 48), (64, 24, 32), (32, 8, 288), (32, 8, 16)),
    vary=in_steps(32, 8, 16),
    whole=in_steps(32, 8, 16),
    targets=(
        no_negative_index(), one_store_per_element(), no_float64(),
        essential(one_mma_per_tile(16)), essential(chunks_by_async_copies()),
        group_left_in_flight(), barriers_per_iteration(16, 2),
    ),
    main=("barriers per iteration",),
    hints=(
        "Read the finding: which line copies the element, and which one reads it? Are these the "
        "same thread?",
        "`wait_copies(1)` waits for copies of the thread that calls it. Who waits for the copies "
        "of the other 63 threads?",
        "Each thread waits for its own copies first, and then all threads meet.",
    ),
    after="A thread waits for its own copies, and the barrier for those of all others.",
)  # fmt: skip
EXERCISE = replace(_PRODUCT, probes=replace(_PRODUCT.probes, flaws=(race_of_a_copy,)))
