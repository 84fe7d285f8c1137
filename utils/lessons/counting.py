"""What a product does to memory, counted on the virtual GPU, and a first estimate from it."""

from __future__ import annotations

from collections.abc import Iterator

from utils.figures.look import number
from utils.ladder.explain import trace_step
from utils.ladder.ladder import ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Table, table
from utils.lessons.lesson import device_shown
from utils.machine.occupancy import WARP
from virtual_gpu import Trace

# A shape that fits the blocks of all early steps.
SHAPE = "64x256x64"
PER_REQUEST = {
    "sectors per request": "sectors",
    "cache lines per request": "cache_lines",
    "wavefronts per request": "wavefronts",
}


def watch(step: Step | Variant, shape: str = SHAPE, **observed) -> Trace:
    """A step of a ladder on the virtual GPU: its findings, its counts, what each line did.

    shape: as on the command line, such as "64" or "64x256x64". observed: as for `trace`, such as
    record=0, which keeps what block 0 does, for a movie.
    """
    variant = as_variant(step)
    return trace_step(variant, ladder_of(variant.step).parse(shape), "integers", **observed)


def multiply_adds(trace: Trace) -> float:
    """Multiply-adds of all threads: a multiplication and an addition in float32 each."""
    return trace.totals["float32_ops"] / 2


def loads_per_multiply_add(trace: Trace, space: str = "global") -> float:
    """Words that threads load from global or shared memory for each multiply-add."""
    loads = _loads(trace)
    return loads.loc[loads["space"] == space, "words"].sum() / multiply_adds(trace)


def per_request(trace: Trace, array: str, what: str = "sectors", kind: str = "load") -> float:
    """Sectors, cache_lines or wavefronts that one request of a warp for this array takes."""
    found = trace.accesses.query("array == @array and kind == @kind").sum(numeric_only=True)
    return found[what] / found["requests"]


def cache_lines_per_multiply_add(trace: Trace) -> float:
    """Cache lines of 128 bytes that one multiply-add of a whole warp asks for."""
    return WARP * _loads(trace)["cache_lines"].sum() / multiply_adds(trace)


def estimated_ms(trace: Trace, shape: str) -> float:
    """The time of a product of this shape if each SM is served one cache line per cycle."""
    return one_per_cycle_ms(cache_lines_per_multiply_add(trace), shape)


def one_per_cycle_ms(needed: float, shape: str) -> float:
    """The time of a product if each SM is served one of a thing per cycle, and nothing else counts.

    needed: how many for each multiply-add of a warp. shape: as on the command line. The SMs and the
    clock are those of `device_shown`.
    """
    m, n, k = (int(side) for side in (shape.split("x") * 3)[:3])
    device = device_shown()
    return m * n * k / WARP * needed / device.sms / (device.boost_clock_mhz * 1e3)


def as_variant(step: Step | Variant) -> Variant:
    """A step with its default constants; a variant as it is."""
    return step.variant() if isinstance(step, Step) else step


def count(**traces: Trace) -> Table:
    """Loads by array, per multiply-add and per request of a warp; a row for each array of each.

    Global memory comes first; the arrays stand in alphabetical order.

    traces: by the name that the reader sees, with _ for spaces.
    """
    rows = [row for name, trace in traces.items() for row in _rows(name, trace)]
    used = [what for what in PER_REQUEST if any(row[what] == row[what] for row in rows)]
    head = ("", "loads per multiply-add", *used)
    cells = [(row["name"], *(_cell(row[title]) for title in head[1:])) for row in rows]
    return table("Counted on the virtual GPU", head, cells)


def _loads(trace: Trace):
    return trace.accesses.query("kind == 'load'")


def _rows(name: str, trace: Trace) -> Iterator[dict]:
    loads = _loads(trace)
    for (_, array), found in loads.groupby(["space", "array"]).sum(numeric_only=True).iterrows():
        yield {
            "name": f"{name.replace('_', ' ')}, `{array}`",
            "loads per multiply-add": found["words"] / multiply_adds(trace),
            **{
                title: found[what] / found["requests"] if found[what] else float("nan")
                for title, what in PER_REQUEST.items()
            },
        }


def _cell(value: float) -> str:
    return number(value) if value == value else ""
