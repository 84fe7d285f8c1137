"""The family of reductions: kernels that add up x, of any length, block by block.

A shape is (n,). The numbers in x all differ, and are whole, so that every float32 sum is exact.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape, smaller
from labs.checking.phrasing import at_line, counted
from labs.checking.run import Run
from labs.checking.target import Probes, Target, essential
from labs.families.missing_waits import no_wait
from labs.families.shared_memory import (
    computed_size,
    meeting,
)
from labs.families.sums import Sums
from labs.families.vectors import REFUSED
from labs.families.wrong_sums import wrong_sums
from labs.targets.counts import (
    barriers_of_block,
    barriers_per_block,
    sectors_per_request,
    wavefronts_per_request,
)
from labs.targets.early_leave import left_before_a_barrier, warps_that_leave
from labs.targets.other_size import right_for_small_numbers
from labs.targets.sharing import loads_by_all_threads, loads_of_one_thread
from utils.translation import translate
from virtual_gpu.common.lanes import WARP
from virtual_gpu.common.source import read_source
from virtual_gpu.counts.counters import AccessCount

PARTIAL = 8  # requests in which a partial block may leave lanes idle
LEFT_OUT = 32  # whole numbers that do not occur in x


def reduction(
    sums: Sums,
    constant: str | None = None,
    probes: Probes = Probes(),  # noqa: B008, frozen
    record: type[KernelExercise] = KernelExercise,
    targets: tuple[Target, ...] = (),
    remarks: tuple[Callable[[Run], str | None], ...] = (),
    **fields,
) -> KernelExercise:
    """Return an exercise whose kernel adds up x, its first parameter, into its last parameter.

    sums: which elements each sum adds. constant: the starter's name for the number of threads per
    block, or None if it has none. probes: probes of this exercise, which are called before those of
    the family. record: KernelExercise or OrderExercise. targets: the exercise's own targets; that
    the kernel is right for small numbers comes first in any case. remarks: the exercise's own
    remarks, besides the one on warps that leave. fields: the remaining fields of the record. They
    include parameters and inputs if the kernel needs other arguments than x and the result, and the
    reference if it does not add up x.
    """
    known = replace(
        probes,
        constants=(*probes.constants, *other_block(sums, constant)),
        refused=(*probes.refused, *refused()),
        flaws=(*probes.flaws, no_wait),
        wrong=(*probes.wrong, *(() if "reference" in fields else wrong_sums(sums))),
        unseen=(*probes.unseen, left_before_a_barrier),
    )
    family = {
        "parameters": ("x", "partials"), "inputs": inputs, "reference": sums.reference, **fields,
    }  # fmt: skip
    return record(
        sizes=("n",), launch=sums.launch, probes=known, vary=smaller,
        targets=(right_for_small_numbers(), *targets), remarks=(*remarks, warps_that_leave),
        **family,
    )  # fmt: skip


def inputs(shape: Shape, seed: int) -> tuple[np.ndarray]:
    """Return a tuple with x: n different whole numbers from 1 to n + 32 in random order, float32.

    Which 32 numbers are left out depends on the seed, so that no formula gives their sum. The sum
    is exact in float32 if n is at most 5760. shape: (n,).
    """
    n = shape[0]
    drawn = np.random.default_rng(seed).permutation(n + LEFT_OUT)[:n] + 1
    return (drawn.astype(np.float32),)


# --------------------------------------------------------------------------------------- targets


def tree_targets() -> tuple[Target, ...]:
    """Return the targets of a reduction by a tree in shared memory, with 256 threads per block.

    They are in the order in which they are judged.
    """
    return (
        essential(full_loads()),
        sectors_per_request(4),
        essential(no_atomics()),
        shared_requests_per_block(64),
        essential(loads_of_one_thread(26)),
        essential(loads_by_all_threads(_elements_of_a_thread, "x")),
        no_bank_conflict(),
        barriers_per_block(9),
    )


def _elements_of_a_thread(run: Run) -> float:
    """Return how many elements of x a thread has at the first shape, which fills all blocks."""
    first = run.job.shapes[0]
    launch = run.job.launch(first)
    return first[0] / (launch.blocks * launch.threads)


def each_element_once(parameter: str = "x") -> Target:
    """Return the target of at most one loaded word per element of an input, on average.

    It is tested at every shape. parameter: the exercise's name of the input.
    """

    def measure(run: Run) -> float:
        return run.total(parameter, "load", "words") / run.shape[0]

    def cause(run: Run, value: float) -> str:
        most = max(run.accesses(parameter), key=lambda access: access.words)
        return translate(
            "`{array}` has {elements}, and {words} of it are loaded, {most:,} of them at "
            "{where}. Which elements are loaded more than once, and by whom?",
            array=most.array,
            elements=counted(run.shape[0], "element"),
            words=counted(run.total(parameter, "load", "words"), "word"),
            most=most.words,
            where=at_line(most.site),
        )

    words = f"each element of `{parameter}` is loaded once"
    what = "loads per element" if parameter == "x" else f"loads per element of {parameter}"
    return Target(what, 1, words, measure, cause, True)


def full_loads(parameter: str = "x", spare: int = 0) -> Target:
    """Return the target that requests to load an input have 32 active lanes on average.

    The count is 32 times the requests, divided by the active lanes; 1 is the best. It is 1, too, if
    the requests exceed the fewest that these lanes need by at most `spare`, and 0 if nothing is
    loaded. At shapes that do not fill all blocks, it is 1 for up to PARTIAL requests more than
    twice the fewest. parameter: the exercise's name of the input.
    """

    def ratio(run: Run, factor: int, spare: int) -> float:
        lanes = run.total(parameter, "load", "lanes")
        requests = run.total(parameter, "load", "requests")
        if not lanes:
            return 0.0
        return 32 * requests / lanes if 32 * (requests - spare) > factor * lanes else 1.0

    def measure(run: Run) -> float:
        return ratio(run, 1, spare)

    def at_edges(run: Run) -> float:
        return ratio(run, 2, PARTIAL)

    def cause(run: Run, value: float) -> str:
        worst = min(run.accesses(parameter), key=lambda access: access.lanes / access.requests)
        return translate(
            "{where}: a request to `{array}` serves {lanes:.3g} of 32 lanes on average. The "
            "other lanes of the warp wait.",
            where=at_line(worst.site),
            array=worst.array,
            lanes=worst.lanes / worst.requests,
        )

    words = f"each load of `{parameter}` serves all 32 lanes of a warp"
    what = f"requests to load {parameter} for 32 lanes"
    return Target(what, 1, words, measure, cause, at_edges=at_edges)


def shared_requests_per_block(at_most: float) -> Target:
    """Return the target of at most `at_most` requests to shared memory per block, of any kind.

    A load or store counts once per warp that takes part in it.
    """

    def shared_accesses(run: Run) -> list[AccessCount]:
        return [one for one in run.trace.access_counts if one.space == "shared"]

    def cause(run: Run, value: float) -> str:
        launch = run.job.launch(run.shape)
        blocks, enough = launch.blocks, launch.threads // WARP
        tree = _in_loops_of_the_tree(run)
        outside = [one for one in shared_accesses(run) if one.site.line not in tree]
        extra = sum(one.requests for one in outside) / blocks - enough - 1  # thread 0 loads the sum
        if extra > 0 and outside != shared_accesses(run) and value - extra <= at_most:
            by_line = Counter()
            for one in outside:
                by_line[one.site.line] += one.requests
            line, requests = by_line.most_common(1)[0]
            most = next(one for one in outside if one.site.line == line)
            return translate(
                "each block makes {value:.4g} requests to shared memory, and the target is "
                "{at_most:g}. The loop of the tree is not the reason: {where} makes {requests:.4g} "
                "of them, and the lines outside of this loop make {extra:.4g} too many. Before the "
                "tree each warp needs one request, the store of its words. What can a thread keep "
                "in a local variable until then?",
                value=value,
                at_most=at_most,
                where=at_line(most.site),
                requests=requests / blocks,
                extra=extra,
            )
        most = max(shared_accesses(run), key=lambda one: one.requests)
        return translate(
            "each block makes {value:.4g} requests to shared memory, and the target is "
            "{at_most:g}. No line makes more of them than {where}: {requests:.4g} requests to "
            "{kind} `{array}`, in which {lanes:.3g} of 32 lanes are active on average.",
            value=value,
            at_most=at_most,
            where=at_line(most.site),
            requests=most.requests / blocks,
            kind=most.kind,
            array=most.array,
            lanes=most.lanes / most.requests,
        )

    words = f"at most {at_most:g} requests to shared memory per block"
    return Target("shared requests per block", at_most, words, _shared_requests, cause, True)


def fewer_than_the_course(requests: int, barriers: int) -> Callable[[Run], str | None]:
    """Return a function that takes a run and returns a sentence that praises the kernel, or None.

    The sentence is on a kernel with fewer requests to shared memory per block, or fewer barriers,
    than the course's kernel has. requests, barriers: those of a block of the course's kernel.
    """

    def remark(run: Run) -> str | None:
        own_requests = _shared_requests(run)
        own_barriers = barriers_of_block(run)
        if own_requests >= requests and own_barriers >= barriers:
            return None
        return translate(
            "Your kernel makes {own_requests:.4g} requests to shared memory and {own_barriers:g} "
            "barriers per block. The course's makes {requests} and {barriers}.",
            own_requests=own_requests, own_barriers=own_barriers,
            requests=requests, barriers=barriers,
        )  # fmt: skip

    return remark


def more_than_needed(requests: int) -> Callable[[Run], str | None]:
    """Return a function: run -> a sentence on requests to shared memory that could be saved.

    It returns None for a kernel with at most `requests` of them per block.
    """

    def remark(run: Run) -> str | None:
        own = _shared_requests(run)
        if own <= requests:
            return None
        return translate(
            "Your kernel makes {own:.4g} requests to shared memory per block, and {requests} are "
            "enough: add the elements of a thread in a local variable, and store their sum once.",
            own=own,
            requests=requests,
        )

    return remark


def _shared_requests(run: Run) -> float:
    """Return the requests to shared memory per block, loads and stores together."""
    shared = (one for one in run.trace.access_counts if one.space == "shared")
    return sum(one.requests for one in shared) / run.job.launch(run.shape).blocks


def _in_loops_of_the_tree(run: Run) -> set[int]:
    """Return the numbers of the source lines in loops that do not access global memory."""
    nodes = [one for one in ast.walk(run.tree) if isinstance(one, ast.For | ast.While)]
    loops = [range(one.lineno, one.end_lineno + 1) for one in nodes]
    loading = {one.site.line for one in run.trace.access_counts if one.space == "global"}
    return {line for loop in loops if loading.isdisjoint(loop) for line in loop}


def no_bank_conflict() -> Target:
    """Return the target that no source line takes more than one wavefront per shared request."""

    def cause(run: Run, value: float) -> str:
        lines = [one for one in run.trace.access_counts if one.wavefronts > one.requests]
        worst = max(lines, key=lambda one: one.wavefronts / one.requests)
        return translate(
            "{where}: a {kind} of `{array}` takes {value:.3g} wavefronts per request. {meeting}",
            where=at_line(worst.site),
            kind=worst.kind,
            array=worst.array,
            value=value,
            meeting=meeting(worst),
        )

    return replace(wavefronts_per_request(1), words="no bank conflict", cause=cause)


def no_atomics() -> Target:
    """Return the target of no atomic operations; the count is the active lanes that make one."""

    def measure(run: Run) -> float:
        return float(sum(one.lanes for one in run.trace.access_counts if one.kind == "atomic"))

    def cause(run: Run, value: float) -> str:
        most = max(
            (one for one in run.trace.access_counts if one.kind == "atomic"),
            key=lambda one: one.lanes,
        )
        return translate(
            "{where} makes {lanes:,} atomic operations on `{array}`. Those on one word are "
            "made one after the other, and the task asks for a tree.",
            where=at_line(most.site),
            lanes=most.lanes,
            array=most.array,
        )

    return Target("atomic operations", 0, "no atomic operations", measure, cause)


def other_block(sums: Sums, constant: str | None) -> tuple[Callable, ...]:
    """Return a tuple with a probe for a constant that is not the number of threads per block.

    constant: the starter's name for this number. If it is None, the tuple is empty.
    """
    return (partial(_other_block, sums, constant),) if constant else ()


def refused() -> tuple[Callable, ...]:
    """Return the probes of this family for kernels that cannot be compiled, in the order of calls.

    Each takes the kernel and the error message, and returns a sentence or None.
    """
    return (computed_size, _divided, _two_widths, *REFUSED)


# ----------------------------------------------------------------------------------------- probes


def _other_block(sums: Sums, constant: str, kernel) -> str | None:
    """Return a sentence if the reader's constant is not the threads per block, else None.

    constant: its name. Also returns None if the kernel does not use this name, or if its value is
    not a whole number.
    """
    code = kernel.py_func.__code__
    threads = read_source(kernel.py_func).names.get(constant)
    uses = constant in code.co_names + code.co_freevars
    if not uses or not isinstance(threads, int) or threads == sums.threads:
        return None
    return translate(
        "This launch has blocks of {threads} threads, and your `{constant}` is {value}.",
        threads=sums.threads,
        constant=constant,
        value=threads,
    )


def _divided(kernel, message: str) -> str | None:
    """Return a sentence on a division with `/`, whose result is a float and no index, or None."""
    for node in ast.walk(read_source(kernel.py_func).tree):
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div):
            return translate(
                "`{code}` in line {line} divides with `/`, and that makes a number with a "
                "fraction, also where nothing is left over. For whole numbers there is `//`.",
                code=ast.unparse(node),
                line=node.lineno,
            )
    return None


def _two_widths(kernel, message: str) -> str | None:
    """Return a sentence on an integer variable that gets values of 32 and of 64 bits, or None.

    Numba makes a float64 of a variable that is set as uint32 and as int64, and refuses it as an
    index. So the result is None unless the message names a float64 and the kernel uses `uint32`.
    The sentence names a statement of the kernel that computes a variable from itself, or it is None
    without one.
    """
    if "float64)" not in message or "uint32" not in kernel.py_func.__code__.co_names:
        return None
    for node in ast.walk(read_source(kernel.py_func).tree):
        if _changes_itself(node):
            return translate(
                "`{code}` in line {line} makes a number of 64 bits, and elsewhere `{name}` has 32: "
                "Numba takes a float for both, and a float is no index. Make the other number one "
                "of 32 bits, too, such as `uint32(2)`.",
                code=ast.unparse(node),
                line=node.lineno,
                name=ast.unparse(_target_of(node)),
            )
    return None


def _target_of(node: ast.Assign | ast.AugAssign) -> ast.expr:
    """Return the node to which an assignment gives a value, the first one if there are several."""
    return node.target if isinstance(node, ast.AugAssign) else node.targets[0]


def _changes_itself(node: ast.AST) -> bool:
    """Return True for `x *= 2` and `x = 2 * x`, but not for a call such as `x = uint32(2 * x)`."""
    if isinstance(node, ast.AugAssign):
        return isinstance(node.target, ast.Name)
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.BinOp):
        return False
    name = _target_of(node)
    names = [one.id for one in ast.walk(node.value) if isinstance(one, ast.Name)]
    return isinstance(name, ast.Name) and name.id in names
