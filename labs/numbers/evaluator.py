"""Evaluates a function of numbers by its text, so that nothing of the reader's Python runs.

It knows what such a function needs: numbers, tuples, lists and dictionaries, `if`, `while` and
`for`, `min`, `max`, `math`, `append` and `index`, and functions that the reader has written in the
same way. All else is refused with its line. Numbers are those of Python, and a budget of steps ends
every loop.
"""

from __future__ import annotations

import ast
import inspect
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, MappingView
from dataclasses import dataclass, replace
from types import FunctionType, ModuleType

from labs.checking.phrasing import at, sentence
from virtual_gpu import Unsupported
from virtual_gpu.common.source import Source, read_source

MOST_STEPS = 100_000  # expressions of one call; a right one takes a few thousand
MOST_BITS = 4096  # of a whole number
DEEPEST = 40  # calls within each other

OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Not: operator.not_,
    ast.Invert: operator.invert,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda one, many: one in many, ast.NotIn: lambda one, many: one not in many,
}  # fmt: skip
FUNCTIONS = frozenset(
    {
        abs,
        bool,
        dict,
        divmod,
        enumerate,
        float,
        int,
        len,
        list,
        max,
        min,
        pow,
        range,
        reversed,
        round,
    }
    | {sorted, sum, tuple, zip}
)
MATH = {
    "ceil": math.ceil, "e": math.e, "exp": math.exp, "fabs": math.fabs, "floor": math.floor,
    "gcd": math.gcd, "inf": math.inf, "isqrt": math.isqrt, "log": math.log, "log10": math.log10,
    "log2": math.log2, "pi": math.pi, "pow": math.pow, "prod": math.prod, "sqrt": math.sqrt,
    "trunc": math.trunc,
}  # fmt: skip
# Of lists and tuples. A list grows by one element in a call, so the steps bound it, too.
METHODS = frozenset({"append", "count", "index", "pop", "sort"})
# Of dictionaries, which grow by one element in an assignment.
OF_DICTIONARIES = frozenset({"get", "items", "keys", "values"})
NUMBERS = (bool, int, float)
MANY = (tuple, list, range, dict, MappingView, enumerate, reversed, zip)
_NOTHING_LEFT = object()  # where a block came to its end without `return`, `break`, `continue`


class CannotEvaluate(Exception):
    """What a function does that has no answer; its text is a sentence with the source line."""


def evaluated(function: FunctionType) -> Callable[[tuple], object]:
    """The function as one that is evaluated: it takes a tuple of arguments.

    Its text is read once. A call raises CannotEvaluate for an error of the function, for a loop
    that does not end, and for what is not known here.
    """
    sources: dict[FunctionType, Source] = {}

    def call(arguments: tuple) -> object:
        try:
            return _call(function, _filled(function, arguments, {}), _Evaluation(sources), 0)
        except RecursionError:
            raise CannotEvaluate("An expression is nested too deeply to be evaluated.") from None

    return call


@dataclass
class _Evaluation:
    """The functions that were read, and what is left of the steps of one call."""

    sources: dict[FunctionType, Source]
    steps: int = MOST_STEPS

    def source(self, function: FunctionType) -> Source:
        if function not in self.sources:
            try:
                self.sources[function] = read_source(function)
            except Unsupported as error:
                raise CannotEvaluate(str(error)) from None
        return self.sources[function]


@dataclass(frozen=True)
class _Frame:
    """One call of a function: where it stands, how deep, and its variables."""

    source: Source
    evaluation: _Evaluation
    depth: int
    variables: dict[str, object]

    def fail(self, node: ast.AST, why: str) -> CannotEvaluate:
        return CannotEvaluate(f"{at(self.source.site(node))}: {sentence(why)}")


def _call(function: FunctionType, arguments: tuple, evaluation: _Evaluation, depth: int) -> object:
    source = evaluation.source(function)
    frame = _Frame(source, evaluation, depth, {})
    frame.variables.update(zip(source.parameters, arguments, strict=True))
    left = _block(source.tree.body, frame)
    return left.value if isinstance(left, _Returned) else None


# ---- statements: each gives _NOTHING_LEFT, a _Returned, or the `break` or `continue` it met ----


@dataclass(frozen=True)
class _Returned:
    value: object


def _block(statements: Iterable[ast.stmt], frame: _Frame) -> object:
    for statement in statements:
        run = STATEMENTS.get(type(statement))
        if run is None:
            raise frame.fail(statement, "this statement is not known to the check.")
        left = run(statement, frame)
        if left is not _NOTHING_LEFT:
            return left
    return _NOTHING_LEFT


def _return(node: ast.Return, frame: _Frame) -> _Returned:
    return _Returned(None if node.value is None else _value(node.value, frame))


def _expression(node: ast.Expr, frame: _Frame) -> object:
    if not isinstance(node.value, ast.Constant):  # a text is a comment
        _value(node.value, frame)
    return _NOTHING_LEFT


def _assign(node: ast.Assign, frame: _Frame) -> object:
    value = _value(node.value, frame)
    for target in node.targets:
        _bind(target, value, frame)
    return _NOTHING_LEFT


def _annotated(node: ast.AnnAssign, frame: _Frame) -> object:
    if node.value is not None:
        _bind(node.target, _value(node.value, frame), frame)
    return _NOTHING_LEFT


def _augmented(node: ast.AugAssign, frame: _Frame) -> object:
    if not isinstance(node.target, ast.Name):
        raise frame.fail(node, "only a variable can be changed here.")
    before = _name(ast.copy_location(ast.Name(node.target.id, ast.Load()), node), frame)
    value = _operate(node, node.op, (before, _value(node.value, frame)), frame)
    frame.variables[node.target.id] = value
    return _NOTHING_LEFT


def _if(node: ast.If, frame: _Frame) -> object:
    return _block(node.body if _value(node.test, frame) else node.orelse, frame)


def _while(node: ast.While, frame: _Frame) -> object:
    while _value(node.test, frame):
        left = _block(node.body, frame)
        if isinstance(left, ast.Break):
            return _NOTHING_LEFT
        if isinstance(left, _Returned):
            return left
        _spend(node, frame)
    return _block(node.orelse, frame)


def _for(node: ast.For, frame: _Frame) -> object:
    for each in _turns(node.iter, frame):
        _bind(node.target, each, frame)
        left = _block(node.body, frame)
        if isinstance(left, ast.Break):
            return _NOTHING_LEFT
        if isinstance(left, _Returned):
            return left
    return _block(node.orelse, frame)


def _leave(node: ast.Break | ast.Continue, frame: _Frame) -> object:
    return node


def _pass(node: ast.Pass, frame: _Frame) -> object:
    return _NOTHING_LEFT


def _assert(node: ast.Assert, frame: _Frame) -> object:
    if not _value(node.test, frame):
        raise frame.fail(node, "this assertion does not hold.")
    return _NOTHING_LEFT


def _define(node: ast.FunctionDef, frame: _Frame) -> object:
    """A function within the function; it sees the variables around it as they are when called."""
    names = [one.arg for one in node.args.args]

    def function(*given):
        inner = frame.variables | dict(zip(names, given, strict=True))
        left = _block(node.body, replace(frame, variables=inner))
        return left.value if isinstance(left, _Returned) else None

    frame.variables[node.name] = function
    return _NOTHING_LEFT


def _import(node: ast.Import, frame: _Frame) -> object:
    for one in node.names:
        if one.name != "math":
            raise frame.fail(node, "of all modules only `math` is known to the check.")
        frame.variables[one.asname or one.name] = math
    return _NOTHING_LEFT


STATEMENTS: Mapping[type, Callable] = {
    ast.Return: _return,
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.Break: _leave,
    ast.Continue: _leave,
    ast.Pass: _pass,
    ast.Assert: _assert,
    ast.Import: _import,
    ast.FunctionDef: _define,
}


def _bind(target: ast.expr, value: object, frame: _Frame) -> None:
    if isinstance(target, ast.Name):
        frame.variables[target.id] = value
        return
    if isinstance(target, ast.Subscript):
        _put(target, value, frame)
        return
    if not isinstance(target, ast.Tuple | ast.List) or not isinstance(value, MANY):
        raise frame.fail(target, "only variables can be assigned to here.")
    values = list(value)
    if len(values) != len(target.elts):
        raise frame.fail(target, f"{len(values)} values are assigned to {len(target.elts)} names.")
    for one, each in zip(target.elts, values, strict=True):
        _bind(one, each, frame)


def _put(target: ast.Subscript, value: object, frame: _Frame) -> None:
    """Assign to an element of a list, or of a dictionary."""
    many, index = _value(target.value, frame), _value(target.slice, frame)
    if not isinstance(many, list | dict):
        raise frame.fail(target, "only variables can be assigned to here.")
    _guarded(lambda: many.__setitem__(index, value), target, frame)


# ---- expressions ----


def _value(node: ast.expr, frame: _Frame) -> object:
    _spend(node, frame)
    run = EXPRESSIONS.get(type(node))
    if run is None:
        raise frame.fail(node, f"`{ast.unparse(node)}` is not known to the check.")
    return run(node, frame)


def _spend(node: ast.AST, frame: _Frame) -> None:
    frame.evaluation.steps -= 1
    if frame.evaluation.steps < 0:
        raise frame.fail(
            node,
            f"after {MOST_STEPS:,} steps the function has not ended. Is there a loop that never "
            "ends, because what it tests does not change?",
        )


def _constant(node: ast.Constant, frame: _Frame) -> object:
    if isinstance(node.value, (*NUMBERS, str)) or node.value is None:
        return node.value
    raise frame.fail(node, f"`{ast.unparse(node)}` is not known to the check.")


def _name(node: ast.Name, frame: _Frame) -> object:
    if node.id in frame.variables:
        return frame.variables[node.id]
    if node.id in _own_names(frame.source.tree):
        raise frame.fail(
            node, f"`{node.id}` has no value yet: no line that was executed has given it one."
        )
    if node.id not in frame.source.names:
        raise frame.fail(node, f"the name `{node.id}` is not defined.")
    return _known(frame.source.names[node.id], node, frame)


def _known(value: object, node: ast.expr, frame: _Frame) -> object:
    """What stands outside of the function, if the function may use it."""
    if isinstance(value, (*NUMBERS, FunctionType)) or value is math or value is None:
        return value
    if isinstance(value, tuple | list) and all(isinstance(one, NUMBERS) for one in value):
        return tuple(value)
    if callable(value) and (value is print or _is_one_of(value, FUNCTIONS | set(_MATH_CALLS))):
        return value
    raise frame.fail(
        node,
        f"`{ast.unparse(node)}` is not known to the check, which knows numbers, `math` and "
        "functions of them.",
    )


def _attribute(node: ast.Attribute, frame: _Frame) -> object:
    owner = node.value
    if isinstance(owner, ast.Name) and owner.id not in frame.variables:
        found = frame.source.names.get(owner.id)
        if isinstance(found, ModuleType) and found is not math:
            raise frame.fail(node, f"`{owner.id}` is not known to the check; `math` is.")
    value = _value(owner, frame)
    if isinstance(value, tuple | list) and node.attr in METHODS and hasattr(value, node.attr):
        return getattr(value, node.attr)
    if isinstance(value, dict) and node.attr in OF_DICTIONARIES:
        return getattr(value, node.attr)
    if value is not math:
        raise frame.fail(node, f"`{ast.unparse(node)}` is not known to the check.")
    if node.attr not in MATH:
        raise frame.fail(node, f"`math.{node.attr}` is not known to the check.")
    return MATH[node.attr]


def _binary(node: ast.BinOp, frame: _Frame) -> object:
    return _operate(node, node.op, (_value(node.left, frame), _value(node.right, frame)), frame)


def _unary(node: ast.UnaryOp, frame: _Frame) -> object:
    return _operate(node, node.op, (_value(node.operand, frame),), frame)


def _operate(node: ast.AST, op: ast.AST, values: tuple, frame: _Frame) -> object:
    """The result of an operator whose operands are numbers."""
    if (what := _no_number(values)) and not isinstance(op, ast.Not):
        raise frame.fail(node, f"{what} cannot be computed with.")
    if isinstance(op, ast.Pow | ast.LShift) and _too_long(op, *values):
        raise frame.fail(node, f"this number would have more than {MOST_BITS:,} bits.")
    return _guarded(lambda: OPERATORS[type(op)](*values), node, frame)


def _too_long(op: ast.AST, base: float, by: float) -> bool:
    if not (isinstance(base, int) and isinstance(by, int)):
        return False
    return by * (base.bit_length() if isinstance(op, ast.Pow) else 1) > MOST_BITS


def _no_number(values: tuple) -> str | None:
    if any(value is None for value in values):
        return "`None`, the value of a function without `return`,"
    wrong = [value for value in values if not isinstance(value, NUMBERS)]
    return f"A {type(wrong[0]).__name__}" if wrong else None


def _guarded(compute: Callable[[], object], node: ast.AST, frame: _Frame) -> object:
    """The result, and errors of Python's own as sentences."""
    try:
        result = compute()
    except ZeroDivisionError:
        raise frame.fail(node, "this divides by zero.") from None
    except (ArithmeticError, ValueError, TypeError, LookupError) as error:
        raise frame.fail(node, f"{type(error).__name__}, {error}") from None
    if isinstance(result, int) and result.bit_length() > MOST_BITS:
        raise frame.fail(node, f"this number has more than {MOST_BITS:,} bits.")
    if isinstance(result, complex):
        raise frame.fail(node, "this is the root of a negative number.")
    return result


def _both(node: ast.BoolOp, frame: _Frame) -> object:
    stops_at = isinstance(node.op, ast.Or)
    for part in node.values:
        value = _value(part, frame)
        if bool(value) == stops_at:
            break
    return value


def _compare(node: ast.Compare, frame: _Frame) -> bool:
    left = _value(node.left, frame)
    for op, part in zip(node.ops, node.comparators, strict=True):
        right = _value(part, frame)
        if not _guarded(lambda: OPERATORS[type(op)](left, right), node, frame):  # noqa: B023
            return False
        left = right
    return True


def _choose(node: ast.IfExp, frame: _Frame) -> object:
    return _value(node.body if _value(node.test, frame) else node.orelse, frame)


def _several(node: ast.Tuple | ast.List, frame: _Frame) -> tuple | list:
    values = [_value(one, frame) for one in node.elts]
    return tuple(values) if isinstance(node, ast.Tuple) else values


def _subscript(node: ast.Subscript, frame: _Frame) -> object:
    many, index = _value(node.value, frame), _value(node.slice, frame)
    if not isinstance(many, tuple | list | range | dict):
        raise frame.fail(node, "only tuples, lists and dictionaries have elements here.")
    return _guarded(lambda: many[index], node, frame)


def _dictionary(node: ast.Dict, frame: _Frame) -> dict:
    if None in node.keys:
        raise frame.fail(node, f"`{ast.unparse(node)}` is not known to the check.")
    pairs = [
        (_value(key, frame), _value(value, frame))
        for key, value in zip(node.keys, node.values, strict=True)
    ]
    return _guarded(lambda: dict(pairs), node, frame)


def _dictionary_comprehension(node: ast.DictComp, frame: _Frame) -> dict:
    found: list = []
    pair = ast.Tuple([node.key, node.value], ast.Load())
    inner = replace(frame, variables=dict(frame.variables))
    _comprehend(node.generators, ast.copy_location(pair, node), inner, found)
    return _guarded(lambda: dict(found), node, frame)


def _comprehension(node: ast.ListComp | ast.GeneratorExp, frame: _Frame) -> list:
    found: list = []
    inner = replace(frame, variables=dict(frame.variables))
    _comprehend(node.generators, node.elt, inner, found)
    return found


def _comprehend(loops: list[ast.comprehension], element, frame: _Frame, found: list) -> None:
    if not loops:
        found.append(_value(element, frame))
        return
    loop, *inner = loops
    for each in _turns(loop.iter, frame):
        _bind(loop.target, each, frame)
        if all(_value(test, frame) for test in loop.ifs):
            _comprehend(inner, element, frame, found)


def _turns(node: ast.expr, frame: _Frame) -> Iterator[object]:
    """The values of what a loop goes through; each turn is a step."""
    many = _value(node, frame)
    if not isinstance(many, MANY):
        raise frame.fail(node, f"`{ast.unparse(node)}` is nothing that a loop can go through.")
    turns = iter(many)
    while True:
        try:
            each = next(turns)
        except StopIteration:
            return
        except RuntimeError as error:  # a dictionary that grows meanwhile
            raise frame.fail(node, f"{error}.") from None
        _spend(node, frame)
        yield each


def _lambda(node: ast.Lambda, frame: _Frame) -> Callable:
    names = [one.arg for one in node.args.args]

    def function(*given):
        inner = frame.variables | dict(zip(names, given, strict=True))
        return _value(node.body, replace(frame, variables=inner))

    return function


def _function_call(node: ast.Call, frame: _Frame) -> object:
    function = _value(node.func, frame)
    if function is print:
        return None
    given = _arguments(node.args, frame)
    named = {one.arg: _value(one.value, frame) for one in node.keywords}
    if isinstance(function, FunctionType) and function.__module__ != __name__:
        return _own_call(node, function, given, named, frame)
    for many in given:
        if isinstance(many, range) and len(many) > frame.evaluation.steps:
            raise frame.fail(node, f"{len(many):,} values are more than the check goes through.")
    if function is pow and len(given) > 1 and _too_long(ast.Pow(), *given[:2]):
        raise frame.fail(node, f"this number would have more than {MOST_BITS:,} bits.")
    if not callable(function):
        raise frame.fail(node, f"`{ast.unparse(node.func)}` is a number and no function.")
    if function in (min, max, sum) and len(given) > 1 and (what := _no_number(tuple(given))):
        raise frame.fail(node, f"{what} cannot be compared with numbers.")
    return _guarded(lambda: function(*given, **named), node, frame)


def _arguments(nodes: Iterable[ast.expr], frame: _Frame) -> list:
    """The values of arguments; `*rooms` stands for all elements of it."""
    given: list = []
    for node in nodes:
        given += (
            _turns(node.value, frame) if isinstance(node, ast.Starred) else [_value(node, frame)]
        )
    return given


def _own_call(node: ast.Call, function: FunctionType, given, named, frame: _Frame) -> object:
    """A call of a function that the reader has written."""
    if frame.depth >= DEEPEST:
        raise frame.fail(node, f"{DEEPEST} functions are called within each other.")
    try:
        arguments = _filled(function, given, named)
    except TypeError as error:
        raise frame.fail(node, f"the call does not fit `{function.__name__}`, {error}") from None
    return _call(function, arguments, frame.evaluation, frame.depth + 1)


def _filled(function: FunctionType, given: Iterable, named: Mapping[str, object]) -> tuple:
    """The arguments in the order of the parameters, defaults where none is given; TypeError."""
    bound = inspect.signature(function).bind(*given, **named)
    bound.apply_defaults()
    return bound.args


EXPRESSIONS: Mapping[type, Callable] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _both,
    ast.Compare: _compare,
    ast.IfExp: _choose,
    ast.Tuple: _several,
    ast.List: _several,
    ast.Subscript: _subscript,
    ast.Dict: _dictionary,
    ast.DictComp: _dictionary_comprehension,
    ast.ListComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.Lambda: _lambda,
    ast.Call: _function_call,
}

_MATH_CALLS = frozenset(value for value in MATH.values() if callable(value))


def _is_one_of(value: object, known: frozenset) -> bool:
    """Whether this very function is known; what cannot be hashed is not."""
    return any(value is one for one in known)


def _own_names(tree: ast.FunctionDef) -> set[str]:
    """The names that a function gives a value to."""
    return {
        one.id
        for one in ast.walk(tree)
        if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)
    }
