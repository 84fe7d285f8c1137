"""Integer results of 64 bits in the source of a loop: those without `uint32(…)` around them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

NARROW = ("uint32", "int32")
# Their results are no larger than an operand, so the compiler drops an upper half of zeros.
WITHIN_OPERANDS = ast.BitAnd | ast.Mod


def wide_results(tree: ast.FunctionDef) -> list[int]:
    """Return the numbers of the source lines whose form gives an integer of 64 bits, ascending.

    Types are not looked up. In the condition of an `if` or `while` in a loop, an operation counts,
    except one with `&` or `%`. In an assignment to a local variable that a loop changes, in the
    loop or elsewhere, `x += y`, an operation and a plain number count. What is inside of
    `uint32(…)` or `int32(…)` does not count. Neither does an index, because an address has 64 bits
    anyway, nor a variable that gets words of an array.
    """
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
    changed = {
        target.id
        for loop in loops
        for node in ast.walk(loop)
        for target in _targets(node)
        if isinstance(target, ast.Name)
    }
    found = [node.lineno for loop in loops for node in ast.walk(loop) if _has_wide_test(node)]
    for name in changed:
        values = [node for node in ast.walk(tree) if _names(node) == [name]]
        if not any(map(_is_no_integer, values)):
            found += [node.lineno for node in values if _is_wide(node)]
    return sorted(set(found))


def _targets(node: ast.AST) -> Sequence[ast.expr]:
    """Return the targets of `=` or of an assignment such as `+=`; () for any other node."""
    if isinstance(node, ast.Assign):
        return node.targets
    return (node.target,) if isinstance(node, ast.AugAssign) else ()


def _names(node: ast.AST) -> list[str]:
    """Return the names of the variables that a node assigns to.

    Elements of arrays and variables in tuples are left out.
    """
    return [one.id for one in _targets(node) if isinstance(one, ast.Name)]


def _is_no_integer(assignment: ast.Assign | ast.AugAssign) -> bool:
    """Return True if the assigned value has an array element, or a call that makes no 32 bits.

    Then it is assumed not to be an integer. `uint32(…)` and `int32(…)` make 32 bits.
    """
    return any(
        isinstance(node, ast.Subscript) or (isinstance(node, ast.Call) and not _is_narrow(node))
        for node in ast.walk(assignment.value)
    )


def _is_wide(assignment: ast.Assign | ast.AugAssign) -> bool:
    """Return True if an assignment has a form that usually makes its variable 64 bits wide.

    These forms are `x += y` and the like, and values that are an operation or a plain number. The
    types of the operands are not looked up.
    """
    plain = ast.BinOp | ast.Constant | ast.UnaryOp
    return isinstance(assignment, ast.AugAssign) or isinstance(assignment.value, plain)


def _has_wide_test(node: ast.AST) -> bool:
    """Return True for an `if` or `while` whose test has an operation such as `x + y` or `x * 2`.

    The types of the operands are not looked up. An operation with `&` or `%`, and one inside of
    `uint32(…)`, `int32(…)` or an index, does not count.
    """
    return isinstance(node, ast.If | ast.While) and any(_wide_results(node.test))


def _wide_results(node: ast.AST) -> Iterator[ast.BinOp]:
    """Yield the operations of an expression whose result may need more than 32 bits.

    An operation with `&` or `%` is left out, because its result is no larger than an operand. So
    are those inside of `uint32(…)`, of `int32(…)` and of an index.
    """
    if isinstance(node, ast.Subscript) or _is_narrow(node):
        return
    if isinstance(node, ast.BinOp) and not isinstance(node.op, WITHIN_OPERANDS):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from _wide_results(child)


def _is_narrow(node: ast.AST) -> bool:
    """Return True for a call of `uint32` or `int32`, which makes a result of 32 bits."""
    return isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in NARROW
