"""Targets that are counted by the virtual GPU, with the counts that a profiler shows.

Each function returns a Target; its `cause` gives the sentence for a kernel that misses it.
"""

from __future__ import annotations

import ast
import re

from labs.checking.access_order import StridedAccess, innermost_accesses
from labs.checking.phrasing import at_line, counted
from labs.checking.run import Run
from labs.checking.target import Target, usual
from labs.targets.stored_elements import stored_twice
from utils.division import cdiv
from utils.translation import translate
from virtual_gpu import Finding
from virtual_gpu.counts.counters import AccessCount

# `x / 2` and `x /= 2`, but neither `x // 2` nor `x / 2.0`.
BY_WHOLE_NUMBER = re.compile(r"(?<!/)/=?\s*(\d+)\b(?![.\d])")


def one_store_per_element() -> Target:
    """Return the target of at most one store per element of the result, at every shape.

    The count is the number of stores, one per active lane, divided by the number of elements.
    Atomics on the result count as stores.
    """

    def stores(run: Run) -> float:
        written = (run.total(run.job.result, kind, "lanes") for kind in ("store", "atomic"))
        return sum(written) / run.out.size

    def cause(run: Run, value: float) -> str:
        result = run.job.result
        if run.total(result, "atomic", "lanes"):
            return atomics_on_the_result(run)
        most = max(run.accesses(result, "store"), key=lambda access: access.lanes)
        told = translate(
            "{where} stores {times:,} times for {elements} of `{result}`{elsewhere}. That is "
            "{value:.3g} stores for an element.",
            where=at_line(most.site),
            times=most.lanes,
            elements=counted(run.out.size, "element"),
            result=run.result,
            elsewhere=_and_elsewhere(run, most),
            value=value,
        )
        question = translate("Is the line inside a loop, or do several threads store the same?")
        return f"{told} {stored_twice(run) or question}"

    return usual(Target("stores per element", 1, "one store per element", stores, cause, True))


def atomics_on_the_result(run: Run) -> str:
    """Return sentences on the source line with the most atomics on the result of a run."""
    most = max(run.accesses(run.job.result, "atomic"), key=lambda access: access.lanes)
    return translate(
        "{where} makes {atomics} on `{result}`. Each of them reads the element from memory and "
        "stores it again. Keep the value in a variable, and store it once.",
        where=at_line(most.site),
        atomics=counted(most.lanes, "atomic operation"),
        result=run.result,
    )


def _and_elsewhere(run: Run, most: AccessCount) -> str:
    """Return a clause on how often other source lines than `most` store into the result, or ""."""
    others = run.total(run.job.result, "store", "lanes") - most.lanes
    return translate(", and other lines store {times:,} times", times=others) if others else ""


def input_loads_per_element(at_most: int) -> Target:
    """Return the target that no input is loaded more than `at_most` times, on average.

    The count is the number of words that are loaded from the input with the most loads, per element
    of this input, at shapes that fill all blocks.
    """

    def inputs(run: Run) -> list[str]:
        """Return the exercise's names of the inputs that are arrays."""
        pairs = zip(run.job.parameters, run.inputs, strict=False)
        return [name for name, one in pairs if getattr(one, "ndim", 0)]

    def loads(run: Run, name: str) -> float:
        return run.total(name, "load", "words") / run.array(name).size

    def measure(run: Run) -> float:
        return max(loads(run, name) for name in inputs(run))

    def cause(run: Run, value: float) -> str:
        name = max(inputs(run), key=lambda one: loads(run, one))
        most = max(run.accesses(name), key=lambda one: one.words)
        return translate(
            "each element of `{array}` is loaded {value:.3g} times, and the target is {at_most}. "
            "Most of these loads are in {where}. Is the line inside a loop that it does not need, "
            "or does another thread load the same?",
            array=run.names[name],
            value=value,
            at_most=at_most,
            where=at_line(most.site),
        )

    often = "once" if at_most == 1 else f"at most {at_most} times"
    words = f"each element of the input is loaded {often}"
    return Target("loads per element of the input", at_most, words, measure, cause)


def no_negative_index() -> Target:
    """Return the target that no thread uses an index below 0, at every shape.

    Numba counts such an index from the end of the array, so the result may be right by chance. The
    count is the number of threads that use one.
    """

    def findings(run: Run) -> list[Finding]:
        return [one for one in run.trace.findings if one.kind == "wrapped_index"]

    def measure(run: Run) -> float:
        return float(sum(one.threads_in_all for one in findings(run)))

    def cause(run: Run, value: float) -> str:
        first = findings(run)[0]
        return f"{at_line(first.site)}: {run.job.words.describe(first)}"

    return usual(Target("negative indices", 0, "no index below 0", measure, cause, True))


def no_float64() -> Target:
    """Return the target of no arithmetic operation in float64, at every shape."""

    def operations(run: Run) -> float:
        return float(sum(line.float64_ops for line in run.trace.counts.values()))

    def cause(run: Run, value: float) -> str:
        counts = run.trace.counts
        site = next(site for site in counts if counts[site].float64_ops)
        size = "×".join(map(str, run.shape))
        why = translate(
            "A plain number such as `0` or `0.0`, or an array of float64, makes all that it meets "
            "float64."
        )
        if "/" in site.source.partition("#")[0].replace("//", ""):
            why = translate(
                "`/` makes a float64 of two whole numbers, and so does `math.ceil(x / y)`. Rounded "
                "up, the quotient of whole numbers is `(x + y - 1) // y`."
            )
        if divided := BY_WHOLE_NUMBER.search(site.source):
            why = translate(
                "`/` with a whole number such as `{number}` makes a float64. Where both are whole "
                "numbers, there is `//`.",
                number=divided[1],
            )
        return run.job.words.say(
            "{where} works in float64, {operations} in all at {size}, where {slow_float64}. {why}",
            where=at_line(site),
            operations=counted(round(value), "operation"),
            size=size,
            why=why,
        )

    return usual(Target("operations in float64", 0, "no float64", operations, cause, True))


def sectors_per_request(at_most: float, with_edges: bool = False) -> Target:
    """Return the target of at most `at_most` sectors per request to global memory.

    The count is the largest one of all source lines that load or store, at the first shape. That of
    a line is its average over all requests if the average is above `at_most`; otherwise it is that
    of its most expensive request. with_edges: count them at the other shapes, too, where a request
    may take one sector more, because a row may begin within a sector.
    """

    def sectors(one: AccessCount) -> float:
        """Return the sectors per request of a line: on average, or of its worst request."""
        average = one.sectors / one.requests
        return average if average > at_most else float(one.most_sectors)

    def lines(run: Run) -> list[AccessCount]:
        return [one for one in _of_space(run, "global") if one.kind != "atomic"]

    def measure(run: Run) -> float:
        return max(map(sectors, lines(run)), default=0.0)

    def at_edges(run: Run) -> float:
        count = measure(run)
        return count if count - 1 > at_most else min(count, at_most)

    def cause(run: Run, value: float) -> str:
        one = max(lines(run), key=sectors)
        parameter = run.parameter(one.array)
        step = run.lane_step(parameter, one.kind) if parameter else None
        lanes = ""
        if step is not None and abs(step) != 1:
            row = translate(", a whole row") if _is_a_row(run, parameter, step) else ""
            lanes = _lanes_apart(one, counted(step, "word"), row)
        return translate(
            "{where}: {lanes}Each request to `{array}` costs {value:.3g} sectors there; the target "
            "is {at_most:g}.",
            where=at_line(one.site),
            lanes=lanes,
            array=one.array,
            value=value,
            at_most=at_most,
        )

    words = f"at most {at_most:g} sectors per request"
    what = "sectors per request"
    return Target(what, at_most, words, measure, cause, at_edges=at_edges if with_edges else None)


def _lanes_apart(one: AccessCount, words: str, row: str) -> str:
    """Return a sentence and a space on how far apart neighbouring lanes access an array.

    words: the distance as text. row: a clause that follows it, or "".
    """
    values = {"array": one.array, "words": words, "row": row}
    if one.kind == "load":
        return translate("neighbouring lanes load `{array}` {words} apart{row}. ", **values)
    return translate("neighbouring lanes store `{array}` {words} apart{row}. ", **values)


def full_requests() -> Target:
    """Return the target that all requests to global memory have 32 active lanes.

    The count is 32 divided by the average number of active lanes in the worst source line, at the
    first shape; its limit is 1. A line counts as 1 if its accesses would not fit into fewer
    requests.
    """

    def worst(run: Run) -> AccessCount | None:
        lines = [one for one in _of_space(run, "global") if one.requests > cdiv(one.lanes, 32)]
        return min(lines, key=lambda one: one.lanes / one.requests, default=None)

    def measure(run: Run) -> float:
        one = worst(run)
        return 32 * one.requests / one.lanes if one else 1.0

    def cause(run: Run, value: float) -> str:
        one = worst(run)
        return translate(
            "{where}: in the requests to `{array}` only {lanes:.3g} of 32 lanes work, while the "
            "others wait, and {requests:,} requests do what {enough:,} could.",
            where=at_line(one.site),
            array=one.array,
            lanes=one.lanes / one.requests,
            requests=one.requests,
            enough=cdiv(one.lanes, 32),
        )

    words = "each request serves all 32 lanes of a warp"
    return Target("requests for 32 lanes", 1, words, measure, cause)


def wavefronts_per_request(at_most: float) -> Target:
    """Return the target of at most `at_most` wavefronts per request to shared memory, for any line.

    The count is that of the worst source line, without atomics, at every shape. A count above 1
    means bank conflicts, and without a request to shared memory it is 0.
    """

    def worst(run: Run) -> AccessCount | None:
        lines = [one for one in _of_space(run, "shared") if one.kind != "atomic"]
        return max(lines, key=lambda one: one.wavefronts / one.requests, default=None)

    def measure(run: Run) -> float:
        one = worst(run)
        return one.wavefronts / one.requests if one else 0.0

    def cause(run: Run, value: float) -> str:
        one = worst(run)
        values = {
            "where": at_line(one.site),
            "array": one.array,
            "value": value,
            "at_most": at_most,
        }
        if one.kind == "load":
            return translate(
                "{where}: a load of `{array}` takes {value:.3g} wavefronts per request, because "
                "lanes meet in the same banks; the target is {at_most:g}.",
                **values,
            )
        return translate(
            "{where}: a store of `{array}` takes {value:.3g} wavefronts per request, because lanes "
            "meet in the same banks; the target is {at_most:g}.",
            **values,
        )

    words = f"at most {at_most:g} wavefront{'s' * (at_most != 1)} per shared request"
    return Target("wavefronts per request", at_most, words, measure, cause, True)


def barriers_of_block(run: Run) -> float:
    """Return the barriers that a block passes, at the shape of the run.

    It is the average over all warps. If the kernel has a `return`, it is instead the number of
    barriers that at least one thread of block 0 reaches, and the kernel is launched again.
    """
    if any(isinstance(node, ast.Return) for node in ast.walk(run.tree)):
        return sum(event.kind == "barrier" for event in run.recorded(0).events)
    launch = run.job.launch(run.shape)
    warps = launch.blocks * cdiv(launch.threads, 32)
    return sum(line.barriers for line in run.trace.counts.values()) / warps


def barriers_per_block(at_most: float) -> Target:
    """Return the target of at most `at_most` barriers per block, at every shape."""

    def cause(run: Run, value: float) -> str:
        lines = ", ".join(str(site.line) for site, c in run.trace.counts.items() if c.barriers)
        return translate(
            "each block passes {value:.4g} barriers (source lines {lines}); the target is "
            "{at_most:g}.",
            value=value,
            lines=lines,
            at_most=at_most,
        )

    words = f"at most {at_most:g} barrier{'s' * (at_most != 1)} per block"
    return Target("barriers per block", at_most, words, barriers_of_block, cause, True)


def inner_stride(at_most: int, *parameters: str) -> Target:
    """Return the target of strides up to `at_most` elements in a CPU function's innermost loop.

    It is tested at every shape. The count is the largest stride of all loads and stores of some
    arrays in this loop, 0 without any. parameters: the exercise's names of these arrays. An array
    in which the innermost loop stays at one element is left out: where rows are short, another loop
    goes on in it almost as often.
    """

    def worst(run: Run) -> StridedAccess | None:
        arrays = {run.names[name] for name in parameters}
        accesses = (one for one in innermost_accesses(run) if one.array in arrays)
        return max(accesses, key=lambda access: access.stride, default=None)

    def measure(run: Run) -> float:
        access = worst(run)
        return float(access.stride) if access else 0.0

    def cause(run: Run, value: float) -> str:
        access, parameter = worst(run), run.parameter(worst(run).array)
        is_row = _is_a_row(run, parameter, access.stride)
        row = translate(", a whole row of `{array}`", array=access.array) if is_row else ""
        values = {
            "where": at_line(access.site),
            "array": access.array,
            "elements": counted(access.stride, "element"),
            "row": row,
            "at_most": at_most,
        }
        if access.kind == "load":
            return translate(
                "{where}: from one turn of the innermost loop to the next, the element of "
                "`{array}` that is loaded there lies {elements} further{row}; the target is "
                "{at_most}.",
                **values,
            )
        return translate(
            "{where}: from one turn of the innermost loop to the next, the element of `{array}` "
            "that is stored there lies {elements} further{row}; the target is {at_most}.",
            **values,
        )

    words = f"stride of the innermost loop at most {at_most} in every array"
    return Target("stride of the innermost loop", at_most, words, measure, cause, True)


def _is_a_row(run: Run, parameter: str, step: int) -> bool:
    """Return True if a distance in elements is the length of a row of a parameter's array."""
    array = run.array(parameter)
    return array.ndim > 1 and step == array.shape[-1]


def _of_space(run: Run, space: str) -> list[AccessCount]:
    """Return the counts of a run's accesses to a memory, "global" or "shared".

    There is one per source line, array and kind of access (load, store, atomic), in the order in
    which they are first executed.
    """
    return [one for one in run.trace.access_counts if one.space == space]
