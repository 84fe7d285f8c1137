"""What students get wrong in a micro-kernel: each probe names what it recognises."""

from __future__ import annotations

import ast
import re

import numpy as np

from labs.run import WORD, Run
from labs.words import at, counted
from utils.virtual_gpu import Finding
from utils.virtual_gpu.source import read_source

ROWS, LANES = 2, 8
PRIMITIVES = {
    "loadu": "`loadu(x, i, 8)`: the array, the index of the first element, how many floats",
    "broadcast": "`broadcast(x, i, 8)`: the array, the index of the element, how many floats",
    "set1": "`set1(value, 8)`: a float32, such as `float32(0)`, and how many floats",
    "fmadd": "`fmadd(x, y, z)`: three vectors, and the result is x·y + z",
    "mul": "`mul(x, y)`: two vectors, and the result is x·y",
    "storeu": "`storeu(x, i, vector)`: the array, the index of the first element, the vector",
}


def by_step(panel: np.ndarray, width: int) -> np.ndarray:
    """A panel with one row for each step, float64."""
    return panel.astype(np.float64).reshape(-1, width)


# ------------------------------------------------------------------------ what cannot be compiled


def _nodes(kernel, message: str) -> list[ast.AST]:
    """What stands in the source line that a message names."""
    line = re.search(r"line (\d+)", message)
    tree = read_source(kernel.py_func).tree
    named = int(line[1]) if line else None
    return [node for node in ast.walk(tree) if getattr(node, "lineno", None) == named]


def _calls(nodes, *names: str) -> list[ast.Call]:
    """The calls of these primitives."""
    return [
        node
        for node in nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in names
    ]


def misused(kernel, message: str) -> str | None:
    """A primitive with other arguments than it takes."""
    if "8 or 16 lanes" in message:
        return (
            "The last argument of `loadu`, `broadcast` and `set1` is how many floats the vector "
            "has: here 8."
        )
    for name, words in PRIMITIVES.items():
        needed = words.partition("`: ")[0].count(",") + 1
        wrong = [len(call.args) != needed for call in _calls(_nodes(kernel, message), name)]
        if any(wrong) or f"{name} needs" in message:
            return f"It is {words}."
    return None


def exchanged(kernel, message: str) -> str | None:
    """storeu with its vector in another place than the third."""
    if "operand must be a vector" not in message:
        return None
    sums = {
        ast.unparse(target)
        for node in ast.walk(read_source(kernel.py_func).tree)
        if isinstance(node, ast.Assign) and _calls([node.value], "fmadd")
        for target in node.targets
    }
    for call in _calls(_nodes(kernel, message), "storeu"):
        for place, arg in zip(("first", "second"), map(ast.unparse, call.args), strict=False):
            if arg in sums:
                return f"It is {PRIMITIVES['storeu']}. Here `{arg}` is the {place}."
    return None


def number_for_a_sum(kernel, message: str) -> str | None:
    """A sum that begins as a number."""
    if "operand must be a vector" not in message:
        return None
    used = {ast.unparse(arg) for call in _calls(_nodes(kernel, message), "fmadd", "storeu")
            for arg in call.args}  # fmt: skip
    for node in ast.walk(read_source(kernel.py_func).tree):
        names = map(ast.unparse, node.targets) if isinstance(node, ast.Assign) else ()
        if (name := next((one for one in names if one in used), None)) and _is_number(node.value):
            return (
                f"`{name}` is one number since line {node.lineno}, `{ast.unparse(node)}`. A sum of "
                "this tile is a vector of 8: `set1(float32(0), 8)` has zero 8 times."
            )
    return None


def _is_number(value: ast.expr) -> bool:
    """0, 0.0, float32(0)."""
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).rpartition(".")[2] in ("float32", "float", "int")
    return isinstance(value, ast.Constant)


def no_vector(kernel, message: str) -> str | None:
    """An element of an array where a vector belongs."""
    if "operand must be a vector" not in message:
        return None
    return (
        "An element of an array, such as `a[0]`, is one number; `broadcast(a, 0, 8)` is a vector "
        "with that number 8 times."
    )


def never_set(kernel, message: str) -> str | None:
    """A sum that has no value when the first turn adds to it."""
    found = re.search(r"(\w+), read before it is set", message)
    return (
        f"`{found[1]}` has no value before the loop. With what does a sum begin?" if found else None
    )


def made_here(kernel, message: str) -> str | None:
    """A list of two sums, or an array of zeros."""
    if "made here is not known" not in message:
        return None
    if any(isinstance(node, ast.List) for node in _nodes(kernel, message)):
        return "A list lies in memory. Use two names, one for each sum: then they are registers."
    return "An array lies in memory. A vector of 8 zeros is `set1(float32(0), 8)`."


def operators(kernel, message: str) -> str | None:
    """`+` and `*` between vectors."""
    nodes = _nodes(kernel, message)
    values = [node.value for node in nodes if isinstance(node, ast.Assign)]
    if not (
        re.search(r"float32x\d", message)
        or any(isinstance(node, ast.AugAssign) for node in nodes)
        or any(isinstance(value, ast.BinOp) for value in values)
    ):
        return None
    return (
        "Vectors know no `+`, no `*` and no `+=`. The primitives compute with them: "
        "`fmadd(x, y, z)` is x·y + z, for each of the 8 floats."
    )


def stored_as_element(kernel, message: str) -> str | None:
    """c[...] = vector."""
    targets = [node.targets[0] for node in _nodes(kernel, message) if isinstance(node, ast.Assign)]
    if not any(isinstance(target, ast.Subscript) for target in targets):
        return None
    return "A vector goes into an array with `storeu(x, i, vector)`."


# ----------------------------------------------------------------------- what the launch has found


def outside(seen: Run, finding: Finding) -> str | None:
    """An index behind the end of a panel or of the tile."""
    parameter = seen.parameter(finding.array)
    if finding.kind != "out_of_bounds" or parameter is None:
        return None
    (k,) = seen.shape
    if parameter == "c":
        return "The tile has two rows of 8: they begin at 0 and at 8."
    width = ROWS if parameter == "a" else LANES
    if parameter == "a" and "loadu(" in finding.site.source:
        told = f"`loadu` reads 8 neighbours, and a step has only 2 elements of `{finding.array}`."
        first = _first_load(seen, finding.array)
        return told if finding.site.source in first else f"{told} The first such line is {first}."
    return (
        f"There are {counted(k, 'step')}, each with {width} elements of `{finding.array}`: step p "
        f"has those from {width}·p on. How many turns does your loop have, and where does it read?"
    )


def _first_load(seen: Run, array: str) -> str:
    """The first source line that loads a vector of this array."""
    nodes = [node for node in ast.walk(seen.tree) if isinstance(node, ast.stmt)]
    for node in sorted(nodes, key=lambda one: one.lineno):
        inside = [] if hasattr(node, "body") else ast.walk(node)
        for call in _calls(inside, "loadu"):
            if call.args and ast.unparse(call.args[0]) == array:
                return f"{node.lineno}, `{ast.unparse(node)}`"
    return ""


def rows_missing(seen: Run) -> str | None:
    """A row of the tile that is not stored, or only in part."""
    missing = seen.unwritten.reshape(ROWS, LANES)
    whole = [row for row in range(ROWS) if missing[row].all()]
    if len(whole) == 1 and missing.sum() == LANES:
        return f"Row {whole[0]} of the tile is missing: its 8 elements begin at {LANES * whole[0]}."
    stores = seen.accesses(seen.exercise.result, "store")
    starts = sorted({int(one.first[0][0]) // WORD for one in stores})
    if len(starts) > 1:
        return f"The stores begin at {', '.join(map(str, starts))}; the rows begin at 0 and at 8."
    return None


# ------------------------------------------------------------------------------- what is wrong


def result_not_kept(seen: Run) -> str | None:
    """fmadd as a statement of its own."""
    for node in ast.walk(seen.tree):
        if isinstance(node, ast.Expr) and _calls([node.value], "fmadd", "mul"):
            return (
                f"Line {node.lineno}, `{ast.unparse(node)}`: nothing takes the result. A primitive "
                "changes none of its operands."
            )
    return None


def sum_is_multiplied(seen: Run) -> str | None:
    """The sum is the first or the second operand."""
    for node in ast.walk(seen.tree):
        if not (isinstance(node, ast.Assign) and _calls([node.value], "fmadd")):
            continue
        target, factors = ast.unparse(node.targets[0]), node.value.args[:2]
        if target in map(ast.unparse, factors):
            return (
                f"Line {node.lineno}, `{ast.unparse(node)}`: `fmadd(x, y, z)` is x·y + z, and "
                f"`{target}` is multiplied here."
            )
    return None


def zeros(seen: Run) -> str | None:
    """A sum that stays what it was."""
    rows = [row for row in range(ROWS) if not seen.out.reshape(ROWS, LANES)[row].any()]
    if len(rows) == ROWS:
        return "Both rows hold zeros: no turn of the loop gives the sums a new value."
    if rows:
        return f"Row {rows[0]} holds zeros: no turn of the loop gives its sum a new value."
    return None


def one_sum_for_both(seen: Run) -> str | None:
    """Both products of a step go into one sum, and the other stays at zero."""
    got, right = _tiles(seen)
    for row in range(ROWS):
        if np.array_equal(got[row], right.sum(axis=0)) and not got[1 - row].any():
            return (
                f"Row {row} has got the products of both rows, and row {1 - row} none: both "
                "multiply-adds of a step give their result to the same sum."
            )
    return None


def other_sum(seen: Run) -> str | None:
    """fmadd adds to one sum, and its result goes to another."""
    sums = {}
    for node in ast.walk(seen.tree):
        if isinstance(node, ast.Assign) and (calls := _calls([node.value], "fmadd")):
            sums[ast.unparse(node.targets[0])] = (node, ast.unparse(calls[0].args[2]))
    for name, (node, third) in sums.items():
        if third != name and third in sums:
            return (
                f"Line {node.lineno}, `{ast.unparse(node)}`, adds to `{third}`, and its result "
                f"goes to `{name}`: does each row keep a sum of its own?"
            )
    return None


def other_tile(seen: Run) -> str | None:
    """Tiles that other ways through the panels give, as a whole or in one row."""
    if seen.shape[0] < 3:
        return None
    known, got, right = _known_tiles(*seen.inputs), *_tiles(seen)
    for told, tile in known.items():
        if np.array_equal(got, tile):
            return told
    for row in range(ROWS):
        if np.array_equal(got[1 - row], right[1 - row]):
            for told, tile in known.items():
                if np.array_equal(got[row], tile[row]):
                    return f"Row {1 - row} is right. Row {row}: {told}"
            if np.array_equal(got[row], right.sum(axis=0)):
                return f"Row {row} has got the products of both rows: which sum is added to which?"
    return None


def _tiles(seen: Run) -> tuple[np.ndarray, np.ndarray]:
    """What was stored, and what is right."""
    return seen.out.reshape(ROWS, LANES), seen.right.reshape(ROWS, LANES)


def _known_tiles(a: np.ndarray, b: np.ndarray) -> dict[str, np.ndarray]:
    """Wrong tiles of these panels, each with what was done."""
    x, y = by_step(a, ROWS), by_step(b, LANES)
    k, right, flat = len(x), x.T @ y, a.astype(np.float64)
    known = {
        "The two rows of the tile are exchanged: the sum of row 0 stands in row 1.": right[::-1],
        "Both rows of the tile are the product with the first element of each step of `a`.": (
            right[[0, 0]]
        ),
        "Both rows of the tile are the product with the second element of each step of `a`.": (
            right[[1, 1]]
        ),
        "This is the product of the last step alone: each turn of the loop forgets the sum of the "
        "turn before.": np.outer(x[-1], y[-1]),
        "The first step is missing in the sums.": right - np.outer(x[0], y[0]),
        "The first step is in the sums twice.": right + np.outer(x[0], y[0]),
        "Only every second step is in the sums.": x[::2].T @ y[::2],
        "Both products of a step are added to the same sum, which both rows hold.": (
            np.tile(right.sum(axis=0), (ROWS, 1))
        ),
        "Each row is the sum of the vectors of `b`: nothing of `a` is in it.": (
            np.tile(y.sum(axis=0), (ROWS, 1))
        ),
        "`a` is read as if it held row 0 first and row 1 behind it. It is packed: the elements of "
        "both rows for one step lie side by side.": np.stack([flat[:k], flat[k:]]) @ y,
        "`a` is read at p and p + 1, and step p has its elements at 2·p and 2·p + 1.": (
            np.stack([flat[:k], flat[1 : k + 1]]) @ y
        ),
        "The 8 elements of a row are alike: the first element of each step of `b` is in all of "
        "them.": np.tile(x.T @ y[:, :1], (1, LANES)),
        "Every step reads the first vector of `b`.": np.outer(x.sum(axis=0), y[0]),
        "Every step reads the first two elements of `a`.": np.outer(x[0], y.sum(axis=0)),
        "The tile has the wrong sign.": -right,
    }
    for steps in range(1, k):
        told = f"Only the first {steps} of {k} steps are in the sums." if steps > 1 else (
            f"Only the first of {k} steps is in the sums."
        )  # fmt: skip
        known[told] = x[:steps].T @ y[:steps]
    return known


def begins_elsewhere(seen: Run) -> str | None:
    """Sums that do not begin at zero."""
    got, right = _tiles(seen)
    off = np.unique(got - right)
    if off.size != 1:
        return None
    return f"Each element is {off[0]:g} away from what is right. With what do the sums begin?"


def read_elsewhere(seen: Run) -> str | None:
    """A load that does not begin where the steps of its panel do."""
    for parameter, width, wanted in (("b", LANES, {0}), ("a", ROWS, {0, 1})):
        for one in seen.accesses(parameter):
            starts = [int(lanes[0]) // WORD for lanes in one.first[:3]]
            regular = [starts[0] + width * step for step in range(len(starts))]
            if one.requests != seen.shape[0] or len(starts) < 3:
                continue
            if starts != regular or starts[0] not in wanted:
                told = ", ".join(map(str, starts))
                begins = ", ".join(str(width * step) for step in range(3))
                return (
                    f"{at(one.site)}, reads `{one.array}` at {told} … in the first turns, and the "
                    f"steps of that panel begin at {begins} …"
                )
    return None


def one_row(seen: Run) -> str | None:
    """A row that is right."""
    got, right = _tiles(seen)
    for row in range(ROWS):
        if np.array_equal(got[row], right[row]):
            return f"Row {row} is right, and row {1 - row} is not."
    return None
