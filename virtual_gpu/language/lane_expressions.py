"""Generates the code of expressions, for one lane at a time; see lane_code.py.

Loads and calls become lines of their own, in the order of evaluation, and the rest of an expression
is the text of one Python expression.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np

from ..common.errors import Unsupported
from ..machine.lane_accesses import Event
from ..numbers import operations
from ..numbers.plain_numbers import (
    BOOL,
    FLOAT32,
    INT64,
    MIXED,
    NoText,
    Text,
    is_known,
)  # fmt: skip
from ..types import numba_types
from . import coordinates, functions, intrinsics
from .arrays import element_dtype, local_array
from .constants import NotStatic
from .inference import Types
from .lane_values import UNSET, Cells, Output, Variable


class LaneExpressions:
    """Generates Python code that computes the expressions of one function for one lane.

    A value in the code is a Text for a number, Cells for an array, or a tuple of such values.
    Methods that return a value may append the lines that it needs. All methods raise NoText for
    what has no code.

    ``expressions`` are those of the function, and ``types`` the types of its values. ``variables``
    are those that the code has set so far, and ``lines`` the code. ``stores_by_data`` are the
    stores whose lanes the content of an array decides.
    """

    def __init__(self, output: Output, expressions, types: Types, stores_by_data: frozenset):
        self.output = output
        self.numbers = output.numbers
        self.expressions = expressions
        self.source = expressions.source
        self.types = types
        self.variables: dict[str, Variable] = {}
        self.lines: list[str] = []
        self._by_data = stores_by_data
        self._depth = 1

    def line(self, text: str) -> None:
        """Append one line of code, indented by the present depth."""
        self.lines.append("    " * self._depth + text)

    def _count(self, kind: str, what, dtype=None) -> None:
        """Append a line that adds 1 to a tally, if the code counts; otherwise append nothing.

        ``kind`` is "iteration" or "operation", ``what`` the site, and ``dtype`` that of an
        operation's result.
        """
        if self.output.counts:
            self.line(f"tally[{self.output.tally(kind, what, dtype)}] += 1")

    def conform(self, value, kind):
        """Return a value cast to ``kind``, the type that Numba gives it, or a tuple of such types.

        Cells are returned unchanged, and so is any value for the kind None, a value that is no
        Text, and a tuple of another length than ``kind``.
        """
        if kind is None or isinstance(value, Cells):
            return value
        if isinstance(kind, tuple):
            if not isinstance(value, tuple) or len(kind) != len(value):
                return value
            return tuple(map(self.conform, value, kind))
        return self.numbers.cast(value, kind) if isinstance(value, Text) else value

    def _held(self, value):
        """Return an equal value that lines appended later cannot change.

        Its Texts are constants, inputs or temporaries. Raises NoText for Cells.
        """
        if isinstance(value, Text) and not value.atom:
            t = self.numbers.temporary()
            self.line(f"{t} = {value.code}")
            return replace(value, code=t, atom=True, wide="")
        if isinstance(value, Text) and value.code.startswith("v_"):
            t = self.numbers.temporary()
            self.line(f"{t} = {value.code}")
            return replace(value, code=t)
        if isinstance(value, tuple):
            return tuple(map(self._held, value))
        if isinstance(value, Cells):
            raise NoText("an array in a tuple")
        return value

    def expression(self, node: ast.expr):
        """Return the value of an expression: a Text, Cells, or a tuple of them.

        It is None for a call of a device function that returns nothing. Raises NoText for an
        expression that has no such code.
        """
        try:
            constant = self.expressions.constants.value(node)
        except (NotStatic, Unsupported):
            constant = UNSET
        if constant is not UNSET:
            return self._constant(node, constant)
        method = getattr(self, f"eval_{type(node).__name__}", None)
        if method is None:
            raise NoText(type(node).__name__)
        value = method(node)
        if isinstance(node, ast.BinOp | ast.UnaryOp | ast.BoolOp | ast.IfExp | ast.Call):
            return self.conform(value, self.types.values.get(node))
        return value

    def _constant(self, node: ast.expr, constant):
        """Return the value of an expression whose Python value is the number or tuple ``constant``.

        If ``constant`` is ``cuda.laneid`` or ``cuda.warpsize``, it is an input of the code. Raises
        NoText for any other value.
        """
        if coordinates.special_value(constant) is not None:
            return self._input(node)
        if isinstance(constant, tuple):
            return tuple(self._constant(node, item) for item in constant)
        if isinstance(constant, bool | int | float | np.generic):
            return self.numbers.constant(numba_types.scalar(constant))
        raise NoText("this constant")

    def _input(self, node: ast.expr, closure: Callable | None = None) -> Text:
        """Return the Text of a number that a lane keeps during the whole run, such as threadIdx.x.

        It is the name of an input of the code, which is added to ``output.inputs``. ``closure``
        gives the number for all lanes; without it, the closure of the expression does.
        """
        text = "".join(c if c.isalnum() else "_" for c in ast.unparse(node))
        name = f"i_{self.source.name}_{text}"
        if name not in self.output.inputs:
            self.output.inputs[name] = closure or self.expressions.expression(node)
        value = self.output.present(self.output.inputs[name])
        if not isinstance(value, np.generic | np.ndarray) or not is_known(value.dtype):
            raise NoText("a coordinate")
        bits = 40 if isinstance(node, ast.Call) else 31
        return Text(name, value.dtype, isinstance(value, np.ndarray), bits, atom=True)

    def _number(self, node: ast.expr) -> Text:
        """Return the Text of an expression; raise NoText if its value is no number."""
        value = self.expression(node)
        if not isinstance(value, Text):
            raise NoText("no number")
        return value

    def condition(self, node: ast.expr) -> Text:
        """Return the Text of a condition, which Python finds true where the kernel does.

        Its dtype may be another one than bool.
        """
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.condition(node.operand)
            return Text(f"(not {inner.code})", BOOL, inner.varies, 1)
        if isinstance(node, ast.BoolOp):
            return replace(self._chain(node, self.condition), dtype=BOOL, bits=1)
        value = self._number(node)
        return value if value.dtype != FLOAT32 else self.numbers.cast(value, BOOL)

    def _chain(self, node: ast.BoolOp, evaluate: Callable) -> Text:
        """Return the Text of ``and`` or ``or``, as Python computes it.

        An operand is evaluated only where it is needed. ``evaluate`` takes an operand's node and
        returns its Text.
        """
        is_and = isinstance(node.op, ast.And)
        word = "and" if is_and else "or"
        result = evaluate(node.values[0])
        for operand in node.values[1:]:
            start = len(self.lines)
            self._depth += 1
            value = evaluate(operand)
            self._depth -= 1
            varies = result.varies or value.varies
            bits = max(result.bits, value.bits)
            if value.dtype != result.dtype and evaluate != self.condition:
                raise NoText("and/or of several types")
            if len(self.lines) == start:
                code = f"({result.code} {word} {value.code})"
                result = Text(code, value.dtype, varies, bits)
                continue
            name = self.numbers.temporary()
            indent = "    " * self._depth
            test = name if is_and else f"not {name}"
            self.lines[start:start] = [
                f"{indent}{name} = {result.code}", f"{indent}if {test}:",
            ]  # fmt: skip
            self.lines.append(f"{indent}    {name} = {value.code}")
            result = Text(name, value.dtype, varies, bits, atom=True)
        return result

    def eval_Name(self, node: ast.Name):
        """Return the value of a variable, cast to the type that Numba gives it here.

        Raises NoText for a variable that the lane may not have set.
        """
        variable = self.variables.get(node.id)
        if variable is None or variable.maybe or variable.value is None:
            raise NoText(f"the variable {node.id}")
        return self.conform(variable.value, self.types.values.get(node))

    def eval_Tuple(self, node: ast.Tuple) -> tuple:
        """Return the tuple of the values of a tuple's expressions."""
        return tuple(map(self.expression, node.elts))

    def _operation(self, node: ast.AST, function: Callable, values: list, position: bool = False):
        """Return the Text of ``function(*values)`` in Numba's types.

        If the code counts and the result is a float, a line that counts the operation is appended.
        ``position`` is as ``is_position`` of Numbers.apply. Raises NoText if a value is no number.
        """
        if not all(isinstance(v, Text) for v in values):
            raise NoText("an operation on no numbers")
        result = self.numbers.apply(function, values, position)
        if self.output.counts and result.dtype.kind == "f":
            self._count("operation", self.source.site(node), result.dtype)
        return result

    def eval_BinOp(self, node: ast.BinOp, position: bool = False):
        """Return the Text of a binary operation.

        If ``position`` is True, it is an index, and a sum, difference or product of integers may be
        larger than its dtype allows.
        """
        function = operations.BINARY.get(type(node.op))
        values = [self._operand(n, position) for n in (node.left, node.right)]
        if function is None or not all(isinstance(v, Text) for v in values):
            raise NoText("this operation")
        is_sum = function in (operator.add, operator.sub, operator.mul)
        if position and not is_sum:
            values = [self.numbers.wrapped(v) for v in values]
        return self._operation(node, function, values, position and is_sum)

    def _operand(self, node: ast.expr, position: bool):
        """Return the value of an operand; if ``position`` is True, as ``_position`` does."""
        return self._position(node) if position else self.expression(node)

    def _position(self, node: ast.expr):
        """Return the value of an index.

        A sum, difference or product of int64 numbers in it may be larger than its dtype allows.
        """
        kind = self.types.values.get(node)
        is_sum = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult)
        if is_sum and kind == INT64 and self.expressions.try_static(node) is None:
            return self.eval_BinOp(node, position=True)
        return self.expression(node)

    def eval_UnaryOp(self, node: ast.UnaryOp):
        """Return the Text of ``-x``, ``+x``, ``~x`` or ``not x``."""
        if isinstance(node.op, ast.Not):
            return self.condition(node)
        value = self._number(node.operand)
        return self._operation(node, operations.UNARY[type(node.op)], [value])

    def eval_Compare(self, node: ast.Compare) -> Text:
        """Return the Text of a comparison, a bool; all operands of a chain are evaluated."""
        functions_of = [operations.COMPARE.get(type(op)) for op in node.ops]
        values = [self._number(n) for n in (node.left, *node.comparators)]
        if None in functions_of:
            raise NoText("this comparison")
        if len(functions_of) == 1:
            return self._operation(node, functions_of[0], values)
        held = [self._held(value) for value in values]
        verdicts = [
            self._operation(node, function, list(pair))
            for function, pair in zip(functions_of, pairwise(held), strict=True)
        ]
        chain = " and ".join(v.code for v in verdicts)
        return Text(f"({chain})", BOOL, any(v.varies for v in values), 1)

    def eval_BoolOp(self, node: ast.BoolOp) -> Text:
        """Return the Text of ``and`` or ``or`` of numbers of one type."""
        return self._chain(node, self._number)

    def eval_IfExp(self, node: ast.IfExp) -> Text:
        """Return the Text of a conditional expression whose two numbers have one dtype."""
        test, kind = self.condition(node.test), self.types.values.get(node)
        name, values = self.numbers.temporary(), []
        for head, arm in ((f"if {test.code}:", node.body), ("else:", node.orelse)):
            self.line(head)
            self._depth += 1
            value = self.conform(self._number(arm), kind)
            self.line(f"{name} = {value.code}")
            self._depth -= 1
            values.append(value)
        yes, no = values
        if yes.dtype != no.dtype:
            raise NoText("a conditional expression of two types")
        varies = test.varies or yes.varies or no.varies
        return Text(name, yes.dtype, varies, max(yes.bits, no.bits), atom=True)

    def eval_Attribute(self, node: ast.Attribute) -> Text | tuple[Text, ...]:
        """Return the Text of a thread's coordinate, or of an array's size or number of dimensions.

        For its shape it is a tuple with a Text per dimension. Raises NoText for other attributes.
        """
        owner = node.value
        try:
            constant = self.expressions.constants.value(owner)
        except (NotStatic, Unsupported):
            constant = None
        if constant is not None and coordinates.special_value(constant) is not None:
            return self._input(node)
        value = self.expression(owner)
        if not isinstance(value, Cells):
            raise NoText("an attribute")
        extents = tuple(Text(e, INT64, value.varies, 40, atom=True) for e in value.extents)
        if node.attr == "shape":
            return extents
        if node.attr == "size" and extents:
            code = f"({' * '.join(e.code for e in extents)})"
            return Text(code, INT64, value.varies, 62)
        if node.attr == "ndim":
            return self.numbers.constant(np.int64(len(extents)))
        raise NoText(node.attr)

    # --- arrays ------------------------------------------------------------------------------

    def eval_Subscript(self, node: ast.Subscript):
        """Return an element as Text, a part of an array as Cells, or an item of a tuple.

        An item of a tuple needs a constant index.
        """
        if node in self.expressions.guarding_reads:
            raise NoText("a read before an atomic")
        base = self.expression(node.value)
        if isinstance(base, tuple):
            index = self.expressions.try_static(node.slice)
            if not isinstance(index, int) or not -len(base) <= index < len(base):
                raise NoText("an item of a tuple")
            return base[index]
        cells, indices = self._place(node, base)
        if any(isinstance(i, ast.Slice) for i in indices) or len(indices) < len(cells.extents):
            return self._part(cells, indices)
        return self._load(node, cells, self._address(cells, indices))

    def _place(self, node: ast.Subscript, base=None) -> tuple[Cells, list]:
        """Return the Cells of a subscript's array and the list of its indices.

        An index is an integer's Text or, for a slice, its ``ast.Slice`` node. There may be fewer
        indices than dimensions. ``base`` is the array if the caller has evaluated it.
        """
        cells = self.expression(node.value) if base is None else base
        if not isinstance(cells, Cells):
            raise NoText("a subscript of no array")
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        indices = [p if isinstance(p, ast.Slice) else self._position(p) for p in parts]
        if len(indices) == 1 and isinstance(indices[0], tuple):
            indices = list(indices[0])
        for index in indices:
            if isinstance(index, ast.Slice):
                continue
            if not isinstance(index, Text) or index.dtype.kind not in "iu":
                raise NoText("this index")
        if len(indices) > len(cells.extents):
            raise NoText("too many indices")
        return cells, indices

    def _address(self, cells: Cells, indices: list[Text]) -> Text:
        """Append the check of an element's indices; return the name of its address as a Text.

        The address is in elements of the array's memory.
        """
        names = []
        for index in indices:
            name = index.code
            if not index.atom:
                name = self.numbers.temporary()
                self.line(f"{name} = {index.code}")
            names.append(name)
        checks = [f"0 <= {n} < {e}" for n, e in zip(names, cells.extents, strict=True)]
        if checks:
            self.line(f"if not ({' and '.join(checks)}): give_up()")
        terms = [n if s == "1" else f"{n} * {s}" for n, s in zip(names, cells.strides, strict=True)]
        terms += [] if cells.offset == "0" else [cells.offset]
        varies = cells.varies or any(index.varies for index in indices)
        address = self.numbers.temporary()
        self.line(f"{address} = {' + '.join(terms) or '0'}")
        return Text(address, INT64, varies, atom=True)

    def _load(self, node: ast.Subscript, cells: Cells, address: Text) -> Text:
        """Append the code of a load; return the Text of the element."""
        dtype, value = cells.dtype, self.numbers.temporary()
        if not is_known(dtype):
            raise NoText(dtype)
        if cells.slot is None:
            self.line(f"{value} = {cells.cells}[{address.code}]")
            self.line(f"if {value} is None: give_up()")
            return Text(value, dtype, True, atom=True)
        slot = self.output.slots[cells.slot]
        if not slot.usable:
            raise NoText("this memory")
        if slot.marked:
            self.line(f"if unset{cells.slot}[{address.code}]: give_up()")
        self._note(node, cells.slot, "load", address)
        varies = address.varies or slot.logged or slot.marked
        self.line(f"{value} = view{cells.slot}[{address.code}]")
        if dtype == FLOAT32:
            return Text(f"f32({value})", dtype, varies, wide=value)
        return Text(value, dtype, varies, atom=True)

    def _note(self, node: ast.AST, slot: int, kind: str, address: Text) -> None:
        """Append the code that logs an access to the memory ``slot``.

        Nothing is appended if its accesses are neither checked nor counted. ``kind`` is "load" or
        "store".
        """
        known = self.output.slots[slot]
        if known.logged or known.counted:
            differs = address.varies or known.logged or known.marked
            by_data = node in self._by_data
            event = Event(self.source.site(node), slot, kind, by_data, differs)
            number = self.output.event(node, event)
            self.line(f"at({address.code}); what({number})")

    def _store(self, node: ast.Subscript, cells: Cells, address: Text, value: Text) -> None:
        """Append the code of a store of one element, at an address that is in bounds."""
        dtype = cells.dtype
        if not cells.writable or not is_known(dtype):
            raise NoText("a store to this array")
        value, at = self._storable(value, dtype), address.code
        if cells.slot is None:
            self.line(f"{cells.cells}[{at}] = {value.code}")
            return
        number, slot = cells.slot, self.output.slots[cells.slot]
        if not slot.usable or slot.space == "constant":
            raise NoText("a store to this memory")
        self.output.stores.add(number)
        held = self._held(value) if not value.atom else value
        if slot.space == "global":
            self.line(f"if {at} >> 12 not in saved{number}: save{number}({at})")
        self.line(f"undo((data{number}, {at}, data{number}[{at}]))")
        if slot.marked:
            self.line(f"undo((unset{number}, {at}, unset{number}[{at}]))")
            self.line(f"unset{number}[{at}] = False")
        self.line(f"data{number}[{at}] = {held.code}")
        self._note(node, number, "store", address)

    def _storable(self, value: Text, dtype: np.dtype) -> Text:
        """Return the Text of a value cast to the dtype of the array in which it is stored.

        If an integer may not fit, a line is appended with which the running code gives up. Unsigned
        dtypes of 32 and 64 bits wrap around instead. Raises NoText for a float that is stored as an
        integer, and for a number of the dtype MIXED.
        """
        source = value.dtype
        if source == MIXED:
            raise NoText("a number of two types")
        if dtype.kind in "iu" and source.kind == "f":
            raise NoText("a float that is stored as an integer")
        may_lose = (
            dtype.kind in "iu"
            and source.kind in "iu"
            and not (dtype.kind == "u" and dtype.itemsize >= 4)
        )
        if may_lose and source.itemsize > dtype.itemsize:
            limits, t = np.iinfo(dtype), self.numbers.temporary()
            self.line(f"{t} = {value.code}")
            self.line(f"if not {limits.min} <= {t} <= {limits.max}: give_up()")
            return Text(t, dtype, value.varies, atom=True)
        return self.numbers.cast(value, dtype)

    def _part(self, cells: Cells, indices: list) -> Cells:
        """Append the code that computes the offset of a part of an array; return its Cells."""
        everything = [ast.Slice()] * (len(cells.extents) - len(indices))
        offset, extents, strides, varies = cells.offset, [], [], cells.varies
        for index, extent, stride in zip(
            [*indices, *everything], cells.extents, cells.strides, strict=True
        ):
            start = self.numbers.temporary()
            if isinstance(index, ast.Slice):
                if index.step is not None:
                    raise NoText("a slice with a step")
                ends = [self._number(n) if n else None for n in (index.lower, index.upper)]
                if any(e is not None and (e.dtype.kind not in "iu")
                       for e in ends):  # fmt: skip
                    raise NoText("a slice")
                varies = varies or any(e is not None and e.varies for e in ends)
                codes = ["None" if e is None else e.code for e in ends]
                length = self.numbers.temporary()
                self.line(f"{start}, {length} = sliced({codes[0]}, {codes[1]}, {extent})")
                extents.append(length)
                strides.append(stride)
            else:
                varies = varies or index.varies
                self.line(f"{start} = {index.code}")
                self.line(f"if not 0 <= {start} < {extent}: give_up()")
            term = start if stride == "1" else f"{start} * {stride}"
            offset = term if offset == "0" else f"{offset} + {term}"
        name = self.numbers.temporary()
        self.line(f"{name} = {offset}")
        return replace(
            cells, offset=name, extents=tuple(extents), strides=tuple(strides), varies=varies,
            is_part=True,
        )  # fmt: skip

    def _fill(self, node: ast.Subscript, cells: Cells, indices: list, value: Text) -> None:
        """Append the code of ``x[a:b] = number`` of a local array of one dimension."""
        part = self._part(cells, indices)
        if part.slot is not None or len(part.extents) != 1:
            raise NoText("a store to a part of an array")
        held = self._held(self._storable(value, part.dtype))
        name = self.numbers.temporary()
        first, (extent,), (stride,) = part.offset, part.extents, part.strides
        self.line(f"for {name} in range({first}, {first} + {extent} * {stride}, {stride}):")
        self._depth += 1
        self.line(f"{part.cells}[{name}] = {held.code}")
        self._depth -= 1

    def _is_local_array(self, node: ast.Call) -> bool:
        """Return True if the call is one of ``cuda.local.array``."""
        function = self.expressions.try_static(node.func)
        return function is not None and intrinsics.handler_of(function) is local_array

    def _new_local(self, name: str, node: ast.Call) -> None:
        """Append the code that makes a local array, and set the variable ``name`` to its Cells."""
        named = {k.arg: k.value for k in node.keywords}
        shape_node = node.args[0] if node.args else named.get("shape")
        dtype_node = node.args[1] if len(node.args) > 1 else named.get("dtype")
        if shape_node is None or dtype_node is None:
            raise NoText("a local array")
        literal = self.expressions.literal(shape_node)(SimpleNamespace(types=self.types))
        shape = None if literal is None else numba_types.literal_value(literal)
        shape = shape if isinstance(shape, tuple) else (shape,)
        named_type = self.expressions.try_static(dtype_node)
        dtype = None if named_type is None else element_dtype(named_type)
        if None in shape or dtype is None or not is_known(dtype) or min(shape) <= 0:
            raise NoText("a local array")
        strides = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
        self.line(f"a_{name} = [None] * {int(np.prod(shape))}")
        self.variables[name] = Variable(
            Cells(None, dtype, f"a_{name}", "0", tuple(map(str, shape)), tuple(map(str, strides)),
                  True)
        )  # fmt: skip

    # --- calls -------------------------------------------------------------------------------

    def eval_Call(self, node: ast.Call):
        """Return the value of a function of numbers, a cast, ``len`` or a device function.

        ``cuda.grid(1)`` and ``cuda.gridsize(1)`` have a value, too. It is None for a device
        function that returns nothing. Raises NoText for any other call.
        """
        function = self.expressions.try_static(node.func)
        if function is None or any(isinstance(a, ast.Starred) for a in node.args):
            raise NoText("this call")
        handler = intrinsics.handler_of(function)
        if handler is functions.typed:
            return self._typed_call(node, function)
        if handler in (coordinates.grid, coordinates.gridsize):
            return self._position_in_grid(node, handler)
        dtype = getattr(handler, "casts_to", None)
        if dtype is not None and len(node.args) == 1 and not node.keywords:
            return self._cast(node, dtype)
        if handler is functions.length and len(node.args) == 1:
            value = self.expression(node.args[0])
            if isinstance(value, tuple):
                return self.numbers.constant(np.int64(len(value)))
            if isinstance(value, Cells) and value.extents:
                return Text(value.extents[0], INT64, value.varies, 40, atom=True)
        if handler is None and intrinsics.device_function(function) is not None:
            return self.device_call(node, function)
        raise NoText("this call")

    def _position_in_grid(self, node: ast.Call, handler: Callable) -> Text:
        """Return the Text of ``cuda.grid(1)`` or ``cuda.gridsize(1)``, an input of the code."""
        if len(node.args) != 1 or self.expressions.try_static(node.args[0]) != 1:
            raise NoText("a position of several dimensions")
        is_grid = handler is coordinates.grid
        find = coordinates.global_position if is_grid else coordinates.global_extent
        return self._input(node, lambda frame, mask: find(frame.run.batch, 0))

    def _typed_call(self, node: ast.Call, function: Callable) -> Text:
        """Return the Text of a call such as ``math.sin(x)`` or ``min(x, y, z)``."""
        if node.keywords or not node.args:
            raise NoText("this call")
        values = [self._number(a) for a in node.args]
        if function not in (min, max):
            return self._operation(node, function, values)
        if len(values) < 2:
            raise NoText("the extreme of one value")
        result = values[0]
        for value in values[1:]:
            result = self._operation(node, function, [result, value])
        return result

    def _cast(self, node: ast.Call, dtype: np.dtype) -> Text:
        """Return the Text of a call that casts a number, such as ``int(x)``, to ``dtype``.

        If the call is an index and ``dtype`` is narrow, the running code gives up where the cast
        would change the number.
        """
        value = self._number(node.args[0])
        if value.dtype == MIXED:
            raise NoText("a number of two types")
        narrow = functions.is_narrow_index(dtype, node, self.source.tree)
        if narrow and value.dtype != dtype and value.dtype.kind in "iuf":
            limits, held = np.iinfo(dtype), self._held(value)
            self.line(f"if not {limits.min} <= {held.code} <= {limits.max}: give_up()")
            value = held
        return self.numbers.cast(value, dtype)

    def device_call(self, node: ast.Call, function):
        """Raise NoText. LaneCode overrides it, and returns the value of a device function."""
        raise NoText("a call of a device function")
