"""Finds the type that Numba infers for each expression of a function.

A variable that is set on several paths has one type where they meet, even if no thread takes one of
them. Only Numba knows that type. So Numba's type inference runs on a copy of the syntax tree in
which each node has a line number of its own. The line numbers in Numba's intermediate code then
tell which node each type belongs to.
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

from ..common.errors import Unsupported
from ..common.source import Source
from ..machine.records import RecordArray, RecordView
from ..memory.memory import Array, element_strides
from ..types import disk_cache, numba_types
from ..types.function_key import Text, key_of, text_of
from ..types.inferred_types import NotPlain, Types, from_plain, refused, to_plain
from ..types.numba_passes import (
    Refused,
    Statement,
    global_compiler_lock,
    typed_statements,
)
from ..types.numba_types import Kind, Number, is_literal, kind_of
from ..types.tuples import type_of_tuple


class Inference:
    """Infers the types in one function, and caches them by the types of its arguments."""

    def __init__(self, source: Source, inference_of: Callable):
        """``inference_of(python function)`` returns the Inference of a device function."""
        self._source = source
        self._inference_of = inference_of
        self._known: dict[tuple[types.Type, ...], Types] = {}
        self._running: set[tuple[types.Type, ...]] = set()
        # Argument types for which every process infers the same, so that the disk may keep it.
        self._cacheable: set[tuple[types.Type, ...]] = set()

    @functools.cached_property
    def text(self) -> Text:
        """The Text of the function, from which the keys of the disk cache are made."""
        return text_of(self._source)

    def of_values(self, values: tuple, literals: tuple[types.Type | None, ...]) -> Types:
        """Return the Types of the function when it is called with these values.

        ``literals`` holds the literal types of the first arguments that Numba knows at compile
        time, and None for the others. If Numba has no type for an argument, the Types hold only the
        refusal.
        """
        try:
            padded = (*literals, *(None for _ in values[len(literals) :]))
            argument_types = (lit or type_of(v) for lit, v in zip(padded, values, strict=True))
            return self.of_types(tuple(argument_types))
        except ValueError as error:  # an argument that Numba has no type for
            return Types(refusal=str(error))

    def of_types(self, arguments: tuple[types.Type, ...]) -> Types:
        """Return the Types of the function when its arguments have these Numba types.

        If Numba refuses the function, the Types hold only the refusal. They are empty for a
        recursive call, and for a function that calls one which only the virtual GPU knows.
        """
        return self._known.get(arguments) or self._looked_up(arguments)

    @global_compiler_lock
    def _looked_up(self, arguments: tuple[types.Type, ...]) -> Types:
        """Return the Types; under the lock, infer them unless another thread has done so.

        For a recursive call, whose Types are being inferred, return empty Types.
        """
        if arguments in self._running:
            return Types()  # a recursive call, which Numba types itself
        if arguments not in self._known:
            self._running.add(arguments)
            try:
                self._known[arguments] = self._read_or_inferred(arguments)
            finally:
                self._running.discard(arguments)
        return self._known[arguments]

    def _read_or_inferred(self, arguments: tuple[types.Type, ...]) -> Types:
        """Return the Types from the disk cache, or else infer them.

        Inferred Types are written to the cache if every process would infer the same.
        """
        key = None
        if disk_cache.folder() is not None:
            key = key_of(self.text, arguments, lambda function: self._inference_of(function).text)
        plain = disk_cache.read(key)
        cached = None if plain is None else from_plain(self._source, plain)
        if cached is not None:
            self._cacheable.add(arguments)
            return cached
        inferred = self._infer(arguments)
        if key is not None and arguments in self._cacheable:
            with contextlib.suppress(NotPlain):
                disk_cache.write(key, to_plain(self._source, inferred))
        return inferred

    def _infer(self, arguments: tuple[types.Type, ...]) -> Types:
        """Let Numba infer the Types for these argument types, and return them.

        If Numba refuses them, the Types hold its reason; if the function calls one that only the
        virtual GPU knows, they are empty. If every process would infer the same, the argument types
        are noted as cacheable.
        """
        function, nodes = _numbered(self._source)
        cacheable: list[bool] = []

        def return_type(callee: Callable, callee_arguments: tuple) -> types.Type | None:
            returned, may_be_cached = self._return_type(callee, callee_arguments)
            cacheable.append(may_be_cached)
            return returned

        try:
            statements, returned = typed_statements(function, arguments, return_type)
        except Refused as refusal:
            line, reason = refusal.args
            # The function calls one that only the virtual GPU knows, by virtual_gpu.register.
            if "Cannot determine Numba type" in reason:
                return Types()
            inferred = refused(self._source, nodes.get(line, self._source.tree), reason)
        else:
            inferred = _types(self._source, _by_node(statements, nodes), returned)
        if all(cacheable):
            self._cacheable.add(arguments)
        return inferred

    def _return_type(self, function: Callable, arguments: tuple) -> tuple[types.Type | None, bool]:
        """Return a device function's return type, and whether every process would infer the same.

        The type is None, which leaves the call to Numba, if the function is being inferred, if
        Numba refuses it, if it calls a function that only the virtual GPU knows, or if the virtual
        GPU cannot compile it. The second value is then False. Numba's own functions may need
        libraries that another machine does not have.
        """
        try:
            callee = self._inference_of(function)
            returned = callee.of_types(arguments).returned
        except Unsupported:
            return None, False
        return returned, returned is not None and arguments in callee._cacheable


# --- arguments -------------------------------------------------------------------------------


def type_of(value) -> types.Type:
    """Return Numba's type of a value of the virtual GPU; raise ValueError if there is none."""
    if isinstance(value, Number):
        return numba_types.numba_type(value.dtype)
    if isinstance(value, Array):
        return _array_type(value)
    if isinstance(value, RecordView):
        return numba_types.numba_type(value.dtype)
    if isinstance(value, RecordArray):
        return types.Array(numba_types.numba_type(value.dtype), len(value.shape), "C")
    if isinstance(value, tuple):
        return type_of_tuple(value, type_of)
    return typeof(value)


def _array_type(value: Array) -> types.Array:
    """Return Numba's type of a kernel's array: layout "C" if it is contiguous, else "A".

    The type is read-only if the array is.
    """
    strides = getattr(value, "strides", None)
    contiguous = strides is None or strides == element_strides(value.shape)
    layout = "C" if contiguous else "A"
    readonly = not getattr(value, "writable", True)
    return array_type(value.dtype, len(value.shape), layout, readonly)


@functools.cache
def array_type(dtype: np.dtype, rank: int, layout: str, readonly: bool) -> types.Array:
    """Return Numba's array type; equal arguments get the same object.

    ``rank`` is the number of dimensions, and ``layout`` is "C" or "A". With ``readonly`` it is the
    type of an array that may not be written.
    """
    return types.Array(numba_types.numba_type(dtype), rank, layout, readonly)


def declared_kinds(function, values: tuple) -> Kind:
    """Return the types to which a device function with signatures casts these arguments.

    The result is a tuple with one Kind per argument, or None for a function without signatures.
    Raises Unsupported if no signature fits.
    """
    if getattr(function, "_can_compile", True):
        return None
    arguments = tuple(map(type_of, values))
    signature = numba_types.context().resolve_function_type(typeof(function), arguments, {})
    if signature is None:
        passed = ", ".join(map(str, arguments))
        raise Unsupported(
            f"{function.py_func.__name__} was called with ({passed}), which none of its signatures "
            "takes; add one, or declare it without any."
        )
    return tuple(map(kind_of, signature.args))


# --- from lines to nodes ---------------------------------------------------------------------


def _numbered(source: Source) -> tuple[Callable, dict[int, ast.AST]]:
    """Compile the function again with each node of its syntax tree on a line of its own.

    Return the new function, and a dict from its line numbers to the nodes of the original tree.
    """
    tree = copy.deepcopy(source.tree)
    pairs = list(zip(ast.walk(tree), ast.walk(source.tree), strict=True))
    nodes = {}
    for line, (node, original) in enumerate(reversed(pairs), start=2):  # a parent after its parts
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = line
            node.col_offset = node.end_col_offset = 0
            nodes[line] = original
        if isinstance(node, ast.Return) and node.value is not None:
            # Python 3.13 copies a short return to the places that jump to it, unless its value is
            # on another line.
            node.lineno = node.end_lineno = node.value.lineno
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node.func.end_lineno = line  # the line that Python gives to a method call
    tree.decorator_list, tree.returns = [], None
    tree.lineno = 1
    return with_outer_names(tree, source.function), nodes


def with_outer_names(tree: ast.FunctionDef, function: Callable) -> Callable:
    """Compile a tree into a function with the globals and the closure of ``function``.

    The tree is modified: it gets another name and no type parameters.
    """
    free = function.__code__.co_freevars
    parameters = ast.arguments([], [ast.arg(n) for n in free], None, [], [], None, [])
    name, tree.name = tree.name, "the function"  # no identifier, because the text may call itself
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
    """Return the code object of the function called ``name`` within a code object."""
    return next(
        c for c in code.co_consts if isinstance(c, python_types.CodeType) and c.co_name == name
    )


@dataclass(frozen=True)
class _NodeTypes:
    """Numba's types of the nodes of a syntax tree.

    A node may occur several times in the bytecode, so each list holds its types in that order.
    ``values`` holds the types of expressions, and ``stored`` those of the variables that are
    assigned to. ``joined`` holds, for an arm of a conditional expression, the type in which all its
    arms meet. ``literals`` holds the set of an expression's Numba types, which may be literal
    types.
    """

    values: dict[ast.AST, list[Kind]]
    literals: dict[ast.AST, set[types.Type]]
    stored: dict[ast.AST, list[Kind]]
    joined: dict[ast.AST, list[Kind]]


def _by_node(statements: list[Statement], nodes: dict[int, ast.AST]) -> _NodeTypes:
    """Return the _NodeTypes of a function, from the statements that Numba has typed.

    ``nodes`` maps line numbers to nodes; a statement of any other line is left out.
    """
    by_node = _NodeTypes(defaultdict(list), defaultdict(set), defaultdict(list), defaultdict(list))
    for statement in statements:
        node, kind = nodes.get(statement.line), kind_of(statement.type)
        name = node.id if isinstance(node, ast.Name) else None
        if node is None:
            continue
        if statement.temporary and statement.variable in (None, name):
            by_node.literals[node].add(statement.type)
        if kind is None:
            continue
        if not statement.temporary:
            if statement.target == name:
                by_node.stored[node].append(kind)
        elif statement.variable is None or statement.variable == name:
            by_node.values[node].append(kind)
            if statement.joined is not None:
                by_node.joined[node].append(kind_of(statement.joined))
    return by_node


def _types(source: Source, by_node: _NodeTypes, returned: types.Type) -> Types:
    """Return the Types of a function from the types of its nodes and its return type.

    A node of a ``return`` statement that has several types in the bytecode is left out of
    ``Types.values``, and the statement is in ``Types.split``. A ``while`` loop is in
    ``Types.split`` if a node of its condition has another type in a later test than in the first.
    """
    values = {node: kinds[0] for node, kinds in by_node.values.items()}
    joined = {node: kinds[0] for node, kinds in by_node.joined.items()}
    split = set()
    for loop, again in source.later_tests.items():
        for first, later in zip(ast.walk(loop.test), ast.walk(again), strict=True):
            for known, kinds in ((values, by_node.values), (joined, by_node.joined)):
                if first in kinds:
                    known[later] = kinds[first][-1]
                    split |= {loop} if known[later] != known[first] else set()
    for statement in ast.walk(source.tree):
        if isinstance(statement, ast.Return):
            unclear = [n for n in ast.walk(statement) if len(set(by_node.values.get(n, ()))) > 1]
            for node in unclear:
                del values[node]
            split |= {statement} if unclear else set()
    for tree in (source.tree, *source.later_tests.values()):
        _add_choices(tree, values, joined)
    stored = {node: kinds[0] for node, kinds in by_node.stored.items()}
    literals = {
        node: next(iter(kinds))
        for node, kinds in by_node.literals.items()
        if len(kinds) == 1 and is_literal(*kinds)
    }
    return Types(values, literals, stored, frozenset(split), kind_of(returned), returned)


def _add_choices(tree: ast.AST, values: dict, joined: dict) -> None:
    """Add the Kind of each ``a if c else b``, ``a and b`` and ``a or b`` in a tree to both dicts.

    The dicts map nodes to Kinds. The Kind of such an expression is the one in which its arms, here
    ``a`` and ``b``, meet, and ``joined`` already maps the arms to it.
    """
    for node in reversed(list(ast.walk(tree))):
        if isinstance(node, ast.IfExp | ast.BoolOp):
            arms = node.values if isinstance(node, ast.BoolOp) else [node.body, node.orelse]
            plain = [arm for arm in arms if not isinstance(arm, ast.IfExp | ast.BoolOp)]
            kinds = [joined[arm] for arm in [*plain, *arms] if arm in joined]
            if kinds:
                values[node] = joined[node] = kinds[0]
