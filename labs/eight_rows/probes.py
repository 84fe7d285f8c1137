"""What goes wrong where a thread computes TM rows of a column, and walks tiles of any shape."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import numpy as np

from labs.exercise import Probes
from labs.product_probes import by_blocks, exchanged, leaves_a_matrix, what_it_counts
from labs.products import Split
from labs.run import Run
from labs.shared_memory import in_shared
from labs.tile_probes import of_any_shape
from labs.tile_sums import taken_for_outside, terms_by_tile
from labs.words import at_line
from utils.virtual_gpu import Finding, VirtualGpuError
from utils.virtual_gpu.source import read_source

# As in starter.py and solution.py.
BM, BN, BK, TM = 32, 64, 16, 8
THREADS = BM // TM * BN
TOLD = {"BM": BM, "BN": BN, "TM": TM}
TILES = {"a": (BM, BK), "b": (BK, BN)}


def probes() -> Probes:
    """What is known of this exercise; then what all tiles and all products know."""
    products = by_blocks(Split(block=(BN, BM)))
    return Probes(
        constants=(_other_sizes,),
        findings=(
            _sums_not_set,
            _walk_exchanged,
            _walked_in_other_rows,
            _exchanged,
            _one_too_large,
            _first_row_decides,
            *of_any_shape(BK),
            _not_all_loaded,
            _beyond_the_tile,
            *products.findings,
        ),
        unwritten=(_rows_of_a_block, _last_row_decides, *products.unwritten),
        wrong=(
            lambda seen: terms_by_tile(BK, seen),
            _mixed_up,
            _rows_of_a_thread_alike,
            _row_of_a_thread,
            taken_for_outside,
            *products.wrong,
        ),
    )


def _other_sizes(kernel) -> str | None:
    """A constant that the launch knows has another value."""
    code, names = kernel.py_func.__code__, read_source(kernel.py_func).names
    for name, right in TOLD.items():
        found = names.get(name)
        used = name in code.co_names + code.co_freevars
        if used and isinstance(found, int) and found != right:
            return (
                f"Your `{name}` is {found}. This launch has a block of {THREADS} threads for every "
                f"{BM}×{BN} elements of c, {TM} for each thread."
            )
    return None


# ----------------------------------------------------------------- what the virtual GPU has found


def _sums_not_set(seen: Run, finding: Finding) -> str | None:
    """The sums are added to before they are set; or a tile is an array of each thread."""
    if finding.kind != "uninitialised" or "local array" not in finding.message:
        return None
    if len(finding.index) == 2:
        return (
            f"`{finding.array}` is a local array: each thread has one of its own, and sees nothing "
            "of what the others store in theirs."
        )
    return (
        f"A local array holds anything at first, and `{finding.array}` is added to before anything "
        "is stored in it."
    )


def _shape_of(finding: Finding) -> tuple[int, ...]:
    """The shape of the shared array that an index leaves."""
    found = re.search(r"\(shape \(([\d, ]+)\)\)", finding.message)
    return tuple(int(one) for one in found[1].split(",") if one.strip()) if found else ()


def _walk_exchanged(seen: Run, finding: Finding) -> str | None:
    """A tile is filled with the row of its walk as the column, and the column as the row."""
    shape = _shape_of(finding)
    if not in_shared(seen, finding, "out_of_bounds") or not _stores(seen, finding) or not shape:
        return None
    across = shape[-1]
    numbers = range(finding.threads[0].thread[0], math.prod(shape), THREADS)
    places = {number: divmod(number, across) for number in numbers}
    found = [number for number, place in places.items() if place[::-1] == finding.index]
    if not found or places[found[0]] == finding.index:
        return None
    number, (row, column) = found[0], places[found[0]]
    return (
        f"Element {number} of a tile with rows of {across} lies in row {row} and column {column}: "
        "the two are exchanged."
    )


def _walked_in_other_rows(seen: Run, finding: Finding) -> str | None:
    """A tile is filled in rows of another length than its own, as of the other tile."""
    shape = _shape_of(finding)
    if not in_shared(seen, finding, "out_of_bounds") or not _stores(seen, finding) or not shape:
        return None
    high = finding.index_range[1] + 1
    length = high if finding.axis else math.prod(shape) / high
    whose = next((name for name, (_, across) in TILES.items() if across == length), None)
    if whose is None or shape not in TILES.values():
        return None
    return (
        f"`{finding.array}` has {shape[0]} rows of {shape[1]} elements, and here its elements are "
        f"counted in rows of {length:g}. That is as long as a row of the tile of "
        f"`{seen.names[whose]}`."
    )


def _stores(seen: Run, finding: Finding) -> bool:
    """Whether the index that leaves an array is that of a store."""
    left = finding.site.source.partition("=")[0]
    return finding.array in left and "+=" not in finding.site.source


def _exchanged(seen: Run, finding: Finding) -> str | None:
    """Indices of a matrix that are exchanged leave it where it is not square."""
    return exchanged(seen) if leaves_a_matrix(seen, finding) else None


def _one_too_large(seen: Run, finding: Finding) -> str | None:
    """One row, column or term too far, at the shape where no thread lies outside."""
    if not leaves_a_matrix(seen, finding) or seen.shape != seen.exercise.shapes[0]:
        return None
    what, size = what_it_counts(seen, finding)
    if finding.index_range != (size, size):
        return None
    return (
        f"At this shape the tiles of all blocks lie inside, and no test is needed: the index "
        f"itself is one too large. The last {what} is {size - 1}."
    )


def _first_row_decides(seen: Run, finding: Finding) -> str | None:
    """A thread with its first row inside stores those outside, too, and the others none."""
    m = seen.shape[0]
    end = -(-m // TM) * TM
    if seen.parameter(finding.array) != "c" or finding.axis != 0:
        return None
    # With one row outside, `<=` looks the same; where a block ends there, so does no test at all.
    if finding.index_range != (m, end - 1) or end == m + 1 or end % BM == 0:
        return None
    return (
        f"The last row is {m - 1}, and rows {m} to {end - 1} belong to threads whose first row, "
        f"{end - TM}, is inside: your test asks only for the first of the {TM} rows of a thread, "
        "and lets all of them pass."
    )


def _not_all_loaded(seen: Run, finding: Finding) -> str | None:
    """A part of a tile is filled by nobody, at the shape that fits."""
    if not in_shared(seen, finding, "uninitialised") or len(finding.index) != 2:
        return None
    if seen.shape != seen.exercise.shapes[0]:
        return (
            "The tile reaches over the edge of the matrix there. No thread stores anything in that "
            "part of it, and it is read all the same."
        )
    for rows, across in TILES.values():
        number = finding.index[0] * across + finding.index[1]
        if number and number % THREADS == 0 and number < rows * across:
            story = (
                f"Only the first {number} elements of `{finding.array}` are filled, and it has "
                f"{rows * across:,}."
            )
            if number == math.prod(TILES["a"]):
                return f"{story} {number} is how many the tile of `{seen.names['a']}` has."
            return (
                f"{story} A block has {THREADS} threads: how many elements must each of them load?"
            )
    return "Which thread should have stored this element, and in which turn of its walk?"


def _beyond_the_tile(seen: Run, finding: Finding) -> str | None:
    """An index of a read, or of a walk, leaves a tile."""
    shape = _shape_of(finding)
    if not in_shared(seen, finding, "out_of_bounds") or len(shape) != 2:
        return None
    what, size = ("rows", "columns")[finding.axis], shape[finding.axis]
    low, high = finding.index_range
    story = (
        f"`{finding.array}` has {size} {what}, 0 to {size - 1}, and this index goes on to {high}"
    )
    if low == high == size:
        return (
            f"`{finding.array}` has {size} {what}, 0 to {size - 1}, and this index takes one more."
        )
    reads = re.search(rf"\b{finding.array}\[([^\]]+)\]", finding.site.source)
    other = 1 - finding.axis
    if reads and not _stores(seen, finding) and high < shape[other]:
        return (
            f"{story}. It has {shape[other]} {('rows', 'columns')[other]}: are the two exchanged?"
        )
    return f"{story}."


# ----------------------------------------------------------------- elements that nobody has written


def _rows_of_a_block(seen: Run) -> str | None:
    """Which rows are written where one block is exactly enough."""
    try:
        alone = seen.at((BM, BN, BK))
    except VirtualGpuError:
        return None
    rows = np.flatnonzero(~alone.unwritten.any(axis=1))
    if rows.size == BM // TM - 1 + TM and (np.diff(rows) == 1).all():
        return (
            f"In a block only rows {rows[0]} to {rows[-1]} are written: threads of a "
            f"column begin one row apart, and each computes {TM} rows, so they overlap."
        )
    if np.array_equal(rows, np.arange(TM)):
        return (
            f"In a block only rows 0 to {TM - 1} are written: the first row of a thread, which is "
            f"0, {TM}, {2 * TM} …, is missing where it stores."
        )
    if not np.array_equal(rows, np.arange(0, BM, TM)):
        return None
    stores = alone.total("c", "store", "lanes") / (~alone.unwritten).sum()
    if stores > 1:
        return (
            f"Only every {TM}th row is written, and each of its elements {stores:.3g} times: a "
            "thread stores all of its sums into the same row."
        )
    return f"Only every {TM}th row is written: a thread stores one of its {TM} sums."


def _last_row_decides(seen: Run) -> str | None:
    """A thread with its last row outside stores none of those inside."""
    m = seen.shape[0]
    missing = np.flatnonzero(seen.unwritten.all(axis=1))
    if m % TM == 0 or not np.array_equal(missing, np.arange(m // TM * TM, m)):
        return None
    return (
        f"Row {missing[0]} belongs to a thread whose first row is inside and whose last, "
        f"{missing[0] + TM - 1}, is outside: what stops the last one stops them all."
    )


# -------------------------------------------------------------------------------- wrong values


def _rows_of_a_thread_alike(seen: Run) -> str | None:
    """All sums of a thread are the same."""
    out = seen.out[: seen.out.shape[0] // TM * TM]
    groups = out.reshape(-1, TM, out.shape[1])
    if not out.any() or (groups != groups[:, :1]).any():
        return None
    for i in range(TM):
        if np.array_equal(groups[:, 0], seen.right[i : len(out) : TM]):
            return (
                f"Rows 0 to {TM - 1} of `{seen.result}` are alike, and so on: all {TM} rows of a "
                f"thread hold what belongs in its row {i}. Does each sum take its own row of "
                f"`{seen.names['a']}`, and is each stored in its own row?"
            )
    return (
        f"Rows 0 to {TM - 1} of `{seen.result}` are alike, and so are those of every other thread: "
        f"its {TM} rows share one sum."
    )


def _row_of_a_thread(seen: Run) -> str | None:
    """Only some of a thread's rows are right."""
    rows = np.flatnonzero(seen.wrong.any(axis=1))
    right = sorted(set(range(TM)) - {int(row) % TM for row in rows})
    if seen.out.shape[0] < 2 * TM or not right or len(right) == TM:
        return None
    wrong = [row for row in range(TM) if row not in right]
    if not seen.wrong[wrong[0] :: TM].any(axis=1).all():
        return None
    return (
        f"Of the {TM} rows of a thread {_listed(right)} right, and the others are not: what serves "
        f"row {wrong[0]} goes wrong."
    )


def _listed(rows: list[int]) -> str:
    told = ", ".join(map(str, rows))
    return f"row {told} is" if len(rows) == 1 else f"rows {told} are"


def _mixed_up(seen: Run) -> str | None:
    """What indices that are mixed up would give, where a tile is loaded."""
    try:
        whole = seen.at((2 * BM, 2 * BN, 2 * BK))
    except VirtualGpuError:
        return None
    written = ~whole.unwritten
    for sentence, value in _by_mistake(*(one.astype(np.float64) for one in whole.inputs)):
        if np.array_equal(whole.out[written], value[written]):
            return sentence.format(**seen.names)
    return None


def _by_mistake(a: np.ndarray, b: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Products of other elements than the right ones, at two tiles in each direction."""
    rows, columns, terms = np.arange(len(a)), np.arange(b.shape[1]), np.arange(len(b))
    yield "Every block loads the rows of `{a}` that the first blocks need.", a[rows % BM] @ b
    yield (
        "Every block loads the columns of `{b}` that the first blocks need.",
        a @ b[:, columns % BN],
    )
    yield "Every turn loads the first tile of `{a}` again.", a[:, terms % BK] @ b
    yield "Every turn loads the first tile of `{b}` again.", a @ b[terms % BK]
    yield (
        "The columns of `{b}` are counted from the row of the block, and not from its column.",
        np.vstack([a[at : at + BM] @ b[:, at + columns % BN] for at in (0, BM)]),
    )
    yield (
        "Every term of a tile is multiplied with its first row of `{b}`: what a thread has read "
        "from the tile of `{b}` is not read again for each term.",
        a @ b[terms // BK * BK],
    )


# ------------------------------------------------------------------------------------- targets


def loaded_again(seen: Run, value: float) -> str:
    """A block loads elements of its tiles more than once from global memory."""
    needed = {"a": seen.array("a").size * -(-seen.shape[1] // BN),
              "b": seen.array("b").size * -(-seen.shape[0] // BM)}  # fmt: skip
    times = {name: seen.total(name, "load", "words") / needed[name] for name in needed}
    name = max(times, key=times.get)
    most = max(seen.accesses(name), key=lambda one: one.words)
    return (
        f"{at_line(most.site)} loads every element of `{most.array}` that a block needs "
        f"{times[name]:.3g} times from global memory, and the target is once. Does a thread load "
        "what another one loads, too?"
    )
