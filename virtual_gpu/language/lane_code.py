"""Generates Python code that executes a loop or a function for one lane at a time.

For few lanes, plain Python numbers are much faster than vectors of lanes. What has no such code
raises NoText, and where the running code meets anything that may be a flaw it raises GiveUp. In
both cases the closures of statements.py do the work, so they alone report flaws.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

from numba import typeof

from ..numbers import operations
from ..numbers.plain_numbers import FLOAT32, FLOAT64, INT64, MIXED, NoText, Text
from ..types import numba_types
from .inference import Types
from .lane_expressions import LaneExpressions
from .lane_values import (
    Cells,
    Output,
    Variable,
    cells_named,
    kind_of,
    names_of,
    packed,
    parts_of,
    type_of,
)  # fmt: skip


class LaneCode(LaneExpressions):
    """Generates the code of one function, or of a loop in it.

    The ``do_`` methods append the code of one statement. They return False if the statement after
    it cannot be reached, and None or True otherwise. All methods raise NoText for what has no code.
    """

    def __init__(self, output: Output, expressions, types: Types, stores_by_data: frozenset):
        super().__init__(output, expressions, types, stores_by_data)
        self._loops: list[tuple[list, list]] = []  # the variables at each break and continue
        self._returned: list | None = []

    # --- variables ---------------------------------------------------------------------------

    def set_variable(self, name: str, value, maybe: bool = False) -> None:
        """Record that a variable has this value in the code, without a line that assigns it.

        ``maybe`` is True if the lane may not have set the variable.
        """
        self.variables[name] = Variable(value, maybe)

    def assign(self, node: ast.Name, value) -> None:
        """Append the code that assigns a value, cast to the type that Numba gives the variable."""
        self.store_variable(node.id, self.conform(value, self.types.stored.get(node)))

    def store_variable(self, name: str, value) -> None:
        """Append the code that assigns a value to the names of a variable, without a cast."""
        kept, codes = self._canonical(name, value)
        if codes:
            names, values = zip(*codes, strict=True)
            self.line(f"{', '.join(names)} = {', '.join(values)}")
        self.variables[name] = Variable(kept)

    def _canonical(self, name: str, value) -> tuple[object, list[tuple[str, str]]]:
        """Return a value in terms of a variable's own names, and a list of the needed copies.

        A copy is (own name, code of the number or array to copy).
        """
        if isinstance(value, Text):
            kept = Text(f"v_{name}", value.dtype, value.varies, value.bits, atom=True)
            return kept, [(kept.code, value.code)]
        if isinstance(value, tuple):
            items = [self._canonical(f"{name}__{n}", item) for n, item in enumerate(value)]
            return tuple(kept for kept, _ in items), [c for _, codes in items for c in codes]
        if isinstance(value, Cells):
            kept = cells_named(name, value)
            pairs = zip(parts_of(kept), parts_of(value), strict=True)
            return kept, [(own, other) for own, other in pairs if own != other]
        raise NoText("a variable of this kind")

    def joined(self, several: list[dict]) -> dict[str, Variable]:
        """Return the variables at a point that several paths reach, by name.

        ``several`` has the variables at the end of each path. A variable that only some of the
        paths have is in the result, with ``maybe`` as True.
        """
        names = {name for variables in several for name in variables}
        return {name: self._joined(name, [v.get(name) for v in several]) for name in names}

    def _joined(self, name: str, parts: list[Variable | None]) -> Variable:
        """Return one variable at a point that several paths reach.

        ``parts`` has the variable of each path, or None for a path that does not set it. ``maybe``
        of the result is True if a path does not set the variable or may not have set it. The value
        is None if those of the paths cannot be one value.
        """
        present = [part for part in parts if part is not None]
        maybe = len(present) < len(parts) or any(part.maybe for part in present)
        value = present[0].value
        for part in present[1:]:
            value = self._either(value, part.value)
        return Variable(value, maybe)

    def _either(self, first, second):
        """Return a value that stands for either of two values of one variable, or None if none can.

        Numbers of two of the dtypes int64, float32 and float64 give a number of the dtype MIXED.
        There is no value for other dtypes that differ, for an array and a number, or for arrays of
        two memories.
        """
        if first is None or second is None or type(first) is not type(second):
            return None
        if isinstance(first, tuple):
            if len(first) != len(second):
                return None
            items = tuple(map(self._either, first, second))
            return None if any(item is None for item in items) else items
        if isinstance(first, Cells):
            if first.shape_of_text != second.shape_of_text:
                return None
            return replace(first, varies=first.varies or second.varies)
        dtype, bits = first.dtype, max(first.bits, second.bits)
        if first.dtype != second.dtype:
            if not {first.dtype, second.dtype} <= {INT64, FLOAT32, FLOAT64, MIXED}:
                return None
            dtype = MIXED
        return replace(first, dtype=dtype, bits=bits, varies=first.varies or second.varies)

    # --- statements --------------------------------------------------------------------------

    def block(self, statements: list[ast.stmt]) -> bool:
        """Append the code of statements; return True if the end of the last one can be reached."""
        for node in statements:
            method = getattr(self, f"do_{type(node).__name__}", None)
            if method is None:
                raise NoText(type(node).__name__)
            if method(node) is False:
                return False
        return True

    def indented(self, statements: list[ast.stmt]) -> bool:
        """Append statements one level deeper; return True if the end of the last can be reached."""
        self._depth += 1
        start = len(self.lines)
        reached = self.block(statements)
        if len(self.lines) == start:
            self.line("pass")
        self._depth -= 1
        return reached

    def do_Pass(self, node: ast.Pass) -> None:
        """Append nothing."""

    def do_Expr(self, node: ast.Expr) -> None:
        """Append the code of an expression whose value is discarded."""
        if not isinstance(node.value, ast.Constant):
            self.expression(node.value)

    def do_Assign(self, node: ast.Assign) -> None:
        """Append the code of an assignment."""
        target = node.targets[0]
        if isinstance(node.value, ast.Lambda):
            raise NoText("a lambda")
        if isinstance(node.value, ast.Call) and self._is_local_array(node.value):
            if len(node.targets) != 1 or not isinstance(target, ast.Name):
                raise NoText("a local array")
            self._new_local(target.id, node.value)
            return
        value = self.expression(node.value)
        if len(node.targets) > 1 or not isinstance(target, ast.Name):
            value = self._held(value)
        for each in node.targets:
            self._assign_to(each, value)

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Append the code of an assignment with an annotation, or nothing if it has no value."""
        if node.value is not None:
            self.do_Assign(ast.copy_location(ast.Assign([node.target], node.value), node))

    def _assign_to(self, target: ast.expr, value) -> None:
        """Append the code that assigns a value to a variable, an element or a tuple of targets."""
        if isinstance(target, ast.Name):
            self.assign(target, value)
        elif isinstance(target, ast.Tuple | ast.List):
            if not isinstance(value, tuple) or len(value) != len(target.elts):
                raise NoText("unpacking")
            for part, item in zip(target.elts, value, strict=True):
                self._assign_to(part, item)
        elif isinstance(target, ast.Subscript) and isinstance(value, Text):
            cells, indices = self._place(target)
            if any(isinstance(i, ast.Slice) for i in indices) or len(indices) < len(cells.extents):
                self._fill(target, cells, indices, value)
            else:
                self._store(target, cells, self._address(cells, indices), value)
        else:
            raise NoText("this target")

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        """Append the code of ``x += value`` or ``x[i] += value``."""
        function = operations.BINARY.get(type(node.op))
        if function is None:
            raise NoText(type(node.op).__name__)
        if isinstance(node.target, ast.Name):
            left = self.eval_Name(node.target)
            value = self._operation(node, function, [left, self.expression(node.value)])
            self.assign(node.target, self.conform(value, self.types.values.get(node)))
        elif isinstance(node.target, ast.Subscript):
            cells, indices = self._place(node.target)
            if len(indices) != len(cells.extents):
                raise NoText("a part of an array")
            address = self._address(cells, indices)
            left = self._held(self._load(node.target, cells, address))
            value = self._operation(node, function, [left, self.expression(node.value)])
            value = self.conform(value, self.types.values.get(node))
            self._store(node.target, cells, address, value)
        else:
            raise NoText("this target")

    def do_If(self, node: ast.If) -> bool:
        """Append the code of ``if``; return True if the end of a branch can be reached."""
        test = self.condition(node.test)
        before, ends = dict(self.variables), []
        self.line(f"if {test.code}:")
        if self.indented(node.body):
            ends.append(self.variables)
        self.variables = dict(before)
        if node.orelse:
            self.line("else:")
        if not node.orelse or self.indented(node.orelse):
            ends.append(self.variables)
        if ends:
            self.variables = self.joined(ends)
        return bool(ends)

    def do_For(self, node: ast.For) -> None:
        """Append the code of a loop over a ``range()``."""
        bounds = [self._held(b) for b in self.bounds(node.iter)]
        codes = ", ".join(b.code for b in bounds)
        self.repeat(node, lambda: self.for_head(node, f"range({codes})", bounds))

    def for_head(self, node: ast.For, iterable: str, bounds: list[Text]) -> None:
        """Append the head of a ``for`` loop and the assignment of its variable.

        ``iterable`` is the code of the ``range()``, and ``bounds`` the Texts of its start, stop and
        step.
        """
        t = self.numbers.temporary()
        self.line(f"for {t} in {iterable}:")
        self._depth += 1
        self._count("iteration", self.source.site(node))
        bits = max(b.bits for b in bounds)
        varies = any(b.varies for b in (bounds[0], bounds[2]))
        self._assign_to(node.target, Text(t, bounds[0].dtype, varies, bits, atom=True))
        self._depth -= 1

    def bounds(self, node: ast.expr) -> list[Text]:
        """Return the Texts of start, stop and step of a ``range()`` call, in that order.

        They have the dtype of the loop variable.
        """
        if not isinstance(node, ast.Call) or self.expressions.try_static(node.func) is not range:
            raise NoText("a loop over no range")
        if node.keywords or not 1 <= len(node.args) <= 3:
            raise NoText("range()")
        values = [self._number(a) for a in node.args]
        if any(v.dtype.kind not in "iub" for v in values):
            raise NoText("range() of floats")
        dtype = numba_types.range_dtype(tuple(v.dtype for v in values))
        values = [self.numbers.cast(v, dtype) for v in values]
        if len(values) == 1:
            values.insert(0, Text("0", dtype, False, 0, atom=True))
        return values if len(values) == 3 else [*values, Text("1", dtype, False, 1, atom=True)]

    def do_While(self, node: ast.While) -> None:
        """Append the code of ``while``."""
        rounds = self.numbers.temporary()
        self.line(f"{rounds} = 0")
        self.repeat(node, lambda: self.while_head(node, rounds, "break"))

    def while_head(self, node: ast.While, rounds: str, leave: str) -> None:
        """Append the head of a ``while`` loop, which also counts its iterations.

        ``rounds`` is the name of the counter; the code calls ``late`` with it every 1024
        iterations. ``leave`` is the statement that a lane with a false condition executes.
        """
        if node in self.types.split or (node.orelse and leave == "break"):
            raise NoText("a condition of two types, or an else")
        self.line("while True:")
        self._depth += 1
        test = self.condition(node.test)
        self.line(f"if not {test.code}: {leave}")
        self.line(f"{rounds} += 1")
        self.line(f"if not {rounds} & 1023: late({rounds})")
        self._count("iteration", self.source.site(node))
        self._depth -= 1

    def repeat(self, node: ast.For | ast.While, head: Callable[[], None]) -> None:
        """Append a loop: its head, body and ``else``.

        ``head`` appends the head. The code is generated anew until the variables at the begin of
        the body are the same in the first and in later iterations.
        """
        entry, start = dict(self.variables), len(self.lines)
        while True:
            del self.lines[start:]
            self.variables = dict(entry)
            self._loops.append(([], []))
            head()
            reached = self.indented(node.body)
            breaks, continues = self._loops.pop()
            ends = [*continues, *([self.variables] if reached else [])]
            again = self.joined([entry, *ends])
            if all(again[name] == entry[name] for name in entry):
                break
            entry = {name: again[name] for name in entry}
        self.variables = again
        if node.orelse:
            self.line("else:")
            if self.indented(node.orelse):
                breaks.append(self.variables)
            if not breaks:
                raise NoText("a loop that nothing leaves")
            self.variables = self.joined(breaks)
        else:
            self.variables = self.joined([again, *breaks])

    def do_Break(self, node: ast.Break) -> bool:
        """Append ``break``; return False."""
        self._loops[-1][0].append(dict(self.variables))
        self.line("break")
        return False

    def do_Continue(self, node: ast.Continue) -> bool:
        """Append ``continue``; return False."""
        self._loops[-1][1].append(dict(self.variables))
        self.line("continue")
        return False

    def do_Return(self, node: ast.Return) -> bool:
        """Append ``return`` of a device function, with the value in its result type; return False.

        Raises NoText after ``loop_only``.
        """
        if node in self.types.split or self._returned is None:
            raise NoText("this return")
        value = None if node.value is None else self.expression(node.value)
        value = self.conform(value, self.types.result)
        self._returned.append(value)
        self.line(f"return {packed(value)}")
        return False

    def loop_only(self) -> None:
        """Note that the code is a loop, so that ``do_Return`` raises NoText."""
        self._returned = None

    def returned(self):
        """Return a value that stands for those of all ``return`` statements of the function.

        Returns None if there is none or if they return None, and raises NoText if no value can
        stand for all.
        """
        if not self._returned:
            return None
        value = self._returned[0]
        for other in self._returned[1:]:
            if value is None and other is None:
                continue
            value = self._either(value, other)
            if value is None:
                raise NoText("values of several kinds")
        return value

    # --- calls -------------------------------------------------------------------------------

    def device_call(self, node: ast.Call, function):
        """Append the call of a device function; return its value, which is in new temporaries.

        It is None if the function returns nothing. The function's code is generated at its first
        call with such arguments.
        """
        callee = self.expressions.compile_function(function.py_func)
        if node.keywords or callee.source.function in self.output.running:
            raise NoText("this call")
        values = [self.expression(a) for a in node.args]
        missing = len(callee.source.parameters) - len(values)
        if missing:
            raise NoText("an argument that is left out")
        literals = tuple(
            self.expressions.literal(a)(SimpleNamespace(types=self.types)) for a in node.args
        )
        kinds = declared_dtypes(function, values)
        if kinds is not None:
            values = [self.conform(v, kind) for v, kind in zip(values, kinds, strict=True)]
            literals = (None,) * len(values)
        name, result = function_code(self.output, callee, values, literals)
        code = f"{name}({', '.join(c for v in values for c in parts_of(v))})"
        if result is None:
            self.line(code)
            return None
        names = names_of(result, self.numbers)
        self.line(f"{packed(names)} = {code}")
        return names


def function_code(output: Output, program, values: list, literals: tuple) -> tuple[str, object]:
    """Return (name of a device function in the code, value that it returns or None).

    The function's code for arguments like ``values`` is added to ``output`` if it is not there.
    ``literals`` has Numba's literal type of each argument, or None. Raises NoText if the function
    has no code.
    """
    kinds = tuple(kind_of(v) for v in values)
    key = id(program), kinds, literals
    if key in output.known_functions:
        return output.known_functions[key]
    types = program.inference.of_types(
        tuple(lit or type_of(v) for lit, v in zip(literals, values, strict=True))
    )
    if types.refusal or not (types.values or types.stored or types.result is None):
        raise NoText("a function without types")
    name = f"f{len(output.known_functions)}_{program.source.name}"
    output.running.append(program.source.function)
    inner = LaneCode(output, program.expressions, types, program.stores_by_data)
    names = []
    for parameter, value in zip(program.source.parameters, values, strict=True):
        kept, codes = inner._canonical(parameter, value)
        if isinstance(value, Cells):
            kept = cells_named(parameter, value)
        inner.set_variable(parameter, kept)
        names += parts_of(kept)
        del codes
    if output.counts:
        inner.line(f"enter({output.numbers.named(program.source)})")
    reached = inner.block(program.source.tree.body)
    result = inner.returned()
    if reached and result is not None:
        raise NoText("a function that may return nothing")
    output.functions += [f"def {name}({', '.join(names)}):", *inner.lines, "    pass"]
    output.running.pop()
    output.known_functions[key] = name, result
    return name, result


def declared_dtypes(function, values: list) -> tuple | None:
    """Return a tuple of the types, as for ``conform``, that a function's signature declares.

    Returns None for a function without a signature, and raises NoText if no signature fits
    ``values``.
    """
    if getattr(function, "_can_compile", True):
        return None
    arguments = tuple(map(type_of, values))
    signature = numba_types.context().resolve_function_type(typeof(function), arguments, {})
    if signature is None:
        raise NoText("arguments of other types")
    return tuple(map(numba_types.kind_of, signature.args))
