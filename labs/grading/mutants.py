"""Wrong kernels by rule: every small slip that a kernel's text allows, one at a time."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

COMPARISONS = {ast.Lt: ast.LtE, ast.GtE: ast.Gt}
OPERATORS = {ast.Add: ast.Sub, ast.Mult: ast.Add}
NAMES = {"m": "n", "n": "k", "k": "m", "row": "col", "col": "row", "tx": "ty", "ty": "tx"}


def mutants(text: str) -> Iterator[tuple[str, str]]:
    """What is changed, and the text with this one change, for each place where a rule applies."""
    lines, tree = text.splitlines(), ast.parse(text)
    for number, node in enumerate(ast.walk(tree)):
        for rule in RULES:
            changed = copy.deepcopy(tree)
            place = list(ast.walk(changed))[number]
            if rule(place):
                ast.fix_missing_locations(changed)
                yield f"{rule.__name__} in `{_line(node, lines)}`", ast.unparse(changed)


def _line(node: ast.AST, lines: list[str]) -> str:
    return lines[node.lineno - 1].strip() if hasattr(node, "lineno") else ""


def one_too_far(node: ast.AST) -> bool:
    """`<` becomes `<=`, `>=` becomes `>`."""
    if not isinstance(node, ast.Compare) or type(node.ops[0]) not in COMPARISONS:
        return False
    node.ops = [COMPARISONS[type(node.ops[0])]()]
    return True


def and_for_or(node: ast.AST) -> bool:
    if not isinstance(node, ast.BoolOp) or isinstance(node.op, ast.And):
        return False
    node.op = ast.And()
    return True


def or_for_and(node: ast.AST) -> bool:
    if not isinstance(node, ast.BoolOp) or isinstance(node.op, ast.Or):
        return False
    node.op = ast.Or()
    return True


def guard_dropped(node: ast.AST) -> bool:
    """What an `if` guards happens always; an early return never happens."""
    if not isinstance(node, ast.If):
        return False
    node.test = ast.Constant(not isinstance(node.body[0], ast.Return))
    return True


def other_operator(node: ast.AST) -> bool:
    """`+` becomes `-`, `*` becomes `+`."""
    if not isinstance(node, ast.BinOp) or type(node.op) not in OPERATORS:
        return False
    node.op = OPERATORS[type(node.op)]()
    return True


def set_and_not_added(node: ast.AST) -> bool:
    """`+=` adds to nothing: what was there is taken off first."""
    if not isinstance(node, ast.AugAssign):
        return False
    node.value = ast.BinOp(node.value, ast.Sub(), _loaded(node.target))
    return True


def _loaded(target: ast.expr) -> ast.expr:
    name = copy.deepcopy(target)
    name.ctx = ast.Load()
    return name


def constant_one_more(node: ast.AST) -> bool:
    return _constant(node, 1)


def constant_one_less(node: ast.AST) -> bool:
    return _constant(node, -1)


def _constant(node: ast.AST, change: int) -> bool:
    if not isinstance(node, ast.Constant) or type(node.value) is not int:
        return False
    node.value += change
    return True


def indices_exchanged(node: ast.AST) -> bool:
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple):
        return False
    node.slice.elts.reverse()
    return True


def float64(node: ast.AST) -> bool:
    """`float32(0)` becomes `0.0`, and the type of an array float64."""
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.Call) and ast.unparse(value.func) == "float32":
            setattr(node, name, ast.Constant(0.0))
            return True
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "cuda.local.array":
        node.args[1] = ast.Constant("float64")
        return True
    return False


def other_name(node: ast.AST) -> bool:
    """A size or an index is taken for another."""
    if not isinstance(node, ast.Name) or node.id not in NAMES or isinstance(node.ctx, ast.Store):
        return False
    node.id = NAMES[node.id]
    return True


def index_one_more(node: ast.AST) -> bool:
    return _index(node, ast.Add())


def index_one_less(node: ast.AST) -> bool:
    return _index(node, ast.Sub())


def _index(node: ast.AST, operator: ast.operator) -> bool:
    """The first index of an element is off by one."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple):
        return False
    first, *others = node.slice.elts
    node.slice.elts = [ast.BinOp(first, operator, ast.Constant(1)), *others]
    return True


def size_one_less(node: ast.AST) -> bool:
    """A test or a loop ends one too early."""
    if not isinstance(node, ast.Compare):
        return False
    node.comparators = [ast.BinOp(node.comparators[0], ast.Sub(), ast.Constant(1))]
    return True


def names_exchanged(node: ast.AST) -> bool:
    """`row, col = y, x` becomes `row, col = x, y`; sizes likewise."""
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Tuple):
        return False
    node.targets[0].elts.reverse()
    return True


def body_statement_dropped(node: ast.AST) -> bool:
    """The last statement of a loop, a branch or the kernel is missing."""
    if not isinstance(node, ast.While | ast.For | ast.If | ast.FunctionDef):
        return False
    node.body[-1] = ast.Pass()
    return True


def x_for_y(node: ast.AST) -> bool:
    """`threadIdx.x` becomes `threadIdx.y`, and the other way round; so `blockIdx`."""
    if not isinstance(node, ast.Attribute) or node.attr not in ("x", "y"):
        return False
    node.attr = "y" if node.attr == "x" else "x"
    return True


RULES: tuple[Callable[[ast.AST], bool], ...] = (
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
