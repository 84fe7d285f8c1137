"""Sentences on the behaviour of mutants: the slip that was made, and where in the kernel.

They are written by rule and describe the behaviour, never the right code.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from labs.checking.exercise import KernelExercise
from labs.grading.mutants import Mutant
from labs.grading.mutation_rules import NAMES

_SLIPS: Mapping[str, str] = {
    "one_too_far": "a comparison let one index too many through",
    "size_one_less": "a comparison stopped one index too early",
    "and_for_or": "two conditions were joined by `and`",
    "or_for_and": "two conditions were joined by `or`",
    "guard_dropped": "a test were missing",
    "set_and_not_added": "a sum forgot what was added to it before",
    "constant_one_more": "a constant were one too large",
    "constant_one_less": "a constant were one too small",
    "indices_exchanged": "two indices were exchanged",
    "float64": "a number were a float64",
    "index_one_more": "the first index were one too large",
    "index_one_less": "the first index were one too small",
    "names_exchanged": "two variables were exchanged",
    "left_alone": "the second part of an expression were missing",
    "right_alone": "the first part of an expression were missing",
    "sign_dropped": "a minus sign were missing",
    "first_argument_dropped": "the first argument of a call were missing",
    "last_argument_dropped": "the last argument of a call were missing",
    "doubled": "a value were counted twice",
}
_OTHER_OPERATORS = {
    ("other_operator", ast.Add): "a number were subtracted",
    ("other_operator", ast.Mult): "two numbers were added to each other",
    ("inverse_operator", ast.Sub): "a number were added",
    ("inverse_operator", ast.Div): "a number were multiplied by another",
    ("inverse_operator", ast.FloorDiv): "a quotient were not rounded",
    ("inverse_operator", ast.Pow): "a number were multiplied by another",
}
_DROPPED = ("guard_dropped", "body_statement_dropped", "first_statement_dropped")
_OTHER_FUNCTIONS = {"min": "max", "max": "min", "floor": "ceil", "isqrt": "sqrt"}


def sentence_of(mutant: Mutant, exercise: KernelExercise) -> str:
    """Return a sentence on the behaviour of a mutant: the slip that was made, and where.

    The sentence has placeholders of `labs.checking.placeholders`, such as `{store c}`.
    """
    statement = _statement(mutant)
    where = _where(statement, mutant, exercise)
    return f"Your {exercise.words.noun} behaves as if {_slip(mutant, exercise)}, {where}."


# ------------------------------------------------------------------------------------ which slip


def _slip(mutant: Mutant, exercise: KernelExercise) -> str:
    """Return the words on the slip of a mutant, such as "a barrier were missing"."""
    node, rule = mutant.node, mutant.rule
    if rule in _SLIPS:
        return _SLIPS[rule]
    if rule in ("other_operator", "inverse_operator"):
        return _OTHER_OPERATORS[rule, type(node.op)]
    if rule == "other_name":
        is_known = NAMES[node.id] in exercise.starter_text
        return f"{f'`{NAMES[node.id]}`' if is_known else 'one variable'} stood for another variable"
    if rule == "x_for_y":
        return f"x and y were exchanged in `{ast.unparse(node.value)}`"
    if rule == "other_function":
        name = node.id if isinstance(node, ast.Name) else node.attr
        return f"`{_OTHER_FUNCTIONS.get(name, 'another function')}` were called"
    if rule == "call_dropped":
        return f"the call of `{_called(node)}` were missing"
    return _dropped(node.body[0 if rule == "first_statement_dropped" else -1])


def _called(node: ast.AST) -> str:
    """Return the function of a node's first call with one argument, as code such as "cuda.grid"."""
    values = (value for _, value in ast.iter_fields(node) if isinstance(value, ast.Call))
    call = next(one for one in values if len(one.args) == 1 and not one.keywords)
    return ast.unparse(call.func)


def _dropped(statement: ast.stmt) -> str:
    """Return the words on a slip that drops this statement.

    The words are such as "a loop were missing".
    """
    if isinstance(statement, ast.Expr) and "sync" in ast.unparse(statement):
        return "a barrier were missing"
    if isinstance(statement, ast.AugAssign):
        return "nothing were added"
    if isinstance(statement, ast.If):
        return "a test and what it guards were missing"
    if isinstance(statement, ast.For | ast.While):
        return "a loop were missing"
    return "a statement were missing"


# ----------------------------------------------------------------------------------------- where


def _statement(mutant: Mutant) -> ast.stmt:
    """Return the innermost statement that holds the changed node, or the dropped statement."""
    if mutant.rule in _DROPPED[1:]:
        return mutant.node.body[0 if mutant.rule.startswith("first") else -1]
    inside = [
        one
        for one in ast.walk(mutant.tree)
        if isinstance(one, ast.stmt) and any(node is mutant.node for node in ast.walk(one))
    ]
    return max(inside, key=lambda one: (one.lineno, -(one.end_lineno or 0)))


@dataclass(frozen=True)
class _Arrays:
    """The meaning of array names in the text of a kernel.

    parameters: a dict from the name of a parameter in the text to the exercise's name for it.
    tiles: a dict from the name of a shared or local array in the text to the exercise's parameter
    from which it is filled.
    """

    parameters: Mapping[str, str]
    tiles: Mapping[str, str]


def _arrays(tree: ast.Module, exercise: KernelExercise) -> _Arrays:
    """Return the meaning of the array names in the exercise's function of a text."""
    function = next(
        one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == exercise.name
    )
    names = (one.arg for one in function.args.args)
    parameters = dict(zip(names, exercise.parameters, strict=False))
    tiles = {}
    for one in ast.walk(function):
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Subscript):
            target = one.targets[0].value
            sources = [name for name in _elements(one.value, ast.Load) if name in parameters]
            if isinstance(target, ast.Name) and target.id not in parameters and sources:
                tiles.setdefault(target.id, parameters[sources[0]])
    return _Arrays(parameters, tiles)


def _elements(node: ast.AST, context: type) -> list[str]:
    """Return the names of arrays whose elements a node loads, or stores, one per access.

    context: `ast.Load` or `ast.Store`.
    """
    return [
        one.value.id
        for one in ast.walk(node)
        if isinstance(one, ast.Subscript)
        and isinstance(one.value, ast.Name)
        and isinstance(one.ctx, context)
    ]


def _where(statement: ast.stmt, mutant: Mutant, exercise: KernelExercise) -> str:
    """Return the words on where a slip is, such as "where `{c}` is stored in line {store c}".

    The words have placeholders of `labs.checking.placeholders`. statement: the changed or dropped
    statement.
    """
    arrays, result = _arrays(mutant.tree, exercise), exercise.result
    if isinstance(statement, ast.If | ast.For | ast.While):
        is_test = isinstance(statement, ast.If)
        access = (_access(one, arrays, result) for one in statement.body)
        first = next((one for one in access if one), None)
        if mutant.rule in _DROPPED:
            return f"where {first}" if first else "in the body"
        if first is None:
            return "in a test" if is_test else "in the head of a loop"
        return f"in {'the test before' if is_test else 'the loop in which'} {first}"
    access = _access(statement, arrays, result)
    if access:
        return f"where {access}"
    if isinstance(statement, ast.Expr) and "sync" in ast.unparse(statement):
        return "where threads wait for each other"
    names = [
        one.id
        for one in ast.walk(statement)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    ]
    if not names:
        return "in the body"
    is_known = names[0] in exercise.starter_text
    return f"where `{names[0]}` is computed" if is_known else "where a variable is computed"


def _access(node: ast.AST, arrays: _Arrays, result: str) -> str | None:
    """Return words on a node's access to an array, such as "`{a}` is loaded in line {load a}".

    The access may store the result, load an input, or use a tile. Returns None if there is none.
    result: the exercise's name for the result.
    """
    stored, loaded = _elements(node, ast.Store), _elements(node, ast.Load)
    if any(arrays.parameters.get(name) == result for name in stored):
        return f"`{{{result}}}` is stored in line {{store {result}}}"
    for name in loaded:
        parameter = arrays.parameters.get(name)
        if parameter not in (None, result):
            return f"`{{{parameter}}}` is loaded in line {{load {parameter}}}"
    for name in (*stored, *loaded):
        if name in arrays.tiles:
            action = "filled" if name in stored else "read"
            return f"`{{tile {arrays.tiles[name]}}}` is {action}"
    return None
