"""From an expression of the kernel's syntax tree to a closure that evaluates it on all lanes.

``evaluate(frame, mask)`` gives a NumPy scalar while the value is the same in every thread, else a
vector of lanes, a tuple, or an array. What is constant is evaluated when the kernel is compiled.
"""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numba.core import types

from . import intrinsics, numba_types, operations
from .access import load
from .arithmetic import Arithmetic
from .barriers import GRID_GROUP
from .call import Call
from .coordinates import special_value
from .frame import Evaluate, Frame, MergeError, check_set, is_scalar
from .inference import declared_kinds
from .lanes import Mask
from .memory import Array, ArrayView, LocalArray, constant_array, element_strides
from .numba_types import conform
from .parts import expanded, is_part, store_part, view
from .place import Place
from .program import Program
from .source import Source, assigned_names

TYPED = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.IfExp)


class NotStatic(Exception):
    """An expression whose value is known only when the kernel runs."""


class Expressions:
    """The expressions of one function.

    ``compile_function`` compiles the device functions that it calls. ``cooperative``: its blocks
    wait for each other, so all must be there at once. ``takes_turns``: its blocks take a lock, so
    one must be able to finish alone.
    """

    def __init__(self, source: Source, compile_function: Callable[[Callable], Program]):
        self.source = source
        self.compile_function = compile_function
        self.local = assigned_names(source.tree)
        self.cooperative = False
        self.takes_turns = False

    def place(self, node: ast.Subscript) -> Callable[[Frame, Mask], Place]:
        """What a subscript names. Its ``array`` may be a tuple, or no array at all: who uses the
        place refuses that."""
        base, index = self.expression(node.value), self._indices(node.slice)
        site = self.source.site(node)

        def locate(frame, mask) -> Place:
            array, indices = base(frame, mask), index(frame, mask)
            if isinstance(array, Array):
                rank = len(array.shape)
                indices = expanded(indices, rank)
                if len(indices) > rank:
                    what = f"{len(indices)} indices into {rank} dimensions"
                    raise self.source.refuse(node, what)
            return Place(frame.run, array, indices, mask, site)

        return locate

    def _indices(self, node: ast.expr) -> Callable:
        parts = [self._index(e) for e in (node.elts if isinstance(node, ast.Tuple) else [node])]

        def evaluate(frame, mask) -> tuple:
            values = tuple([part(frame, mask) for part in parts])
            if len(values) == 1 and isinstance(values[0], tuple):
                return values[0]  # a[position] with a tuple of numbers
            for value in values:
                if is_scalar(value) and value.dtype.kind not in "iub":
                    raise self.source.refuse(node, f"an index of type {value.dtype}")
            return values

        return evaluate

    def _index(self, node: ast.expr) -> Callable:
        if not isinstance(node, ast.Slice):
            return self.expression(node)
        bounds = [self.expression(b) if b else None for b in (node.lower, node.upper, node.step)]

        def evaluate(frame, mask) -> slice:
            start, stop, step = (b(frame, mask) if b else None for b in bounds)
            if isinstance(step, np.ndarray):
                raise self.source.refuse(node, "a slice whose step differs by thread")
            return slice(start, stop, step)

        return evaluate

    def expression(self, node: ast.expr, name: str | None = None) -> Evaluate:
        """``name`` is the variable that the value is assigned to, for arrays made by the call."""
        try:
            value = self.static(node)
        except NotStatic:
            pass
        else:
            return self._constant_expression(node, value)
        if isinstance(node, ast.Call):
            return self._typed(node, self.call(node, name))
        method = getattr(self, f"eval_{type(node).__name__}", None)
        if method is None:
            raise self.source.refuse(node, f"the expression {ast.unparse(node)}")
        evaluate = method(node)
        return self._typed(node, evaluate) if isinstance(node, TYPED) else evaluate

    def _typed(self, node: ast.expr, evaluate: Evaluate) -> Evaluate:
        """A value in Numba's type: the operation's own, unless the lanes that would give it a
        wider one are absent."""
        return lambda frame, mask: conform(evaluate(frame, mask), frame.types.values.get(node))

    def static(self, node: ast.expr):
        """The Python value of an expression that does not depend on the running kernel."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            if node.id in self.local:
                raise NotStatic
            if node.id not in self.source.names:
                raise self.source.refuse(node, f"the name {node.id}, which is not defined,")
            return self.source.names[node.id]
        if isinstance(node, ast.Attribute):
            base = self.static(node.value)
            if not hasattr(base, node.attr):
                raise self.source.refuse(node, f"{ast.unparse(node)}")
            if special_value(base):
                raise NotStatic
            return getattr(base, node.attr)
        if isinstance(node, ast.Tuple):
            return tuple(self.static(e) for e in node.elts)
        return self._static_arithmetic(node)

    def _static_arithmetic(self, node: ast.expr):
        """Integer arithmetic of constants, as in ``(TILE, TILE + 1)``."""
        if isinstance(node, ast.BinOp) and type(node.op) in operations.BINARY:
            left, right = self.static(node.left), self.static(node.right)
            if type(left) is int and type(right) is int:
                return self._folded(operations.BINARY[type(node.op)], left, right)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.static(node.operand)
            if type(value) in (int, float):
                return -value
        raise NotStatic

    @staticmethod
    def _folded(function: Callable, left: int, right: int):
        """Left to the running kernel where Python's integers differ from the kernel's."""
        try:
            value = function(left, right)
        except (ArithmeticError, ValueError):
            raise NotStatic from None
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise NotStatic
        return value

    def _constant_expression(self, node: ast.expr, value) -> Evaluate:
        special = special_value(value)
        if special:
            return special
        constant = self._constant(node, value)
        return lambda frame, mask: constant

    def call(self, node: ast.Call, name: str | None) -> Evaluate:
        """A call of a function that Numba knows in kernels, or of a device function."""
        function = self.try_static(node.func)
        if function is None and isinstance(node.func, ast.Attribute):
            return self._method_call(node)
        if function is None:
            return self._call_of_argument(node)
        handler = intrinsics.handler_of(function)
        if handler is not None:
            return handler(Call(self, node, name, function))
        python = intrinsics.device_function(function)
        if python is None:
            raise self.source.refuse(node, f"a call of {ast.unparse(node.func)}()")
        return self._device_call(node, function, self.compile_function(python))

    def _chosen_item(self, node: ast.Subscript, items: tuple, index: np.ndarray):
        """The item that each lane asks for; the items are of one type, as Numba demands."""
        if len({item.dtype for item in items}) > 1:
            raise self.source.refuse(node, "a tuple of several types, indexed by a variable")
        columns = np.stack([np.broadcast_to(item, index.shape) for item in items])
        inside = np.clip(np.where(index < 0, index + len(items), index), 0, len(items) - 1)
        return np.take_along_axis(columns, inside[None].astype(np.int64), axis=0)[0]

    def _method_call(self, node: ast.Call) -> Evaluate:
        """``grid.sync()``, ``x.fill(value)`` and ``z.conjugate()``: a kernel has few methods."""
        owner, name = self.expression(node.func.value), node.func.attr
        site = self.source.site(node)
        arguments = [self.expression(a) for a in node.args]

        def evaluate(frame, mask):
            value, given = owner(frame, mask), [a(frame, mask) for a in arguments]
            if value is GRID_GROUP and name == "sync" and not given:
                return frame.run.grid_barrier(mask, site)
            if is_scalar(value) and name == "conjugate" and not given:
                return np.conjugate(value)
            fills = name == "fill" and len(given) == 1 and is_scalar(given[0])
            is_array = isinstance(value, Array)
            if is_array and fills and store_part(Place(frame.run, value, (), mask, site), *given):
                return None
            raise self.source.refuse(node, f"a call of {ast.unparse(node.func)}()")

        return evaluate

    def _device_call(self, node: ast.Call, function, program: Program) -> Evaluate:
        self.cooperative |= program.cooperative
        self.takes_turns |= program.takes_turns
        names = program.source.parameters[len(node.args) :]
        given = {k.arg: k.value for k in node.keywords}
        ordered = [*node.args, *(given[name] for name in names if name in given)]
        if program.source.filled(tuple(ordered)) is None or len(given) > len(names):
            expected = len(program.source.parameters)
            raise self.source.refuse(node, f"a call that does not pass {expected} arguments")
        arguments = [self.expression(a) for a in ordered]

        def evaluate(frame, mask):
            values = program.source.filled(tuple(a(frame, mask) for a in arguments))
            values = tuple(self._constant(node, v) if _is_plain(v) else v for v in values)
            return program.call(frame.run, conform(values, declared_kinds(function, values)), mask)

        return evaluate

    def _call_of_argument(self, node: ast.Call) -> Evaluate:
        """A call of a device function that came as an argument."""
        callee = self.expression(node.func)
        arguments = [self.expression(a) for a in node.args]

        def evaluate(frame, mask):
            function = callee(frame, mask)
            python = intrinsics.device_function(function)
            if python is None or node.keywords:
                raise self.source.refuse(node, f"a call of {ast.unparse(node.func)}()")
            program = self.compile_function(python)
            values = tuple(a(frame, mask) for a in arguments)
            if len(values) != len(program.source.parameters):
                raise self.source.refuse(node, "a call with another number of arguments")
            return program.call(frame.run, conform(values, declared_kinds(function, values)), mask)

        return evaluate

    def try_static(self, node: ast.expr):
        try:
            return self.static(node)
        except NotStatic:
            return None

    def _constant(self, node: ast.expr, value):
        """A Python constant as a value of the kernel."""
        if isinstance(value, bool | int | float | complex | np.generic):
            return numba_types.scalar(value)
        if isinstance(value, tuple):
            return tuple(self._constant(node, v) for v in value)
        if isinstance(value, np.ndarray):
            return constant_array(ast.unparse(node), value)
        if value is None or value is Ellipsis:
            return value
        if isinstance(value, str | np.dtype | type | types.Type):
            return value
        if intrinsics.device_function(value) is not None:
            return value
        raise self.source.refuse(node, f"{ast.unparse(node)} ({type(value).__name__})")

    def condition(self, node: ast.expr) -> Evaluate:
        evaluate = self.expression(node)

        def test(frame, mask):
            value = evaluate(frame, mask)
            if isinstance(value, tuple) or value is None:
                return np.bool_(bool(value))
            if not is_scalar(value):
                raise self.source.refuse(node, "this condition")
            return operations.truth(value)

        return test

    def eval_Name(self, node: ast.Name) -> Evaluate:
        name = node.id
        site = self.source.site(node)

        def evaluate(frame, mask):
            try:
                value, owners = frame.read(name, frame.types.values.get(node), mask)
            except KeyError:
                raise self.source.refuse(node, f"{name}, read before it is set,") from None
            except MergeError:
                what = f"a variable, {name}, that is an array in some threads only"
                raise self.source.refuse(node, what) from None
            if owners is not mask and owners.count < frame.everyone.count:
                check_set(frame, name, owners, mask, site)
            return value

        return evaluate

    def eval_Attribute(self, node: ast.Attribute) -> Evaluate:
        base, attribute = self.expression(node.value), node.attr

        def evaluate(frame, mask):
            owner = base(frame, mask)
            if attribute == "T" and isinstance(owner, ArrayView):
                return replace(owner, shape=owner.shape[::-1], strides=owner.strides[::-1])
            value = attribute_of(owner, attribute)
            if value is None:
                raise self.source.refuse(node, ast.unparse(node))
            return value

        return evaluate

    def eval_Tuple(self, node: ast.Tuple) -> Evaluate:
        parts = [self.expression(e) for e in node.elts]
        return lambda frame, mask: tuple(part(frame, mask) for part in parts)

    def eval_BinOp(self, node: ast.BinOp) -> Evaluate:
        function = operations.BINARY.get(type(node.op))
        if function is None:
            raise self.source.refuse(node, f"the operator {type(node.op).__name__}")
        left, right = self.expression(node.left), self.expression(node.right)
        apply = Arithmetic(self.source, node).apply

        def evaluate(frame, mask):
            values = (left(frame, mask), right(frame, mask))
            if isinstance(values[0], tuple) and isinstance(values[1], tuple):
                return values[0] + values[1]
            return apply(function, values, frame, mask)

        return evaluate

    def eval_UnaryOp(self, node: ast.UnaryOp) -> Evaluate:
        if isinstance(node.op, ast.Not):
            test = self.condition(node.operand)
            return lambda frame, mask: np.logical_not(test(frame, mask))
        operand, function = self.expression(node.operand), operations.UNARY[type(node.op)]
        apply = Arithmetic(self.source, node).apply
        return lambda frame, mask: apply(function, (operand(frame, mask),), frame, mask)

    def eval_Compare(self, node: ast.Compare) -> Evaluate:
        if isinstance(node.ops[0], ast.Is | ast.IsNot):
            return self._identity(node)
        if isinstance(node.ops[0], operations.MEMBERSHIP) and len(node.ops) == 1:
            return self._membership(node)
        functions = [operations.COMPARE.get(type(op)) for op in node.ops]
        if None in functions:
            what = type(node.ops[functions.index(None)]).__name__
            raise self.source.refuse(node, f"the comparison {what}")
        operands = [self.expression(e) for e in (node.left, *node.comparators)]
        apply = Arithmetic(self.source, node).apply

        def evaluate(frame, mask):
            values = [operand(frame, mask) for operand in operands]
            verdicts = [
                apply(function, pair, frame, mask)
                for function, pair in zip(functions, pairwise(values), strict=True)
            ]
            return functools.reduce(np.logical_and, verdicts)

        return evaluate

    def _identity(self, node: ast.Compare) -> Evaluate:
        left, right = self.expression(node.left), self.expression(node.comparators[0])
        negate = isinstance(node.ops[0], ast.IsNot)
        return lambda frame, mask: np.bool_((left(frame, mask) is right(frame, mask)) != negate)

    def _membership(self, node: ast.Compare) -> Evaluate:
        """``x in (1, 2)``: a comparison with each item of a tuple."""
        left, right = self.expression(node.left), self.expression(node.comparators[0])
        negate = isinstance(node.ops[0], ast.NotIn)
        apply = Arithmetic(self.source, node).apply

        def evaluate(frame, mask):
            value, items = left(frame, mask), right(frame, mask)
            if not isinstance(items, tuple):
                raise self.source.refuse(node, "membership in anything but a tuple")
            found = np.bool_(False)
            for item in items:
                found = np.logical_or(found, apply(operator.eq, (value, item), frame, mask))
            return np.logical_not(found) if negate else found

        return evaluate

    def eval_BoolOp(self, node: ast.BoolOp) -> Evaluate:
        parts = [self.expression(v) for v in node.values]
        is_and = isinstance(node.op, ast.And)

        def evaluate(frame, mask):
            result, undecided = None, mask
            for part in parts:
                value = part(frame, undecided)
                if not is_scalar(value):
                    raise self.source.refuse(node, "and/or of something that is no number")
                result = _chosen(undecided, value, result, mask)
                going = operations.truth(value) if is_and else ~operations.truth(value)
                undecided = _going_on(undecided, going)
                if undecided is None:
                    break
            return result

        return evaluate

    def eval_IfExp(self, node: ast.IfExp) -> Evaluate:
        test = self.condition(node.test)
        yes, no = self.expression(node.body), self.expression(node.orelse)

        def evaluate(frame, mask):
            chosen = test(frame, mask)
            if not isinstance(chosen, np.ndarray):
                return (yes if chosen else no)(frame, mask)
            lanes = mask.narrow(chosen)
            others = mask.without(lanes)
            if lanes is None or others is None:
                return (no if lanes is None else yes)(frame, mask)
            first, second = yes(frame, lanes), no(frame, others)
            if not (is_scalar(first) and is_scalar(second)):
                raise self.source.refuse(node, "a conditional expression of arrays")
            return operations.merge(lanes.lanes, first, second)

        return evaluate

    def eval_Subscript(self, node: ast.Subscript) -> Evaluate:
        locate = self.place(node)

        def evaluate(frame, mask):
            place = locate(frame, mask)
            if isinstance(place.array, tuple):
                return self._item(node, place.array, place.indices)
            if not isinstance(place.array, Array):
                raise self.source.refuse(node, f"the index in {ast.unparse(node)}")
            if not is_part(place):
                return load(place)
            if isinstance(place.array, LocalArray):
                raise self.source.refuse(node, "a part of a local array")
            return view(place)

        return evaluate

    def _item(self, node: ast.Subscript, items: tuple, indices: tuple):
        if len(indices) == 1 and isinstance(indices[0], slice):
            return items[indices[0]]
        if len(indices) == 1 and isinstance(indices[0], np.ndarray) and all(map(is_scalar, items)):
            return self._chosen_item(node, items, indices[0])
        if len(indices) != 1 or isinstance(indices[0], np.ndarray):
            raise self.source.refuse(node, "this index into a tuple")
        if not -len(items) <= int(indices[0]) < len(items):
            raise self.source.refuse(node, f"item {int(indices[0])} of {len(items)}")
        return items[int(indices[0])]


def _is_plain(value) -> bool:
    """Whether a default argument is still a plain Python number."""
    return isinstance(value, bool | int | float | complex)


def attribute_of(value, attribute: str):
    """``x.shape`` and the like; None where the virtual GPU does not know the attribute."""
    if isinstance(value, Array):
        return _array_attributes(value).get(attribute)
    if is_scalar(value) and attribute in ("real", "imag"):
        return getattr(value, attribute)
    if isinstance(value, tuple) and hasattr(value, attribute):
        return getattr(value, attribute)
    return None


def _array_attributes(array: Array) -> dict:
    shape = tuple(s if isinstance(s, np.ndarray) else np.int64(s) for s in array.shape)
    size, itemsize = functools.reduce(operator.mul, shape, np.int64(1)), array.dtype.itemsize
    strides = getattr(array, "strides", None) or element_strides(array.shape)
    return {
        "shape": shape,
        "size": size,
        "ndim": np.int64(len(shape)),
        "dtype": array.dtype,
        "itemsize": np.int64(itemsize),
        "nbytes": size * itemsize,
        "strides": tuple(np.int64(s * itemsize) for s in strides),
    }


def _chosen(undecided: Mask, value, result, mask: Mask):
    """The value of and/or so far: lanes that were still undecided take the new one."""
    if result is None or undecided is mask:
        return value
    return operations.merge(undecided.lanes, value, result)


def _going_on(undecided: Mask, going) -> Mask | None:
    if isinstance(going, np.ndarray):
        return undecided.narrow(going)
    return undecided if going else None
