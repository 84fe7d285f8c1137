"""Compiles statements of the kernel's syntax tree into closures that execute them on all lanes.

``execute(frame, mask)`` returns the lanes that go on to the next statement, or None if no lane
does. Control flow only changes masks: a branch narrows the mask, a loop runs until no lane is left,
and ``break``, ``continue`` and ``return`` remove lanes.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..common.errors import KernelRaised, Site
from ..common.lanes import Mask, union
from ..common.regular_stores import chosen_by_data
from ..machine.access import load, store
from ..machine.parts import elements, is_part, store_part, view
from ..machine.place import Place
from ..machine.records import RecordArray, RecordView, copy_record
from ..memory.memory import Array, ArrayView
from ..numbers import operations
from ..types import numba_types
from ..types.numba_types import conform
from . import atomics, cures
from .arithmetic import Arithmetic
from .endless_loops import EndlessLoopCheck
from .expressions import Expressions
from .few_lanes import FewLanes
from .frame import Evaluate, Execute, Frame, LoopLanes, described, is_scalar, merge_values


class Statements:
    """Compiles the statements of one function into closures.

    ``source`` is the function's text, and ``expressions`` compiles its expressions.
    """

    def __init__(self, expressions: Expressions):
        self.expressions = expressions
        self.source = expressions.source
        self.stores_by_data = chosen_by_data(self.source.tree)

    def block(self, statements: list[ast.stmt]) -> Execute:
        """Compile a list of statements, such as the body of a loop, into one closure.

        ``execute(frame, mask)`` executes them in order, until no lane is left. It returns the lanes
        that go on to the statement after the list, or None if no lane does.
        """
        steps = [(self.statement(s), self.source.site(s)) for s in statements]

        def execute(frame: Frame, mask: Mask | None) -> Mask | None:
            syncwarps = frame.run.syncwarps
            for step, site in steps:
                before, mask = mask, step(frame, mask)
                if mask is None:
                    return None
                if syncwarps.waiting:
                    syncwarps.go_on(before, mask, site)
            return mask

        return execute

    def statement(self, node: ast.stmt) -> Execute:
        """Compile one statement; raise Unsupported if the virtual GPU does not know it.

        The closure executes it and returns the lanes that go on to the next one, or None. So do the
        closures of all ``do_`` methods.
        """
        method = getattr(self, f"do_{type(node).__name__}", None)
        if isinstance(node, ast.Try | ast.TryStar):
            raise self.source.refuse_try(node)
        if method is None:
            raise self.source.refuse(node, cures.unknown_statement(node))
        return method(node)

    def do_Global(self, node: ast.Global) -> Execute:
        """Compile ``global``; the closure does nothing and returns all lanes."""
        return lambda frame, mask: mask

    def do_Match(self, node: ast.Match) -> Execute:
        """Compile ``match`` over constants as a chain of ``if`` and ``elif``.

        The closure returns the lanes that reach the next statement, or None. Raises Unsupported for
        a pattern that is no constant.
        """
        chain: list[ast.stmt] = []
        for case in reversed(node.cases):
            test = self._case_test(node.subject, case)
            chain = case.body if test is None else [ast.If(test, case.body, chain)]
        statements = [ast.fix_missing_locations(ast.copy_location(s, node)) for s in chain]
        return self.block(statements)

    def _case_test(self, subject: ast.expr, case: ast.match_case) -> ast.expr | None:
        """Return the condition of one case as an expression of the syntax tree.

        It compares the subject with each constant of the pattern. For ``case _`` it is the guard,
        or None without a guard. Raises Unsupported unless all patterns of another case are
        constants without a guard.
        """
        pattern = case.pattern
        if isinstance(pattern, ast.MatchAs) and pattern.pattern is None and pattern.name is None:
            return case.guard
        patterns = pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]
        if case.guard or not all(isinstance(p, ast.MatchValue) for p in patterns):
            raise self.source.refuse(pattern, "a case that is no constant")
        tests = [ast.Compare(subject, [ast.Eq()], [p.value]) for p in patterns]
        return tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests)

    def do_Pass(self, node: ast.Pass) -> Execute:
        """Compile a statement that does nothing; the closure returns all lanes."""
        return lambda frame, mask: mask

    def do_Expr(self, node: ast.Expr) -> Execute:
        """Compile an expression that is a statement; its value is discarded.

        The closure returns all lanes. A function that is named but not called, such as
        ``cuda.syncthreads``, gives a Python warning.
        """
        if isinstance(node.value, ast.Constant):
            return self.do_Pass(node)  # a docstring
        evaluate = self.expressions.expression(node.value)
        slip = cures.uncalled(node, self.expressions.try_static(node.value))
        if slip:
            warnings.warn(f"{self.source.name}, {self.source.site(node)}: {slip}", stacklevel=2)

        def execute(frame, mask):
            evaluate(frame, mask)
            return mask

        return execute

    def do_Assign(self, node: ast.Assign) -> Execute:
        """Compile an assignment; the closure stores the value in all targets and returns all lanes.

        A lambda that is assigned to a name becomes an inner function.
        """
        name = node.targets[0].id if isinstance(node.targets[0], ast.Name) else None
        if name and isinstance(node.value, ast.Lambda):
            return self._define(node, name, node.value)
        evaluate = self.expressions.expression(node.value, name)
        assigns = [self.target(t) for t in node.targets]

        def execute(frame, mask):
            value = evaluate(frame, mask)
            for assign in assigns:
                assign(frame, mask, value)
            return mask

        return execute

    def do_FunctionDef(self, node: ast.FunctionDef) -> Execute:
        """Compile an inner function, which later statements can call.

        The closure does nothing and returns all lanes.
        """
        return self._define(node, node.name, node)

    def _define(self, node: ast.stmt, name: str, function: ast.FunctionDef | ast.Lambda) -> Execute:
        """Compile an inner function and keep it under ``name`` for later calls.

        The closure does nothing and returns all lanes. Raises Unsupported if the name has an inner
        function already.
        """
        if name in self.expressions.inner:
            raise self.source.refuse(node, f"a second inner function with the name {name}")
        self.expressions.inner[name] = self.expressions.inner_function(function, name)
        return lambda frame, mask: mask

    def do_AnnAssign(self, node: ast.AnnAssign) -> Execute:
        """Compile an assignment with an annotation, which is ignored.

        Without a value the closure does nothing.
        """
        if node.value is None:
            return self.do_Pass(node)
        return self.do_Assign(ast.copy_location(ast.Assign([node.target], node.value), node))

    def target(self, node: ast.expr) -> Callable:
        """Return ``assign(frame, mask, value)``, which stores a value to an assignment's target.

        The value is stored in the lanes of ``mask``. Raises Unsupported for a target that kernels
        cannot have, such as a starred name.
        """
        if isinstance(node, ast.Name):
            return self._to_name(node)
        if isinstance(node, ast.Tuple | ast.List):
            return self._to_tuple(node)
        if isinstance(node, ast.Subscript):
            return self._to_element(node)
        if isinstance(node, ast.Attribute):
            return self._to_place(node, self.expressions.field(node, node.attr))
        raise self.source.refuse(node, f"assignment to {ast.unparse(node)}")

    def _to_name(self, node: ast.Name) -> Callable:
        """Return ``assign(frame, mask, value)``, which sets a variable in the lanes of ``mask``.

        The value is cast to the type that Numba gives to the variable here.
        """

        def assign(frame, mask, value):
            frame.assign(node.id, conform(value, frame.types.stored.get(node)), mask)

        return assign

    def _to_tuple(self, node: ast.Tuple) -> Callable:
        """Return ``assign(frame, mask, value)``, which unpacks a tuple or an array.

        Each target gets an item. An array gives its elements, or views of its rows. ``assign``
        raises Unsupported unless there is one item per target.
        """
        parts, site = [self.target(t) for t in node.elts], self.source.site(node)

        def assign(frame, mask, value):
            if isinstance(value, Array) and value.shape[0] == len(parts):
                value = tuple(_rows(Place(frame.run, value, (), mask, site)))
            if not isinstance(value, tuple) or len(value) != len(parts):
                what = f"unpacking into {len(parts)} names from {described(value)}"
                raise self.source.refuse(node, what)
            for part, item in zip(parts, value, strict=True):
                part(frame, mask, item)

        return assign

    def _to_element(self, node: ast.Subscript) -> Callable:
        """Return ``assign(frame, mask, value)``, which stores to an element or part of an array."""
        return self._to_place(node, self.expressions.place(node))

    def _to_place(self, node: ast.Attribute | ast.Subscript, locate: Callable) -> Callable:
        """Return ``assign(frame, mask, value)``, which stores to the Place of ``locate``.

        ``locate(frame, mask)`` returns it. A record is copied field by field to a record of the
        same dtype; a number goes to the element or to every element of the part of an array.
        ``assign`` raises Unsupported for any other value, and for a target that cannot hold it.
        """
        by_data = node in self.stores_by_data

        def assign(frame, mask, value):
            place = locate(frame, mask)
            if type(value) is RecordView and copy_record(place, value):
                return
            self._check_storable(node, place.array, value)
            if not is_part(place):
                store(place, value, by_data)
            elif not store_part(place, value):
                raise self.source.refuse(node, "storing to this part of an array")

        return assign

    def _check_storable(self, node: ast.AST, array, value) -> None:
        """Raise Unsupported unless ``array`` is a writable array and ``value`` a number.

        A complex number needs an array of complex numbers. Any other number passes, whatever the
        dtype of the array, because a store casts it.
        """
        complex_to_real = is_scalar(value) and value.dtype.kind == "c" != array.dtype.kind
        if not isinstance(array, Array) or not is_scalar(value) or complex_to_real:
            if isinstance(array, tuple):
                raise self.source.refuse_change(node)
            what = f"storing to {(target := ast.unparse(node))} from this value"
            if is_scalar(array):
                what = f"storing to {target}, an element of a number,"
            if isinstance(value, Array):
                what = f"a copy to {target} (a kernel has none: a thread stores one element)"
            raise self.source.refuse(node, what)
        if isinstance(array, ArrayView) and not array.writable:
            what = f"storing to the read-only array {array.name}"
            raise self.source.refuse(node, f"{what} (Numba refuses it, too: pass a copy of it)")

    def do_AugAssign(self, node: ast.AugAssign) -> Execute:
        """Compile an assignment such as ``x += value`` to a variable or an element of an array.

        The closure returns all lanes. Raises Unsupported for an unknown operator or another target.
        """
        function = operations.BINARY.get(type(node.op))
        if function is None:
            raise self.source.refuse(node, f"the operator {type(node.op).__name__}")
        right = self.expressions.expression(node.value)
        if isinstance(node.target, ast.Subscript | ast.Attribute):
            return self._augment_element(node, function, right)
        if not isinstance(node.target, ast.Name):
            raise self.source.refuse(node, f"assignment to {ast.unparse(node.target)}")
        left, assign = self.expressions.eval_Name(node.target), self._to_name(node.target)
        apply = Arithmetic(self.source, node).apply

        def execute(frame, mask):
            value = apply(function, (left(frame, mask), right(frame, mask)), frame, mask)
            assign(frame, mask, conform(value, frame.types.values.get(node)))
            return mask

        return execute

    def _augment_element(self, node: ast.AugAssign, function: Callable, right: Evaluate) -> Execute:
        """Compile an assignment such as ``x[i] += value`` to an element or a record's field.

        It is a load and a store, which is no atomic operation. The closure raises Unsupported for a
        part of an array, and for an array that is read-only.
        """
        target, apply = node.target, Arithmetic(self.source, node).apply
        if isinstance(target, ast.Attribute):
            locate = self.expressions.field(target, target.attr)
        else:
            locate = self.expressions.place(target)

        def execute(frame, mask):
            place = locate(frame, mask)
            self._check_storable(node.target, place.array, np.int64(0))
            if is_part(place):
                raise self.source.refuse(node, "an operation on a part of an array")
            value = apply(function, (load(place), right(frame, mask)), frame, mask)
            store(place, conform(value, frame.types.values.get(node)))
            return mask

        return execute

    def do_If(self, node: ast.If) -> Execute:
        """Compile ``if``: lanes with a true condition execute the body, the others the ``else``.

        The closure returns the lanes that go on to the next statement, or None if there are none.
        """
        test, then = self.expressions.condition(node.test), self.block(node.body)
        other = self.block(node.orelse)

        def execute(frame, mask):
            chosen = test(frame, mask)
            if not isinstance(chosen, np.ndarray):
                return (then if chosen else other)(frame, mask)
            yes = mask.narrow(chosen)
            no = mask.without(yes)
            after_yes = then(frame, yes) if yes else None
            after_no = other(frame, no) if no else None
            return _reunited(mask, after_yes, after_no)

        return execute

    def do_While(self, node: ast.While) -> Execute:
        """Compile ``while``, whose body runs until no lane is left in the loop.

        The closure returns the lanes that go on to the next statement, or None. It raises
        LimitReached for a loop that never ends or exceeds a limit.
        """
        self._note_spinning(node.test)
        test, body = self._loop_test(node), self.block(node.body)
        otherwise, site = self.block(node.orelse), self.source.site(node)
        few_lanes = FewLanes(self.expressions, self.stores_by_data, node)

        def execute(frame, mask):
            loop, active, check = LoopLanes(), mask, EndlessLoopCheck(self.source, node)
            split, starting = node in frame.types.split, mask
            frame.loops.append(loop)
            if few_lanes.run_while(frame, mask, loop):
                active = None
            while active is not None:
                check.iteration(frame, active, starting)
                remaining = loop.keep(active, test(frame, active, starting))
                frame.run.count_iteration(site, remaining)
                active = _iterate(loop, body, frame, remaining, site)
                starting = loop.continued if split else None
            frame.loops.pop()
            return _after_loop(loop, otherwise, frame, mask)

        return execute

    def _loop_test(self, node: ast.While) -> Callable:
        """Compile the condition of a ``while`` into ``test(frame, active, starting)``.

        The condition is compiled twice, because its types can differ. The first copy decides for
        the lanes of ``starting``, which come from before the loop or from a ``continue``. The
        second copy decides for the other active lanes, which come from the end of the body.
        ``test`` returns a NumPy bool, or a boolean vector of lanes.
        """
        first = self.expressions.condition(node.test)
        later = self.expressions.condition(self.source.later_tests[node])

        def test(frame: Frame, active: Mask, starting: Mask | None):
            if starting is None:
                return later(frame, active)
            others = active.without(starting)
            if others is None:
                return first(frame, active)
            return np.where(starting.lanes, first(frame, starting), later(frame, others))

        return test

    def _note_spinning(self, test: ast.expr) -> None:
        """Set the flags of the compiler if a loop with this condition waits for other blocks.

        A condition that tries to take a lock sets ``uses_lock``, because blocks take a lock one
        after the other. A condition that reads a counter by an atomic sets ``cooperative``, because
        all blocks wait for the counter at once.
        """
        calls = [n for n in ast.walk(test) if isinstance(n, ast.Call)]
        functions = [self.expressions.try_static(c.func) for c in calls]
        self.expressions.uses_lock |= any(map(atomics.takes_a_lock, functions))
        self.expressions.cooperative |= any(map(atomics.waits_for_others, functions))

    def do_For(self, node: ast.For) -> Execute:
        """Compile ``for``, whose body runs until no lane is left in the loop.

        Over a ``range()``, lanes may differ in their bounds. The closure returns the lanes that go
        on to the next statement, or None. It raises LimitReached if a loop over a range exceeds a
        limit of the launch.
        """
        bounds = self._range(node.iter)
        if bounds is None:
            return self._for_each(node)
        assign, body = self.target(node.target), self.block(node.body)
        otherwise, site = self.block(node.orelse), self.source.site(node)
        few_lanes = FewLanes(self.expressions, self.stores_by_data, node)

        def execute(frame, mask):
            loop, range_ = LoopLanes(), bounds(frame, mask)
            frame.loops.append(loop)
            done, active = few_lanes.run_range(frame, mask, loop, range_)
            if active is None:
                frame.loops.pop()
                return _after_loop(loop, otherwise, frame, mask)
            for value, condition in _iterations(*range_, done):
                frame.run.check_limits(self.source, node, active)
                active = loop.keep(active, condition)
                frame.run.count_iteration(site, active)
                if active is not None:
                    assign(frame, active, value)
                    active = _iterate(loop, body, frame, active, site)
                if active is None:
                    break
            loop.finish(active)
            frame.loops.pop()
            return _after_loop(loop, otherwise, frame, mask)

        return execute

    def _for_each(self, node: ast.For) -> Execute:
        """Compile a loop over a tuple, an array or another iterable that is no ``range()``.

        Its number of iterations differs by lane only if it is over a part of an array whose length
        does. The closure returns the lanes that go on to the next statement, or None.
        """
        items, assign = self._items(node.iter, is_whole=True), self.target(node.target)
        body, otherwise = self.block(node.body), self.block(node.orelse)
        site = self.source.site(node)

        def execute(frame, mask):
            loop, active = LoopLanes(), mask
            frame.loops.append(loop)
            for value in items(frame, mask):
                if isinstance(value, _LaneItem):
                    active = loop.keep(active, value.exists)
                    if active is None:
                        break
                    value = value.value
                frame.run.count_iteration(site, active)
                assign(frame, active, value)
                active = _iterate(loop, body, frame, active, site)
                if active is None:
                    break
            loop.finish(active)
            frame.loops.pop()
            return _after_loop(loop, otherwise, frame, mask)

        return execute

    def _items(self, node: ast.expr, is_whole: bool = False) -> Callable:
        """Return ``items(frame, mask)``, which returns an iterable over the values of a loop.

        ``is_whole`` is True for what the loop runs over, and False for an argument of a call there.
        The loop is over a tuple, an array, an array of records, ``enumerate()``, ``zip()``,
        ``np.ndindex()`` or ``np.nditer()``; within ``enumerate()`` and ``zip()`` also over
        ``range()``. If ``is_whole``, the values of an array whose length differs by thread are
        _LaneItems.
        """
        function = None
        if isinstance(node, ast.Call) and not node.keywords:
            function = self.expressions.try_static(node.func)
        if function is enumerate and 1 <= len(node.args) <= 2:
            inner = self._items(node.args[0])
            start = self._first_number(node)
            return lambda frame, mask: (
                (np.int64(n), value) for n, value in enumerate(inner(frame, mask), start)
            )
        if function is range:
            return self._uniform_range(node)
        if function is zip:
            parts = [self._items(a) for a in node.args]
            return lambda frame, mask: zip(*(p(frame, mask) for p in parts), strict=False)
        if function is np.ndindex:
            return self._positions(node)
        if function is np.nditer and len(node.args) == 1:
            return self._elements(node)
        return self._items_of(node, is_whole)

    def _first_number(self, node: ast.Call) -> int:
        """Return the number from which an ``enumerate()`` call counts, 0 by default.

        Raises Unsupported if it is no constant integer.
        """
        start = self.expressions.try_static(node.args[1]) if len(node.args) == 2 else 0
        if type(start) is not int:
            raise self.source.refuse(node, "enumerate() from a number that is no constant")
        return start

    def _uniform_range(self, node: ast.Call) -> Callable:
        """Compile a ``range()`` within ``enumerate()`` or ``zip()``.

        The closure returns an iterator over the numbers. It raises Unsupported if the bounds differ
        by thread.
        """
        bounds = self._range(node)

        def evaluate(frame, mask):
            start_stop_step = bounds(frame, mask)
            if any(isinstance(bound, np.ndarray) for bound in start_stop_step):
                raise self.source.refuse(
                    node, "a range whose bounds differ by thread, within enumerate() or zip(),"
                )
            return (value for value, _ in _uniform_iterations(*start_stop_step, 0))

        return evaluate

    def _items_of(self, node: ast.expr, is_whole: bool) -> Callable:
        """Return ``items(frame, mask)``, which returns an iterable over the value of ``node``.

        It gives the items of a tuple, the elements or rows of an array, or the records of an array
        that is not local. If ``is_whole``, an array whose length differs by thread gives
        _LaneItems. ``items`` raises Unsupported for anything else, and for a tuple of numbers of
        several dtypes.
        """
        # Python makes a tuple of a list in `for x in [1, 2]`, but not of an argument of zip().
        compile_items = self.expressions.items if is_whole else self.expressions.expression
        whole, site = compile_items(node), self.source.site(node)

        def evaluate(frame, mask):
            values = whole(frame, mask)
            if isinstance(values, tuple):
                if len({v.dtype for v in values if is_scalar(v)}) > 1:
                    raise self.source.refuse(node, "a loop over a tuple of several types")
                return values
            if isinstance(values, Array) and isinstance(values.shape[0], int):
                return _rows(Place(frame.run, values, (), mask, site))
            if is_whole and isinstance(values, Array) and len(values.shape) == 1:
                return _lane_items(Place(frame.run, values, (), mask, site))
            if isinstance(values, RecordArray) and not values.is_local:
                return values.rows(Place(frame.run, values, (), mask, site))
            raise self.source.refuse(node, "a loop over anything but range(), a tuple or an array")

        return evaluate

    def _elements(self, node: ast.Call) -> Callable:
        """Compile ``np.nditer(x)`` into ``items(frame, mask)``, which returns a generator.

        The generator loads the elements of an array of any rank, the last index fastest. ``items``
        raises Unsupported for anything but an array, and for one whose shape differs by thread.
        """
        whole, site = self.expressions.expression(node.args[0]), self.source.site(node)

        def evaluate(frame, mask):
            array = whole(frame, mask)
            if not isinstance(array, Array) or any(isinstance(e, np.ndarray) for e in array.shape):
                raise self.source.refuse(node, "np.nditer() of anything but an array")
            return (load(p) for p in elements(Place(frame.run, array, (), mask, site)))

        return evaluate

    def _positions(self, node: ast.Call) -> Callable:
        """Compile ``np.ndindex()`` into ``items(frame, mask)``, which returns a generator.

        It yields all index tuples of a shape, as int64 numbers; the last index changes fastest. The
        generator raises Unsupported if the shape differs by thread.
        """
        parts = [self.expressions.expression(a) for a in node.args]

        def evaluate(frame, mask):
            sizes = [part(frame, mask) for part in parts]
            sizes = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], tuple) else sizes
            if any(isinstance(size, np.ndarray) for size in sizes):
                raise self.source.refuse(node, "np.ndindex() of sizes that differ by thread")
            for position in np.ndindex(*map(int, sizes)):
                yield tuple(np.int64(p) for p in position)

        return evaluate

    def _range(self, node: ast.expr) -> Callable | None:
        """Return ``evaluate(frame, mask)``, which returns (start, stop, step) of a ``range()``.

        Each is a NumPy scalar or a lane vector, of the dtype that Numba gives to the loop variable.
        ``evaluate`` raises KernelRaised for a step of 0 that all threads share, and Unsupported for
        an argument that is no real number. Returns None for an expression that is no call of
        ``range()``, and raises Unsupported for a call with keywords or another number of arguments
        than 1 to 3.
        """
        if not isinstance(node, ast.Call) or self.expressions.try_static(node.func) is not range:
            return None
        arguments = [part for argument in node.args for part in self._spread(argument)]
        if node.keywords or not 1 <= len(arguments) <= 3:
            raise self.source.refuse(node, "range() called like this")
        parts = [self.expressions.expression(a) for a in arguments]

        def evaluate(frame, mask) -> tuple:
            values = [part(frame, mask) for part in parts]
            if not all(is_scalar(v) and v.dtype.kind in "iubf" for v in values):
                raise self.source.refuse(node, "range() of something that is no number")
            dtype = numba_types.range_dtype(tuple(v.dtype for v in values))
            values = [numba_types.cast(v, dtype) for v in values]
            if len(values) == 3 and not isinstance(values[2], np.ndarray) and values[2] == 0:
                raise KernelRaised(f"{self.source.site(node)}: range() with the step 0.")
            if len(values) == 1:
                values.insert(0, dtype.type(0))
            return values[0], values[1], values[2] if len(values) == 3 else dtype.type(1)

        return evaluate

    def _spread(self, argument: ast.expr) -> list[ast.expr]:
        """Return the arguments that ``*PAIR`` passes if PAIR is a constant tuple.

        Any other argument is returned alone in a list.
        """
        constant = isinstance(argument, ast.Starred) and self.expressions.try_static(argument.value)
        if not isinstance(constant, tuple):
            return [argument]
        return [ast.copy_location(ast.Constant(item), argument) for item in constant]

    def do_Break(self, node: ast.Break) -> Execute:
        """Compile ``break``: the lanes that reach it leave the innermost loop.

        The closure returns None, because no lane goes on to the next statement.
        """

        def execute(frame, mask):
            frame.loops[-1].broken = union(frame.loops[-1].broken, mask)

        return execute

    def do_Continue(self, node: ast.Continue) -> Execute:
        """Compile ``continue``: the lanes that reach it skip the rest of the iteration.

        The closure returns None, because no lane goes on to the next statement.
        """

        def execute(frame, mask):
            frame.loops[-1].continued = union(frame.loops[-1].continued, mask)

        return execute

    def do_Return(self, node: ast.Return) -> Execute:
        """Compile ``return``: the lanes that reach it set the result and leave the function.

        The closure returns None, because no lane goes on to the next statement. It raises
        Unsupported if a kernel returns a value other than None.
        """
        evaluate = self.expressions.expression(node.value) if node.value else None
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}

        def execute(frame, mask):
            if evaluate is not None:
                split = node in frame.types.split
                for part in frame.versions(names, mask) if split else (mask,):
                    self._return(node, frame, part, evaluate(frame, part))
            frame.leave(mask)

        return execute

    def _return(self, node: ast.Return, frame: Frame, mask: Mask, value) -> None:
        """Set ``frame.result`` to ``value`` in the lanes of ``mask``.

        The value is cast to the type that Numba gives to the function's result. Other lanes keep
        their result. All lanes stay live: the caller removes them from the frame. Raises
        Unsupported if a kernel returns a value other than None.
        """
        if frame.is_kernel and value is not None:
            raise self.source.refuse(node, "a kernel that returns a value")
        value, old = conform(value, frame.types.result), frame.result
        frame.result = value if old is None else merge_values(mask, value, old, "return")

    def do_Assert(self, node: ast.Assert) -> Execute:
        """Compile ``assert``, which raises KernelRaised if it fails in any active lane.

        Otherwise the closure returns all lanes.
        """
        test = self.expressions.condition(node.test)

        def execute(frame, mask):
            holds = test(frame, mask)
            failing = mask.narrow(np.logical_not(np.broadcast_to(holds, mask.lanes.shape)))
            if failing is not None:
                self._raise(node, frame, failing)
            return mask

        return execute

    def do_Raise(self, node: ast.Raise) -> Execute:
        """Compile ``raise``, which raises KernelRaised and so ends the launch."""

        def execute(frame, mask):
            self._raise(node, frame, mask)

        return execute

    def _raise(self, node: ast.stmt, frame: Frame, mask: Mask) -> None:
        """Raise KernelRaised, with the line of the statement and the first active thread."""
        thread = frame.run.batch.thread(int(mask.index[0]))
        raise KernelRaised(f"{self.source.site(node)}: reached by {thread}.")


@dataclass(frozen=True)
class _LaneItem:
    """An element of an array whose length differs by thread, and the lanes that have it.

    ``value`` is what ``load`` returns, and ``exists`` a boolean vector with one entry per lane of
    the batch, True for active lanes whose array has the element.
    """

    value: np.ndarray
    exists: np.ndarray


def _lane_items(whole: Place) -> Iterator[_LaneItem]:
    """Yield a _LaneItem per element of an array of one dimension, up to the longest length."""
    for place in elements(whole):
        yield _LaneItem(load(place), place.mask.lanes)


def _rows(whole: Place) -> Iterator:
    """Yield ``array[0]``, ``array[1]`` and so on, in order.

    ``whole`` is the Place of the array, without indices. They are loaded elements if the array has
    one dimension, otherwise views.
    """
    for number in range(whole.array.shape[0]):
        row = whole.at((np.int64(number),))
        yield view(row) if is_part(row) else load(row)


def _iterations(start, stop, step, done: int) -> Iterator[tuple]:
    """Yield the tuple (value of the loop variable, condition) for each iteration of a range.

    The condition is True if all lanes execute the iteration, or a boolean vector of those that do;
    the value counts in these lanes only. If a bound differs by lane, the generator never ends: the
    caller stops when no lane is left. The first ``done`` iterations are left out.
    """
    varies = any(isinstance(bound, np.ndarray) for bound in (start, stop, step))
    iterations = _varying_iterations if varies else _uniform_iterations
    return iterations(start, stop, step, done)


def _uniform_iterations(start, stop, step, done: int):
    """Yield (value of the loop variable, True) per iteration, for NumPy scalars as bounds.

    The value is a NumPy scalar of the dtype of ``start``. The generator ends like a ``range()``.
    """
    for value in range(int(start), int(stop), int(step))[done:]:
        yield start.dtype.type(value), True


def _varying_iterations(start, stop, step, done: int):
    """Yield (value of the loop variable, condition) without end, for bounds that differ by lane.

    At least one of the three is a vector of lanes. The value is a NumPy scalar if ``start`` and
    ``step`` are the same in all lanes. Otherwise it is a vector, and the first value is ``start``
    itself. The condition is a boolean vector of the lanes that execute the iteration; in other
    lanes the value has no meaning. The caller stops when no lane is left.
    """
    value, active = start + step * done if done else start, np.bool_(True)
    while True:
        active = active & np.where(step > 0, value < stop, value > stop)
        yield value, active
        last, value = value, value + step
        active = active & np.where(step > 0, value > last, value < last)  # no lane wraps around


def _iterate(
    loop: LoopLanes, body: Execute, frame: Frame, active: Mask | None, site: Site
) -> Mask | None:
    """Execute one iteration of the loop at ``site``; return the lanes that test its condition next.

    They are the lanes that reach the end of the body or ``continue``. Returns None if there are
    none, or if ``active`` is None. The result is the object ``active`` if it has the same lanes.
    ``loop.continued`` is set anew.
    """
    if active is None:
        return None
    loop.continued = None
    after = body(frame, active)
    if loop.continued is not None:
        after = union(after, loop.continued)
        frame.run.syncwarps.go_on(active, after, site)
    return active if after is not None and after.count == active.count else after


def _after_loop(loop: LoopLanes, otherwise: Execute, frame: Frame, mask: Mask) -> Mask | None:
    """Execute the ``else`` of a loop in the lanes that finished without ``break``.

    Return the lanes that go on to the next statement, or None if there are none. ``mask`` holds the
    lanes that entered the loop.
    """
    after = None if loop.finished is None else otherwise(frame, loop.finished)
    return _reunited(mask, after, loop.broken)


def _reunited(before: Mask, first: Mask | None, second: Mask | None) -> Mask | None:
    """Return the union of two masks, or None if both are None.

    The result is the object ``before`` itself if it has the same lanes.
    """
    after = union(first, second)
    return before if after is not None and after.count == before.count else after
