"""The family of tiled products whose threads compute several elements of c each.

On top of `tiled`: the tiles, their barriers and their banks are the same.
"""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.checking.phrasing import at, counted
from labs.checking.run import WORD, Run
from labs.checking.target import Probes, Target
from labs.families import product
from labs.families.product import Split
from labs.families.shared_memory import BANKS, computed_size
from labs.families.tiled import barriers_per_tile, inputs, no_bank_conflict, with_infinities
from labs.families.wrong_products import WRONG_PRODUCTS
from labs.targets.counts import (
    full_requests,
    no_float64,
    one_store_per_element,
    sectors_per_request,
)
from utils.ladder.step import Launch
from virtual_gpu.common.source import read_source
from virtual_gpu.counts.counters import AccessCount


@dataclass(frozen=True)
class Grains:
    """How the threads of a block share out its part of c, `tile` rows and columns·tile columns.

    tile: terms of a sum that one turn takes, too. columns, rows: of c that one thread computes. The
    block has tile threads along x, and tile / rows along y.
    """

    tile: int
    columns: int = 1
    rows: int = 1

    @property
    def block(self) -> tuple[int, int]:
        """Threads along x and y."""
        return self.tile, self.tile // self.rows

    @property
    def covered(self) -> Split:
        """What a block covers, as if each thread had one row."""
        return Split(block=(self.tile, self.tile), columns=self.columns)

    def launch(self, shape: Shape) -> Launch:
        """Enough blocks to cover c."""
        return replace(self.covered.launch(shape), block=self.block)

    @property
    def reads(self) -> float:
        """From shared memory, for each multiply-add."""
        return 1 / self.columns + 1 / self.rows


def grained_product(
    grains: Grains, constant: str, shapes: tuple[Shape, ...], **told
) -> KernelExercise:
    """An exercise of this family.

    constant: the starter's name for the side of a tile. shapes: the first fits the blocks, all of
    its sizes differ. One where a and b hold an infinity each, and ones, come behind them.
    told: the fields of KernelExercise that the family leaves open.
    """
    tile = grains.tile
    every = (*shapes, with_infinities(tile), (1, 1, 1))
    exercise = product.matrix_product(
        grains.covered, shapes=every, targets=_targets(grains), **told
    )
    return replace(
        exercise,
        launch=grains.launch,
        inputs=partial(inputs, tile),
        probes=probes(grains, constant),
    )


def _targets(grains: Grains) -> tuple[Target, ...]:
    width, height = grains.covered.width, grains.tile
    conflict = no_bank_conflict()
    return (
        one_store_per_element(),
        no_float64(),
        replace(
            product.loads_per_multiply_add(1 / width + 1 / height),
            words="a block loads each element of its tiles once",
            cause=partial(_loaded_again, grains),
        ),
        sectors_per_request(4),
        full_requests(),
        replace(conflict, cause=partial(_conflict, grains, conflict.cause)),
        _shared_reads(grains),
        barriers_per_tile(grains.tile),
    )


def _loaded_again(grains: Grains, seen: Run, value: float) -> str:
    """A block loads elements of a or of b more than once."""
    work, sides = math.prod(seen.shape), {"a": grains.covered.width, "b": grains.tile}
    times = {one: seen.total(one, "load", "words") * side / work for one, side in sides.items()}
    most = max(times, key=times.get)
    accesses = seen.accesses(most)
    places = ", ".join(str(access.site.line) for access in accesses)
    return (
        f"a block loads every element of `{seen.names[most]}` that it needs {times[most]:.3g} "
        f"times from global memory (source line{'s' * (len(accesses) > 1)} {places}), and the "
        "target is once. Does a thread load them again in each turn of a loop, or do "
        "threads load what others of their block load, too?"
    )


def _conflict(grains: Grains, told: Callable[[Run, float], str], seen: Run, value: float) -> str:
    """What is told of a conflict, and a way out where rows of the block meet in a wide array."""
    story = told(seen, value)
    for one in seen.trace.access_counts:
        if one.space != "shared" or one.wavefronts == one.requests or grains.tile >= BANKS:
            continue
        first, below = (int(one.first[0][lane]) for lane in (0, grains.tile))
        if min(first, below) >= 0 and (below - first) % (BANKS * WORD) == 0:
            return (
                f"{story} A warp covers two rows of the block, and all rows of `{one.array}` begin "
                "in the same bank. With an array of its own for each tile, rows of "
                f"{grains.tile} words, they do not meet."
            )
    return story


def _shared_reads(grains: Grains) -> Target:
    """Reads of shared memory for each multiply-add."""

    def measure(seen: Run) -> float:
        return sum(one.lanes for one in _shared_loads(seen)) / math.prod(seen.shape)

    def cause(seen: Run, value: float) -> str:
        work, of_array = math.prod(seen.shape), Counter()
        for one in _shared_loads(seen):
            of_array[one.array] += one.lanes
        shares = ", ".join(f"{n / work:.4g} of `{name}`" for name, n in of_array.items())
        story = (
            f"a multiply-add costs {value:.4g} reads from shared memory, {shares}; the target is "
            f"{grains.reads:g}. "
        )
        return story + (_too_many_turns(grains, seen, value) or _read_again(seen))

    words = f"at most {grains.reads:g} reads from shared memory per multiply-add"
    return Target("shared reads per multiply-add", grains.reads, words, measure, cause)


def _too_many_turns(grains: Grains, seen: Run, value: float) -> str:
    """More tiles than the sum has."""
    tiles = seen.shape[2] // grains.tile
    turns = value / grains.reads * tiles
    if turns <= tiles or abs(turns - round(turns)) > 1e-9 or round(turns) != _turns(grains, seen):
        return ""
    return (
        f"A thread takes {counted(round(turns), 'tile')} along k in place of {tiles}. What the "
        "rest adds is zero."
    )


def _turns(grains: Grains, seen: Run) -> float:
    """Tiles along k that a block loads, by its barriers."""
    launch = seen.job.launch(seen.shape)
    warps = launch.blocks * -(-launch.threads // 32)
    return sum(line.barriers for line in seen.trace.counts.values()) / warps / 2


def _read_again(seen: Run) -> str:
    """Source lines that read the same word one after the other."""
    launch = seen.job.launch(seen.shape)
    first_block, warps = seen.at(seen.shape, blocks=1), launch.threads // 32
    loads = _shared_loads(first_block)
    for place, one in enumerate(loads):
        for other in loads[place + 1 :]:
            if other.array == one.array and np.array_equal(one.first[0], other.first[0]):
                story = (
                    f"Source lines {one.site.line} and {other.site.line} read the same word of "
                    f"`{one.array}`. "
                )
                return story + (_in_two_loops(seen, one, other, warps) or "A name can hold it.")
        if _again_at_once(one, warps):
            return (
                f"{at(one.site)}, reads the same word of `{one.array}` several times, one time "
                "after the other. A name can hold it."
            )
    return _again_later(seen, loads) or "Which word does a thread read more than once?"


def _again_at_once(one: AccessCount, warps: int) -> bool:
    """Whether a line reads the same word twice, one time after the other."""
    return len(one.first) > warps and np.array_equal(one.first[0], one.first[warps])


def _again_later(seen: Run, loads: list[AccessCount]) -> str | None:
    """A loop around the innermost one does not move the word: it is read again in each turn."""
    for one in loads:
        line = one.site.line
        loops = sorted(
            (
                node
                for node in ast.walk(seen.tree)
                if isinstance(node, ast.For) and node.lineno < line <= node.end_lineno
            ),
            key=lambda node: node.lineno,
        )
        places = _depends_on(seen.tree, one.array, line)
        for loop in loops[1:-1]:  # the outermost goes over the tiles
            if isinstance(loop.target, ast.Name) and loop.target.id not in places:
                return (
                    f"{at(one.site)}, reads the same words of `{one.array}` in each turn of the "
                    f"loop in line {loop.lineno}. With that loop as the innermost one, a name can "
                    "hold a word for all of its turns."
                )
    return None


def _depends_on(tree: ast.AST, array: str, line: int) -> set[str]:
    """The names that decide which elements of `array` this line reads."""
    found = {
        name.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript) and node.lineno == line
        if isinstance(node.value, ast.Name) and node.value.id == array
        for name in ast.walk(node.slice)
        if isinstance(name, ast.Name)
    }
    while True:
        more = {
            name.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign | ast.AugAssign)
            and found & {one.id for one in ast.walk(node) if _is_set(one)}
            for name in ast.walk(node.value)
            if isinstance(name, ast.Name)
        }
        if more <= found:
            return found
        found |= more


def _is_set(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _in_two_loops(seen: Run, one: AccessCount, other: AccessCount, warps: int) -> str | None:
    """Two loops walk over the same words, one loop after the other: no name can hold them all."""
    lines = one.site.line, other.site.line
    loops = [
        node
        for node in ast.walk(seen.tree)
        if isinstance(node, ast.For | ast.While)
        and sum(node.lineno < line <= node.end_lineno for line in lines) == 1
    ]
    if len(loops) < 2 or _again_at_once(one, warps) or _again_at_once(other, warps):
        return None
    first, second = sorted(node.lineno for node in loops)[:2]
    return (
        f"They stand in two loops (lines {first} and {second}). One loop that adds to all sums "
        "reads each word once; what it needs must be in shared memory before it begins."
    )


def _shared_loads(seen: Run) -> list[AccessCount]:
    counts = seen.trace.access_counts
    return [one for one in counts if (one.space, one.kind) == ("shared", "load")]


def probes(grains: Grains, constant: str) -> Probes:
    """Return what the text shows. constant: the starter's name for the side of a tile."""
    constants = (partial(_other_tile, grains, constant),)
    return Probes(constants=constants, refused=(computed_size,), wrong=WRONG_PRODUCTS)


def _other_tile(grains: Grains, constant: str, kernel) -> str | None:
    """The reader's constant is not the side of a tile."""
    code = kernel.py_func.__code__
    side = read_source(kernel.py_func).names.get(constant)
    uses = constant in code.co_names + code.co_freevars
    if not uses or not isinstance(side, int) or side == grains.tile:
        return None
    x, y = grains.block
    return (
        f"This launch has blocks of {x}×{y} threads for tiles of {grains.tile}×{grains.tile} "
        f"elements, and your `{constant}` is {side}."
    )


# ----------------------------------------------------------------- what the virtual GPU has found


# ----------------------------------------------------------------- elements that nobody has written


# ------------------------------------------------------------------------------------ wrong values
