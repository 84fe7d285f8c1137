"""The family of tiled products with thread coarsening: each thread computes several elements of c.

Tiles, barriers and banks are those of `tiled`.
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
from labs.checking.phrasing import at, counted, rounded
from labs.checking.run import WORD, Run
from labs.checking.target import Probes, Target, essential
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
from labs.targets.sharing import (
    elements_per_thread,
    from_shared_memory,
    full_shared_requests,
    loads_by_all_threads,
)
from utils.division import cdiv
from utils.ladder.step import Launch
from utils.translation import translate
from virtual_gpu.common.source import read_source
from virtual_gpu.counts.counters import AccessCount


@dataclass(frozen=True)
class Granularity:
    """The part of c that each block, and each thread of it, computes.

    tile: the side of a tile, which is also the number of terms that one iteration adds to a sum.
    columns, rows: the number of columns and of rows of c that one thread computes. A block computes
    `tile` rows and columns·tile columns of c. It has `tile` threads along x and tile / rows along
    y.
    """

    tile: int
    columns: int = 1
    rows: int = 1

    @property
    def block(self) -> tuple[int, int]:
        """The numbers of threads of a block along x and along y, as a tuple."""
        return self.tile, self.tile // self.rows

    @property
    def covered(self) -> Split:
        """The part of c that a block covers, as a `Split`: `tile` rows and columns·tile columns."""
        return Split(block=(self.tile, self.tile), columns=self.columns)

    def launch(self, shape: Shape) -> Launch:
        """Return a launch whose blocks cover c, with (blocks along n, blocks along m) as its grid.

        shape: (m, n, k).
        """
        return replace(self.covered.launch(shape), block=self.block)

    @property
    def reads(self) -> float:
        """The fewest reads from shared memory per multiply-add that this granularity allows."""
        return 1 / self.columns + 1 / self.rows

    def words_of_a_thread(self, run: Run) -> int:
        """Return how many words of a and b each thread loads if all load equally many."""
        return cdiv(run.shape[2], self.tile) * self.rows * (1 + self.columns)

    def work(self, run: Run) -> int:
        """Return the multiply-adds of all blocks if all of their tiles were full."""
        blocks, tile = self.launch(run.shape).blocks, self.tile
        return blocks * self.columns * tile**3 * cdiv(run.shape[2], tile)


def coarsened_product(
    granularity: Granularity, constant: str, shapes: tuple[Shape, ...], **fields
) -> KernelExercise:
    """Return an exercise on a tiled product whose threads each compute several elements of c.

    constant: the starter's name for the side of a tile. shapes: the first fits the blocks, and its
    sizes all differ. A shape with infinities in a and b, and (1, 1, 1), are appended. fields: the
    remaining fields of KernelExercise.
    """
    tile = granularity.tile
    every = (*shapes, with_infinities(tile), (1, 1, 1))
    exercise = product.matrix_product(
        granularity.covered, shapes=every, targets=_targets(granularity), **fields
    )
    return replace(
        exercise,
        launch=granularity.launch,
        inputs=partial(inputs, tile),
        probes=probes(granularity, constant),
    )


def _targets(granularity: Granularity) -> tuple[Target, ...]:
    """Return the targets of a coarsened product, in the order in which they are judged.

    All are counted at the first shape, which fits the blocks. Those on stores per element, float64,
    elements per thread, loads by all threads, bank conflicts and barriers are counted at every
    shape.
    """
    width, height = granularity.covered.width, granularity.tile
    conflict = no_bank_conflict()
    return (
        one_store_per_element(),
        no_float64(),
        replace(
            product.loads_per_multiply_add(1 / width + 1 / height),
            words="a block loads each element of its tiles once",
            cause=partial(_loaded_again, granularity),
        ),
        sectors_per_request(4),
        essential(full_requests()),
        essential(elements_per_thread(granularity.columns * granularity.rows)),
        essential(loads_by_all_threads(granularity.words_of_a_thread, "a", "b")),
        essential(from_shared_memory(granularity.reads / 2)),
        essential(full_shared_requests()),
        replace(conflict, cause=partial(_conflict, granularity, conflict.cause)),
        _shared_reads(granularity),
        barriers_per_tile(),
    )


def _loaded_again(granularity: Granularity, run: Run, value: float) -> str:
    """Return sentences on the input, a or b, that blocks load most often, with its source lines.

    value: the measured count, which is not used.
    """
    work = math.prod(run.shape)
    factors = {"a": granularity.covered.width, "b": granularity.tile}
    times = {name: run.total(name, "load", "words") * n / work for name, n in factors.items()}
    most = max(times, key=times.get)
    accesses = run.accesses(most)
    lines = ", ".join(str(access.site.line) for access in accesses)
    return (
        f"a block loads every element of `{run.names[most]}` that it needs {rounded(times[most])} "
        f"times from global memory (source line{'s' * (len(accesses) > 1)} {lines}), and the "
        "target is once. Does a thread load them again in each turn of a loop, or do "
        "threads load what others of their block load, too?"
    )


def _conflict(
    granularity: Granularity, base_cause: Callable[[Run, float], str], run: Run, value: float
) -> str:
    """Return sentences on a bank conflict, which `base_cause` makes.

    If the rows of one wide array begin in the same bank, a further sentence says so. base_cause:
    takes a run and the measured count. value: the measured count.
    """
    story = base_cause(run, value)
    for one in run.trace.access_counts:
        if one.space != "shared" or one.wavefronts == one.requests or granularity.tile >= BANKS:
            continue
        first, below = (int(one.first[0][lane]) for lane in (0, granularity.tile))
        if min(first, below) >= 0 and (below - first) % (BANKS * WORD) == 0:
            return translate(
                "{story} A warp covers two rows of the block, and all rows of `{array}` begin "
                "in the same bank. With an array of its own for each tile, rows of {tile} "
                "words, they do not meet.",
                story=story,
                array=one.array,
                tile=granularity.tile,
            )
    return story


def _shared_reads(granularity: Granularity) -> Target:
    """Return a target: at most `granularity.reads` reads from shared memory per multiply-add."""

    def measure(run: Run) -> float:
        return sum(one.lanes for one in _shared_loads(run)) / math.prod(run.shape)

    def cause(run: Run, value: float) -> str:
        work, reads = math.prod(run.shape), Counter()
        for one in _shared_loads(run):
            reads[one.array] += one.lanes
        shares = ", ".join(f"{n / work:.4g} of `{name}`" for name, n in reads.items())
        story = (
            f"a multiply-add costs {value:.4g} reads from shared memory, {shares}; the target is "
            f"{granularity.reads:g}. "
        )
        return story + (_too_many_tiles(granularity, run, value) or _read_again(run))

    words = f"at most {granularity.reads:g} reads from shared memory per multiply-add"
    return Target("shared reads per multiply-add", granularity.reads, words, measure, cause)


def _too_many_tiles(granularity: Granularity, run: Run, value: float) -> str:
    """Return a sentence if a thread multiplies more tiles along k than the sum has, else "".

    It is also "" if the reads are not those of a whole number of tiles, or if the barriers show
    that the block loads another number of tiles. value: the measured reads from shared memory per
    multiply-add.
    """
    tiles = run.shape[2] // granularity.tile
    multiplied = value / granularity.reads * tiles
    if multiplied <= tiles or abs(multiplied - round(multiplied)) > 1e-9:
        return ""
    if round(multiplied) != _tiles_loaded(run):
        return ""
    return translate(
        "A thread takes {tiles} along k in place of {needed}. What the rest adds is zero.",
        tiles=counted(round(multiplied), "tile"),
        needed=tiles,
    )


def _tiles_loaded(run: Run) -> float:
    """Return the number of tiles along k that a block loads: half of its barriers per warp."""
    launch = run.job.launch(run.shape)
    warps = launch.blocks * cdiv(launch.threads, 32)
    return sum(line.barriers for line in run.trace.counts.values()) / warps / 2


def _read_again(run: Run) -> str:
    """Return sentences on source lines that read the same shared word more than once.

    If no such line is found, return a question to the reader. The first block is launched again.
    """
    launch = run.job.launch(run.shape)
    first_block, warps = run.at(run.shape, blocks=1), launch.threads // 32
    loads = _shared_loads(first_block)
    for index, one in enumerate(loads):
        for other in loads[index + 1 :]:
            if other.array == one.array and np.array_equal(one.first[0], other.first[0]):
                story = (
                    f"Source lines {one.site.line} and {other.site.line} read the same word of "
                    f"`{one.array}`. "
                )
                return story + (_in_two_loops(run, one, other, warps) or "A name can hold it.")
        if _again_at_once(one, warps):
            return translate(
                "{where}, reads the same word of `{array}` several times, one time after the "
                "other. A name can hold it.",
                where=at(one.site),
                array=one.array,
            )
    return _again_later(run, loads) or "Which word does a thread read more than once?"


def _again_at_once(one: AccessCount, warps: int) -> bool:
    """Return True if a source line reads the same words in a warp's first two requests.

    one: the loads of the line. warps: the number of warps in a block.
    """
    return len(one.first) > warps and np.array_equal(one.first[0], one.first[warps])


def _again_later(run: Run, loads: list[AccessCount]) -> str | None:
    """Return a sentence on a loop whose every iteration reads the same shared words, or None.

    A name could hold these words if that loop were the innermost one. The outermost and innermost
    loops around a line are not considered. loads: the loads from shared memory, per source line.
    """
    for one in loads:
        line = one.site.line
        loops = sorted(
            (
                node
                for node in ast.walk(run.tree)
                if isinstance(node, ast.For) and node.lineno < line <= node.end_lineno
            ),
            key=lambda node: node.lineno,
        )
        names = _depends_on(run.tree, one.array, line)
        for loop in loops[1:-1]:  # the outermost goes over the tiles
            if isinstance(loop.target, ast.Name) and loop.target.id not in names:
                return translate(
                    "{where}, reads the same words of `{array}` in each turn of the loop in "
                    "line {line}. With that loop as the innermost one, a name can hold a "
                    "word for all of its turns.",
                    where=at(one.site),
                    array=one.array,
                    line=loop.lineno,
                )
    return None


def _depends_on(tree: ast.AST, array: str, line: int) -> set[str]:
    """Return the names of all variables that determine the indices of `array` in a line.

    array: the reader's name. line: the line's number. Variables from which these variables are
    computed are included.
    """
    names = {
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
            and names & {one.id for one in ast.walk(node) if _is_set(one)}
            for name in ast.walk(node.value)
            if isinstance(name, ast.Name)
        }
        if more <= names:
            return names
        names |= more


def _is_set(node: ast.AST) -> bool:
    """Return True if a syntax node is a variable's name to which a value is assigned."""
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _in_two_loops(run: Run, one: AccessCount, other: AccessCount, warps: int) -> str | None:
    """Return sentences if two source lines read the same words in two successive loops, else None.

    One name cannot hold the words from one loop to the next. Returns None, too, if one of the lines
    reads the same words in the first two requests of a warp. one, other: the loads of the two
    lines. warps: the number of warps in a block.
    """
    lines = one.site.line, other.site.line
    loops = [
        node
        for node in ast.walk(run.tree)
        if isinstance(node, ast.For | ast.While)
        and sum(node.lineno < line <= node.end_lineno for line in lines) == 1
    ]
    if len(loops) < 2 or _again_at_once(one, warps) or _again_at_once(other, warps):
        return None
    first, second = sorted(node.lineno for node in loops)[:2]
    return translate(
        "They stand in two loops (lines {first} and {second}). One loop that adds to all sums "
        "reads each word once; what it needs must be in shared memory before it begins.",
        first=first,
        second=second,
    )


def _shared_loads(run: Run) -> list[AccessCount]:
    """Return the AccessCounts of a run's loads from shared memory, one per line and array."""
    counts = run.trace.access_counts
    return [one for one in counts if (one.space, one.kind) == ("shared", "load")]


def probes(granularity: Granularity, constant: str) -> Probes:
    """Return this family's probes: for the tile constant, computed sizes and wrong products.

    constant: the starter's name for the side of a tile, such as "TILE".
    """
    constants = (partial(_other_tile, granularity, constant),)
    return Probes(constants=constants, refused=(computed_size,), wrong=WRONG_PRODUCTS)


def _other_tile(granularity: Granularity, constant: str, kernel) -> str | None:
    """Return a sentence if the constant in the reader's file is not the side of a tile, else None.

    constant: its name. Also returns None if the kernel does not use this name, or if its value is
    not a whole number.
    """
    code = kernel.py_func.__code__
    side = read_source(kernel.py_func).names.get(constant)
    uses = constant in code.co_names + code.co_freevars
    if not uses or not isinstance(side, int) or side == granularity.tile:
        return None
    (x, y), tile = granularity.block, granularity.tile
    return translate(
        "This launch has blocks of {x}×{y} threads for tiles of {tile}×{tile} elements, and "
        "your `{constant}` is {side}.",
        x=x,
        y=y,
        tile=tile,
        constant=constant,
        side=side,
    )
