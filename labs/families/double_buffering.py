"""The family of double-buffered products: c = a·b with tiles in shared memory, based on `tiled`.

Each shared array is a double buffer: one tile is multiplied while the next one is loaded. Further
targets are one barrier per tile, and loads that a thread does not wait for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.checking.phrasing import at_line, counted
from labs.checking.run import Run
from labs.checking.target import Target, essential
from labs.families.tiled import tiled_product
from labs.targets.data_flow import computing
from utils.division import cdiv
from utils.translation import translate
from virtual_gpu import Site
from virtual_gpu.counts.recorder import Event, Recording


def double_buffered_product(tile: int, **fields) -> KernelExercise:
    """Return an exercise on a tiled product that loads the next tile while it multiplies a tile.

    Its targets are those of a tiled product, but with one barrier per tile instead of two, and with
    no load that is stored into shared memory too early. tile: the side of a tile. fields: the other
    arguments of `tiled_product`: constant, the starter's name for `tile`; whole, the numbers of
    tiles along m, n and k at the first shape; and the remaining fields of KernelExercise.
    """
    exercise = tiled_product(tile=tile, **fields)
    kept = [one for one in exercise.targets if one.what != "barriers per tile"]
    # A kernel must not pass the time of a load with reads that it does not need.
    kept = [essential(one) if one.what == "shared loads per multiply-add" else one for one in kept]
    targets = (*kept, _one_barrier_per_tile(tile), no_early_waits(tile))
    return replace(exercise, targets=targets)


def _one_barrier_per_tile(tile: int) -> Target:
    """Return the target that each thread passes at most one barrier per tile, plus one in all.

    The count is the barriers per tile without that one, on average over all warps and rounded up.
    It is tested at every shape. tile: the side of a tile.
    """

    def passed(run: Run) -> float:
        """Return the number of barriers that each warp passes, as an average over all warps."""
        launch = run.job.launch(run.shape)
        warps = launch.blocks * cdiv(launch.threads, 32)
        return sum(line.barriers for line in run.trace.counts.values()) / warps

    def measure(run: Run) -> float:
        return math.ceil((passed(run) - 1) / cdiv(run.shape[2], tile))

    def cause(run: Run, value: float) -> str:
        tiles = cdiv(run.shape[2], tile)
        lines = [str(site.line) for site, one in run.trace.counts.items() if one.barriers]
        where = f"source line{'s' * (len(lines) > 1)} {', '.join(lines)}"
        return translate(
            "each thread passes {barriers} ({where}) for {tiles}; the target is "
            "{at_most}.{about_buffer}",
            barriers=counted(round(passed(run)), "barrier"),
            where=where,
            tiles=counted(tiles, "tile"),
            at_most=tiles + 1,
            about_buffer=_single_buffer(tile, run),
        )

    words = "one barrier per tile, and at most one more"
    return Target("barriers per tile", 1, words, measure, cause, every_shape=True)


def _single_buffer(tile: int, run: Run) -> str:
    """Return a sentence, after a space, on a shared array with room for only one tile, or "".

    The sentence says why such an array needs two barriers per tile. The kernel is launched again to
    record block 0. tile: the side of a tile.
    """
    shared = [one for one in run.recorded(0).arrays if one.space == "shared"]
    single = next((one.name for one in shared if math.prod(one.shape) <= tile * tile), None)
    if single is None:
        return ""
    return translate(
        " `{single}` has room for one tile. So a barrier must stand before a tile is read, and "
        "another one before the next tile is stored in its place.",
        single=single,
    )


@dataclass(frozen=True)
class _EarlyWait:
    """A load of an element of a or b that is used too early: stored, or computed with.

    array: the reader's name of the input. load, use: the lines of the load and of its first use.
    terms: the number of terms of the sum that are added between the two. stored: True if the use is
    the store into shared memory.
    """

    array: str
    load: Site
    use: Site
    terms: int
    stored: bool


def no_early_waits(tile: int) -> Target:
    """Return the target that a whole tile is multiplied between a load and its store.

    A thread waits for a loaded value when it stores it into shared memory or computes with it,
    unless multiply-adds have hidden the latency of the load. The count is the number of loads of a
    and b by the first and the last thread of a drawn block whose first use comes after fewer than
    `tile` terms of the sum. The loads of the first tile do not count. At shapes that do not fill
    all blocks, those of the last thread do not count either, because it may have no element of c.
    tile: the side of a tile, which is also its number of terms.
    """

    def measure(run: Run) -> float:
        return float(len(list(_waits(tile, run))))

    def at_edges(run: Run) -> float:
        return float(len(list(_waits(tile, run, first_alone=True))))

    def cause(run: Run, value: float) -> str:
        first = next(_waits(tile, run))
        story = f"{at_line(first.load)} loads an element of the next tile of `{first.array}`"
        if not first.stored:
            return translate(
                "{story}, and {use} computes with it. So a thread waits there until the element "
                "has come. Between the two it adds {terms} of the {tile} terms of a tile.",
                story=story,
                use=at_line(first.use),
                terms=first.terms,
                tile=tile,
            )
        if first.load.line == first.use.line:
            story += " and stores it into shared memory at once."
        else:
            story += f", and {at_line(first.use)} stores it into shared memory."
        return translate(
            "{story} The store needs the loaded value, so a thread waits there until it has "
            "come. Between the two it adds {terms} of the {tile} terms of a tile.",
            story=story,
            terms=first.terms,
            tile=tile,
        )

    words = f"all {tile} terms of a tile between a load of the next tile and its store"
    return Target("loads that are waited for", 0, words, measure, cause, at_edges=at_edges)


def _waits(tile: int, run: Run, first_alone: bool = False) -> Iterator[_EarlyWait]:
    """Yield the loads of two threads that are used after fewer than `tile` terms.

    The threads are thread 0, whose loads come first, and the last one of a drawn block. The loads
    of a thread are in the order of execution, without those of the first tile. The block is
    launched again with different numbers in a and b, so that a stored value tells which load it
    comes from. first_alone: True for the loads of thread 0 alone.
    """
    job = replace(run.job, inputs=_different_numbers)
    recording = replace(run, job=job).alone(run.drawn_block).trace.recording
    for thread in (0,) if first_alone else (0, math.prod(recording.shape) - 1):
        yield from _waits_of(tile, run, recording, thread)


def _different_numbers(shape: Shape, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a and b with the whole numbers from 1 on, each once. seed: not used."""
    m, n, k = shape
    numbers = np.arange(1, m * k + k * n + 1, dtype=np.float32)
    return numbers[: m * k].reshape(m, k), numbers[m * k :].reshape(k, n)


def _waits_of(tile: int, run: Run, recording: Recording, thread: int) -> Iterator[_EarlyWait]:
    """Yield an _EarlyWait per load of one thread that is used after fewer than `tile` terms.

    The loads are in the order of execution. Loads of the first tile are left out, and so are loads
    after which the thread stores nothing into shared memory.
    """
    events = [one for one in recording.events if _takes_part(one, thread)]
    shared = {one.name for one in recording.arrays if one.space == "shared"}
    computed = {run.names[one]: computing(run, run.names[one], shared) for one in ("a", "b")}
    for index, event in enumerate(events):
        is_input = event.array in (run.names["a"], run.names["b"])
        if event.kind != "load" or not is_input or _tile_of(tile, run, event, thread) == 0:
            continue
        later = [one for one in events[index + 1 :] if one.array in shared]
        stores = [one for one in later if one.kind == "store"]
        # A value that is stored in another form is taken for that of the next store.
        store = next((one for one in stores if _stores(one, event, thread)), (*stores, None)[0])
        if store is None:
            continue
        before = later[: later.index(store)]
        uses = [(_before_line(before, event, one), one) for one in computed[event.array]]
        until, use = min(uses, key=lambda one: len(one[0]), default=(before, None))
        stored = len(until) == len(before)
        reads = sum(one.kind == "load" for one in until)
        if reads < 2 * tile:
            use = _site(run, store.line) if stored else use
            yield _EarlyWait(event.array, _site(run, event.line), use, reads // 2, stored)


def _before_line(events: list[Event], load: Event, site: Site) -> list[Event]:
    """Return the events behind a load that come before a source line, in order of execution.

    Lines above the load come in the next iteration.
    """

    def place(line: int) -> tuple[bool, int]:
        return line < load.line, line

    return list(takewhile(lambda one: place(one.line) < place(site.line), events))


def _stores(store: Event, load: Event, thread: int) -> bool:
    """Return True if a thread stores the value that it has loaded, or if that is not recorded."""
    return store.values is None or bool(np.isin(store.values[thread], load.values[thread]).any())


def _takes_part(event: Event, thread: int) -> bool:
    """Return True for a load or store in which a thread takes part."""
    return event.kind in ("load", "store") and event.first[thread] >= 0


def _tile_of(tile: int, run: Run, load: Event, thread: int) -> int:
    """Return the index along k, counted from 0, of the tile that a thread loads from.

    tile: the side of a tile. load: the event of a load from a or b.
    """
    row, column = divmod(int(load.first[thread]), run.array(run.parameter(load.array)).shape[1])
    return (column if run.parameter(load.array) == "a" else row) // tile


def _site(run: Run, line: int) -> Site:
    """Return the Site of the source line with this number.

    Raises StopIteration if no access to memory in the run is on that line.
    """
    return next(one.site for one in run.trace.access_counts if one.site.line == line)
