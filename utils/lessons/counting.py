"""Memory accesses of a product, counted on the virtual GPU, and the time that they suggest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

from utils.errors import CourseError
from utils.figures.look import number
from utils.ladder.explain import trace_step
from utils.ladder.ladder import ladder_of
from utils.ladder.step import Step, Variant
from utils.ladder.tasks import Shape
from utils.lessons import own_kernels
from utils.lessons.cards import Table, table
from utils.lessons.lesson import device_shown
from utils.machine.occupancy import WARP
from virtual_gpu import Trace

# A multiple of the block size of every early step.
SHAPE = "64x256x64"
PER_REQUEST = {
    "sectors per request": "sectors",
    "cache lines per request": "cache_lines",
    "wavefronts per request": "wavefronts",
}


def watch(step: Step | Variant, shape: str = SHAPE, **observed) -> Trace:
    """Run a step on the virtual GPU and return its trace: findings, and counts per source line.

    The matrices or arrays hold integers. Calls with equal arguments return the same cached trace.
    shape: as on the command line, such as "64" or "64x256x64". observed: options of
    `virtual_gpu.trace`, such as record=0, which records the events of block 0.
    """
    variant = as_variant(step)
    return _watched(variant, ladder_of(variant.step).parse(shape), **observed)


@lru_cache(maxsize=64)
def _watched(variant: Variant, shape: Shape, **observed) -> Trace:
    """Run a variant on the virtual GPU and return its trace; the latest 64 traces are cached."""
    return trace_step(variant, shape, "integers", **observed)


def multiply_adds(trace: Trace) -> float:
    """Return the number of multiply-adds of a launch: half the operations of threads and `mma`.

    The operations of threads are those in float32. Raises CourseError if there are none.
    """
    operations = trace.totals["float32_ops"] + trace.totals["tensor_ops"]
    if not operations:
        raise CourseError(
            f"{trace.kernel} makes no multiply-adds, so nothing can be counted per multiply-add: "
            "choose a product."
        )
    return operations / 2


def loads_per_multiply_add(trace: Trace, space: str = "global") -> float:
    """Return the mean number of words that a thread loads per multiply-add from one memory space.

    space: "global" or "shared". Raises CourseError if the launch makes no multiply-adds.
    """
    loads = _loads(trace)
    return loads.loc[loads["space"] == space, "words"].sum() / multiply_adds(trace)


def per_request(trace: Trace, array: str, what: str = "sectors", kind: str = "load") -> float:
    """Return the mean number of sectors, cache lines or wavefronts per request of a warp.

    array: the name of the array whose requests are counted. what: "sectors", "cache_lines" or
    "wavefronts". kind: "load" or "store". Raises CourseError if there is no request of this kind.
    """
    totals = trace.accesses.query("array == @array and kind == @kind").sum(numeric_only=True)
    if not totals["requests"]:
        names = ", ".join(f"`{name}`" for name in sorted(set(trace.accesses["array"])))
        raise CourseError(
            f"{trace.kernel} makes no {kind} of an array `{array}`: its arrays are {names}."
        )
    return totals[what] / totals["requests"]


def cache_lines_per_multiply_add(trace: Trace) -> float:
    """Return the mean number of 128-byte cache lines that a warp loads per warp-wide multiply-add.

    A warp-wide multiply-add is one multiply-add of each of the 32 lanes. Raises CourseError if the
    launch makes no multiply-adds.
    """
    return WARP * _loads(trace)["cache_lines"].sum() / multiply_adds(trace)


def estimated_ms(trace: Trace, shape: str) -> float:
    """Return the estimated time in ms of a product if each SM gets one cache line per cycle.

    trace: a trace of the step, usually of a smaller product. Its number of cache lines per
    multiply-add is applied to the product of `shape`. The device is that of `device_shown`. Raises
    CourseError if the launch makes no multiply-adds.
    """
    return one_per_cycle_ms(cache_lines_per_multiply_add(trace), shape)


def one_per_cycle_ms(needed: float, shape: str) -> float:
    """Return the estimated time in ms of a product if each SM serves one unit per clock cycle.

    needed: the units, such as cache lines, wavefronts or issue cycles, that a warp needs per
    warp-wide multiply-add. shape: m×n×k as on the command line, such as "64x256x64", or one number
    for all three. The number of SMs and the boost clock are those of `device_shown`.
    """
    m, n, k = (int(side) for side in (shape.split("x") * 3)[:3])
    device = device_shown()
    return m * n * k / WARP * needed / device.sms / (device.boost_clock_mhz * 1e3)


def as_variant(step: Step | Variant | Callable) -> Variant:
    """Return a step with its default constants, and a variant unchanged.

    For a kernel of the reader's that `check` found right, return its variant. Raises CourseError
    for any other kernel.
    """
    if isinstance(step, Variant):
        return step
    return step.variant() if isinstance(step, Step) else own_kernels.of_kernel(step)


def as_step(step: Step | Variant | Callable) -> Step:
    """Return the step of a variant, and a step unchanged.

    For a kernel of the reader's that `check` found right, return its step. Raises CourseError for
    any other kernel.
    """
    return step if isinstance(step, Step) else as_variant(step).step


def name_of(step: Step | Variant | Callable) -> str:
    """Return the name of a step; for a variant or a kernel with its constants as well.

    With constants it is such as "tiled TILE=32".
    """
    return step.name if isinstance(step, Step) else str(as_variant(step))


def count(**traces: Trace) -> Table:
    """Return a table of counted loads, with one row per trace and array.

    The columns are the words that a thread loads per multiply-add, and the sectors, cache lines and
    wavefronts per request of a warp. Columns without any value are left out. Per trace, arrays in
    global memory come before those in shared memory, each in alphabetical order. traces: the
    keyword is the name in the table, with _ for spaces. Raises CourseError if a launch has loads
    but makes no multiply-adds.
    """
    rows = [row for name, trace in traces.items() for row in _rows(name, trace)]
    used = [what for what in PER_REQUEST if any(row[what] == row[what] for row in rows)]
    head = ("", "loads per multiply-add", *used)
    cells = [(row["name"], *(_cell(row[title]) for title in head[1:])) for row in rows]
    return table("Counted on the virtual GPU", head, cells)


def _loads(trace: Trace):
    """Return the rows of `trace.accesses` that are loads, as a DataFrame."""
    return trace.accesses.query("kind == 'load'")


def _rows(name: str, trace: Trace) -> Iterator[dict]:
    """Yield a row of the table of `count`, as a dict, per array that a trace loads from.

    Its keys are "name", with the row's name in text, "loads per multiply-add", and the keys of
    `PER_REQUEST`. The values of the latter are numbers, NaN instead of 0. name: that of the trace,
    with _ for spaces. Raises CourseError if the launch makes no multiply-adds.
    """
    loads = _loads(trace)
    for (_, array), sums in loads.groupby(["space", "array"]).sum(numeric_only=True).iterrows():
        yield {
            "name": f"{name.replace('_', ' ')}, `{array}`",
            "loads per multiply-add": sums["words"] / multiply_adds(trace),
            **{
                title: sums[what] / sums["requests"] if sums[what] else float("nan")
                for title, what in PER_REQUEST.items()
            },
        }


def _cell(value: float) -> str:
    """Return a count as text; "" for NaN."""
    return number(value) if value == value else ""
