"""Right functions that a rule makes from a solution; a grader must give them all points."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping


def equivalents(text: str) -> Iterator[tuple[str, str]]:
    """Yield (change, changed source code) for every rule that applies; the change is a clause.

    text: the source code of a solution.
    """
    for words, rule in RULES.items():
        changed = rule(ast.parse(text))
        if changed is not None:
            yield words, ast.unparse(ast.fix_missing_locations(changed))


def renamed(tree: ast.Module) -> ast.Module | None:
    """Put `my_` before each variable that a top-level function assigns; change and return the tree.

    The parameters keep their names. It never returns None.
    """
    for function in _functions(tree):
        own = {
            node.id
            for node in ast.walk(function)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        } - {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id in own:
                node.id = f"my_{node.id}"
    return tree


def parameters_renamed(tree: ast.Module) -> ast.Module | None:
    """Put `the_` before each parameter of the top-level functions; change and return the tree.

    It never returns None.
    """
    for function in _functions(tree):
        own = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
        for node in ast.walk(function):
            if isinstance(node, ast.arg):
                node.arg = f"the_{node.arg}"
            elif isinstance(node, ast.Name) and node.id in own:
                node.id = f"the_{node.id}"
    return tree


def written_out(tree: ast.Module) -> ast.Module | None:
    """Write `x += y` as `x = x + y` for variables x, also with other operators than +.

    Return the changed tree, or None if there is no such statement. The tree itself is changed.
    """
    return _replaced(tree, _AddedOut())


class _AddedOut(ast.NodeTransformer):
    """Replaces `x += y` by `x = x + y`, for variables; count: how many it replaced."""

    count = 0

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        if not isinstance(node.target, ast.Name):
            return node
        self.count += 1
        before = ast.Name(node.target.id, ast.Load())
        return ast.Assign([node.target], ast.BinOp(before, node.op, node.value), lineno=node.lineno)


def commuted(tree: ast.Module) -> ast.Module | None:
    """Exchange the factors of every product; return the changed tree, or None without a product.

    The tree itself is changed.
    """
    return _replaced(tree, _Commuted())


class _Commuted(ast.NodeTransformer):
    """Exchanges the factors of products; count: the number of products."""

    count = 0

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.Mult):
            self.count += 1
            node.left, node.right = node.right, node.left
        return node


def mirrored(tree: ast.Module) -> ast.Module | None:
    """Write comparisons such as `a < b` as `b > a`; return the changed tree.

    Chains such as `a < b < c` stay. It returns None if there is no other comparison by `<`, `>`,
    `<=` or `>=`. The tree itself is changed.
    """
    return _replaced(tree, _Mirrored())


class _Mirrored(ast.NodeTransformer):
    """Replaces comparisons such as `a < b` by `b > a`; count: how many it replaced."""

    count = 0

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        others = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}
        if len(node.ops) == 1 and type(node.ops[0]) in others:
            self.count += 1
            left, right = node.comparators[0], node.left
            return ast.Compare(left, [others[type(node.ops[0])]()], [right])
        return node


def negated(tree: ast.Module) -> ast.Module | None:
    """Write tests such as `if a < b` as `if not a >= b`; return the changed tree.

    It returns None if no `if` tests a comparison by `<`, `>`, `<=` or `>=`.
    """
    return _replaced(tree, _Negated())


class _Negated(ast.NodeTransformer):
    """Replaces tests such as `a < b` of an `if` by `not a >= b`; count: how many it replaced."""

    count = 0

    def visit_If(self, node: ast.If) -> ast.stmt:
        self.generic_visit(node)
        others = {ast.Lt: ast.GtE, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.GtE: ast.Lt}
        test = node.test
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in others:
            self.count += 1
            test.ops = [others[type(test.ops[0])]()]
            node.test = ast.UnaryOp(ast.Not(), test)
        return node


def spread(tree: ast.Module) -> ast.Module | None:
    """Begin every top-level function with a string and an unused variable; return the changed tree.

    It never returns None.
    """
    for function in _functions(tree):
        unused = ast.parse("unused = 1").body
        function.body = [ast.Expr(ast.Constant("My own words.")), *unused, *function.body]
    return tree


def returned_by_name(tree: ast.Module) -> ast.Module | None:
    """Write `return x` as `answer = x` and `return answer` everywhere; return the changed tree.

    It returns None if no `return` has a value.
    """
    return _replaced(tree, _Named())


class _Named(ast.NodeTransformer):
    """Replaces `return x` by `answer = x` and `return answer`; count: how many it replaced."""

    count = 0

    def visit_Return(self, node: ast.Return) -> ast.stmt | list[ast.stmt]:
        if node.value is None:
            return node
        self.count += 1
        named = ast.Assign([ast.Name("answer", ast.Store())], node.value, lineno=node.lineno)
        return [named, ast.Return(ast.Name("answer", ast.Load()))]


def through_a_constant(tree: ast.Module) -> ast.Module | None:
    """Write the first even integer that a file assigns at its top level as a product with 2.

    For example, `TILE = 16` becomes `TILE = 8 * 2`. Change and return the tree, or return None if
    no even integer alone is assigned there.
    """
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            value = node.value.value
            if type(value) is int and value % 2 == 0:
                node.value = ast.BinOp(ast.Constant(value // 2), ast.Mult(), ast.Constant(2))
                return tree
    return None


def _functions(tree: ast.Module) -> list[ast.FunctionDef]:
    """Return the syntax nodes of the functions that a file defines at its top level."""
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)]


def _replaced(tree: ast.Module, transformer) -> ast.Module | None:
    """Apply an `ast.NodeTransformer` with an attribute `count` to a tree.

    Return the changed tree, or None if the transformer's `count` of changes is 0.
    """
    changed = transformer.visit(tree)
    return changed if transformer.count else None


# What each rule changes, as a clause: the rule.
RULES: Mapping[str, Callable[[ast.Module], ast.Module | None]] = {
    "all variables have other names": renamed,
    "all parameters have other names": parameters_renamed,
    "`x += y` is written as `x = x + y`": written_out,
    "the factors of every product are exchanged": commuted,
    "`a < b` is written as `b > a`": mirrored,
    "`if a < b` is written as `if not a >= b`": negated,
    "every function begins with a string and an unused variable": spread,
    "every function names the value that it returns": returned_by_name,
    "a constant above the function is written as a product": through_a_constant,
}
