"""Targets of stores to shared memory."""

from __future__ import annotations

from labs.checking.phrasing import at_line
from labs.checking.run import Run
from labs.checking.target import Target
from utils.translation import translate
from virtual_gpu.counts.counters import AccessCount


def store_wavefronts(at_most: float) -> Target:
    """Return the target of at most `at_most` wavefronts per store to shared memory, for any line.

    The count is that of the worst source line, at the first shape. For a kernel that stores nothing
    in shared memory, it is `at_most` + 1, so that such a kernel misses the target. So does a kernel
    with atomics on shared memory, whose bank conflicts are not counted.
    """

    def atomics(run: Run) -> list[AccessCount]:
        counts = run.trace.access_counts
        return [one for one in counts if (one.space, one.kind) == ("shared", "atomic")]

    def worst(run: Run) -> AccessCount | None:
        stores = [
            one for one in run.trace.access_counts if (one.space, one.kind) == ("shared", "store")
        ]
        return max(stores, key=lambda one: one.wavefronts / one.requests, default=None)

    def measure(run: Run) -> float:
        one = worst(run)
        return at_most + 1 if atomics(run) or one is None else one.wavefronts / one.requests

    def cause(run: Run, value: float) -> str:
        one = worst(run)
        if atomics(run):
            first = atomics(run)[0]
            return translate(
                "{where} stores into `{array}` by atomics, whose bank conflicts are not counted. "
                "The task needs plain stores.",
                where=at_line(first.site),
                array=first.array,
            )
        if one is None:
            return translate("the kernel stores nothing in shared memory, and the task needs it.")
        return translate(
            "{where}: a store into `{array}` takes {value:.3g} wavefronts, because lanes meet in "
            "the same banks; the target is {at_most:g}.",
            where=at_line(one.site),
            array=one.array,
            value=value,
            at_most=at_most,
        )

    words = f"at most {at_most:g} wavefront{'s' * (at_most != 1)} per store to shared memory"
    return Target("wavefronts per store to shared memory", at_most, words, measure, cause)
