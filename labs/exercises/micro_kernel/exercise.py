"""A micro-kernel of vector primitives: two sums in registers, fed from packed panels."""

from __future__ import annotations

import numpy as np
from numba import types
from numba.core.errors import NumbaError

from gpu_xray.assembly import count, hot_loop_elsewhere
from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.checking.phrasing import at_line, counted
from labs.checking.run import Run
from labs.checking.target import Probes, Target, essential
from labs.families import micro_kernels as probes
from labs.targets.counts import no_float64, no_negative_index
from utils.ladder.step import Launch
from utils.translation import translate

# Any processor with AVX2 has 16 vector registers, like this one.
PROCESSOR = "haswell"
ARRAY = types.Array(types.float32, 1, "C")


def inputs(shape: Shape, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the packed panels a and b, float32: one-dimensional, 2 and 8 elements per step.

    They are whole numbers, so that sums are exact. shape: (k,).
    """
    random, (k,) = np.random.default_rng(seed), shape
    sizes = (probes.ROWS * k, probes.LANES * k)
    return tuple(random.integers(1, 100, size).astype(np.float32) for size in sizes)


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the 2×8 tile of the product, row by row, as 16 float64."""
    return (probes.by_step(a, probes.ROWS).T @ probes.by_step(b, probes.LANES)).ravel()


# ------------------------------------------------------------------------------------- targets


def _multiply_adds(run: Run) -> int:
    """Return the number of vector multiply-adds that the tile needs: two per step."""
    return probes.ROWS * run.shape[0]


def loads_per_multiply_add(parameter: str, at_most: float, what: str) -> Target:
    """Return the target of at most `at_most` loads of one panel per multiply-add of vectors.

    It is tested at every shape, and a load of a vector counts once. parameter: the panel, "a" or
    "b". what: the name of the count.
    """

    def measure(run: Run) -> float:
        return run.total(parameter, "load", "requests") / _multiply_adds(run)

    def cause(run: Run, value: float) -> str:
        most = max(run.accesses(parameter), key=lambda one: one.requests)
        loads = run.total(parameter, "load", "requests")
        single = parameter == "b" and most.words == most.requests
        return (
            f"`{most.array}` is loaded {counted(loads, 'time')} for "
            f"{counted(_multiply_adds(run), 'multiply-add')} of vectors, {value:.3g} for each; "
            f"the target is {at_most:g}. Most of it is {at_line(most.site)}, with "
            f"{counted(most.requests, 'load')}{' of a single element each' if single else ''}."
        )

    words = (
        f"at most {at_most:g} {what.removesuffix('s') if at_most == 1 else what} per multiply-add"
    )
    return Target(f"{what} per multiply-add", at_most, words, measure, cause, True)


def one_store_per_element() -> Target:
    """Return the target of at most one stored word per element of the tile, at every shape."""

    def measure(run: Run) -> float:
        return run.total("c", "store", "words") / run.out.size

    def cause(run: Run, value: float) -> str:
        stores = run.accesses("c", "store")
        most = max(stores, key=lambda one: one.words)
        if most.words > run.out.size:
            single = translate(" Vectors of 8 need two stores in all, one for each row.")
            return translate(
                "{where} stores {words} elements, and the tile has {size}: {value} stores for an "
                "element. Does the line stand in the loop?",
                where=at_line(most.site),
                words=f"{most.words:,}",
                size=run.out.size,
                value=f"{value:.3g}",
            ) + (single if most.words == most.requests else "")
        lines = ", ".join(str(line) for line in sorted({one.site.line for one in stores}))
        return translate(
            "lines {lines} store {value} times into an element, and once is enough: a sum goes "
            "into `c` when all is added to it.",
            lines=lines,
            value=f"{value:.3g}",
        )

    return Target("stores per element", 1, "one store per element", measure, cause, True)


def no_spills() -> Target:
    """Return the target that the hot loop moves no vectors to or from the stack.

    The count is the number of such instructions in machine code for PROCESSOR. It is None if the
    function cannot be compiled or has no hot loop.
    """

    def measure(run: Run) -> float | None:
        try:
            run.kernel.compile((ARRAY,) * 3)
        except NumbaError:
            return None
        loop = hot_loop_elsewhere(run.kernel, PROCESSOR)
        return None if loop is None else float(count(loop).spills)

    def cause(run: Run, value: float) -> str:
        return (
            f"in the machine code of your loop for a processor with AVX2 {value:g} instructions "
            "move vectors to or from the stack, because they do not all fit into 16 registers."
        )

    return Target("spills in the loop", 0, "no spills", measure, cause, of_machine=True)


EXERCISE = KernelExercise(
    name="micro_kernel",
    lesson="03",
    title="A micro-kernel of 2×8",
    decorator="njit",
    text=(
        "Write `micro_kernel(a, b, c)`. `a` and `b` are packed panels, arrays with one dimension. "
        "Step p has the two elements of `a` from `2 * p` on, one for each row of the tile, and the "
        "eight elements of `b` from `8 * p` on. `c` has 16 elements: row 0 of the tile, then row "
        "1. Row r, column j is the sum of `a[2 * p + r] * b[8 * p + j]` over all p. About 7 lines.",
        "Use the primitives, each of which is one machine instruction: `loadu(x, i, 8)`, "
        "`broadcast(x, i, 8)`, `set1(float32(0), 8)`, `fmadd(x, y, z)`, which is x·y + z, and "
        "`storeu(x, i, vector)`; i is the number of an element. "
        "The number of steps is `a.size // 2`. `c` holds no zeros when your function begins: the "
        "check fills it with NaN.",
    ),
    parameters=("a", "b", "c"),
    sizes=("k",),
    shapes=((24,), (5,), (17,), (1,)),
    launch=lambda shape: Launch(grid=(1,), block=(1,)),
    inputs=inputs,
    reference=reference,
    probes=Probes(
        refused=(
            probes.exchanged,
            probes.number_for_a_sum,
            probes.no_vector,
            probes.stored_as_element,
            probes.misused,
        ),
        unknown=(probes.never_set, probes.made_here, probes.misused, probes.operators),
    ),
    targets=(
        no_negative_index(),
        one_store_per_element(),
        no_float64(),
        essential(loads_per_multiply_add("b", 0.5, "vector loads")),
        loads_per_multiply_add("a", 1, "broadcasts"),
        no_spills(),
    ),
    hints=(
        "What must stay in registers for all steps? Two sums, one for each row. Before the loop "
        "begins, each is a vector of 8 zeros: `set1(float32(0), 8)`.",
        "One step: load the vector of `b` once, and give it a name. Both rows need it.",
        "For each row: broadcast its element of `a`, and let `fmadd` add the product to the sum. "
        "`fmadd` changes nothing by itself: its result is the new sum.",
        "When the loop is over, `storeu` stores each sum. The first one goes to `c` from index 0 "
        "on. Where does row 1 begin?",
    ),
    after="Both sums stay in registers for all steps, and each vector of `b` serves two rows.",
)
