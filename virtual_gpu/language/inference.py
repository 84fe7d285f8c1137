"""The type of each part of a function, as Numba infers it.

A variable that is set on several paths has one type where they meet, even if no thread takes one of
them. Only Numba knows that type, so it is asked: its inference runs on the same syntax tree, whose
nodes have been given line numbers of their own, and the lines of its intermediate code then say
which node each type belongs to.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
import sys
import types as python_types
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import typeof
from numba.core import types
from numba.cuda.core.compiler_lock import global_compiler_lock

from ..common.errors import Unsupported
from ..common.source import Source
from ..machine.records import Record, RecordArray
from ..memory.memory import Array, element_strides
from ..types import disk_cache, numba_types
from ..types.function_key import Text, key_of, text_of
from ..types.inferred_types import NotPlain, Types, from_plain, refused, to_plain
from ..types.numba_passes import Refused, Statement, typed_statements
from ..types.numba_types import Kind, Number, is_literal, kind_of
from ..types.tuples import type_of_tuple


class Inference:
    """The types of one function, by the types of its arguments."""

    def __init__(self, source: Source, of_function: Callable):
        """``of_function(python function)`` gives the Inference of a device function."""
        self._source = source
        self._of_function = of_function
        self._known: dict[tuple[types.Type, ...], Types] = {}
        self._open: set[tuple[types.Type, ...]] = set()  # the inferences that are under way
        self._lasting: set[tuple[types.Type, ...]] = set()  # those that any process would repeat

    @functools.cached_property
    def text(self) -> Text:
        """The function as the key of its types describes it."""
        return text_of(self._source)

    def of_values(self, values: tuple, literals: tuple[types.Type | None, ...]) -> Types:
        """The types for a call with these values of the virtual GPU. ``literals``: of those that
        Numba knows while it compiles the caller."""
        try:
            given = (*literals, *(None for _ in values[len(literals) :]))
            found = (g or type_of(v) for g, v in zip(given, values, strict=True))
            return self.of_types(tuple(found))
        except ValueError as error:  # an argument that Numba has no type for
            return Types(refusal=str(error))

    def of_types(self, arguments: tuple[types.Type, ...]) -> Types:
        return self._known.get(arguments) or self._found(arguments)

    @global_compiler_lock
    def _found(self, arguments: tuple[types.Type, ...]) -> Types:
        """The types that another thread has found by now, or those of an inference."""
        if arguments in self._open:
            return Types()  # a call of itself, which Numba then types
        if arguments not in self._known:
            self._open.add(arguments)
            try:
                self._known[arguments] = self._kept(arguments)
            finally:
                self._open.discard(arguments)
        return self._known[arguments]

    def _kept(self, arguments: tuple[types.Type, ...]) -> Types:
        """The types from the disk, or those of an inference, which are then written there."""
        key = None
        if disk_cache.folder() is not None:
            key = key_of(self.text, arguments, lambda function: self._of_function(function).text)
        plain = disk_cache.read(key)
        found = None if plain is None else from_plain(self._source, plain)
        if found is not None:
            self._lasting.add(arguments)
            return found
        found = self._infer(arguments)
        if key is not None and arguments in self._lasting:
            with contextlib.suppress(NotPlain):
                disk_cache.write(key, to_plain(self._source, found))
        return found

    def _infer(self, arguments: tuple[types.Type, ...]) -> Types:
        function, nodes = _numbered(self._source)
        lasting: list[bool] = []

        def return_type(callee: Callable, given: tuple) -> types.Type | None:
            returned, lasts = self._return_type(callee, given)
            lasting.append(lasts)
            return returned

        try:
            statements, returned = typed_statements(function, arguments, return_type)
        except Refused as refusal:
            line, reason = refusal.args
            if "Cannot determine Numba type" in reason:  # of a function that only we have learnt
                return Types()
            found = refused(self._source, nodes.get(line, self._source.tree), reason)
        else:
            found = _types(self._source, _by_node(statements, nodes), returned)
        if all(lasting):
            self._lasting.add(arguments)
        return found

    def _return_type(
        self, function: Callable, arguments: tuple
    ) -> tuple[types.Type | None, bool]:
        """Of a device function, and whether any process would say the same; None for what is none
        of the user's, but part of Numba, which may need libraries that others do not have."""
        try:
            callee = self._of_function(function)
            returned = callee.of_types(arguments).returned
        except Unsupported:
            return None, False
        return returned, returned is not None and arguments in callee._lasting


# --- arguments -------------------------------------------------------------------------------


def type_of(value) -> types.Type:
    """Numba's type of an argument as the virtual GPU holds it; ValueError if there is none."""
    if isinstance(value, Number):
        return numba_types.numba_type(value.dtype)
    if isinstance(value, Array):
        return _array_type(value)
    if isinstance(value, Record):
        return numba_types.numba_type(value.dtype)
    if isinstance(value, RecordArray):
        return types.Array(numba_types.numba_type(value.dtype), len(value.shape), "C")
    if isinstance(value, tuple):
        return type_of_tuple(value, type_of)
    return typeof(value)


def _array_type(value: Array) -> types.Array:
    strides = getattr(value, "strides", None)
    contiguous = strides is None or strides == element_strides(value.shape)
    layout = "C" if contiguous else "A"
    readonly = not getattr(value, "writable", True)
    return _made_array_type(value.dtype, len(value.shape), layout, readonly)


@functools.cache
def _made_array_type(dtype: np.dtype, rank: int, layout: str, readonly: bool) -> types.Array:
    return types.Array(numba_types.numba_type(dtype), rank, layout, readonly)


def declared_kinds(function, values: tuple) -> Kind:
    """To what a device function with signatures casts these arguments; None without signatures.
    Unsupported where no signature takes them."""
    if getattr(function, "_can_compile", True):
        return None
    arguments = tuple(map(type_of, values))
    signature = numba_types.context().resolve_function_type(typeof(function), arguments, {})
    if signature is None:
        given = ", ".join(map(str, arguments))
        raise Unsupported(
            f"{function.py_func.__name__} was called with ({given}), which none of its signatures "
            "takes; add one, or declare it without any."
        )
    return tuple(map(kind_of, signature.args))


# --- from lines to nodes ---------------------------------------------------------------------


def _numbered(source: Source) -> tuple[Callable, dict[int, ast.AST]]:
    """The function compiled anew, each node on a line of its own; and the nodes by line."""
    tree = copy.deepcopy(source.tree)
    pairs = list(zip(ast.walk(tree), ast.walk(source.tree), strict=True))
    nodes = {}
    for line, (node, original) in enumerate(reversed(pairs), start=2):  # a parent after its parts
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = line
            node.col_offset = node.end_col_offset = 0
            nodes[line] = original
        if isinstance(node, ast.Return) and node.value is not None:
            # Python 3.13 copies a short return to where it is jumped from, unless its value stands
            # on another line.
            node.lineno = node.end_lineno = node.value.lineno
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node.func.end_lineno = line  # where Python says that a method is called
    tree.decorator_list, tree.returns = [], None
    tree.lineno = 1
    return with_outer_names(tree, source.function), nodes


def with_outer_names(tree: ast.FunctionDef, function: Callable) -> Callable:
    """A tree as a function with the outer names of ``function``."""
    free = function.__code__.co_freevars
    parameters = ast.arguments([], [ast.arg(n) for n in free], None, [], [], None, [])
    name, tree.name = tree.name, "the function"  # no name of the text, which may name itself
    outer = ast.FunctionDef("outer", parameters, [tree], [])
    if sys.version_info >= (3, 12):
        outer.type_params, tree.type_params = [], []
    module = ast.fix_missing_locations(ast.Module([outer], []))
    code = _inner(_inner(compile(module, "<types>", "exec"), "outer"), tree.name)
    cells = dict(zip(free, function.__closure__ or (), strict=True))
    closure = tuple(cells[name] for name in code.co_freevars)
    return python_types.FunctionType(
        code, function.__globals__, name, function.__defaults__, closure
    )


def _inner(code: python_types.CodeType, name: str) -> python_types.CodeType:
    return next(
        c for c in code.co_consts if isinstance(c, python_types.CodeType) and c.co_name == name
    )


@dataclass(frozen=True)
class _Found:
    """Kinds by node, in the order of the bytecode: a node may be in several places of it.

    joined: what an arm of a conditional expression becomes together with the others.
    """

    values: dict[ast.AST, list[Kind]]
    literals: dict[ast.AST, set[types.Type]]
    stored: dict[ast.AST, list[Kind]]
    joined: dict[ast.AST, list[Kind]]


def _by_node(statements: list[Statement], nodes: dict[int, ast.AST]) -> _Found:
    found = _Found(
        defaultdict(list), defaultdict(set), defaultdict(list), defaultdict(list)
    )
    for statement in statements:
        node, kind = nodes.get(statement.line), kind_of(statement.type)
        name = node.id if isinstance(node, ast.Name) else None
        if node is None:
            continue
        if statement.temporary and statement.variable in (None, name):
            found.literals[node].add(statement.type)
        if kind is None:
            continue
        if not statement.temporary:
            if statement.target == name:
                found.stored[node].append(kind)
        elif statement.variable is None or statement.variable == name:
            found.values[node].append(kind)
            if statement.joined is not None:
                found.joined[node].append(kind_of(statement.joined))
    return found


def _types(source: Source, found: _Found, returned: types.Type) -> Types:
    values = {node: kinds[0] for node, kinds in found.values.items()}
    joined = {node: kinds[0] for node, kinds in found.joined.items()}
    split = set()
    for loop, again in source.later_tests.items():
        for first, later in zip(ast.walk(loop.test), ast.walk(again), strict=True):
            for known, kinds in ((values, found.values), (joined, found.joined)):
                if first in kinds:
                    known[later] = kinds[first][-1]
                    split |= {loop} if known[later] != known[first] else set()
    for statement in ast.walk(source.tree):
        if isinstance(statement, ast.Return):
            unclear = [n for n in ast.walk(statement) if len(set(found.values.get(n, ()))) > 1]
            for node in unclear:
                del values[node]
            split |= {statement} if unclear else set()
    for tree in (source.tree, *source.later_tests.values()):
        _add_choices(tree, values, joined)
    stored = {node: kinds[0] for node, kinds in found.stored.items()}
    literals = {
        node: next(iter(kinds))
        for node, kinds in found.literals.items()
        if len(kinds) == 1 and is_literal(*kinds)
    }
    return Types(values, literals, stored, frozenset(split), kind_of(returned), returned)


def _add_choices(tree: ast.AST, values: dict, joined: dict) -> None:
    """``a if c else b`` and ``a and b`` have the type in which their arms meet."""
    for node in reversed(list(ast.walk(tree))):
        if isinstance(node, ast.IfExp | ast.BoolOp):
            arms = node.values if isinstance(node, ast.BoolOp) else [node.body, node.orelse]
            plain = [arm for arm in arms if not isinstance(arm, ast.IfExp | ast.BoolOp)]
            kinds = [joined[arm] for arm in [*plain, *arms] if arm in joined]
            if kinds:
                values[node] = joined[node] = kinds[0]
