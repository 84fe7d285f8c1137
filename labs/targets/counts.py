"""Targets: what a right kernel must reach as well, each with the words for one that does not.

The counts are the profiler's: see `virtual_gpu`. Each function gives a Target.
"""

from __future__ import annotations

import re

from labs.checking.access_order import Walk, innermost_walks
from labs.checking.phrasing import at_line, counted
from labs.checking.run import Run
from labs.checking.target import Target
from virtual_gpu import Finding
from virtual_gpu.counts.counters import AccessCount

# `x / 2` and `x /= 2`, but neither `x // 2` nor `x / 2.0`.
BY_WHOLE_NUMBER = re.compile(r"(?<!/)/=?\s*(\d+)\b(?![.\d])")


def one_store_per_element() -> Target:
    """Each element of the result is stored once."""

    def stores(seen: Run) -> float:
        return seen.total(seen.job.result, "store", "lanes") / seen.out.size

    def cause(seen: Run, value: float) -> str:
        result = seen.job.result
        most = max(seen.accesses(result, "store"), key=lambda access: access.lanes)
        return (
            f"{at_line(most.site)} stores {most.lanes:,} times for "
            f"{counted(seen.out.size, 'element')} of `{seen.result}`{_and_elsewhere(seen, most)}. "
            f"That is {value:.3g} stores for an element. Is the line inside a loop, or do several "
            "threads store the same?"
        )

    return Target("stores per element", 1, "one store per element", stores, cause, True)


def _and_elsewhere(seen: Run, most: AccessCount) -> str:
    """The stores of the other source lines, where there are some."""
    others = seen.total(seen.job.result, "store", "lanes") - most.lanes
    return f", and other lines store {others:,} times" if others else ""


def no_negative_index() -> Target:
    """No index below 0, which Numba counts from the end: it may be right by chance."""

    def found(seen: Run) -> list[Finding]:
        return [one for one in seen.trace.findings if one.kind == "wrapped_index"]

    def measure(seen: Run) -> float:
        return float(sum(one.threads_in_all for one in found(seen)))

    def cause(seen: Run, value: float) -> str:
        first = found(seen)[0]
        return f"{at_line(first.site)}: {seen.job.kind.told(first)}"

    return Target("negative indices", 0, "no index below 0", measure, cause, True)


def no_float64() -> Target:
    """No operation computes in float64."""

    def operations(seen: Run) -> float:
        return float(sum(line.float64_ops for line in seen.trace.counts.values()))

    def cause(seen: Run, value: float) -> str:
        counts = seen.trace.counts
        site = next(site for site in counts if counts[site].float64_ops)
        size = "×".join(map(str, seen.shape))
        why = (
            "A plain number such as `0` or `0.0`, or an array of float64, makes all that it meets "
            "float64."
        )
        if divided := BY_WHOLE_NUMBER.search(site.source):
            why = (
                f"`/` with a whole number such as `{divided[1]}` makes a float64. Where both are "
                "whole numbers, there is `//`."
            )
        return (
            f"{at_line(site)} works in float64, {counted(round(value), 'operation')} in all at "
            f"{size}, where {seen.job.kind.slow_float64}. {why}"
        )

    return Target("operations in float64", 0, "no float64", operations, cause)


def sectors_per_request(at_most: float) -> Target:
    """The worst source line of global memory, loads and stores alike."""

    def worst(seen: Run) -> AccessCount | None:
        counted_lines = [one for one in _of_space(seen, "global") if one.kind != "atomic"]
        return max(counted_lines, key=lambda one: one.sectors / one.requests, default=None)

    def measure(seen: Run) -> float:
        one = worst(seen)
        return one.sectors / one.requests if one else 0.0

    def cause(seen: Run, value: float) -> str:
        one = worst(seen)
        parameter = seen.parameter(one.array)
        step = seen.lane_step(parameter, one.kind) if parameter else None
        verb = "load" if one.kind == "load" else "store"
        apart = ""
        if step is not None:
            row = ", a whole row" if _is_a_row(seen, parameter, step) else ""
            apart = f"neighbouring lanes {verb} `{one.array}` {counted(step, 'word')} apart{row}. "
        return (
            f"{at_line(one.site)}: {apart}Each request to `{one.array}` costs {value:.3g} sectors "
            f"there; the target is {at_most:g}."
        )

    words = f"at most {at_most:g} sectors per request"
    return Target("sectors per request", at_most, words, measure, cause)


def full_requests() -> Target:
    """Each request to global memory serves 32 lanes, at the shape that fits."""

    def worst(seen: Run) -> AccessCount | None:
        lines = _of_space(seen, "global")
        return min(lines, key=lambda one: one.lanes / one.requests, default=None)

    def measure(seen: Run) -> float:
        one = worst(seen)
        return 32 * one.requests / one.lanes if one else 0.0

    def cause(seen: Run, value: float) -> str:
        one = worst(seen)
        return (
            f"{at_line(one.site)}: in the requests to `{one.array}` only "
            f"{one.lanes / one.requests:.3g} of 32 lanes work, while the others wait, and "
            f"{one.requests:,} requests do what {one.lanes // 32:,} could."
        )

    words = "each request serves all 32 lanes of a warp"
    return Target("requests for 32 lanes", 1, words, measure, cause)


def wavefronts_per_request(at_most: float) -> Target:
    """The worst source line of shared memory: above 1 it has bank conflicts."""

    def worst(seen: Run) -> AccessCount | None:
        lines = [one for one in _of_space(seen, "shared") if one.kind != "atomic"]
        return max(lines, key=lambda one: one.wavefronts / one.requests, default=None)

    def measure(seen: Run) -> float:
        one = worst(seen)
        return one.wavefronts / one.requests if one else 0.0

    def cause(seen: Run, value: float) -> str:
        one = worst(seen)
        verb = "load" if one.kind == "load" else "store"
        return (
            f"{at_line(one.site)}: a {verb} of `{one.array}` takes {value:.3g} wavefronts per "
            f"request, because lanes meet in the same banks; the target is {at_most:g}."
        )

    words = f"at most {at_most:g} wavefront{'s' * (at_most != 1)} per shared request"
    return Target("wavefronts per request", at_most, words, measure, cause)


def barriers_per_block(at_most: float) -> Target:
    """Barriers that each block passes, at the shape that fits."""

    def measure(seen: Run) -> float:
        launch = seen.job.launch(seen.shape)
        warps = launch.blocks * -(-launch.threads // 32)
        return sum(line.barriers for line in seen.trace.counts.values()) / warps

    def cause(seen: Run, value: float) -> str:
        lines = ", ".join(str(site.line) for site, c in seen.trace.counts.items() if c.barriers)
        return (
            f"each block passes {value:.4g} barriers (source lines {lines}); the target is "
            f"{at_most:g}."
        )

    words = f"at most {at_most:g} barrier{'s' * (at_most != 1)} per block"
    return Target("barriers per block", at_most, words, measure, cause)


def inner_stride(at_most: int = 1) -> Target:
    """Elements from one access to the next in the innermost loop of a function of the CPU."""

    def worst(seen: Run) -> Walk | None:
        return max(innermost_walks(seen), key=lambda walk: walk.step, default=None)

    def measure(seen: Run) -> float:
        walk = worst(seen)
        return float(walk.step) if walk else 0.0

    def cause(seen: Run, value: float) -> str:
        walk, parameter = worst(seen), seen.parameter(worst(seen).array)
        verb = "loaded" if walk.kind == "load" else "stored"
        row = f", a whole row of `{walk.array}`" if _is_a_row(seen, parameter, walk.step) else ""
        return (
            f"{at_line(walk.site)}: from one turn of the innermost loop to the next, the element "
            f"of `{walk.array}` that is {verb} there lies {counted(walk.step, 'element')} "
            f"further{row}; the target is {at_most}."
        )

    words = f"stride of the innermost loop at most {at_most} in every array"
    return Target("stride of the innermost loop", at_most, words, measure, cause)


def _is_a_row(seen: Run, parameter: str, step: int) -> bool:
    array = seen.array(parameter)
    return array.ndim > 1 and step == array.shape[-1]


def _of_space(seen: Run, space: str) -> list[AccessCount]:
    return [one for one in seen.trace.access_counts if one.space == space]
