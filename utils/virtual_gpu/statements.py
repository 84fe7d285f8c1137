"""From statements of the kernel's syntax tree to closures that execute them on all lanes.

``execute(frame, mask)`` returns the lanes that go on to the next statement (None: no lane does).
Control flow is nothing but masks: a branch narrows the mask, a loop runs until no lane is left,
``break``, ``continue`` and ``return`` take lanes out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

import numpy as np

from . import access, atomics, numba_types, operations
from .errors import KernelRaised
from .expressions import Expressions, is_part
from .frame import Evaluate, Execute, Frame, Loop, is_scalar, merge_values
from .lanes import Mask, union
from .memory import ArrayView, LocalArray
from .numba_types import conform


class Statements:
    """The statements of one function."""

    def __init__(self, expressions: Expressions):
        self.expressions = expressions
        self.source = expressions.source

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

    def do_Global(self, node: ast.Global) -> Execute:
        return lambda frame, mask: mask

    def do_Match(self, node: ast.Match) -> Execute:
        """``match`` over constants: the same as a chain of if and elif."""
        chain: list[ast.stmt] = []
        for case in reversed(node.cases):
            test = self._case_test(node.subject, case)
            chain = case.body if test is None else [ast.If(test, case.body, chain)]
        statements = [ast.fix_missing_locations(ast.copy_location(s, node)) for s in chain]
        return self.block(statements)

    def _case_test(self, subject: ast.expr, case: ast.match_case) -> ast.expr | None:
        """The condition of one case; None for ``case _``."""
        pattern = case.pattern
        if isinstance(pattern, ast.MatchAs) and pattern.pattern is None and pattern.name is None:
            return case.guard
        patterns = pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]
        if case.guard or not all(isinstance(p, ast.MatchValue) for p in patterns):
            raise self.source.refuse(pattern, "a case that is no constant")
        tests = [ast.Compare(subject, [ast.Eq()], [p.value]) for p in patterns]
        return tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests)

    def do_Pass(self, node: ast.Pass) -> Execute:
        return lambda frame, mask: mask

    def do_Expr(self, node: ast.Expr) -> Execute:
        if isinstance(node.value, ast.Constant):
            return self.do_Pass(node)  # a docstring
        evaluate = self.expressions.expression(node.value)

        def execute(frame, mask):
            evaluate(frame, mask)
            return mask

        return execute

    def do_Assign(self, node: ast.Assign) -> Execute:
        name = node.targets[0].id if isinstance(node.targets[0], ast.Name) else None
        evaluate = self.expressions.expression(node.value, name)
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
            frame.assign(node.id, conform(value, frame.types.stored.get(node)), mask)

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
        locate, site = self.expressions.location(node), self.source.site(node)

        def assign(frame, mask, value):
            array, indices = locate(frame, mask)
            if is_part(array, indices):
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

    def do_AugAssign(self, node: ast.AugAssign) -> Execute:
        function = operations.BINARY.get(type(node.op))
        if function is None:
            raise self.source.refuse(node, f"the operator {type(node.op).__name__}")
        right = self.expressions.expression(node.value)
        if isinstance(node.target, ast.Subscript):
            return self._augment_element(node, function, right)
        if not isinstance(node.target, ast.Name):
            raise self.source.refuse(node, f"assignment to {ast.unparse(node.target)}")
        left, assign = self.expressions.eval_Name(node.target), self._to_name(node.target)

        def execute(frame, mask):
            values = (left(frame, mask), right(frame, mask))
            value = self.expressions.apply(function, values, node, frame, mask)
            assign(frame, mask, conform(value, frame.types.values.get(node)))
            return mask

        return execute

    def _augment_element(self, node: ast.AugAssign, function: Callable, right: Evaluate) -> Execute:
        locate, site = self.expressions.location(node.target), self.source.site(node)

        def execute(frame, mask):
            array, indices = locate(frame, mask)
            self._check_storable(node.target, array, np.int64(0))
            if is_part(array, indices):
                raise self.source.refuse(node, "an operation on a part of an array")
            before = access.load(frame.run, array, indices, mask, site)
            values = (before, right(frame, mask))
            value = self.expressions.apply(function, values, node, frame, mask)
            value = conform(value, frame.types.values.get(node))
            access.store(frame.run, array, indices, value, mask, site)
            return mask

        return execute

    def do_If(self, node: ast.If) -> Execute:
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
            return _joined(mask, after_yes, after_no)

        return execute

    def do_While(self, node: ast.While) -> Execute:
        self._note_spinning(node.test)
        first = self.expressions.condition(node.test)
        later = self.expressions.condition(self.source.later_tests[node])
        body, otherwise = self.block(node.body), self.block(node.orelse)

        def execute(frame, mask):
            loop, active, finished = Loop(), mask, None
            split, starting = node in frame.types.split, mask
            frame.loops.append(loop)
            while active is not None:
                frame.run.count_round(self.source, node)
                chosen = _tested((first, later), frame, active, starting)
                if isinstance(chosen, np.ndarray):
                    going = active.narrow(chosen)
                    finished = union(finished, active.without(going))
                elif chosen:
                    going = active
                else:
                    going, finished = None, union(finished, active)
                active = _round(loop, body, frame, going)
                starting = loop.continued if split else None
            frame.loops.pop()
            return _after_loop(loop, otherwise, frame, (mask, finished))

        return execute

    def _note_spinning(self, test: ast.expr) -> None:
        """A loop that waits for another block: a lock is taken by one block after the other, a
        counter is waited for by all at once."""
        calls = [n for n in ast.walk(test) if isinstance(n, ast.Call)]
        functions = [self.expressions.try_static(c.func) for c in calls]
        self.expressions.takes_turns |= any(map(atomics.takes_a_lock, functions))
        self.expressions.cooperative |= any(map(atomics.waits_for_others, functions))

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
        function = self.expressions.try_static(node.func) if isinstance(node, ast.Call) else None
        if function is enumerate and len(node.args) == 1 and not node.keywords:
            inner = self._items(node.args[0])
            return lambda frame, mask: (
                (np.int64(n), value) for n, value in enumerate(inner(frame, mask))
            )
        if function is zip and not node.keywords:
            parts = [self._items(a) for a in node.args]
            return lambda frame, mask: zip(*(p(frame, mask) for p in parts), strict=False)
        if function is np.ndindex and not node.keywords:
            return self._positions(node)
        whole, site = self.expressions.expression(node), self.source.site(node)

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

    def _positions(self, node: ast.Call) -> Callable:
        """np.ndindex(): all positions of a shape that is the same in every thread."""
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
        """What evaluates (start, stop, step) of a range() call, typed as Numba types them."""
        if not isinstance(node, ast.Call) or self.expressions.try_static(node.func) is not range:
            return None
        if node.keywords or not 1 <= len(node.args) <= 3:
            raise self.source.refuse(node, "range() called like this")
        parts = [self.expressions.expression(a) for a in node.args]

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
        if frame.is_kernel and value is not None:
            raise self.source.refuse(node, "a kernel that returns a value")
        value, old = conform(value, frame.types.result), frame.result
        frame.result = value if old is None else merge_values(mask, value, old, "return")

    def do_Assert(self, node: ast.Assert) -> Execute:
        test = self.expressions.condition(node.test)

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


def _rows_of(frame: Frame, array, mask: Mask, site):
    """The elements of a vector, or the rows of a larger array, one after the other."""
    for number in range(array.shape[0]):
        index = (np.int64(number),)
        if len(array.shape) == 1:
            yield access.load(frame.run, array, index, mask, site)
        else:
            yield access.view(frame.run, array, list(index), mask, site)


def _varies(value) -> bool:
    return isinstance(value, np.ndarray)


def _same_rounds(start, stop, step):
    """The loop values of a range whose bounds are the same in all threads; no condition."""
    for value in range(int(start), int(stop), int(step)):
        yield start.dtype.type(value), None


def _own_rounds(start, stop, step):
    """The loop values of a range with bounds by lane, and which lanes still have a round."""
    value, going = start, np.bool_(True)
    while True:
        going = going & np.where(step > 0, value < stop, value > stop)
        yield value, going
        last, value = value, value + step
        going = going & np.where(step > 0, value > last, value < last)  # no lane wraps around


def _round(loop: Loop, body: Execute, frame: Frame, active: Mask | None) -> Mask | None:
    """One round of a loop; the lanes that will test for another."""
    if active is None:
        return None
    loop.continued = None
    after = body(frame, active)
    if loop.continued is not None:
        after = union(after, loop.continued)
    return active if after is not None and after.count == active.count else after


def _tested(tests: tuple[Evaluate, Evaluate], frame: Frame, active: Mask, starting: Mask | None):
    """The condition of a ``while``. Of its two copies the first decides for the lanes that come
    from before the loop or from a ``continue``, the second for those at the end of its body."""
    first, later = tests
    if starting is None:
        return later(frame, active)
    others = active.without(starting)
    if others is None:
        return first(frame, active)
    return np.where(starting.lanes, first(frame, starting), later(frame, others))


def _after_loop(loop: Loop, otherwise: Execute, frame: Frame, lanes: tuple) -> Mask | None:
    """Lanes that finished run the loop's else; with those that broke out they go on."""
    mask, finished = lanes
    after = otherwise(frame, finished) if finished is not None else None
    return _joined(mask, after, loop.broken)


def _joined(before: Mask, first: Mask | None, second: Mask | None) -> Mask | None:
    """Two parts of a mask together again; the same object when nobody is missing."""
    after = union(first, second)
    return before if after is not None and after.count == before.count else after
