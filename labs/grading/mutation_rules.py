"""Rules that make a function wrong: each changes one syntax-tree node if it applies to that node.

Every rule returns True if it applied.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable

Rule = Callable[[ast.AST], bool]  # changes a node; returns True if it applied

COMPARISONS = {ast.Lt: ast.LtE, ast.GtE: ast.Gt}
OPERATORS = {ast.Add: ast.Sub, ast.Mult: ast.Add}
NAMES = {"m": "n", "n": "k", "k": "m", "row": "col", "col": "row", "tx": "ty", "ty": "tx"}


def one_too_far(node: ast.AST) -> bool:
    """Change `<` to `<=`, or `>=` to `>`, in place; return True if the node was changed.

    Of a chain such as `0 < i < n`, only the first operator is looked at. If it is changed, the
    chain loses its operands after the second one.
    """
    if not isinstance(node, ast.Compare) or type(node.ops[0]) not in COMPARISONS:
        return False
    node.ops = [COMPARISONS[type(node.ops[0])]()]
    return True


def and_for_or(node: ast.AST) -> bool:
    """Change `or` to `and`; return True if the node was changed."""
    if not isinstance(node, ast.BoolOp) or isinstance(node.op, ast.And):
        return False
    node.op = ast.And()
    return True


def or_for_and(node: ast.AST) -> bool:
    """Change `and` to `or`; return True if the node was changed."""
    if not isinstance(node, ast.BoolOp) or isinstance(node.op, ast.Or):
        return False
    node.op = ast.Or()
    return True


def guard_dropped(node: ast.AST) -> bool:
    """Make an `if` always true, or always false if its body begins with a `return`.

    Return True if the node was changed.
    """
    if not isinstance(node, ast.If):
        return False
    node.test = ast.Constant(not isinstance(node.body[0], ast.Return))
    return True


def other_operator(node: ast.AST) -> bool:
    """Change `+` to `-`, or `*` to `+`; return True if the node was changed."""
    if not isinstance(node, ast.BinOp) or type(node.op) not in OPERATORS:
        return False
    node.op = OPERATORS[type(node.op)]()
    return True


def set_and_not_added(node: ast.AST) -> bool:
    """Subtract the target from the value of an augmented assignment.

    So `x += y` becomes `x += y - x`, which assigns y. Return True if the node was changed.
    """
    if not isinstance(node, ast.AugAssign):
        return False
    node.value = ast.BinOp(node.value, ast.Sub(), _loaded(node.target))
    return True


def _loaded(target: ast.expr) -> ast.expr:
    """Return a copy of an assignment's target as an expression that reads it."""
    name = copy.deepcopy(target)
    name.ctx = ast.Load()
    return name


def constant_one_more(node: ast.AST) -> bool:
    """Add 1 to an integer constant; return True if the node was changed."""
    return _constant(node, 1)


def constant_one_less(node: ast.AST) -> bool:
    """Subtract 1 from an integer constant; return True if the node was changed."""
    return _constant(node, -1)


def _constant(node: ast.AST, change: int) -> bool:
    """Add `change` to an integer constant; return True if the node was changed."""
    if not isinstance(node, ast.Constant) or type(node.value) is not int:
        return False
    node.value += change
    return True


def indices_exchanged(node: ast.AST) -> bool:
    """Reverse the order of several indices: `x[i, j]` becomes `x[j, i]`.

    Return True if the node was changed.
    """
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple):
        return False
    node.slice.elts.reverse()
    return True


def float64(node: ast.AST) -> bool:
    """Make a number a float64: `float32(…)` as a field of the node becomes `0.0`.

    In a call of `cuda.local.array`, the type becomes float64. Return True if the node was changed.
    """
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.Call) and ast.unparse(value.func) == "float32":
            setattr(node, name, ast.Constant(0.0))
            return True
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "cuda.local.array":
        node.args[1] = ast.Constant("float64")
        return True
    return False


def other_name(node: ast.AST) -> bool:
    """Change a name that is read to its partner in NAMES, such as `row` to `col`.

    Return True if the node was changed. A name to which a value is assigned is not changed.
    """
    if not isinstance(node, ast.Name) or node.id not in NAMES or isinstance(node.ctx, ast.Store):
        return False
    node.id = NAMES[node.id]
    return True


def index_one_more(node: ast.AST) -> bool:
    """Change a node `x[i, …, j]` to `x[i + 1, …, j]` in place; return True if it was changed.

    A node with one index is left unchanged.
    """
    return _index(node, ast.Add())


def index_one_less(node: ast.AST) -> bool:
    """Change a node `x[i, …, j]` to `x[i - 1, …, j]` in place; return True if it was changed.

    A node with one index is left unchanged.
    """
    return _index(node, ast.Sub())


def _index(node: ast.AST, operator: ast.operator) -> bool:
    """Add 1 to the first of several indices, or subtract 1 from it.

    Return True if the node was changed. operator: `ast.Add()` or `ast.Sub()`.
    """
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple):
        return False
    first, *others = node.slice.elts
    node.slice.elts = [ast.BinOp(first, operator, ast.Constant(1)), *others]
    return True


def size_one_less(node: ast.AST) -> bool:
    """Subtract 1 from the right operand of a comparison: `a < b` becomes `a < b - 1`.

    A chain such as `a < b < c` loses its operands after b. Return True if the node was changed.
    """
    if not isinstance(node, ast.Compare):
        return False
    node.comparators = [ast.BinOp(node.comparators[0], ast.Sub(), ast.Constant(1))]
    return True


def names_exchanged(node: ast.AST) -> bool:
    """Reverse the targets of a tuple assignment: `m, n = a.shape` becomes `n, m = a.shape`.

    Return True if the node was changed.
    """
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Tuple):
        return False
    node.targets[0].elts.reverse()
    return True


def body_statement_dropped(node: ast.AST) -> bool:
    """Replace the last statement of a loop, an `if` or a function by `pass`.

    Return True if the node was changed.
    """
    if not isinstance(node, ast.While | ast.For | ast.If | ast.FunctionDef):
        return False
    node.body[-1] = ast.Pass()
    return True


def x_for_y(node: ast.AST) -> bool:
    """Change `.x` to `.y`, or `.y` to `.x`; return True if the node was changed."""
    if not isinstance(node, ast.Attribute) or node.attr not in ("x", "y"):
        return False
    node.attr = "y" if node.attr == "x" else "x"
    return True


def left_alone(node: ast.AST) -> bool:
    """Replace an operation such as `x + y` in a field of the node by its left operand, `x`.

    Only the first field that holds an operation is changed, and not the index of a subscript.
    Return True if the node was changed.
    """
    return _alone(node, "left")


def right_alone(node: ast.AST) -> bool:
    """Replace an operation such as `x + y` in a field of the node by its right operand, `y`.

    Only the first field that holds an operation is changed, and not the index of a subscript.
    Return True if the node was changed.
    """
    return _alone(node, "right")


def _alone(node: ast.AST, side: str) -> bool:
    """Replace an operation in a field of the node by its operand, "left" or "right".

    Return True if the node was changed. The index of a subscript is not changed.
    """
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.BinOp) and name != "slice":
            setattr(node, name, getattr(value, side))
            return True
    return False


def inverse_operator(node: ast.AST) -> bool:
    """Change `-` to `+`, `/` to `*`, `//` to `/`, or `**` to `*`.

    Return True if the node was changed.
    """
    others = {ast.Sub: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Div, ast.Pow: ast.Mult}
    if not isinstance(node, ast.BinOp) or type(node.op) not in others:
        return False
    node.op = others[type(node.op)]()
    return True


def sign_dropped(node: ast.AST) -> bool:
    """Change `-x` to `+x`; return True if the node was changed."""
    if not isinstance(node, ast.UnaryOp) or not isinstance(node.op, ast.USub):
        return False
    node.op = ast.UAdd()
    return True


def first_argument_dropped(node: ast.AST) -> bool:
    """Drop the first of at least three arguments; return True if the node was changed."""
    return _argument_dropped(node, 0)


def last_argument_dropped(node: ast.AST) -> bool:
    """Drop the last of at least three arguments; return True if the node was changed."""
    return _argument_dropped(node, -1)


def _argument_dropped(node: ast.AST, place: int) -> bool:
    """Drop one argument of a call that has at least three, such as `min(x, y, z)`.

    Return True if the node was changed. place: the argument's index, 0 or -1.
    """
    if not isinstance(node, ast.Call) or len(node.args) < 3:
        return False
    del node.args[place]
    return True


def other_function(node: ast.AST) -> bool:
    """Change a function's name to another one, such as `min` to `max` or `floor` to `ceil`.

    Return True if the node was changed.
    """
    others = {"min": "max", "max": "min", "floor": "ceil", "isqrt": "sqrt", "median": "mean"}
    name = "id" if isinstance(node, ast.Name) else "attr"
    if not isinstance(node, ast.Name | ast.Attribute) or getattr(node, name) not in others:
        return False
    setattr(node, name, others[getattr(node, name)])
    return True


def call_dropped(node: ast.AST) -> bool:
    """Change a call `f(x)` in a field of the node to `x`; return True if the node was changed.

    Only the first field that holds a call with one argument is changed.
    """
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.Call) and len(value.args) == 1 and not value.keywords:
            setattr(node, name, value.args[0])
            return True
    return False


def first_statement_dropped(node: ast.AST) -> bool:
    """Replace the first statement of a loop, an `if` or a function by `pass`.

    Return True if the node was changed.
    """
    if not isinstance(node, ast.While | ast.For | ast.If | ast.FunctionDef):
        return False
    node.body[0] = ast.Pass()
    return True


def doubled(node: ast.AST) -> bool:
    """Double the value that is assigned or returned; return True if the node was changed.

    A tuple is not doubled, and a `return` without a value is not changed.
    """
    if not isinstance(node, ast.Assign | ast.Return):
        return False
    if node.value is None or isinstance(node.value, ast.Tuple):
        return False
    node.value = ast.BinOp(node.value, ast.Add(), copy.deepcopy(node.value))
    return True


RULES: tuple[Rule, ...] = (
    one_too_far,
    and_for_or,
    or_for_and,
    guard_dropped,
    other_operator,
    set_and_not_added,
    constant_one_more,
    constant_one_less,
    indices_exchanged,
    float64,
    other_name,
    index_one_more,
    index_one_less,
    size_one_less,
    names_exchanged,
    body_statement_dropped,
    x_for_y,
)
# For functions too short for the basic rules to find enough.
FURTHER_RULES: tuple[Rule, ...] = (
    left_alone,
    right_alone,
    inverse_operator,
    sign_dropped,
    first_argument_dropped,
    last_argument_dropped,
    other_function,
    call_dropped,
    first_statement_dropped,
    doubled,
)
