"""Compiles an expression of the kernel's syntax tree into a closure that evaluates it on all lanes.

``evaluate(frame, mask)`` returns a NumPy scalar while the value is the same in every thread, else a
vector of lanes, a tuple, or an array. Constant expressions are evaluated at compile time.
"""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numba.core.types import Type

from ..common.errors import Unsupported
from ..common.lanes import Mask
from ..common.source import Source, stored_variables
from ..machine.access import load
from ..machine.parts import elements, expanded, is_part, view
from ..machine.place import FromTheEnd, Place
from ..machine.records import RECORD_TYPES, RecordArray, RecordView, field_of
from ..memory.memory import ARRAY_TYPES, Array
from ..numbers import operations
from ..types.numba_types import Number, conform
from .arithmetic import Arithmetic
from .attributes import attribute_of
from .calls import compile_call
from .constants import ConstantEvaluator, NotStatic
from .coordinates import Dim3, special_value
from .frame import Evaluate, Frame, MergeError, check_set, described, is_scalar
from .guarded_atomics import reads_before_atomic
from .inner_functions import InnerFunction, definition_of, inner_source
from .program import Program

TYPED = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.IfExp)


class Expressions:
    """Compiles the expressions of one function into closures.

    ``compile_function`` compiles the device functions that the function calls. ``compile_source``
    compiles its inner functions, which ``inner`` holds by name.

    Compiling sets three flags. ``cooperative``: the function's blocks wait for each other, so all
    must run at once. ``syncs_grid``: they wait at a barrier of the whole grid. ``uses_lock``: they
    take a lock, so one block must be able to finish alone. ``source`` is the function's text,
    ``constants`` evaluates its constants, and ``device_arrays`` maps the ``id`` of a global device
    array to its name and the array.
    """

    def __init__(
        self,
        source: Source,
        compile_function: Callable[[Callable], Program],
        compile_source: Callable[[Source], Program],
    ):
        self.source = source
        self.compile_function = compile_function
        self.inner: dict[str, InnerFunction] = {}
        self._compile_source = compile_source
        self.constants = ConstantEvaluator(source)
        self.cooperative = False
        self.syncs_grid = False
        self.uses_lock = False
        self.device_arrays: dict[int, tuple[str, object]] = {}  # global ones: name, array, by id

    @functools.cached_property
    def guarding_reads(self) -> frozenset[ast.Subscript]:
        """The nodes of the plain reads that only decide whether an atomic operation is tried."""
        return reads_before_atomic(self.source.tree)

    def inner_function(
        self, node: ast.FunctionDef | ast.Lambda, name: str = "lambda"
    ) -> InnerFunction:
        """Compile a function that is defined within this one; return it as an InnerFunction."""
        definition = definition_of(self.source, node, name, self.inner.values())
        source, free = inner_source(self.source, definition)
        return InnerFunction(self._compile_source(source), free, definition)

    def place(self, node: ast.Subscript) -> Callable[[Frame, Mask], Place]:
        """Return ``locate(frame, mask)``, which returns the Place that a subscript names.

        The ``array`` of the Place is an array, an array of records, a tuple or another value. The
        caller refuses the values that it cannot use. If the index names a field of a record, the
        Place is that of the field. ``locate`` raises Unsupported for more indices than dimensions,
        and for an index that kernels cannot have.
        """
        key = self.try_static(node.slice)
        if isinstance(key, str):
            return self.field(node, key)
        row = self._row(node.value)
        base = None if row else self.expression(node.value)
        index, site = self._indices(node.slice), self.source.site(node)
        any_rank = any(isinstance(n, ast.Constant) and n.value is ... for n in ast.walk(node))

        def locate(frame, mask) -> Place:
            array, first = row(frame, mask) if row else (base(frame, mask), ())
            indices = index(frame, mask)
            if type(array) in ARRAY_TYPES:
                rank = len(array.shape)
                if any_rank:
                    indices = expanded(indices, rank - len(first))
                if len(indices) > rank - len(first) and (n := _named(indices)) > rank - len(first):
                    count = "1 index" if n == 1 else f"{n} indices"
                    what = f"{count} into an array of rank {rank - len(first)}"
                    raise self.source.refuse(node, f"{what} (Numba refuses it, too)")
                indices = (*first, *indices)
            elif type(array) in RECORD_TYPES:
                return self._record_place(node, Place(frame.run, array, indices, mask, site))
            return Place(frame.run, array, indices, mask, site)

        return locate

    def _row(self, node: ast.expr) -> Callable | None:
        """Return a closure for the expression ``x[i]`` in ``x[i][j]``.

        ``row(frame, mask)`` returns (array, first indices): ``x`` and ``i``, if that is a row of
        an array, so that ``x[i][j]`` is the element ``x[i, j]`` and no part of the array is made.
        Otherwise it returns (value of x[i], ()). Returns None instead of a closure if ``node`` is
        no subscript of a name, such as ``x`` or ``f(x)[i]``, or is known at compile time.
        """
        if not isinstance(node, ast.Subscript) or not _is_in_a_name(node):
            return None
        if self.try_static(node) is not None:
            return None
        locate, before_atomic = self.place(node), node in self.guarding_reads

        def row(frame, mask):
            place = locate(frame, mask)
            if is_part(place) and all(isinstance(index, Number) for index in place.indices):
                return place.array, place.indices
            return self._element(node, place, before_atomic), ()

        return row

    def _record_place(self, node: ast.Subscript, place: Place) -> Place:
        """Return the place unchanged, or that of the record's field if its index names a field.

        A string names a field of a record, or of all records of an array. A number names a field of
        a single record by its position. Raises Unsupported for an index that does not fit.
        """
        by_field = type(place.array) is RecordView or isinstance(place.indices[0], str)
        if by_field and len(place.indices) == 1 and not isinstance(place.indices[0], np.ndarray):
            return self._place_of_field(node, place.at(()), place.indices[0])
        if type(place.array) is RecordView or len(place.indices) > len(place.array.shape):
            raise self.source.refuse(node, f"the index in {ast.unparse(node)}")
        return place

    def field(self, node: ast.Attribute | ast.Subscript, name: str) -> Callable:
        """Return ``locate(frame, mask)``, which returns the Place of ``p[i].x`` or ``p[i]["x"]``.

        For a field that is no number, the Place is the whole array or record. ``locate`` raises
        Unsupported if ``p[i]`` is no record with this field.
        """
        locate = self._owner(node.value)
        return lambda frame, mask: self._place_of_field(node, locate(frame, mask), name)

    def _owner(self, node: ast.expr) -> Callable[[Frame, Mask], Place]:
        """Return ``locate(frame, mask)``, which returns the Place of the record that has a field.

        ``node`` is the expression before the field's name. For a subscript it is the Place of the
        element. For any other expression its ``array`` is the value of the whole expression, which
        may be no record, and it has no indices.
        """
        if isinstance(node, ast.Subscript):
            return self.place(node)
        base, site = self.expression(node), self.source.site(node)
        return lambda frame, mask: Place(frame.run, base(frame, mask), (), mask, site)

    def _place_of_field(self, node: ast.expr, owner: Place, name: str | int) -> Place:
        """Return the Place of a field of the record ``owner``; raise Unsupported without one."""
        field = field_of(owner, name) if type(owner.array) in RECORD_TYPES else None
        if field is None:
            raise self.source.refuse(node, ast.unparse(node))
        if type(field) is Place:
            return field
        return Place(owner.run, field, (), owner.mask, owner.site)

    def _indices(self, node: ast.expr) -> Callable:
        """Compile the index of a subscript; the closure returns a tuple of indices.

        Each is an integer or bool, a slice, None or ``...``; integers are NumPy scalars or lane
        vectors. A tuple of numbers, as in ``a[position]``, gives its items. The closure raises
        Unsupported for an index that is a float or an array, and for None as the only index.
        """
        parts = [self._index(e) for e in (node.elts if isinstance(node, ast.Tuple) else [node])]

        def evaluate(frame, mask) -> tuple:
            values = tuple([part(frame, mask) for part in parts])
            if len(values) == 1 and isinstance(values[0], tuple):
                return values[0]  # a[position] with a tuple of numbers
            for value in values:
                if not isinstance(value, Number):
                    self._check_index(node, value, len(values))
                elif value.dtype.kind not in "iub":
                    how = "Numba refuses it, too: divide with //, or convert it with int()"
                    raise self.source.refuse(node, f"an index of type {value.dtype} ({how})")
            return values

        return evaluate

    def _check_index(self, node: ast.expr, value, count: int) -> None:
        """Raise Unsupported for an index that is an array, and for None as the only index."""
        if isinstance(value, Array):
            raise self.source.refuse(node, "an array as an index (Numba refuses it, too)")
        if value is None and count == 1:
            raise self.source.refuse(node, "None as the only index (Numba refuses it, too)")

    def _index(self, node: ast.expr) -> Callable:
        """Compile one index of a subscript; the closure returns its value, or a Python slice.

        The bounds of the slice are None or values of the kernel. A negative integer that is known
        at compile time is returned as a FromTheEnd. The closure raises Unsupported if the step of a
        slice differs by thread.
        """
        if not isinstance(node, ast.Slice):
            written = self.try_static(node)
            if isinstance(written, int) and written < 0:
                index = FromTheEnd(written)
                return lambda frame, mask: index
            return self.expression(node)
        bounds = [self.expression(b) if b else None for b in (node.lower, node.upper, node.step)]

        def evaluate(frame, mask) -> slice:
            start, stop, step = (b(frame, mask) if b else None for b in bounds)
            if isinstance(step, np.ndarray):
                raise self.source.refuse(node, "a slice whose step differs by thread")
            return slice(start, stop, step)

        return evaluate

    def expression(self, node: ast.expr, name: str | None = None) -> Evaluate:
        """Return the closure ``evaluate(frame, mask)`` that evaluates an expression.

        ``name`` is the variable that its value is assigned to, which names an array that the
        expression makes. Raises Unsupported for an expression that kernels cannot have.
        """
        try:
            value = self.constants.value(node)
        except NotStatic:
            pass
        else:
            return self._constant_expression(node, value)
        if isinstance(node, ast.Call):
            return self._typed(node, compile_call(self, node, name))
        method = getattr(self, f"eval_{type(node).__name__}", None)
        if isinstance(node, ast.List | ast.ListComp):
            raise self.source.refuse_array(node)
        if method is None:
            raise self.source.refuse(node, f"the expression {ast.unparse(node)}")
        evaluate = method(node)
        return self._typed(node, evaluate) if isinstance(node, TYPED) else evaluate

    def _typed(self, node: ast.expr, evaluate: Evaluate) -> Evaluate:
        """Return a closure like ``evaluate`` whose value has the type that Numba infers for it.

        Without this, the value can have a narrower type if the lanes that would give it a wider one
        are absent. A value for which no type is inferred is returned unchanged.
        """
        def typed(frame, mask):
            value, kind = evaluate(frame, mask), frame.types.values.get(node)
            if kind is None or getattr(value, "dtype", None) is kind:
                return value
            return conform(value, kind)

        return typed

    def _constant_expression(self, node: ast.expr, value) -> Evaluate:
        """Return the closure of an expression whose Python value is known at compile time.

        A global device array is added to ``device_arrays``, and the closure then returns its view.
        Raises Unsupported for a value that kernels cannot use.
        """
        special = special_value(value)
        if special:
            return special
        if getattr(value, "__cuda_ndarray__", False):
            self.device_arrays[id(value)] = ast.unparse(node), value
            return lambda frame, mask: frame.run.device_arrays[id(value)]
        constant = self.constants.in_kernel(node, value)
        return lambda frame, mask: constant

    def _chosen_item(self, node: ast.Subscript, items: tuple, index: np.ndarray):
        """Return a lane vector: the item of a tuple at each lane's index, which may be negative.

        An index out of range gives the first or the last item. Raises Unsupported if the items are
        of several dtypes.
        """
        if len({item.dtype for item in items}) > 1:
            raise self.source.refuse(node, "a tuple of several types, indexed by a variable")
        columns = np.stack([np.broadcast_to(item, index.shape) for item in items])
        inside = np.clip(np.where(index < 0, index + len(items), index), 0, len(items) - 1)
        return np.take_along_axis(columns, inside[None].astype(np.int64), axis=0)[0]

    def try_static(self, node: ast.expr):
        """Return the Python value of an expression that is known at compile time, else None.

        Raises Unsupported for a name or an attribute that does not exist.
        """
        try:
            return self.constants.value(node)
        except NotStatic:
            return None

    def literal(self, node: ast.expr) -> Callable[[Frame], Type | None]:
        """Return ``kind(frame)``, which returns Numba's literal type of an expression.

        It returns None if Numba does not know the value of the expression at compile time.
        """
        return self.constants.literal(node)

    def condition(self, node: ast.expr) -> Evaluate:
        """Compile an expression into a closure ``test(frame, mask)`` that returns its truth.

        The result is a NumPy bool, or a boolean vector with one entry per lane. None and the empty
        tuple are false, and other tuples are true. The closure raises Unsupported for any other
        value that is no number, such as an array.
        """
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
        """Compile the read of a variable.

        The closure returns its value, cast to the type that Numba gives it here. Lanes that have
        never set the variable are reported as a flaw. It raises Unsupported if no lane has set it,
        or if lanes hold values that cannot be merged.
        """
        name = node.id
        site = self.source.site(node)

        def evaluate(frame, mask):
            parts, kind = frame.variables.get(name), frame.types.values.get(node)
            if parts is not None and len(parts) == 1:
                value, owners = parts[0]
                typed = kind is None or getattr(value, "dtype", None) is kind
                if typed and (owners is mask or owners.count == frame.everyone.count):
                    return value
            try:
                value, owners = frame.read(name, kind, mask)
            except KeyError:
                raise self.source.refuse(node, f"{name}, read before it is set,") from None
            except MergeError:
                what = f"a variable, {name}, that is an array or a tuple in some threads only"
                raise self.source.refuse(node, what) from None
            if owners is not mask and owners.count < frame.everyone.count:
                return check_set(frame, name, value, owners, mask, site)
            return value

        return evaluate

    def eval_Attribute(self, node: ast.Attribute) -> Evaluate:
        """Compile an attribute, such as ``x.shape``, or a field of a record.

        The closure raises Unsupported for an attribute that the value does not have in kernels.
        """
        if isinstance(node.value, ast.Subscript):
            return self._attribute_of_element(node)
        base, attribute, site = self.expression(node.value), node.attr, self.source.site(node)

        def evaluate(frame, mask):
            owner = base(frame, mask)
            if type(owner) in RECORD_TYPES and attribute in owner.fields:
                place = Place(frame.run, owner, (), mask, site)
                return self._element(node, self._place_of_field(node, place, attribute))
            value = attribute_of(owner, attribute)
            if value is None:
                what = f"where {ast.unparse(node.value)} is {described(owner)}"
                raise self.source.refuse(node, f"{ast.unparse(node)}, {what},")
            return value

        return evaluate

    def _attribute_of_element(self, node: ast.Attribute) -> Evaluate:
        """Compile an attribute of a subscript: ``p[i].x``, ``m[i].shape`` or ``z[i].real``.

        The closure raises Unsupported for an attribute that the element does not have in kernels.
        """
        locate, attribute = self.place(node.value), node.attr

        def evaluate(frame, mask):
            place = locate(frame, mask)
            if type(place.array) in RECORD_TYPES and attribute in place.array.fields:
                return self._element(node, self._place_of_field(node, place, attribute))
            value = attribute_of(self._element(node.value, place), attribute)
            if value is None:
                raise self.source.refuse(node, ast.unparse(node))
            return value

        return evaluate

    def eval_Tuple(self, node: ast.Tuple) -> Evaluate:
        """Compile a tuple of expressions; the closure returns a tuple of their values."""
        parts = [self.expression(e) for e in node.elts]
        return lambda frame, mask: tuple(part(frame, mask) for part in parts)

    def eval_NamedExpr(self, node: ast.NamedExpr) -> Evaluate:
        """Compile ``name := value``.

        The closure sets the variable, cast to the type that Numba gives it. It returns the value
        without this cast.
        """
        value, name = self.expression(node.value, node.target.id), node.target

        def evaluate(frame, mask):
            result = value(frame, mask)
            frame.assign(name.id, conform(result, frame.types.stored.get(name)), mask)
            return result

        return evaluate

    def eval_BinOp(self, node: ast.BinOp) -> Evaluate:
        """Compile a binary operator of numbers, or ``+`` of two tuples.

        The closure returns a number in Numba's type, or the concatenated tuple. Raises Unsupported
        for an operator that kernels do not have, such as ``@``.
        """
        function = operations.BINARY.get(type(node.op))
        if function is None:
            what = f"the operator {type(node.op).__name__}"
            if isinstance(node.op, ast.MatMult):
                what = f"{what} (a kernel computes element by element)"
            raise self.source.refuse(node, what)
        left, right = self.expression(node.left), self.expression(node.right)
        apply = Arithmetic(self.source, node).apply

        def evaluate(frame, mask):
            values = (left(frame, mask), right(frame, mask))
            if function is operator.add and all(map(_is_plain_tuple, values)):
                return values[0] + values[1]
            return apply(function, values, frame, mask)

        return evaluate

    def eval_UnaryOp(self, node: ast.UnaryOp) -> Evaluate:
        """Compile ``-x``, ``+x``, ``~x`` or ``not x``.

        The closure returns a number in Numba's type, or for ``not`` a NumPy bool or a boolean
        vector of lanes.
        """
        if isinstance(node.op, ast.Not):
            test = self.condition(node.operand)
            return lambda frame, mask: np.logical_not(test(frame, mask))
        operand, function = self.expression(node.operand), operations.UNARY[type(node.op)]
        apply = Arithmetic(self.source, node).apply
        return lambda frame, mask: apply(function, (operand(frame, mask),), frame, mask)

    def eval_Compare(self, node: ast.Compare) -> Evaluate:
        """Compile a comparison, ``is``, ``in`` or a chain such as ``0 <= i < n``.

        All operands are evaluated once, in all active lanes. The closure returns a NumPy bool, or a
        boolean vector of lanes. Raises Unsupported for ``in`` and ``is`` within a chain.
        """
        if isinstance(node.ops[0], ast.Is | ast.IsNot) and len(node.ops) == 1:
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
        """Compile ``x is y`` or ``x is not y``, which compares objects and returns a NumPy bool."""
        left, right = self.expression(node.left), self.expression(node.comparators[0])
        negate = isinstance(node.ops[0], ast.IsNot)
        return lambda frame, mask: np.bool_((left(frame, mask) is right(frame, mask)) != negate)

    def items(self, node: ast.expr) -> Evaluate:
        """Compile the expression over which a ``for`` loop runs, or in which ``in`` searches.

        A list display, such as ``[1, 2]``, is compiled as a tuple. Any other expression is compiled
        by ``expression``, which refuses lists.
        """
        if isinstance(node, ast.List):
            node = ast.copy_location(ast.Tuple(node.elts, ast.Load()), node)
        return self.expression(node)

    def _membership(self, node: ast.Compare) -> Evaluate:
        """Compile ``x in (1, 2)`` or ``not in`` as a comparison with each item.

        The items are those of a tuple, or the elements of an array of one dimension. A ``range()``
        is compared with its bounds instead. The closure returns a NumPy bool, or a boolean vector
        of lanes. It raises Unsupported for anything else to search in.
        """
        if self._calls_range(node.comparators[0]):
            return self._within_range(node, node.comparators[0])
        left, right = self.expression(node.left), self.items(node.comparators[0])
        negate = isinstance(node.ops[0], ast.NotIn)
        apply = Arithmetic(self.source, node).apply

        def evaluate(frame, mask):
            value, items = left(frame, mask), right(frame, mask)
            if isinstance(items, Array):
                whole = Place(frame.run, items, (), mask, self.source.site(node))
                items = self._loaded(node, whole)
            if not isinstance(items, tuple):
                raise self.source.refuse(node, "membership in anything but a tuple or an array")
            contained = np.bool_(False)
            for item in items:
                equal = apply(operator.eq, (value, item), frame, mask)
                contained = np.logical_or(contained, equal)
            return np.logical_not(contained) if negate else contained

        return evaluate

    def _calls_range(self, node: ast.expr) -> bool:
        """Return True if an expression is a call of ``range()``."""
        return isinstance(node, ast.Call) and self.try_static(node.func) is range

    def _within_range(self, node: ast.Compare, call: ast.Call) -> Evaluate:
        """Compile ``n in range(start, stop, step)`` for integers, or ``not in``.

        The closure returns a NumPy bool, or a boolean vector of lanes. It raises Unsupported if a
        value is no integer or bool.
        """
        parts = [self.expression(e) for e in (node.left, *call.args)]
        negate = isinstance(node.ops[0], ast.NotIn)

        def evaluate(frame, mask):
            value, *bounds = (part(frame, mask) for part in parts)
            if not all(is_scalar(v) and v.dtype.kind in "iub" for v in (value, *bounds)):
                raise self.source.refuse(node, "membership in a range of these values")
            value, *bounds = (np.asarray(v, np.int64) for v in (value, *bounds))
            if len(bounds) == 1:
                bounds.insert(0, np.int64(0))
            start, stop, step = bounds if len(bounds) == 3 else (*bounds, np.int64(1))
            up = (value >= start) & (value < stop)
            down = (value <= start) & (value > stop)
            contained = np.where(step > 0, up, down) & ((value - start) % step == 0)
            contained = contained if contained.ndim else contained[()]
            return np.logical_not(contained) if negate else contained

        return evaluate

    def _loaded(self, node: ast.expr, whole: Place) -> tuple:
        """Return a tuple with the loaded elements of an array of one dimension.

        Raises Unsupported for another array, and for one whose length differs by thread.
        """
        shape = whole.array.shape
        if len(shape) != 1 or isinstance(shape[0], np.ndarray):
            raise self.source.refuse(node, "this array, of which all elements are needed,")
        return tuple(load(place) for place in elements(whole))

    def eval_BoolOp(self, node: ast.BoolOp) -> Evaluate:
        """Compile ``and`` or ``or`` of numbers, whose value is that of the last operand evaluated.

        A lane evaluates no further operand once its result is known. The closure raises Unsupported
        for an operand that is no number.
        """
        parts = [self.expression(v) for v in node.values]
        is_and = isinstance(node.op, ast.And)

        def evaluate(frame, mask):
            result, undecided = None, mask
            for part in parts:
                value = part(frame, undecided)
                if not is_scalar(value):
                    raise self.source.refuse(node, "and/or of something that is no number")
                result = _chosen(undecided, value, result, mask)
                continues = operations.truth(value) if is_and else ~operations.truth(value)
                undecided = _still_undecided(undecided, continues)
                if undecided is None:
                    break
            return result

        return evaluate

    def eval_IfExp(self, node: ast.IfExp) -> Evaluate:
        """Compile ``yes if condition else no``; a lane evaluates only the value that it gets.

        The closure raises Unsupported if lanes differ in the condition and a value is no number.
        """
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
        """Compile the read of a subscript, such as ``x[i]``.

        The closure returns a number, a part of an array, a record or the item of a tuple. It raises
        Unsupported for an index that kernels cannot have.
        """
        if isinstance(node.value, ast.Attribute) and node.value.attr in ("real", "imag"):
            return self._element_of_component(node, node.value)
        locate, before_atomic = self.place(node), node in self.guarding_reads
        return lambda frame, mask: self._element(node, locate(frame, mask), before_atomic)

    def _element_of_component(self, node: ast.Subscript, component: ast.Attribute) -> Evaluate:
        """Compile ``z.real[i]`` of a complex array as ``z[i].real``, and ``z.imag[i]`` as well.

        The closure returns a number, and raises Unsupported if the index selects a part of the
        array. For any other ``z``, the attribute is evaluated before the index.
        """
        base, whole = self.expression(component.value), self.place(node)
        element = self.place(ast.copy_location(ast.Subscript(component.value, node.slice), node))

        def evaluate(frame, mask):
            owner = base(frame, mask)
            if not isinstance(owner, Array) or owner.dtype.kind != "c":
                return self._element(node, whole(frame, mask))
            value = self._element(node, element(frame, mask))
            if not is_scalar(value):
                raise self.source.refuse(node, f"a part of {ast.unparse(component)}")
            return attribute_of(value, component.attr)

        return evaluate

    def _element(self, node: ast.expr, place: Place, before_atomic: bool = False):
        """Return the number, the part of an array, the record or the tuple item at a place.

        ``before_atomic`` is True for a load that only decides whether an atomic is tried. Raises
        Unsupported for an index that kernels cannot have.
        """
        array = place.array
        if type(array) in ARRAY_TYPES:
            if not is_part(place):
                return load(place, before_atomic)
            if not place.indices:
                return array
            return view(place)
        if isinstance(array, tuple):
            return self._item(node, array, place.indices)
        if type(array) is RecordArray and place.indices:
            if array.is_local:
                raise self.source.refuse(node, "a record of a local array that is no single number")
            return array.indexed(place)
        if type(array) in RECORD_TYPES:
            return array
        raise self._refused_index(node, array)

    def _refused_index(self, node: ast.Subscript, owner) -> Unsupported:
        """Return the refusal of an index in ``owner``, which has no elements."""
        what, name = f"the index in {ast.unparse(node)}", ast.unparse(node.value)
        if is_scalar(owner) and name in stored_variables(self.source.tree):
            what = f"{ast.unparse(node)}, where {name} is a number since its assignment (Numba "
            what += "refuses it, too: use another name for the number),"
        return self.source.refuse(node, what)

    def _item(self, node: ast.Subscript, items: tuple, indices: tuple):
        """Return the item of a tuple at an index, or a tuple of the items in a slice.

        An index that differs by lane selects among numbers of one dtype; the result is a lane
        vector. Raises Unsupported for any other index that differs by lane, for several indices,
        and for an index out of range that all threads share.
        """
        if len(indices) == 1 and isinstance(indices[0], slice):
            return items[indices[0]]
        if len(indices) == 1 and isinstance(indices[0], np.ndarray) and all(map(is_scalar, items)):
            return self._chosen_item(node, items, indices[0])
        if len(indices) != 1 or isinstance(indices[0], np.ndarray):
            raise self.source.refuse(node, "this index into a tuple")
        if not -len(items) <= int(indices[0]) < len(items):
            raise self.source.refuse(node, f"item {int(indices[0])} of {len(items)}")
        return items[int(indices[0])]


def _named(indices: tuple) -> int:
    """Return the number of indices that select in a dimension, which None does not."""
    return sum(index is not None for index in indices)


def _chosen(undecided: Mask, value, result, mask: Mask):
    """Return the value of ``and`` or ``or`` after one more operand.

    The lanes of ``undecided`` get the operand's ``value``, and the others keep ``result``. For the
    first operand, with ``result=None``, and if all lanes of ``mask`` are undecided, it is
    ``value``.
    """
    if result is None or undecided is mask:
        return value
    return operations.merge(undecided.lanes, value, result)


def _still_undecided(undecided: Mask, continues) -> Mask | None:
    """Return the lanes of ``undecided`` for which ``continues`` holds; None if there are none.

    ``continues`` is a NumPy bool, or a boolean vector of lanes.
    """
    if isinstance(continues, np.ndarray):
        return undecided.narrow(continues)
    return undecided if continues else None


def _is_plain_tuple(value) -> bool:
    """Return True for a tuple that ``+`` concatenates, which is any tuple but a Dim3."""
    return isinstance(value, tuple) and not isinstance(value, Dim3)


def _is_in_a_name(node: ast.Subscript) -> bool:
    """Return True for a subscript of a name, and for a subscript of such a subscript."""
    inner = node.value
    return isinstance(inner, ast.Name) or (
        isinstance(inner, ast.Subscript) and _is_in_a_name(inner)
    )
