"""The family of double-buffered products: c = a·b with tiles in shared memory, based on `tiled`.

Each shared array is a double buffer: one tile is multiplied while the next one is loaded. Further
targets are one barrier per tile, and loads that a thread does not wait for.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from labs.checking.exercise import KernelExercise
from labs.checking.phrasing import at_line, counted
from labs.checking.run import Run
from labs.checking.target import Target
from labs.families.tiled import tiled_product
from utils.division import cdiv
from utils.translation import translate
from virtual_gpu import Site
from virtual_gpu.counts.recorder import Event


def double_buffered_product(tile: int, **fields) -> KernelExercise:
    """Return an exercise on a tiled product that loads the next tile while it multiplies a tile.

    Its targets are those of a tiled product, but with one barrier per tile instead of two, and with
    no load that is stored into shared memory too early. tile: the side of a tile. fields: the other
    arguments of `tiled_product`: constant, the starter's name for `tile`; whole, the numbers of
    tiles along m, n and k at the first shape; and the remaining fields of KernelExercise.
    """
    exercise = tiled_product(tile=tile, **fields)
    kept = tuple(one for one in exercise.targets if one.what != "barriers per tile")
    targets = (*kept, _one_barrier_per_tile(tile), _no_early_waits(tile))
    return replace(exercise, targets=targets)


def _one_barrier_per_tile(tile: int) -> Target:
    """Return the target that each thread passes at most one barrier per tile, plus one in all.

    tile: the side of a tile.
    """

    def passed(run: Run) -> float:
        """Return the number of barriers that each warp passes, as an average over all warps."""
        launch = run.job.launch(run.shape)
        warps = launch.blocks * cdiv(launch.threads, 32)
        return sum(line.barriers for line in run.trace.counts.values()) / warps

    def measure(run: Run) -> float:
        return math.ceil((passed(run) - 1) / (run.shape[2] // tile))

    def cause(run: Run, value: float) -> str:
        tiles = run.shape[2] // tile
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
    return Target("barriers per tile", 1, words, measure, cause)


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
    """A load of an element of a or b that is stored into shared memory too early.

    array: the reader's name of the input. load, store: the line numbers of the load and the store.
    terms: the number of terms of the sum that are added between the load and the store.
    """

    array: str
    load: int
    store: int
    terms: int


def _no_early_waits(tile: int) -> Target:
    """Return the target that a whole tile is multiplied between a load and its store.

    A thread waits for a loaded value when it stores it into shared memory, unless multiply-adds
    have hidden the latency of the load. The count is the number of loads of thread 0 whose store
    comes after fewer than `tile` terms of the sum. The loads of the first tile do not count. tile:
    the side of a tile, which is also its number of terms.
    """

    def measure(run: Run) -> float:
        return float(len(list(_waits(tile, run))))

    def cause(run: Run, value: float) -> str:
        first = next(_waits(tile, run))
        load, store = (_site(run, line) for line in (first.load, first.store))
        story = f"{at_line(load)} loads an element of the next tile of `{first.array}`"
        if first.load == first.store:
            story += " and stores it into shared memory at once."
        else:
            story += f", and {at_line(store)} stores it into shared memory."
        return translate(
            "{story} The store needs the loaded value, so a thread waits there until it has "
            "come. Between the two it adds {terms} of the {tile} terms of a tile.",
            story=story,
            terms=first.terms,
            tile=tile,
        )

    words = f"all {tile} terms of a tile between a load of the next tile and its store"
    return Target("loads that are waited for", 0, words, measure, cause)


def _waits(tile: int, run: Run) -> Iterator[_EarlyWait]:
    """Yield the loads of thread 0 that are stored after fewer than `tile` terms, in order.

    The loads of the first tile are left out. The kernel is launched again to record block 0.
    """
    buffers = _buffers(run)
    events = [one for one in run.recorded(0).events if _takes_part(one)]
    spaces = {one.array: one.space for one in run.trace.access_counts}
    for index, event in enumerate(events):
        if event.kind != "load" or spaces[event.array] != "global":
            continue
        if _tile_of(tile, run, event) == 0:
            continue
        reads = 0
        for later in events[index + 1 :]:
            if spaces[later.array] != "shared":
                continue
            if later.kind == "store":
                if later.array not in buffers.get(event.array, {later.array}):
                    continue
                if reads < 2 * tile:
                    yield _EarlyWait(event.array, event.line, later.line, reads // 2)
                break
            reads += 1


def _buffers(run: Run) -> dict[str, set[str]]:
    """Return a dict from the reader's name of an input to the names of the shared arrays it fills.

    An input, a or b, whose elements reach no shared array is not a key.
    """
    inputs = {run.names["a"], run.names["b"]}
    shared = {one.array for one in run.trace.access_counts if one.space == "shared"}
    carries: dict[str, set[str]] = {}  # variable or local array -> inputs whose elements it has
    buffers: dict[str, set[str]] = {}
    for target, value in _assignments(run.tree):
        matches = _elements_in(value, inputs, carries)
        name = ast.unparse(target.value if isinstance(target, ast.Subscript) else target)
        for one in matches:
            if name in shared:
                buffers.setdefault(one, set()).add(name)
            else:
                carries.setdefault(name, set()).add(one)
    return buffers


def _assignments(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield each assignment's target and value nodes; a tuple gives one pair per element."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign):
            continue
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            yield from zip(target.elts, value.elts)
        else:
            yield target, value


def _elements_in(value: ast.expr, inputs: set[str], carries: dict[str, set[str]]) -> set[str]:
    """Return the names of the inputs whose elements an expression contains.

    inputs: the reader's names of a and b. carries: a dict from a variable to the names of the
    inputs whose elements it holds, so that elements in variables count too.
    """
    matches: set[str] = set()
    for one in ast.walk(value):
        if isinstance(one, ast.Subscript) and ast.unparse(one.value) in inputs:
            matches.add(ast.unparse(one.value))
        elif isinstance(one, ast.Name):
            matches |= carries.get(one.id, set())
    return matches


def _takes_part(event: Event) -> bool:
    """Return True for a load or store in which thread 0 takes part."""
    return event.kind in ("load", "store") and event.first[0] >= 0


def _tile_of(tile: int, run: Run, load: Event) -> int:
    """Return the index along k, counted from 0, of the tile that thread 0 loads from.

    tile: the side of a tile. load: the event of a load from a or b.
    """
    row, column = divmod(int(load.first[0]), run.array(run.parameter(load.array)).shape[1])
    return (column if run.parameter(load.array) == "a" else row) // tile


def _site(run: Run, line: int) -> Site:
    """Return the source line with this number; a line of the run must access memory there."""
    return next(one.site for one in run.trace.access_counts if one.site.line == line)
