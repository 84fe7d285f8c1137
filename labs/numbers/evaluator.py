"""Evaluate a function of numbers from its source code, so that none of the reader's Python runs.

The evaluator supports what such a function needs: numbers, tuples, lists, sets and dictionaries,
`if`, `while` and `for`, `min`, `max`, `math`, `append` and `index`, a few names of NumPy, and
functions that the reader has written in the same way. It refuses everything else with the source
line. Numbers behave as in Python, and a limit on the steps ends every loop.
"""

from __future__ import annotations

import ast
import inspect
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, MappingView
from dataclasses import dataclass, replace
from types import FunctionType, ModuleType, NoneType

import numpy as np

from labs.checking.phrasing import at, sentence
from utils.translated_findings import translate_message
from utils.translation import translate
from virtual_gpu import Unsupported
from virtual_gpu.common.source import Source, read_source

MOST_STEPS = 100_000  # expressions per call; a right function evaluates a few thousand
MOST_BITS = 4096  # of a whole number
DEEPEST = 40  # nested calls

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
    | {set, sorted, sum, tuple, zip}
)
MATH = {
    "ceil": math.ceil, "e": math.e, "exp": math.exp, "fabs": math.fabs, "floor": math.floor,
    "gcd": math.gcd, "inf": math.inf, "isqrt": math.isqrt, "log": math.log, "log10": math.log10,
    "log2": math.log2, "pi": math.pi, "pow": math.pow, "prod": math.prod, "sqrt": math.sqrt,
    "trunc": math.trunc,
}  # fmt: skip
# Types of NumPy, which convert a number as Python's own types do, and functions of one number.
NUMPY = {
    "ceil": lambda x: float(np.ceil(x)),
    "float64": float,
    "floor": lambda x: float(np.floor(x)),
    "int64": int,
}
# Methods of lists and tuples. A call adds one element at most, so the steps limit a list's length.
METHODS = frozenset({"append", "count", "index", "pop", "sort"})
# Methods of dictionaries, which grow by one element per assignment.
DICTIONARY_METHODS = frozenset({"get", "items", "keys", "values"})
SET_METHODS = frozenset({"add"})  # one element per call
NUMBERS = (bool, int, float)
IMMUTABLE = (*NUMBERS, str, range, NoneType, FunctionType, ModuleType)
ITERABLES = (tuple, list, range, set, dict, MappingView, enumerate, reversed, zip)
_COMPLETED = object()  # the outcome of a block that ends without `return`, `break` or `continue`


class CannotEvaluate(Exception):
    """A function has no result. The message is a sentence with the source line."""


def make_evaluator(function: FunctionType) -> Callable[[tuple], object]:
    """Return a callable that takes a tuple of arguments and returns the function's value for them.

    The source code is read once. A call raises CannotEvaluate for an error in the function, for a
    loop that does not end, and for any construct that the evaluator does not support.
    """
    sources: dict[FunctionType, Source] = {}

    def call(arguments: tuple) -> object:
        """Return the function's value for these arguments.

        Raises CannotEvaluate if there is none.
        """
        try:
            bound = _bound_arguments(function, arguments, {})
            return _representable(_call(function, bound, _Evaluation(sources), 0))
        except RecursionError:
            why = translate("An expression is nested too deeply to be evaluated.")
            raise CannotEvaluate(why) from None

    return call


def _representable(answer: object) -> object:
    """Return an answer unchanged; raise CannotEvaluate for a whole number that no float holds."""
    if isinstance(answer, int):
        try:
            float(answer)
        except OverflowError:
            why = translate(
                "The function returns a whole number of {bits:,} bits, and no right answer is so "
                "large.",
                bits=answer.bit_length(),
            )
            raise CannotEvaluate(why) from None
    return answer


@dataclass
class _Evaluation:
    """The state of one call of an evaluator.

    sources: maps each function that was read to its source code. steps: the number of steps that
    the call may still take.
    """

    sources: dict[FunctionType, Source]
    steps: int = MOST_STEPS

    def source(self, function: FunctionType) -> Source:
        """Return the source code of a function. Raises CannotEvaluate if it cannot be read."""
        if function not in self.sources:
            try:
                self.sources[function] = read_source(function)
            except Unsupported as error:
                raise CannotEvaluate(translate_message(str(error))) from None
        return self.sources[function]


@dataclass(frozen=True)
class _Frame:
    """One call of a function.

    source: the function's source code. evaluation: the state of the whole evaluation. depth: how
    many calls are around this one. variables: the local variables by name.
    """

    source: Source
    evaluation: _Evaluation
    depth: int
    variables: dict[str, object]

    def fail(self, node: ast.AST, why: str, /, **values: object) -> CannotEvaluate:
        """Return a CannotEvaluate with a node's line and the reason, for the caller to raise.

        why: an English sentence, which is translated. values: what replaces its placeholders.
        """
        return self.error(node, translate(why, **values))

    def error(self, node: ast.AST, why: object) -> CannotEvaluate:
        """Return a CannotEvaluate with a node's line and a reason that is not translated."""
        return CannotEvaluate(f"{at(self.source.site(node))}: {sentence(str(why))}")


def _call(function: FunctionType, arguments: tuple, evaluation: _Evaluation, depth: int) -> object:
    """Return the value of a function for these arguments, None if it ends without a `return`.

    depth: how many calls are around it. Raises CannotEvaluate if the evaluation fails.
    """
    source = evaluation.source(function)
    frame = _Frame(source, evaluation, depth, {})
    frame.variables.update(zip(source.parameters, arguments, strict=True))
    outcome = _block(source.tree.body, frame)
    return outcome.value if isinstance(outcome, _Returned) else None


# ---- statements: each returns _COMPLETED, a _Returned, or the `break` or `continue` node ----


@dataclass(frozen=True)
class _Returned:
    """The outcome of a block that ended with `return`. value: what it returns."""

    value: object


def _block(statements: Iterable[ast.stmt], frame: _Frame) -> object:
    """Execute statements until one does not complete, and return the outcome.

    The outcome is `_COMPLETED`, a `_Returned`, or the node of the `break` or `continue` that was
    executed. All functions for single statements below return the same.
    """
    for statement in statements:
        execute = STATEMENTS.get(type(statement))
        if execute is None:
            raise frame.fail(statement, "this statement is not known to the check.")
        outcome = execute(statement, frame)
        if outcome is not _COMPLETED:
            return outcome
    return _COMPLETED


def _return(node: ast.Return, frame: _Frame) -> _Returned:
    """Return a _Returned with the value of a `return` statement, None without one."""
    return _Returned(None if node.value is None else _value(node.value, frame))


def _expression(node: ast.Expr, frame: _Frame) -> object:
    """Evaluate an expression statement, unless it is a constant such as a docstring.

    Returns _COMPLETED.
    """
    if not isinstance(node.value, ast.Constant):  # a text is a comment
        _value(node.value, frame)
    return _COMPLETED


def _assign(node: ast.Assign, frame: _Frame) -> object:
    """Execute an assignment; return _COMPLETED."""
    value = _value(node.value, frame)
    for target in node.targets:
        _bind(target, value, frame)
    return _COMPLETED


def _annotated(node: ast.AnnAssign, frame: _Frame) -> object:
    """Execute an assignment with an annotation, if it has a value; return _COMPLETED."""
    if node.value is not None:
        _bind(node.target, _value(node.value, frame), frame)
    return _COMPLETED


def _augmented(node: ast.AugAssign, frame: _Frame) -> object:
    """Execute an assignment such as `x += 1` or `x[0] += 1`; return _COMPLETED.

    Raises CannotEvaluate if the target is neither a variable nor an element.
    """
    if not isinstance(node.target, ast.Name | ast.Subscript):
        raise frame.fail(node, "only a variable or an element can be changed here.")
    before = _value(node.target, frame)
    value = _apply(node, node.op, (before, _value(node.value, frame)), frame)
    _bind(node.target, value, frame)
    return _COMPLETED


def _if(node: ast.If, frame: _Frame) -> object:
    """Execute one branch of an `if` statement and return its outcome."""
    return _block(node.body if _value(node.test, frame) else node.orelse, frame)


def _while(node: ast.While, frame: _Frame) -> object:
    """Execute a `while` loop; return a _Returned of its body, or the outcome of its `else`.

    Returns _COMPLETED after a `break`. Raises CannotEvaluate for a loop that never ends because an
    iteration changes no variable.
    """
    while _value(node.test, frame):
        before = dict(frame.variables)
        outcome = _block(node.body, frame)
        if isinstance(outcome, ast.Break):
            return _COMPLETED
        if isinstance(outcome, _Returned):
            return outcome
        if _unchanged(before, frame.variables):
            raise frame.fail(node, "this loop never ends, because what it tests does not change.")
        _spend(node, frame)
    return _block(node.orelse, frame)


def _unchanged(before: Mapping[str, object], after: Mapping[str, object]) -> bool:
    """Return True if variables are equal and of types that cannot be modified."""
    fixed = all(isinstance(one, IMMUTABLE) for one in after.values())
    return fixed and before == after


def _for(node: ast.For, frame: _Frame) -> object:
    """Execute a `for` loop; return a _Returned of its body, or the outcome of its `else`.

    Returns _COMPLETED after a `break`.
    """
    for element in _iterate(node.iter, frame):
        _bind(node.target, element, frame)
        outcome = _block(node.body, frame)
        if isinstance(outcome, ast.Break):
            return _COMPLETED
        if isinstance(outcome, _Returned):
            return outcome
    return _block(node.orelse, frame)


def _jump(node: ast.Break | ast.Continue, frame: _Frame) -> object:
    """Return the node of a `break` or `continue`, as the outcome of the block."""
    return node


def _pass(node: ast.Pass, frame: _Frame) -> object:
    """Do nothing; return _COMPLETED."""
    return _COMPLETED


def _assert(node: ast.Assert, frame: _Frame) -> object:
    """Return _COMPLETED if an assertion holds; raise CannotEvaluate otherwise."""
    if not _value(node.test, frame):
        raise frame.fail(node, "this assertion does not hold.")
    return _COMPLETED


def _define(node: ast.FunctionDef, frame: _Frame) -> object:
    """Define a nested function as a variable of the frame; return _COMPLETED.

    When the function is called, it sees the values that outer variables have then.
    """
    names = [one.arg for one in node.args.args]

    def function(*arguments):
        inner = frame.variables | dict(zip(names, arguments, strict=True))
        outcome = _block(node.body, replace(frame, variables=inner))
        return outcome.value if isinstance(outcome, _Returned) else None

    frame.variables[node.name] = function
    return _COMPLETED


def _import(node: ast.Import, frame: _Frame) -> object:
    """Define the module `math` or `numpy` as a variable; return _COMPLETED.

    Raises CannotEvaluate for any other module.
    """
    for one in node.names:
        module = {"math": math, "numpy": np}.get(one.name)
        if module is None:
            raise frame.fail(node, "of all modules only `math` is known to the check.")
        frame.variables[one.asname or one.name] = module
    return _COMPLETED


STATEMENTS: Mapping[type, Callable] = {
    ast.Return: _return,
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.Break: _jump,
    ast.Continue: _jump,
    ast.Pass: _pass,
    ast.Assert: _assert,
    ast.Import: _import,
    ast.FunctionDef: _define,
}


def _bind(target: ast.expr, value: object, frame: _Frame) -> None:
    """Assign a value to a variable, to an element, or to each name of a tuple.

    Raises CannotEvaluate for any other target or if the number of values differs.
    """
    if isinstance(target, ast.Name):
        frame.variables[target.id] = value
        return
    if isinstance(target, ast.Subscript):
        _assign_element(target, value, frame)
        return
    if not isinstance(target, ast.Tuple | ast.List) or not isinstance(value, ITERABLES):
        raise frame.fail(target, "only variables can be assigned to here.")
    values = list(value)
    if len(values) != len(target.elts):
        raise frame.fail(
            target,
            "{number} values are assigned to {names} names.",
            number=len(values),
            names=len(target.elts),
        )
    for one, element in zip(target.elts, values, strict=True):
        _bind(one, element, frame)


def _assign_element(target: ast.Subscript, value: object, frame: _Frame) -> None:
    """Assign a value to an element of a list or a dictionary.

    Raises CannotEvaluate for any other container or if the assignment fails.
    """
    container, index = _value(target.value, frame), _value(target.slice, frame)
    if not isinstance(container, list | dict):
        raise frame.fail(target, "only variables can be assigned to here.")
    _guarded(lambda: container.__setitem__(index, value), target, frame)


# ---- expressions ----


def _value(node: ast.expr, frame: _Frame) -> object:
    """Return the value of an expression, which costs a step.

    Raises CannotEvaluate if it has no value or no step is left.
    """
    _spend(node, frame)
    evaluate = EXPRESSIONS.get(type(node))
    if evaluate is None:
        raise frame.fail(node, "`{code}` is not known to the check.", code=ast.unparse(node))
    return evaluate(node, frame)


def _spend(node: ast.AST, frame: _Frame) -> None:
    """Take one step from those that are left; raise CannotEvaluate if none was left."""
    frame.evaluation.steps -= 1
    if frame.evaluation.steps < 0:
        raise frame.fail(
            node,
            "after {steps:,} steps the function has not ended, and the check allows no more. If "
            "its loops do end, let them take fewer and larger steps, or compute the result without "
            "a loop.",
            steps=MOST_STEPS,
        )


def _constant(node: ast.Constant, frame: _Frame) -> object:
    """Return a literal number, string or None. Raises CannotEvaluate for any other literal."""
    if isinstance(node.value, (*NUMBERS, str)) or node.value is None:
        return node.value
    raise frame.fail(node, "`{code}` is not known to the check.", code=ast.unparse(node))


def _name(node: ast.Name, frame: _Frame) -> object:
    """Return the value of a variable or of a known global name. Raises CannotEvaluate otherwise."""
    if node.id in frame.variables:
        return frame.variables[node.id]
    if node.id in _assigned_names(frame.source.tree):
        raise frame.fail(
            node,
            "`{name}` has no value yet: no line that was executed has given it one.",
            name=node.id,
        )
    if node.id not in frame.source.names:
        raise frame.fail(node, "the name `{name}` is not defined.", name=node.id)
    return _known(frame.source.names[node.id], node, frame)


def _known(value: object, node: ast.expr, frame: _Frame) -> object:
    """Return the value of a global name if the function may use it; a list becomes a tuple.

    Raises CannotEvaluate if it may not.
    """
    if isinstance(value, (*NUMBERS, FunctionType)) or any(value is one for one in (math, np, None)):
        return value
    if isinstance(value, tuple | list) and all(isinstance(one, NUMBERS) for one in value):
        return tuple(value)
    if callable(value) and (value is print or _is_one_of(value, FUNCTIONS | set(_MATH_CALLS))):
        return value
    raise frame.fail(
        node,
        "`{code}` is not known to the check, which knows numbers, `math` and functions of them.",
        code=ast.unparse(node),
    )


def _attribute(node: ast.Attribute, frame: _Frame) -> object:
    """Return a member of `math` or of NUMPY, or an allowed method of a container.

    Raises CannotEvaluate for any other attribute.
    """
    owner = node.value
    if isinstance(owner, ast.Name) and owner.id not in frame.variables:
        known = frame.source.names.get(owner.id)
        if isinstance(known, ModuleType) and known not in (math, np):
            raise frame.fail(node, "`{name}` is not known to the check; `math` is.", name=owner.id)
    value = _value(owner, frame)
    if isinstance(value, tuple | list) and node.attr in METHODS and hasattr(value, node.attr):
        return getattr(value, node.attr)
    if isinstance(value, dict) and node.attr in DICTIONARY_METHODS:
        return getattr(value, node.attr)
    if isinstance(value, set) and node.attr in SET_METHODS:
        return value.add
    if value is np and node.attr in NUMPY:
        return NUMPY[node.attr]
    if value is np:
        if node.attr == "float32":
            raise frame.fail(
                node, "`np.float32` rounds to seven digits. Leave it out, or take `np.float64`."
            )
        raise frame.fail(
            node,
            "NumPy's `{name}` is not known to the check; its `ceil` is, and so is Python's `math`.",
            name=node.attr,
        )
    if value is not math:
        raise frame.fail(node, "`{code}` is not known to the check.", code=ast.unparse(node))
    if node.attr not in MATH:
        raise frame.fail(node, "`{code}` is not known to the check.", code=f"math.{node.attr}")
    return MATH[node.attr]


def _binary(node: ast.BinOp, frame: _Frame) -> object:
    """Return the value of an operation with two operands, such as x + y or [0] * 64."""
    left, right = _value(node.left, frame), _value(node.right, frame)
    if isinstance(node.op, ast.Mult) and isinstance(left, list) and type(right) is int:
        return _repeated(left, right, node, frame)
    if isinstance(node.op, ast.Mult) and isinstance(right, list) and type(left) is int:
        return _repeated(right, left, node, frame)
    return _apply(node, node.op, (left, right), frame)


def _repeated(elements: list, times: int, node: ast.BinOp, frame: _Frame) -> list:
    """Return a list repeated, which costs a step per element.

    Raises CannotEvaluate if there are fewer steps left.
    """
    length = len(elements) * max(times, 0)
    if length > frame.evaluation.steps:
        raise frame.fail(node, "a list of {length:,} elements is too long.", length=length)
    frame.evaluation.steps -= length
    return elements * times


def _unary(node: ast.UnaryOp, frame: _Frame) -> object:
    """Return the value of an operation with one operand, such as -x."""
    return _apply(node, node.op, (_value(node.operand, frame),), frame)


def _apply(node: ast.AST, op: ast.AST, values: tuple, frame: _Frame) -> object:
    """Return the result of an operator for a tuple of one or two operands.

    Raises CannotEvaluate if the operation fails, or if an operand is not a number and the operator
    is not `not`.
    """
    if (what := _no_number(values)) and not isinstance(op, ast.Not):
        raise frame.fail(node, "{value} cannot be computed with.", value=what)
    if isinstance(op, ast.Pow | ast.LShift) and _too_long(op, *values):
        raise frame.fail(node, "this number would have more than {bits:,} bits.", bits=MOST_BITS)
    return _guarded(lambda: OPERATORS[type(op)](*values), node, frame)


def _too_long(op: ast.AST, base: float, by: float) -> bool:
    """Return True if a power or left shift of whole numbers may have more than 4096 bits.

    The bits are estimated: the exponent times the bits of the base, or, for a shift, the number of
    places. False if an operand is a float.
    """
    if not (isinstance(base, int) and isinstance(by, int)):
        return False
    return by * (base.bit_length() if isinstance(op, ast.Pow) else 1) > MOST_BITS


def _no_number(values: tuple) -> str | None:
    """Return a phrase on the first value that is no number, for a sentence, or None.

    The phrase is such as "A list".
    """
    if any(value is None for value in values):
        return translate("`None`, the value of a function without `return`,")
    wrong = [value for value in values if not isinstance(value, NUMBERS)]
    return translate("A {type}", type=type(wrong[0]).__name__) if wrong else None


def _guarded(compute: Callable[[], object], node: ast.AST, frame: _Frame) -> object:
    """Return the result of `compute`; raise CannotEvaluate if it raises an error.

    Also raises CannotEvaluate if the result is a whole number of more than 4096 bits or a complex
    number. node: the syntax node for the message.
    """
    try:
        result = compute()
    except ZeroDivisionError:
        raise frame.fail(node, "this divides by zero.") from None
    except (ArithmeticError, ValueError, TypeError, LookupError) as error:
        raise frame.error(node, f"{type(error).__name__}, {error}") from None
    if isinstance(result, int) and result.bit_length() > MOST_BITS:
        raise frame.fail(node, "this number has more than {bits:,} bits.", bits=MOST_BITS)
    if isinstance(result, complex):
        raise frame.fail(node, "this is the root of a negative number.")
    return result


def _boolean(node: ast.BoolOp, frame: _Frame) -> object:
    """Return the value of a chain of `and`, or of `or`, as Python computes it."""
    stops_at = isinstance(node.op, ast.Or)
    for part in node.values:
        value = _value(part, frame)
        if bool(value) == stops_at:
            break
    return value


def _compare(node: ast.Compare, frame: _Frame) -> bool:
    """Return True if a comparison holds, also a chain such as a < b < c.

    Raises CannotEvaluate if it fails, such as for operands that cannot be ordered.
    """
    left = _value(node.left, frame)
    for op, part in zip(node.ops, node.comparators, strict=True):
        right = _value(part, frame)
        if not _guarded(lambda: OPERATORS[type(op)](left, right), node, frame):  # noqa: B023
            return False
        left = right
    return True


def _conditional(node: ast.IfExp, frame: _Frame) -> object:
    """Return the value of an expression `x if test else y`."""
    return _value(node.body if _value(node.test, frame) else node.orelse, frame)


def _sequence(node: ast.Tuple | ast.List, frame: _Frame) -> tuple | list:
    """Return the tuple or list of the values of a tuple or list expression."""
    values = [_value(one, frame) for one in node.elts]
    return tuple(values) if isinstance(node, ast.Tuple) else values


def _subscript(node: ast.Subscript, frame: _Frame) -> object:
    """Return an element of a tuple, list, range or dictionary.

    Raises CannotEvaluate for any other container or if there is no such element.
    """
    container, index = _value(node.value, frame), _value(node.slice, frame)
    if not isinstance(container, tuple | list | range | dict):
        raise frame.fail(node, "only tuples, lists and dictionaries have elements here.")
    return _guarded(lambda: container[index], node, frame)


def _set(node: ast.Set, frame: _Frame) -> set:
    """Return the value of a set expression such as `{x, y}`."""
    values = [_value(one, frame) for one in node.elts]
    return _guarded(lambda: set(values), node, frame)


def _set_comprehension(node: ast.SetComp, frame: _Frame) -> set:
    """Return the value of a set comprehension."""
    values = _comprehension(node, frame)
    return _guarded(lambda: set(values), node, frame)


def _dictionary(node: ast.Dict, frame: _Frame) -> dict:
    """Return the value of a dictionary expression. Raises CannotEvaluate for `**` in it."""
    if None in node.keys:
        raise frame.fail(node, "`{code}` is not known to the check.", code=ast.unparse(node))
    pairs = [
        (_value(key, frame), _value(value, frame))
        for key, value in zip(node.keys, node.values, strict=True)
    ]
    return _guarded(lambda: dict(pairs), node, frame)


def _dictionary_comprehension(node: ast.DictComp, frame: _Frame) -> dict:
    """Return the value of a dictionary comprehension."""
    pairs: list = []
    pair = ast.Tuple([node.key, node.value], ast.Load())
    inner = replace(frame, variables=dict(frame.variables))
    _comprehend(node.generators, ast.copy_location(pair, node), inner, pairs)
    return _guarded(lambda: dict(pairs), node, frame)


def _comprehension(node: ast.ListComp | ast.GeneratorExp | ast.SetComp, frame: _Frame) -> list:
    """Return the list of the values of a comprehension or generator expression."""
    values: list = []
    inner = replace(frame, variables=dict(frame.variables))
    _comprehend(node.generators, node.elt, inner, values)
    return values


def _comprehend(loops: list[ast.comprehension], element, frame: _Frame, values: list) -> None:
    """Append the values of a comprehension to `values`.

    loops: its `for` parts, the outermost first. element: the expression of one value.
    """
    if not loops:
        values.append(_value(element, frame))
        return
    loop, *inner = loops
    for each in _iterate(loop.iter, frame):
        _bind(loop.target, each, frame)
        if all(_value(test, frame) for test in loop.ifs):
            _comprehend(inner, element, frame, values)


def _iterate(node: ast.expr, frame: _Frame) -> Iterator[object]:
    """Yield the elements of the iterable that an expression evaluates to; each costs a step.

    Raises CannotEvaluate if the value is not iterable.
    """
    iterable = _value(node, frame)
    if not isinstance(iterable, ITERABLES):
        raise frame.fail(
            node, "`{code}` is nothing that a loop can go through.", code=ast.unparse(node)
        )
    elements = iter(iterable)
    while True:
        try:
            value = next(elements)
        except StopIteration:
            return
        except RuntimeError as error:  # a dictionary that grows during the iteration
            raise frame.error(node, error) from None
        _spend(node, frame)
        yield value


def _lambda(node: ast.Lambda, frame: _Frame) -> Callable:
    """Return a function that evaluates a lambda's body with the variables' values at its call."""
    names = [one.arg for one in node.args.args]

    def function(*arguments):
        inner = frame.variables | dict(zip(names, arguments, strict=True))
        return _value(node.body, replace(frame, variables=inner))

    return function


def _function_call(node: ast.Call, frame: _Frame) -> object:
    """Return the value of a call; a call of `print` does nothing and returns None.

    Raises CannotEvaluate if the function is unknown or fails, or if its arguments are no numbers
    where it compares them, or are too large for the check.
    """
    function = _value(node.func, frame)
    if function is print:
        return None
    arguments = _arguments(node.args, frame)
    keywords = {one.arg: _value(one.value, frame) for one in node.keywords}
    if isinstance(function, FunctionType) and function.__module__ != __name__:
        return _own_call(node, function, arguments, keywords, frame)
    for many in arguments:
        if isinstance(many, range) and len(many) > frame.evaluation.steps:
            raise frame.fail(
                node, "{number:,} values are more than the check goes through.", number=len(many)
            )
    if function is pow and len(arguments) > 1 and _too_long(ast.Pow(), *arguments[:2]):
        raise frame.fail(node, "this number would have more than {bits:,} bits.", bits=MOST_BITS)
    if not callable(function):
        raise frame.fail(node, "`{code}` is a number and no function.", code=ast.unparse(node.func))
    compares = function in (min, max, sum) and len(arguments) > 1
    if compares and (what := _no_number(tuple(arguments))):
        raise frame.fail(node, "{value} cannot be compared with numbers.", value=what)
    return _guarded(lambda: function(*arguments, **keywords), node, frame)


def _arguments(nodes: Iterable[ast.expr], frame: _Frame) -> list:
    """Return the values of a call's positional arguments, with starred ones unpacked."""
    arguments: list = []
    for node in nodes:
        arguments += (
            _iterate(node.value, frame) if isinstance(node, ast.Starred) else [_value(node, frame)]
        )
    return arguments


def _own_call(node: ast.Call, function: FunctionType, arguments, keywords, frame: _Frame) -> object:
    """Return the value of a call of a function that the reader has written.

    Raises CannotEvaluate if calls are nested too deeply, or if the arguments do not fit.
    """
    if frame.depth >= DEEPEST:
        raise frame.fail(node, "{number} functions are called within each other.", number=DEEPEST)
    try:
        bound = _bound_arguments(function, arguments, keywords)
    except TypeError as error:
        raise frame.fail(
            node,
            "the call does not fit `{name}`, {error}",
            name=function.__name__,
            error=error,
        ) from None
    return _call(function, bound, frame.evaluation, frame.depth + 1)


def _bound_arguments(
    function: FunctionType, arguments: Iterable, keywords: Mapping[str, object]
) -> tuple:
    """Return the arguments in the order of the function's parameters, with defaults filled in.

    Raises TypeError if they do not fit the parameters.
    """
    bound = inspect.signature(function).bind(*arguments, **keywords)
    bound.apply_defaults()
    return bound.args


EXPRESSIONS: Mapping[type, Callable] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.Tuple: _sequence,
    ast.List: _sequence,
    ast.Subscript: _subscript,
    ast.Dict: _dictionary,
    ast.Set: _set,
    ast.SetComp: _set_comprehension,
    ast.DictComp: _dictionary_comprehension,
    ast.ListComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.Lambda: _lambda,
    ast.Call: _function_call,
}

_MATH_CALLS = frozenset(value for value in MATH.values() if callable(value))


def _is_one_of(value: object, known: frozenset) -> bool:
    """Return True if a value, hashable or not, is identical to one of these objects."""
    return any(value is one for one in known)


def _assigned_names(tree: ast.FunctionDef) -> set[str]:
    """Return the names of the variables to which a function's code assigns a value."""
    return {
        one.id
        for one in ast.walk(tree)
        if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)
    }
