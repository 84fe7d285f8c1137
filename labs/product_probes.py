"""The usual mistakes of matrix products, recognised by what was seen of a run.

Exchanged indices on square matrices, where they stay inside; a test at an edge by how far and how
many threads go; threads by how far apart lanes store. Wrong sums are in product_sums.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from labs.exercise import Probes
from labs.product_sums import wrong_sums
from labs.run import WORD, Run
from labs.words import at, counted, up_to
from utils.virtual_gpu import Finding, VirtualGpuError

if TYPE_CHECKING:
    from labs.products import Split

SQUARE = (32, 32, 32)
SMALL_SQUARE = (8, 8, 8)  # for a function of the CPU, which is followed step by step


def probes(split: Split) -> Probes:
    """What this family knows, in the order in which it is asked."""
    return Probes(
        findings=(
            _one_for_all_threads,
            _exchanged_outside,
            _behind_the_sum,
            partial(_another_row_or_column, split),
            partial(_tail, split),
            partial(_one_direction, split),
            _edge,
        ),
        unwritten=(
            exchanged,
            exchanged_lanes,
            ends_at_another_size,
            partial(_columns_overlap, split),
            partial(_last_column_decides, split),
            partial(_too_few_columns, split),
            partial(_part_of_the_grid, split),
            _gaps,
            partial(_overlap, split),
            _leaves_early,
        ),
        wrong=(exchanged, *wrong_sums(split)),
    )


def by_blocks(split: Split) -> Probes:
    """What of it holds where threads of a block are numbered in a way of their own.

    split.block: the columns and the rows of c that a block covers.
    """
    return Probes(
        findings=(_exchanged_outside, _behind_the_sum, _edge),
        unwritten=(
            exchanged,
            exchanged_lanes,
            ends_at_another_size,
            partial(_part_of_the_grid, split),
            _gaps,
            partial(_overlap, split),
            _leaves_early,
        ),
        wrong=(exchanged, *wrong_sums(split)),
    )


# ------------------------------------------------------------------------------ exchanged indices


def _products_by_mistake(a: np.ndarray, b: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """What square matrices give where indices are exchanged."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    right = a @ b
    yield "transposed", right.T
    yield "a", a.T @ b
    yield "b", a @ b.T
    yield "both", a.T @ b.T
    yield "row of a", np.broadcast_to(np.einsum("ci,ic->c", a, b), right.shape)
    yield "column of b", np.broadcast_to(np.einsum("ri,ir->r", a, b)[:, None], right.shape)
    yield "other way round", b @ a


_MEANING = {
    "transposed": "On square matrices your result is the right one transposed: row and column are "
    "exchanged where `{c}` is stored.",
    "a": "On square matrices the result is `{a}`ᵀ·`{b}`: the two indices of `{a}` are exchanged.",
    "b": "On square matrices the result is `{a}`·`{b}`ᵀ: the two indices of `{b}` are exchanged.",
    "both": "On square matrices the result is `{a}`ᵀ·`{b}`ᵀ: the two indices of both inputs are "
    "exchanged.",
    "row of a": "On square matrices all rows of `{c}` are alike: `{a}` is read with the number of "
    "the column in place of the row.",
    "column of b": "On square matrices all columns of `{c}` are alike: `{b}` is read with the "
    "number of the row in place of the column.",
    "other way round": "On square matrices the result is `{b}`·`{a}`: the inputs are exchanged.",
}


def exchanged(seen: Run) -> str | None:
    """Run on square matrices, where exchanged indices stay inside, and recognise the result."""
    try:
        square = seen.at(SMALL_SQUARE if seen.exercise.on_cpu else SQUARE)
    except VirtualGpuError:
        return None
    written = ~square.unwritten
    if np.array_equal(written, np.eye(len(written), dtype=bool)):
        return f"Only the diagonal of `{seen.result}` is written: both of its indices are the same."
    if np.array_equal(square.out[written], square.right[written]):
        return None
    for mistake, value in _products_by_mistake(*square.inputs):
        if np.array_equal(square.out[written], value[written]):
            return _MEANING[mistake].format(**seen.names)
    return None


def exchanged_lanes(seen: Run) -> str | None:
    """Neighbouring lanes store whole rows apart, or the same element: x does not count columns."""
    n, stores = seen.shape[1], seen.accesses("c", "store")
    step = seen.lane_step("c", "store")
    if n == 1 or step not in (0, n, n + 1):
        return None
    line = at(stores[0].site)
    if step == 0:
        return (
            f"{line}: lanes 0 and 1 store the same element: neither its row nor its column changes "
            "with `threadIdx.x`."
        )
    story = f"{line}: lanes 0 and 1 store {counted(step, 'word')} apart, a whole row"
    if step == n + 1:
        return f"{story} and one: both the row and the column change with `threadIdx.x`."
    story = (
        f"{story}. So `threadIdx.x` counts rows in your kernel, and this launch starts enough "
        "threads along x for the columns."
    )
    first = _first_of_grid(seen.tree)
    if first in (None, "x"):
        return story
    return (
        f"{story} (`cuda.grid(2)` gives the number along x first; your name for it is `{first}`.)"
    )


def _first_of_grid(kernel: ast.FunctionDef) -> str | None:
    """The reader's name of the first number of cuda.grid(2), where a tuple of names takes both."""
    for node in ast.walk(kernel):
        if isinstance(node, ast.Assign) and ast.unparse(node.value).endswith("grid(2)"):
            names = node.targets[0]
            if isinstance(names, ast.Tuple) and isinstance(names.elts[0], ast.Name):
                return names.elts[0].id
    return None


# ----------------------------------------------------------------- what the virtual GPU has found


def _exchanged_outside(seen: Run, finding: Finding) -> str | None:
    return exchanged(seen) if leaves_a_matrix(seen, finding) else None


def leaves_a_matrix(seen: Run, finding: Finding) -> bool:
    of_a_matrix = finding.kind == "out_of_bounds" and finding.axis is not None
    return of_a_matrix and seen.parameter(finding.array) in ("a", "b", "c")


def what_it_counts(seen: Run, finding: Finding) -> tuple[str, int]:
    """What the wrong index counts, row, column or term, and how many of them there are."""
    m, n, k = seen.shape
    meaning = {"a": (("row", m), ("term", k)), "b": (("term", k), ("column", n))}
    return meaning.get(seen.parameter(finding.array), (("row", m), ("column", n)))[finding.axis]


def _behind_the_sum(seen: Run, finding: Finding) -> str | None:
    """The index of the loop leaves the sum."""
    if not leaves_a_matrix(seen, finding) or what_it_counts(seen, finding)[0] != "term":
        return None
    m, n, k = seen.shape
    low, high = finding.index_range
    story = f"This index counts the terms of the sum, 0 to k - 1 = {k - 1}"
    if low == high == k:
        return f"{story}, and the loop takes one more, {k}."
    size = {n - 1: "n", m - 1: "m"}.get(high)
    ends = f" That is where {size} ends." if size else ""
    return f"{story}, and here it goes from {low} to {high}.{ends}"


def _one_for_all_threads(seen: Run, finding: Finding) -> str | None:
    """A shared array in the place of a local one: its indices are numbers of the loops alone."""
    if finding.kind != "race" or finding.array == seen.result:
        return None
    targets = [node.target for node in ast.walk(seen.tree) if isinstance(node, ast.For)]
    loops = {target.id for target in targets if isinstance(target, ast.Name)}
    named = {
        name.id
        for node in ast.walk(seen.tree)
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == finding.array
        for name in ast.walk(node.slice)
        if isinstance(name, ast.Name)
    }
    if not named <= loops:
        return None
    return (
        f"The block has one `{finding.array}`, for all of its threads: it is a shared array, and "
        "no index of it says which thread."
    )


def _tail(split: Split, seen: Run, finding: Finding) -> str | None:
    """The first column of a thread is inside and a later one is not."""
    if split.columns == 1 or not leaves_a_matrix(seen, finding):
        return None
    thread, n = finding.threads[0], seen.shape[1]
    step = seen.lane_step("b") or 1
    first = thread.block[0] * split.width + thread.thread[0] * step
    if what_it_counts(seen, finding)[0] != "column" or first >= n:
        return None
    story = (
        f"The first column of this thread, {first}, is inside; a later one, "
        f"{finding.index[finding.axis]}, is not"
    )
    if n % split.width == 0:
        return f"{story}. At this n every block lies inside: its columns lie too far apart."
    return f"{story}, and no test stops it there."


def _another_row_or_column(split: Split, seen: Run, finding: Finding) -> str | None:
    """A thread that has an element uses another row or column than its own."""
    if not leaves_a_matrix(seen, finding):
        return None
    thread, (what, size) = finding.threads[0], what_it_counts(seen, finding)
    x = thread.block[0] * split.width + thread.thread[0]
    y = thread.block[1] * split.block[1] + thread.thread[1]
    own, other, axis, crossing = (y, x, "y", "x") if what == "row" else (x, y, "x", "y")
    index = finding.index[finding.axis]
    if own >= size or own == index or (what == "column" and split.columns > 1):
        return None
    story = f"By `{axis}` of the grid this thread belongs to {what} {own}"
    if index == other:
        return f"{story}, and {index} is what its `{crossing}` gives."
    less_or_more = "more" if index > own else "less"
    return f"{story}; the index is {abs(index - own)} {less_or_more}."


def _one_direction(split: Split, seen: Run, finding: Finding) -> str | None:
    """`and` for `or` in the test at the edge: outside in one direction, a thread goes on."""
    if not leaves_a_matrix(seen, finding) or not _asks_for_both(seen.tree):
        return None
    thread, (m, n, _) = finding.threads[0], seen.shape
    y = thread.block[1] * split.block[1] + thread.thread[1]
    x = thread.block[0] * split.width + thread.thread[0] * (seen.lane_step("b") or 1)
    if (y < m) == (x < n):
        return None
    inside, outside = ("row", "column") if y < m else ("column", "row")
    return (
        f"The {outside} of this thread is outside, its {inside} is inside, and it goes on: your "
        "test stops only threads that are outside in both directions."
    )


def _asks_for_both(kernel: ast.FunctionDef) -> bool:
    """Whether a test of two comparisons lets a thread leave by `and`, or stay by `or`."""
    for node in ast.walk(kernel):
        if isinstance(node, ast.If) and isinstance(node.test, ast.BoolOp):
            leaves = isinstance(node.body[-1], ast.Return)
            if isinstance(node.test.op, ast.And) == leaves:
                return True
    return False


def _edge(seen: Run, finding: Finding) -> str | None:
    """Rows and columns behind the last: no test, `<=` for `<`, or another size."""
    if not leaves_a_matrix(seen, finding) or finding.index[finding.axis] < 0:
        return None
    what, size = what_it_counts(seen, finding)
    low, high = finding.index_range
    threads = counted(finding.threads_in_all, "thread")
    if not any(isinstance(node, ast.If | ast.IfExp) for node in ast.walk(seen.tree)):
        return (
            f"The grid is rounded up to whole blocks. Here {threads} have no element of "
            f"`{seen.result}`, and your kernel has no test that stops them."
        )
    if low == high == size:
        return (
            f"That is one too far: the last {what} is {size - 1}. A test lets {what} {size} pass: "
            "`<=` stands where `<` is meant, or `>` where `>=` is."
        )
    reach = f"{what} {low}" if low == high else f"{what}s {low} to {high}"
    return (
        f"It concerns {threads}, with {reach}: no test stops them, or one compares this {what} "
        "with another size. Which of `m`, `n` and `k` is it?"
    )


# -------------------------------------------------------------------- elements that nobody wrote


def _whole(missing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows and the columns of which every element is missing."""
    return np.flatnonzero(missing.all(axis=1)), np.flatnonzero(missing.all(axis=0))


def _own_columns(split: Split, seen: Run) -> list[int]:
    """The columns that lane 0 of the first block stores, in order, where c is one row."""
    try:
        alone = seen.at((1, 4 * split.width, 4), blocks=1)
    except VirtualGpuError:
        return []
    lanes = [int(one[0]) // WORD for a in alone.accesses("c", "store") for one in a.first]
    return sorted({lane for lane in lanes if lane >= 0})


def _columns_overlap(split: Split, seen: Run) -> str | None:
    """The columns of a thread are nearer than the block is wide, or reach beyond the block."""
    if split.columns == 1 or seen.lane_step("c", "store") != 1:
        return None
    own = _own_columns(split, seen)
    apart = own[1] - own[0] if len(own) > 1 else split.block[0]
    story = f"Lane 0 stores columns {', '.join(map(str, own[:4]))}, {apart} apart"
    if apart < split.block[0]:
        return f"{story}, and lane 1 begins only one further: they overlap, and a gap follows."
    if own and own[-1] >= split.width:
        return f"{story}: they reach beyond the {split.width} columns that a block covers."
    return None


def _last_column_decides(split: Split, seen: Run) -> str | None:
    """A thread with its last column outside does nothing for those inside."""
    _, columns = _whole(seen.unwritten)
    if split.columns == 1 or not columns.size:
        return None
    n = seen.shape[1]
    first, last = _first_and_last(split, np.arange(n), seen.lane_step("c", "store"))
    if not np.array_equal(columns, np.flatnonzero(last >= n)):
        return None
    return (
        f"Column {columns[0]} belongs to a thread whose first column, {first[columns[0]]}, is "
        f"inside and whose last, {last[columns[0]]}, is outside: what stops the last one stops "
        "them all."
    )


def _first_and_last(split: Split, columns: np.ndarray, step: int | None):
    """The first and the last column of the threads that these columns belong to.

    step: words from lane 0 to lane 1; above 1 the columns of a thread are neighbours.
    """
    if step is not None and step > 1:
        first = columns // split.columns * split.columns
        return first, first + split.columns - 1
    width = split.block[0]
    first = columns // split.width * split.width + columns % width
    return first, first + split.width - width


def _too_few_columns(split: Split, seen: Run) -> str | None:
    if split.columns == 1:
        return None
    own = _own_columns(split, seen)
    if not 0 < len(own) < split.columns:
        return None
    return (
        f"Lane 0 stores {counted(len(own), 'column')}, and the task says {split.columns}: a block "
        f"covers {split.width} columns."
    )


def _part_of_the_grid(split: Split, seen: Run) -> str | None:
    """Only as many rows or columns are written as one block covers, or as one thread."""
    overlap = seen.total("c", "store", "lanes") > (~seen.unwritten).sum()
    rows, columns = (np.flatnonzero(~seen.unwritten.all(axis=axis)) for axis in (1, 0))
    m, n, _ = seen.shape
    parts = (("row", rows, m, split.block[1], "y"), ("column", columns, n, split.width, "x"))
    for what, found, size, covered, axis in parts:
        if size <= covered or not np.array_equal(found, np.arange(found.size)):
            continue
        if found.size == 1 and overlap:
            return (
                f"All threads compute {what} 0 of `{seen.result}`: the {what} does not change with "
                f"`{axis}`."
            )
        if found.size == covered:
            story = f"Only {up_to(what, covered)} written, as many as one block covers"
            if overlap:
                return (
                    f"{story}: all blocks compute the same {what}s. The number of the block is "
                    "missing there."
                )
            return (
                f"{story}. Those of the next block begin too far on, where a test stops them, or "
                "they are stopped too early."
            )
    return None


def _gaps(seen: Run) -> str | None:
    """Written stripes with gaps between them: blocks start further apart than they reach."""
    sizes = dict(zip(seen.shape, "mnk"))
    for axis, what in ((0, "column"), (1, "row")):
        missing = seen.unwritten.all(axis=axis)
        edges = np.flatnonzero(np.diff(missing.astype(int)))
        if len(edges) < 2 or missing[0]:
            continue
        covered, again = int(edges[0]) + 1, int(edges[1]) + 1
        story = f"First {up_to(what, covered)} written, then those from {again} on"
        if covered in sizes:
            return f"{story}. A test stops at {covered}, and that is {sizes[covered]}."
        return (
            f"{story}: the next block, or the next thread, starts {again} further and leaves "
            f"{again - covered} out."
        )
    return None


def _overlap(split: Split, seen: Run) -> str | None:
    """More stores than elements that were written."""
    stored = seen.total("c", "store", "lanes")
    written = int((~seen.unwritten).sum())
    if stored <= written:
        return None
    rows, columns = _whole(seen.unwritten)
    start = ""
    if columns.size and not rows.size:
        start = f" A block covers {split.width} columns. Is that how far the next block starts?"
    elif rows.size and not columns.size:
        start = f" A block covers {split.block[1]} rows. Is that how far the next block starts?"
    return f"And there were {stored:,} stores for {written:,} elements: threads overlap.{start}"


def ends_at_another_size(seen: Run) -> str | None:
    """The first missing row or column is another size of the product."""
    m, n, k = seen.shape
    rows, columns = _whole(seen.unwritten)
    cases = (("column", columns, n, {"m": m, "k": k}), ("row", rows, m, {"n": n, "k": k}))
    for what, missing, size, others in cases:
        if not missing.size or missing.size != size - missing[0]:
            continue
        for name, other in others.items():
            if missing[0] == other:
                return (
                    f"The {what}s end at {other}. That is {name}; `{seen.result}` has {size} of "
                    "them."
                )
    return None


def _leaves_early(seen: Run) -> str | None:
    """Rows or columns are missing up to the last one."""
    m, n, _ = seen.shape
    rows, columns = _whole(seen.unwritten)
    for what, missing, size in (("column", columns, n), ("row", rows, m)):
        if missing.size and missing.size == size - missing[0]:
            return (
                f"The last {what} that is written is {missing[0] - 1}, and {size - 1} is the last "
                "one inside: a test stops threads that still have work."
            )
    return None
