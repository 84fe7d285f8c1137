"""Pictures of a 2×8 micro-kernel: packed panels, registers, and the bounds of larger tiles."""

from __future__ import annotations

from utils.figures.roles import MATRIX_A, MATRIX_B, MATRIX_C, NOW
from virtual_gpu.pictures.svg import (
    BLUE,
    PURPLE,
    Picture,
    frames,
    legend,
    rect,
    svg,
    text,
)

# A small worked example: a tile of 2×8 and three steps of k.
A = ((1, 2), (3, 1), (2, 4))  # per step, the elements of two rows of a
B = ((1, 0, 2, 1, 3, 0, 1, 2), (2, 1, 0, 1, 1, 2, 0, 1), (0, 1, 1, 2, 0, 1, 3, 1))
ROWS, LANES = 2, 8
REGISTERS = 16  # vector registers of AVX2
LATENCY, UNITS, LOADS = 4, 2, 2  # cycles of a multiply-add; units, and loads begun per cycle
BOX, LEFT, WIDTH = 30, 104, 380
# The actions of one step, in order.
_ACTIONS = ("load", "broadcast 0", "multiply-add 0", "broadcast 1", "multiply-add 1")
_STORES = ("store 0", "store 1")
# One colour per kind of register content, in every picture.
COLOURS = {
    "vector of b": MATRIX_B,
    "element of a": MATRIX_A,
    "sum 0": MATRIX_C,
    "sum 1": MATRIX_C,
}

DEPTH, WIDE, CELL = 4, 16, 22  # rows and columns of the packed matrix, and pixels per element


def draw_packing() -> Picture:
    """Draw a 4×16 matrix b as NumPy stores it and in two packed panels of 8 columns, with a slider.

    Each element shows its offset in memory. The slider chooses a row k of b, and the vector of the
    first panel that the micro-kernel loads from this row is highlighted.
    """
    pictures = [_packing(step) for step in range(DEPTH)]
    labels = [f"step {step} of the first panel" for step in range(DEPTH)]
    unpacked = ", ".join(str(WIDE * step) for step in range(DEPTH))
    packed = ", ".join(str(LANES * step) for step in range(DEPTH))
    alt = (
        f"A matrix of {DEPTH}×{WIDE} with the place of each element in memory. As NumPy stores it, "
        f"the vectors of the first 8 columns begin at {unpacked}. Packed into panels of 8 columns, "
        f"they begin at {packed}: one lies behind the other."
    )
    key = legend(first_panel=BLUE, second_panel=PURPLE, read_in_this_step=NOW)
    return Picture(key + frames(pictures, labels, "step"), alt)


def _packing(step: int) -> str:
    """Return an SVG of both layouts of b, with row `step` of the first panel highlighted."""
    top, below = 40, 40 + DEPTH * CELL + 44
    body = text(2, 16, "as NumPy stores it: row after row", 14, font_weight="bold")
    body += _offsets((2, top), WIDE, step, 0)
    body += text(2, below - 24, "packed: panel after panel", 14, font_weight="bold")
    right = (2 + LANES * CELL + 12, below)
    body += _offsets((2, below), LANES, step, 0) + _offsets(right, LANES, step, DEPTH * LANES)
    body += text(2, below - 7, "panel 0") + text(right[0], below - 7, "panel 1")
    body += text(2, top - 7, "columns 0 to 7") + text(2 + LANES * CELL, top - 7, "columns 8 to 15")
    alt = (
        f"Step {step}: as NumPy stores b the vector begins at place {WIDE * step}, packed at place "
        f"{LANES * step}."
    )
    return svg(WIDE * CELL + 16, below + DEPTH * CELL + 4, body, alt, widest=440)


def _offsets(at: tuple[float, float], width: int, step: int, first: int) -> str:
    """Return the SVG of DEPTH rows of `width` elements, each with its offset in memory.

    The offsets count from `first`, row by row. 16 columns are both panels; 8 columns are the first
    panel if `first` is 0, else the second. In row `step` the elements of the first panel, if it is
    drawn, are highlighted. at: (x, y) of the upper left corner in pixels.
    """
    parts = []
    for row in range(DEPTH):
        for column in range(width):
            panel = (first + column) // LANES if width > LANES else bool(first)
            colour = PURPLE if panel else BLUE
            colour = NOW if not panel and row == step else colour
            x, y = at[0] + column * CELL, at[1] + row * CELL
            parts.append(rect(x, y, CELL - 1, CELL - 1, colour, opacity=0.55))
            parts.append(text(x + CELL / 2, y + 15, first + row * width + column, 12, "middle"))
    return "".join(parts)


def draw_micro_tile() -> Picture:
    """Draw the memory and the registers of a 2×8 micro-kernel with example numbers, with a slider.

    The slider goes through the loads, broadcasts, multiply-adds and stores of three steps of k.
    """
    moments = [(step, action) for step in range(len(A)) for action in _ACTIONS]
    moments += [(len(A), action) for action in _STORES]
    pictures = [_moment(at, moments) for at in range(len(moments))]
    labels = [_label(step, action) for step, action in moments]
    alt = (
        f"A micro-kernel of {ROWS}×{LANES} in {len(A)} steps. In each step it loads one vector of "
        "8 elements of b, and for each of two rows it broadcasts an element of a and adds the "
        "product to the sum of that row. Both sums stay in registers from the first step to the "
        "last. Then each is stored into a row of c."
    )
    key = legend(sums=MATRIX_C, vector_of_b=MATRIX_B, element_of_a=MATRIX_A)
    both_sums = moments.index((0, "multiply-add 1"))  # the first picture with numbers everywhere
    return Picture(key + frames(pictures, labels, "what happens", both_sums), alt)


def _label(step: int, action: str) -> str:
    """Return the words on an action such as "broadcast 1" in a step of k."""
    verb, _, row = action.partition(" ")
    if verb == "store":
        return f"after the last step: store sum {row} into c"
    labels = {"load": "load a vector of b", "multiply-add": f"multiply, and add to sum {row}"}
    return f"step {step}: " + (labels.get(verb) or f"broadcast {A[step][int(row)]} from a")


def registers(done: list[tuple[int, str]]) -> dict[str, tuple[int, ...] | None]:
    """Return register -> its eight values after some actions of the micro-kernel.

    done: the actions in order, each as (step of k, action), such as (0, "broadcast 1"). The
    registers are the keys of `COLOURS`. A register that was not loaded is None; the two sums begin
    with zeros.
    """
    sums = [[0] * LANES for _ in range(ROWS)]
    vector = element = None
    for step, action in done:
        verb, _, row = action.partition(" ")
        if verb == "load":
            vector = B[step]
        elif verb == "broadcast":
            element = (A[step][int(row)],) * LANES
        elif verb == "multiply-add":
            row_sum = sums[int(row)]
            sums[int(row)] = [c + x * y for c, x, y in zip(row_sum, element, vector, strict=True)]
    return {"vector of b": vector, "element of a": element, "sum 0": tuple(sums[0])} | {
        "sum 1": tuple(sums[1])
    }


def _moment(at: int, moments: list[tuple[int, str]]) -> str:
    """Return an SVG of memory and registers after the action with the index `at`.

    moments: all actions in order, each as (step of k, action).
    """
    step, action = moments[at]
    verb, _, row = action.partition(" ")
    body, y = text(2, 16, "what the steps need, in memory", 14, font_weight="bold"), 26
    for number in range(len(A)):
        body += text(2, y + 19, f"step {number}: a")
        for index in range(ROWS):
            now = number == step and verb == "broadcast" and str(index) == row
            colour = MATRIX_A if now else "none"
            body += _box(66 + index * BOX, y, A[number][index], colour, BOX, now)
        body += text(66 + ROWS * BOX + 8, y + 19, "b")
        for lane in range(LANES):
            now = number == step and verb == "load"
            body += _box(152 + lane * 28, y, B[number][lane], MATRIX_B if now else "none", 28, now)
        y += 28
    y += 28
    body += text(2, y, "the registers", 14, font_weight="bold")
    y += 10
    changed = {"load": "vector of b", "broadcast": "element of a", "multiply-add": f"sum {row}"}
    held = registers(moments[: at + 1])
    for name, values in held.items():
        body += text(2, y + 19, name)
        colour = "none" if values is None else COLOURS[name]
        body += _row(y, values, colour, name == changed.get(verb))
        y += 32
    y += 24
    body += text(2, y, "c, in memory", 14, font_weight="bold")
    y += 10
    stored = [name.partition(" ")[2] for _, name in moments[: at + 1] if name in _STORES]
    for number in "01":
        is_stored = number in stored
        body += text(2, y + 19, f"row {number}")
        values = held[f"sum {number}"] if is_stored else None
        colour = MATRIX_C if is_stored else "none"
        body += _row(y, values, colour, verb == "store" and number == row)
        y += 32
    return svg(WIDTH, y + 4, body, f"{_label(step, action)}.", widest=460)


def _row(y: float, values: tuple[int, ...] | None, colour: str, now: bool) -> str:
    """Return the SVG of the eight numbers of one register, or of empty boxes if `values` is None.

    y: the top of the row in pixels. `now` highlights the register.
    """
    return "".join(
        _box(LEFT + lane * 34, y, "" if values is None else values[lane], colour, 34, now)
        for lane in range(LANES)
    )


def _box(x: float, y: float, content: object, colour: str, width: float, now: bool) -> str:
    """Return the SVG of one number in a box of `width` pixels with the upper left corner (x, y).

    content: the number, or "". `now` highlights a number that the current action reads or changes.
    The colour "none" leaves the box without a fill.
    """
    ground = rect(x, y, width - 2, 26, colour, opacity=0.6 if now else 0.3)
    ground = ground if colour != "none" else ""
    strength = {"stroke_opacity": 1, "stroke_width": 2} if now else {"stroke_opacity": 0.35}
    edge = rect(x, y, width - 2, 26, "none", stroke="currentColor", **strength)
    return ground + edge + text(x + (width - 2) / 2, y + 18, content, 13, "middle")


def bounds(rows: int, vectors: int) -> tuple[float, float]:
    """Return the shares of the peak, (by its sums, by its loads), that a tile allows.

    Both are fractions, at most 1. rows: the rows of the tile. vectors: the vectors in a row.
    """
    products = rows * vectors
    by_loads = products / UNITS / ((rows + vectors) / LOADS)
    return min(1.0, products / (LATENCY * UNITS)), min(1.0, by_loads)


def draw_registers() -> Picture:
    """Draw how tiles of 2×8, 6×16 and 4×24 use the 16 vector registers of AVX2.

    The colours distinguish sums, vectors of b, the element of a, and unused registers. Below each
    row are its loads per multiply-add, and the shares of the peak that its sums and loads allow.
    """
    tiles, y, body, sentences = ((2, 1), (6, 2), (4, 3)), 4, "", []
    for rows, vectors in tiles:
        used = [MATRIX_C] * (rows * vectors) + [MATRIX_B] * vectors + [MATRIX_A]
        name = f"{rows}×{LANES * vectors}"
        body += text(2, y + 15, name, font_weight="bold")
        for number in range(REGISTERS):
            colour = used[number] if number < len(used) else "none"
            x = 52 + number * 20
            body += rect(x, y, 17, 20, colour, stroke="currentColor", stroke_opacity=0.4)
        loads, products = rows + vectors, rows * vectors
        counts = f"{loads} loads for {products} multiply-adds: {loads / products:.2f}"
        by_sums, by_loads = bounds(rows, vectors)
        shares = f"at most {by_sums:.0%} by its sums, {by_loads:.0%} by its loads"
        body += text(52, y + 36, counts, 13) + text(52, y + 53, shares, 13)
        sentences.append(
            f"A tile of {name} takes {products} for sums, {vectors} for b and one for a; {counts}; "
            f"{shares}."
        )
        y += 72
    alt = "The 16 registers of AVX2. " + " ".join(sentences)
    key = legend(sums=MATRIX_C, vectors_of_b=MATRIX_B, element_of_a=MATRIX_A)
    return Picture(key + svg(52 + REGISTERS * 20, y, body, alt, widest=440), alt)
