"""The family of double-buffered products: c = a·b by tiles, on top of `tiled`.

Each shared array has two sides: one tile is multiplied while the next one is on its way. What is
asked besides is one barrier per tile, and loads that a thread does not wait for.
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
from virtual_gpu import Site
from virtual_gpu.counts.recorder import Event


def double_buffered_product(tile: int, **told) -> KernelExercise:
    """An exercise of this family.

    told: what `labs.families.tiled.tiled_product` takes besides.
    """
    exercise = tiled_product(tile=tile, **told)
    kept = tuple(one for one in exercise.targets if one.what != "barriers per tile")
    targets = (*kept, _one_barrier_per_tile(tile), _under_way(tile))
    return replace(exercise, targets=targets)


def _one_barrier_per_tile(tile: int) -> Target:
    """Barriers that each thread passes; one is allowed besides, before the first tile is read."""

    def passed(seen: Run) -> float:
        launch = seen.job.launch(seen.shape)
        warps = launch.blocks * -(-launch.threads // 32)
        return sum(line.barriers for line in seen.trace.counts.values()) / warps

    def measure(seen: Run) -> float:
        return math.ceil((passed(seen) - 1) / (seen.shape[2] // tile))

    def cause(seen: Run, value: float) -> str:
        tiles = seen.shape[2] // tile
        lines = [str(site.line) for site, one in seen.trace.counts.items() if one.barriers]
        where = f"source line{'s' * (len(lines) > 1)} {', '.join(lines)}"
        return (
            f"each thread passes {counted(round(passed(seen)), 'barrier')} ({where}) for "
            f"{counted(tiles, 'tile')}; the target is {tiles + 1}.{_one_place(tile, seen)}"
        )

    words = "one barrier per tile, and at most one more"
    return Target("barriers per tile", 1, words, measure, cause)


def _one_place(tile: int, seen: Run) -> str:
    """Why there are two barriers for each tile, where a shared array holds one tile only."""
    shared = [one for one in seen.recorded(0).arrays if one.space == "shared"]
    single = next((one.name for one in shared if math.prod(one.shape) <= tile * tile), None)
    if single is None:
        return ""
    return (
        f" `{single}` has room for one tile. So a barrier must stand before a tile is read, and "
        "another one before the next tile is stored in its place."
    )


@dataclass(frozen=True)
class _Wait:
    """A load of a tile that is needed too early.

    array: its name. load, store: source lines. terms: of the sum that are added between the two.
    """

    array: str
    load: int
    store: int
    terms: int


def _under_way(tile: int) -> Target:
    """Loads of a thread, behind the first tile, that do not have a whole tile's sums for their way.

    A thread waits for what it has loaded where it stores it into shared memory.
    """

    def measure(seen: Run) -> float:
        return float(len(list(_waits(tile, seen))))

    def cause(seen: Run, value: float) -> str:
        first = next(_waits(tile, seen))
        load, store = (_site(seen, line) for line in (first.load, first.store))
        story = f"{at_line(load)} loads an element of the next tile of `{first.array}`"
        if first.load == first.store:
            story += " and stores it into shared memory at once."
        else:
            story += f", and {at_line(store)} stores it into shared memory."
        return (
            f"{story} The store needs the loaded value, so a thread waits there until it has come. "
            f"Between the two it adds {first.terms} of the {tile} terms of a tile."
        )

    words = f"all {tile} terms of a tile between a load of the next tile and its store"
    return Target("loads that are waited for", 0, words, measure, cause)


def _waits(tile: int, seen: Run) -> Iterator[_Wait]:
    """Loads of thread 0 with fewer terms than a tile has between them and the next store."""
    homes = _homes(seen)
    steps = [one for one in seen.recorded(0).events if _takes_part(one)]
    spaces = {one.array: one.space for one in seen.trace.access_counts}
    for place, step in enumerate(steps):
        if step.kind != "load" or spaces[step.array] != "global":
            continue
        if _tile_of(tile, seen, step) == 0:
            continue
        reads = 0
        for later in steps[place + 1 :]:
            if spaces[later.array] != "shared":
                continue
            if later.kind == "store":
                if later.array not in homes.get(step.array, {later.array}):
                    continue
                if reads < 2 * tile:
                    yield _Wait(step.array, step.line, later.line, reads // 2)
                break
            reads += 1


def _homes(seen: Run) -> dict[str, set[str]]:
    """The shared arrays into which elements of each input are stored, by their names there."""
    inputs = {seen.names["a"], seen.names["b"]}
    shared = {one.array for one in seen.trace.access_counts if one.space == "shared"}
    carries: dict[
        str, set[str]
    ] = {}  # a variable or a local array: of which inputs it has elements
    homes: dict[str, set[str]] = {}
    for target, value in _assignments(seen.tree):
        found = _elements_in(value, inputs, carries)
        name = ast.unparse(target.value if isinstance(target, ast.Subscript) else target)
        for one in found:
            if name in shared:
                homes.setdefault(one, set()).add(name)
            else:
                carries.setdefault(name, set()).add(one)
    return homes


def _assignments(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each target with its value; of tuples each part by itself."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign):
            continue
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            yield from zip(target.elts, value.elts)
        else:
            yield target, value


def _elements_in(value: ast.expr, inputs: set[str], carries: dict[str, set[str]]) -> set[str]:
    """The inputs of which a value has elements, directly or by what carries them."""
    found: set[str] = set()
    for one in ast.walk(value):
        if isinstance(one, ast.Subscript) and ast.unparse(one.value) in inputs:
            found.add(ast.unparse(one.value))
        elif isinstance(one, ast.Name):
            found |= carries.get(one.id, set())
    return found


def _takes_part(event: Event) -> bool:
    return event.kind in ("load", "store") and event.first[0] >= 0


def _tile_of(tile: int, seen: Run, load: Event) -> int:
    """The number of the tile along k that a load of thread 0 belongs to."""
    row, column = divmod(int(load.first[0]), seen.array(seen.parameter(load.array)).shape[1])
    return (column if seen.parameter(load.array) == "a" else row) // tile


def _site(seen: Run, line: int) -> Site:
    return next(one.site for one in seen.trace.access_counts if one.site.line == line)
