"""From a kernel's syntax tree to closures that run it on all lanes at once.

An expression becomes ``evaluate(frame, mask) -> value``: a NumPy scalar while the value is the same
in every thread, else a vector of lanes. A statement becomes ``execute(frame, mask)``, which returns
the lanes that go on to the next statement (None: no lane does). Control flow is nothing but masks:
a branch narrows the mask, a loop runs until no lane is left, ``break``, ``continue`` and ``return``
take lanes out. What is not known here is refused before the kernel starts.
"""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numba.core import types

from . import access, atomics, intrinsics, numba_types, operations
from .errors import Finding, KernelRaised
from .lanes import Mask, union
from .memory import ArrayView, LocalArray, constant_array, element_strides
from .source import ParameterUse, Source, assigned_names, parameter_uses, read_source


@dataclass
class Loop:
    """Lanes that left the current round of a loop early."""

    broken: Mask | None = None
    continued: Mask | None = None


@dataclass
class Frame:
    """One call of a function: its variables, and its lanes that have not returned."""

    run: object  # launch.Run
    live: Mask | None
    is_kernel: bool
    variables: dict = field(default_factory=dict)  # name -> (value, mask of lanes that set it)
    loops: list[Loop] = field(default_factory=list)
    result: object = None

    def __post_init__(self) -> None:
        self.everyone = self.live  # the lanes of the call, returned ones included

    def assign(self, name: str, value, mask: Mask) -> None:
        """Set a variable in the lanes of ``mask``; the other live lanes keep theirs."""
        old = self.variables.get(name)
        if old is not None and not self._replaces(old[1], mask):
            merged = union(old[1], mask)
            self.variables[name] = (_merge(mask, value, old[0], name), merged)
        else:
            self.variables[name] = (value, mask)

    def _replaces(self, before: Mask, mask: Mask) -> bool:
        if before is mask or mask.count == self.live.count:
            return True
        return not (before.lanes & self.live.lanes & ~mask.lanes).any()

    def leave(self, mask: Mask) -> None:
        """The lanes of ``mask`` have returned."""
        self.live = self.live.without(mask)
        if self.is_kernel:
            self.run.live = self.live


class MergeError(Exception):
    """Values of two kinds meet in one variable."""


def _merge(mask: Mask, new, old, name: str):
    if new is old:
        return new
    if isinstance(new, tuple) and isinstance(old, tuple) and len(new) == len(old):
        return tuple(_merge(mask, n, o, name) for n, o in zip(new, old, strict=True))
    if is_scalar(new) and is_scalar(old):
        return operations.merge(mask.lanes, new, old)
    if isinstance(new, ArrayView) and isinstance(old, ArrayView):
        same = (new.memory, new.shape, new.strides) == (old.memory, old.shape, old.strides)
        if same:
            offset = np.where(mask.lanes, new.offset, old.offset)
            return ArrayView(new.memory, new.shape, new.strides, offset, new.writable)
    raise MergeError(name)


def is_scalar(value) -> bool:
    """Whether a value is a number of the kernel: one for all threads, or one per lane."""
    return isinstance(value, np.ndarray | np.generic)


Evaluate = Callable[[Frame, Mask], object]
Execute = Callable[[Frame, Mask], Mask | None]


@dataclass(frozen=True)
class Program:
    """A function ready to run on lanes."""

    source: Source
    execute: Execute
    uses: dict[str, ParameterUse]
    cooperative: bool  # the blocks wait for each other, so all must be there at once
    takes_turns: bool  # the blocks take a lock, so one must be able to finish alone

    def call(self, run, arguments: tuple, mask: Mask, is_kernel: bool = False):
        """Run the function in the lanes of ``mask``; returns its value (None for a kernel)."""
        frame = Frame(run, mask, is_kernel)
        for name, value in zip(self.source.parameters, arguments, strict=True):
            frame.variables[name] = (value, mask)
        self.execute(frame, mask)
        return frame.result


@functools.lru_cache(maxsize=1024)
def compile_function(function: Callable) -> Program:
    """The Program of a plain Python function. Outer names are frozen now, as Numba does."""
    source = read_source(function)
    compiler = _Compiler(source)
    body = compiler.block(source.tree.body)
    uses = parameter_uses(source.tree)
    return Program(source, body, uses, compiler.cooperative, compiler.takes_turns)


class NotStatic(Exception):
    """An expression whose value is known only when the kernel runs."""


class _Compiler:
    def __init__(self, source: Source):
        self.source = source
        self.local = assigned_names(source.tree)
        self.cooperative = False
        self.takes_turns = False

    # --- statements ---------------------------------------------------------------------------

    def block(self, statements: list[ast.stmt]) -> Execute:
        steps = [self.statement(s) for s in statements]

        def execute(frame: Frame, mask: Mask | None) -> Mask | None:
            for step in steps:
                mask = step(frame, mask)
                if mask is None:
                    return None
            return mask

        return execute

    def statement(self, node: ast.stmt) -> Execute:
        method = getattr(self, f"do_{type(node).__name__}", None)
        if method is None:
            raise self.source.refuse(node, f"the statement {type(node).__name__}")
        return method(node)

    def do_Pass(self, node: ast.Pass) -> Execute:
        return lambda frame, mask: mask

    def do_Expr(self, node: ast.Expr) -> Execute:
        if isinstance(node.value, ast.Constant):
            return self.do_Pass(node)  # a docstring
        evaluate = self.expression(node.value)

        def execute(frame, mask):
            evaluate(frame, mask)
            return mask

        return execute

    def do_Assign(self, node: ast.Assign) -> Execute:
        name = node.targets[0].id if isinstance(node.targets[0], ast.Name) else None
        evaluate = self.expression(node.value, name)
        assigns = [self.target(t) for t in node.targets]

        def execute(frame, mask):
            value = evaluate(frame, mask)
            for assign in assigns:
                assign(frame, mask, value)
            return mask

        return execute

    def do_AnnAssign(self, node: ast.AnnAssign) -> Execute:
        if node.value is None:
            return self.do_Pass(node)
        return self.do_Assign(ast.copy_location(ast.Assign([node.target], node.value), node))

    def target(self, node: ast.expr) -> Callable:
        """How a value is stored to the left side of an assignment."""
        if isinstance(node, ast.Name):
            return self._to_name(node)
        if isinstance(node, ast.Tuple | ast.List):
            return self._to_tuple(node)
        if isinstance(node, ast.Subscript):
            return self._to_element(node)
        raise self.source.refuse(node, f"assignment to {ast.unparse(node)}")

    def _to_name(self, node: ast.Name) -> Callable:
        def assign(frame, mask, value):
            try:
                frame.assign(node.id, value, mask)
            except MergeError:
                what = f"a variable, {node.id}, that is an array in some threads only"
                raise self.source.refuse(node, what) from None

        return assign

    def _to_tuple(self, node: ast.Tuple) -> Callable:
        parts = [self.target(t) for t in node.elts]

        def assign(frame, mask, value):
            if not isinstance(value, tuple) or len(value) != len(parts):
                raise self.source.refuse(node, f"unpacking into {len(parts)} names from this value")
            for part, item in zip(parts, value, strict=True):
                part(frame, mask, item)

        return assign

    def _to_element(self, node: ast.Subscript) -> Callable:
        locate, site = self._location(node), self.source.site(node)

        def assign(frame, mask, value):
            array, indices = locate(frame, mask)
            if _is_part(array, indices):
                self._check_storable(node, array, value)
                if not access.store_part(frame.run, array, indices, value, mask, site):
                    raise self.source.refuse(node, "storing to this part of an array")
                return
            self._check_storable(node, array, value)
            access.store(frame.run, array, indices, value, mask, site)

        return assign

    def _check_storable(self, node: ast.AST, array, value) -> None:
        complex_to_real = is_scalar(value) and value.dtype.kind == "c" != array.dtype.kind
        if not isinstance(array, ArrayView | LocalArray) or not is_scalar(value) or complex_to_real:
            raise self.source.refuse(node, f"storing to {ast.unparse(node)} from this value")
        if isinstance(array, ArrayView) and not array.writable:
            raise self.source.refuse(node, f"storing to the read-only array {array.name}")

    def _location(self, node: ast.Subscript) -> Callable:
        base, index = self.expression(node.value), self._indices(node.slice)

        def locate(frame, mask):
            array, indices = base(frame, mask), index(frame, mask)
            if isinstance(array, ArrayView | LocalArray):
                indices = access.expanded(indices, len(array.shape))
                if len(indices) > len(array.shape):
                    what = f"{len(indices)} indices into {len(array.shape)} dimensions"
                    raise self.source.refuse(node, what)
            return array, indices

        return locate

    def _indices(self, node: ast.expr) -> Callable:
        parts = [self._index(e) for e in (node.elts if isinstance(node, ast.Tuple) else [node])]

        def evaluate(frame, mask) -> tuple:
            values = tuple(part(frame, mask) for part in parts)
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

    def do_AugAssign(self, node: ast.AugAssign) -> Execute:
        function = operations.BINARY.get(type(node.op))
        if function is None:
            raise self.source.refuse(node, f"the operator {type(node.op).__name__}")
        right = self.expression(node.value)
        if isinstance(node.target, ast.Subscript):
            return self._augment_element(node, function, right)
        if not isinstance(node.target, ast.Name):
            raise self.source.refuse(node, f"assignment to {ast.unparse(node.target)}")
        left = self.expression(ast.copy_location(ast.Name(node.target.id, ast.Load()), node))
        assign = self._to_name(node.target)

        def execute(frame, mask):
            value = self.apply(function, (left(frame, mask), right(frame, mask)), node, frame, mask)
            assign(frame, mask, value)
            return mask

        return execute

    def _augment_element(self, node: ast.AugAssign, function: Callable, right: Evaluate) -> Execute:
        locate, site = self._location(node.target), self.source.site(node)

        def execute(frame, mask):
            array, indices = locate(frame, mask)
            self._check_storable(node.target, array, np.int64(0))
            if _is_part(array, indices):
                raise self.source.refuse(node, "an operation on a part of an array")
            before = access.load(frame.run, array, indices, mask, site)
            value = self.apply(function, (before, right(frame, mask)), node, frame, mask)
            access.store(frame.run, array, indices, value, mask, site)
            return mask

        return execute

    def do_If(self, node: ast.If) -> Execute:
        test, then = self.condition(node.test), self.block(node.body)
        other = self.block(node.orelse)

        def execute(frame, mask):
            chosen = test(frame, mask)
            if not isinstance(chosen, np.ndarray):
                return (then if chosen else other)(frame, mask)
            yes = mask.narrow(chosen)
            no = mask.without(yes)
            after_yes = then(frame, yes) if yes else None
            after_no = other(frame, no) if no else None
            return _joined(mask, after_yes, after_no)

        return execute

    def do_While(self, node: ast.While) -> Execute:
        self._note_spinning(node.test)
        test, body = self.condition(node.test), self.block(node.body)
        otherwise = self.block(node.orelse)

        def execute(frame, mask):
            loop, active, finished = Loop(), mask, None
            frame.loops.append(loop)
            while active is not None:
                frame.run.count_round(self.source, node)
                chosen = test(frame, active)
                if isinstance(chosen, np.ndarray):
                    going = active.narrow(chosen)
                    finished = union(finished, active.without(going))
                elif chosen:
                    going = active
                else:
                    going, finished = None, union(finished, active)
                active = _round(loop, body, frame, going)
            frame.loops.pop()
            return _after_loop(loop, otherwise, frame, (mask, finished))

        return execute

    def _note_spinning(self, test: ast.expr) -> None:
        """A loop that waits for another block: a lock is taken by one block after the other, a
        counter is waited for by all at once."""
        calls = [n for n in ast.walk(test) if isinstance(n, ast.Call)]
        functions = [self._try_static(c.func) for c in calls]
        self.takes_turns |= any(map(atomics.takes_a_lock, functions))
        self.cooperative |= any(map(atomics.waits_for_others, functions))

    def do_For(self, node: ast.For) -> Execute:
        bounds = self._range(node.iter)
        if bounds is None:
            return self._for_each(node)
        assign, body = self.target(node.target), self.block(node.body)
        otherwise = self.block(node.orelse)

        def execute(frame, mask):
            loop = Loop()
            frame.loops.append(loop)
            start, stop, step = bounds(frame, mask)
            rounds = _same_rounds if not any(map(_varies, (start, stop, step))) else _own_rounds
            active, finished = mask, None
            for value, condition in rounds(start, stop, step):
                frame.run.count_round(self.source, node)
                going = active if condition is None else active.narrow(condition)
                if going is not active:
                    finished = union(finished, active.without(going))
                    active = going
                if active is None:
                    break
                assign(frame, active, value)
                active = _round(loop, body, frame, active)
                if active is None:
                    break
            frame.loops.pop()
            return _after_loop(loop, otherwise, frame, (mask, union(finished, active)))

        return execute

    def _for_each(self, node: ast.For) -> Execute:
        """A loop over a tuple or an array: every lane has the same number of rounds."""
        items, assign = self._items(node.iter), self.target(node.target)
        body, otherwise = self.block(node.body), self.block(node.orelse)

        def execute(frame, mask):
            loop, active = Loop(), mask
            frame.loops.append(loop)
            for value in items(frame, mask):
                assign(frame, active, value)
                active = _round(loop, body, frame, active)
                if active is None:
                    break
            frame.loops.pop()
            return _after_loop(loop, otherwise, frame, (mask, active))

        return execute

    def _items(self, node: ast.expr) -> Callable:
        """What yields the values of a loop over a tuple, an array, enumerate() or zip()."""
        function = self._try_static(node.func) if isinstance(node, ast.Call) else None
        if function is enumerate and len(node.args) == 1 and not node.keywords:
            inner = self._items(node.args[0])
            return lambda frame, mask: (
                (np.int64(n), value) for n, value in enumerate(inner(frame, mask))
            )
        if function is zip and not node.keywords:
            parts = [self._items(a) for a in node.args]
            return lambda frame, mask: zip(*(p(frame, mask) for p in parts), strict=False)
        whole, site = self.expression(node), self.source.site(node)

        def evaluate(frame, mask):
            values = whole(frame, mask)
            if isinstance(values, tuple):
                if len({v.dtype for v in values if is_scalar(v)}) > 1:
                    raise self.source.refuse(node, "a loop over a tuple of several types")
                return values
            if isinstance(values, ArrayView | LocalArray) and isinstance(values.shape[0], int):
                return _rows_of(frame, values, mask, site)
            raise self.source.refuse(node, "a loop over anything but range(), a tuple or an array")

        return evaluate

    def _range(self, node: ast.expr) -> Callable | None:
        """What evaluates (start, stop, step) of a range() call, typed as Numba types them."""
        if not isinstance(node, ast.Call) or self._try_static(node.func) is not range:
            return None
        if node.keywords or not 1 <= len(node.args) <= 3:
            raise self.source.refuse(node, "range() called like this")
        parts = [self.expression(a) for a in node.args]

        def evaluate(frame, mask) -> tuple:
            values = [part(frame, mask) for part in parts]
            if not all(is_scalar(v) and v.dtype.kind in "iub" for v in values):
                raise self.source.refuse(node, "range() of something that is no integer")
            dtype = numba_types.range_dtype(tuple(v.dtype for v in values))
            values = [numba_types.cast(v, dtype) for v in values]
            if len(values) == 1:
                values.insert(0, dtype.type(0))
            return values[0], values[1], values[2] if len(values) == 3 else dtype.type(1)

        return evaluate

    def do_Break(self, node: ast.Break) -> Execute:
        def execute(frame, mask):
            frame.loops[-1].broken = union(frame.loops[-1].broken, mask)

        return execute

    def do_Continue(self, node: ast.Continue) -> Execute:
        def execute(frame, mask):
            frame.loops[-1].continued = union(frame.loops[-1].continued, mask)

        return execute

    def do_Return(self, node: ast.Return) -> Execute:
        evaluate = self.expression(node.value) if node.value else None

        def execute(frame, mask):
            if evaluate is not None:
                value = evaluate(frame, mask)
                if frame.is_kernel and value is not None:
                    raise self.source.refuse(node, "a kernel that returns a value")
                old = frame.result
                frame.result = value if old is None else _merge(mask, value, old, "return")
            frame.leave(mask)

        return execute

    def do_Assert(self, node: ast.Assert) -> Execute:
        test = self.condition(node.test)

        def execute(frame, mask):
            holds = test(frame, mask)
            failing = mask.narrow(np.logical_not(np.broadcast_to(holds, mask.lanes.shape)))
            if failing is not None:
                self._raise(node, frame, failing)
            return mask

        return execute

    def do_Raise(self, node: ast.Raise) -> Execute:
        def execute(frame, mask):
            self._raise(node, frame, mask)

        return execute

    def _raise(self, node: ast.stmt, frame: Frame, mask: Mask) -> None:
        thread = frame.run.batch.thread(int(mask.index[0]))
        raise KernelRaised(f"{self.source.site(node)}: reached by {thread}.")

    # --- expressions --------------------------------------------------------------------------

    def expression(self, node: ast.expr, name: str | None = None) -> Evaluate:
        """``name`` is the variable that the value is assigned to, for arrays made by the call."""
        try:
            value = self.static(node)
        except NotStatic:
            pass
        else:
            return self._constant_expression(node, value)
        if isinstance(node, ast.Call):
            return self.call(node, name)
        method = getattr(self, f"eval_{type(node).__name__}", None)
        if method is None:
            raise self.source.refuse(node, f"the expression {ast.unparse(node)}")
        return method(node)

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
            if intrinsics.special_value(base):
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
                return operations.BINARY[type(node.op)](left, right)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.static(node.operand)
            if type(value) in (int, float):
                return -value
        raise NotStatic

    def _constant_expression(self, node: ast.expr, value) -> Evaluate:
        special = intrinsics.special_value(value)
        if special:
            return special
        constant = self._constant(node, value)
        return lambda frame, mask: constant

    def call(self, node: ast.Call, name: str | None) -> Evaluate:
        """A call of a function that Numba knows in kernels, or of a device function."""
        function = self._try_static(node.func)
        if function is None and isinstance(node.func, ast.Attribute):
            return self._method_call(node)
        if function is None:
            return self._call_of_argument(node)
        handler = intrinsics.handler_of(function)
        if handler is not None:
            return handler(intrinsics.Call(self, node, name, function))
        python = intrinsics.device_function(function)
        if python is None:
            raise self.source.refuse(node, f"a call of {ast.unparse(node.func)}()")
        return self._device_call(node, python)

    def _method_call(self, node: ast.Call) -> Evaluate:
        """``grid.sync()`` of a grid group, the one object of a kernel that has a method."""
        group, site = self.expression(node.func.value), self.source.site(node)

        def evaluate(frame, mask):
            if group(frame, mask) is not intrinsics.GRID_GROUP or node.func.attr != "sync":
                raise self.source.refuse(node, f"a call of {ast.unparse(node.func)}()")
            frame.run.grid_barrier(mask, site)

        return evaluate

    def _device_call(self, node: ast.Call, python: Callable) -> Evaluate:
        program = compile_function(python)
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
            return program.call(frame.run, values, mask)

        return evaluate

    def _call_of_argument(self, node: ast.Call) -> Evaluate:
        """A call of a device function that came as an argument."""
        function = self.expression(node.func)
        arguments = [self.expression(a) for a in node.args]

        def evaluate(frame, mask):
            python = intrinsics.device_function(function(frame, mask))
            if python is None or node.keywords:
                raise self.source.refuse(node, f"a call of {ast.unparse(node.func)}()")
            program = compile_function(python)
            values = tuple(a(frame, mask) for a in arguments)
            if len(values) != len(program.source.parameters):
                raise self.source.refuse(node, "a call with another number of arguments")
            return program.call(frame.run, values, mask)

        return evaluate

    def _try_static(self, node: ast.expr):
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

    def apply(self, function: Callable, values: tuple, node: ast.AST, frame: Frame, mask: Mask):
        """An operation on typed values, counted for the report."""
        if function in EQUALITY and all(isinstance(v, str | None) for v in values):
            return np.bool_(function(*values))
        if not all(map(is_scalar, values)):
            raise self.source.refuse(node, f"{function.__name__}() of these operands")
        result = operations.apply(function, values)
        if result is None:
            kinds = ", ".join(str(v.dtype) for v in values)
            raise self.source.refuse(node, f"{function.__name__}() of {kinds}")
        frame.run.count_operation(self.source, node, result, mask)
        return result

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
                value, owners = frame.variables[name]
            except KeyError:
                raise self.source.refuse(node, f"{name}, read before it is set,") from None
            if owners is not mask and owners.count < frame.everyone.count:
                _check_set(frame, name, owners, mask, site)
            return value

        return evaluate

    def eval_Attribute(self, node: ast.Attribute) -> Evaluate:
        base, attribute = self.expression(node.value), node.attr

        def evaluate(frame, mask):
            value = attribute_of(base(frame, mask), attribute)
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

        def evaluate(frame, mask):
            values = (left(frame, mask), right(frame, mask))
            if isinstance(values[0], tuple) and isinstance(values[1], tuple):
                return values[0] + values[1]
            return self.apply(function, values, node, frame, mask)

        return evaluate

    def eval_UnaryOp(self, node: ast.UnaryOp) -> Evaluate:
        if isinstance(node.op, ast.Not):
            test = self.condition(node.operand)
            return lambda frame, mask: np.logical_not(test(frame, mask))
        operand, function = self.expression(node.operand), operations.UNARY[type(node.op)]
        return lambda frame, mask: self.apply(function, (operand(frame, mask),), node, frame, mask)

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

        def evaluate(frame, mask):
            values = [operand(frame, mask) for operand in operands]
            verdicts = [
                self.apply(function, pair, node, frame, mask)
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

        def evaluate(frame, mask):
            value, items = left(frame, mask), right(frame, mask)
            if not isinstance(items, tuple):
                raise self.source.refuse(node, "membership in anything but a tuple")
            found = np.bool_(False)
            for item in items:
                same = self.apply(operator.eq, (value, item), node, frame, mask)
                found = np.logical_or(found, same)
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
        locate, site = self._location(node), self.source.site(node)

        def evaluate(frame, mask):
            base, indices = locate(frame, mask)
            if isinstance(base, tuple):
                return self._item(node, base, indices)
            if not isinstance(base, ArrayView | LocalArray):
                raise self.source.refuse(node, f"the index in {ast.unparse(node)}")
            if not _is_part(base, indices):
                return access.load(frame.run, base, indices, mask, site)
            if isinstance(base, LocalArray):
                raise self.source.refuse(node, "a part of a local array")
            return access.view(frame.run, base, list(indices), mask, site)

        return evaluate

    def _item(self, node: ast.Subscript, items: tuple, indices: tuple):
        if len(indices) == 1 and isinstance(indices[0], slice):
            return items[indices[0]]
        if len(indices) != 1 or isinstance(indices[0], np.ndarray):
            raise self.source.refuse(node, "a tuple indexed by a value that differs by thread")
        if not -len(items) <= int(indices[0]) < len(items):
            raise self.source.refuse(node, f"item {int(indices[0])} of {len(items)}")
        return items[int(indices[0])]


def _check_set(frame: Frame, name: str, owners: Mask, mask: Mask, site) -> None:
    """A variable that only some threads have set holds garbage in the others."""
    absent = mask.lanes & ~owners.lanes
    if not absent.any() or frame.run.report.knows("uninitialised", site, name):
        return
    thread = frame.run.batch.thread(int(np.flatnonzero(absent)[0]))
    frame.run.report.add(Finding(
        "uninitialised", site, name, (), (thread,), int(absent.sum()),
        f"{thread} reads the variable {name}, which it has not set.",
    ))  # fmt: skip


EQUALITY = (operator.eq, operator.ne)


def _is_plain(value) -> bool:
    """Whether a default argument is still a plain Python number."""
    return isinstance(value, bool | int | float | complex)


def _is_part(array, indices: tuple) -> bool:
    """Whether indices select a part of an array and not one element."""
    if not isinstance(array, ArrayView | LocalArray):
        return False
    return len(indices) < len(array.shape) or any(isinstance(i, slice) for i in indices)


def _rows_of(frame: Frame, array, mask: Mask, site):
    """The elements of a vector, or the rows of a larger array, one after the other."""
    for number in range(array.shape[0]):
        index = (np.int64(number),)
        if len(array.shape) == 1:
            yield access.load(frame.run, array, index, mask, site)
        else:
            yield access.view(frame.run, array, list(index), mask, site)


def attribute_of(value, attribute: str):
    """``x.shape`` and the like; None where the virtual GPU does not know the attribute."""
    if isinstance(value, ArrayView | LocalArray):
        return _array_attributes(value).get(attribute)
    if is_scalar(value) and attribute in ("real", "imag"):
        return getattr(value, attribute)
    if isinstance(value, tuple) and hasattr(value, attribute):
        return getattr(value, attribute)
    return None


def _array_attributes(array: ArrayView | LocalArray) -> dict:
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


def _varies(value) -> bool:
    return isinstance(value, np.ndarray)


def _same_rounds(start, stop, step):
    """The loop values of a range whose bounds are the same in all threads; no condition."""
    for value in range(int(start), int(stop), int(step)):
        yield start.dtype.type(value), None


def _own_rounds(start, stop, step):
    """The loop values of a range with bounds by lane, and which lanes still have a round."""
    value = start
    while True:
        yield value, np.where(step > 0, value < stop, value > stop)
        value = value + step


def _round(loop: Loop, body: Execute, frame: Frame, active: Mask | None) -> Mask | None:
    """One round of a loop; the lanes that will test for another."""
    if active is None:
        return None
    after = body(frame, active)
    if loop.continued is not None:
        after, loop.continued = union(after, loop.continued), None
    return active if after is not None and after.count == active.count else after


def _after_loop(loop: Loop, otherwise: Execute, frame: Frame, lanes: tuple) -> Mask | None:
    """Lanes that finished run the loop's else; with those that broke out they go on."""
    mask, finished = lanes
    after = otherwise(frame, finished) if finished is not None else None
    return _joined(mask, after, loop.broken)


def _joined(before: Mask, first: Mask | None, second: Mask | None) -> Mask | None:
    """Two parts of a mask together again; the same object when nobody is missing."""
    after = union(first, second)
    return before if after is not None and after.count == before.count else after


def _chosen(undecided: Mask, value, result, mask: Mask):
    """The value of and/or so far: lanes that were still undecided take the new one."""
    if result is None or undecided is mask:
        return value
    return operations.merge(undecided.lanes, value, result)


def _going_on(undecided: Mask, going) -> Mask | None:
    if isinstance(going, np.ndarray):
        return undecided.narrow(going)
    return undecided if going else None
