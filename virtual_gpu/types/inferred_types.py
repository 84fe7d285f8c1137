"""The inferred types of a function's parts, and their conversion to plain JSON.

In JSON a node of the syntax tree is represented by its number.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np
from numba.core import types

from ..common.source import Source
from .function_key import outer_reads, outer_values, read_value
from .installed_code import installed, public_name
from .numba_types import Kind, context

_MOVING = re.compile(r" at 0x|line \d|<types>|\.py\b")  # text that differs between processes


@dataclass(frozen=True)
class Types:
    """The types of one function for one tuple of argument types.

    Most types are given as a Kind: the dtype of a number, a tuple of Kinds for a tuple, and None
    for anything else. ``values`` maps each expression, also each load of a variable, to its Kind,
    and ``stored`` each name that is assigned to. ``literals`` maps the expressions whose value
    Numba knows while it compiles to their literal types. ``split`` holds the loops and ``return``
    statements that Python compiles to two copies, one for each way to reach them, with different
    types. ``returned`` is Numba's type of the function's result, and ``result`` its Kind.

    ``refusal`` says where and why Numba refuses the function, and is "" if it does not. For such a
    function the other fields hold no types, so each value keeps the type that it has. ``refused``
    is the tuple (node of the refusal, reason alone), and None without a refusal.
    """

    values: Mapping[ast.expr, Kind] = field(default_factory=dict)
    literals: Mapping[ast.expr, types.Type] = field(default_factory=dict)
    stored: Mapping[ast.expr, Kind] = field(default_factory=dict)
    split: frozenset[ast.stmt] = frozenset()
    result: Kind = None
    returned: types.Type | None = None
    refusal: str = ""
    refused: tuple[ast.AST, str] | None = None


def refused(source: Source, node: ast.AST, reason: str) -> Types:
    """Return the Types of a function that Numba refuses at this node for this reason."""
    refusal = f"{source.name}, {source.site(node)}: {reason}"
    return Types(refusal=refusal, refused=(node, reason))


class NotPlain(Exception):
    """Raised for types that plain JSON cannot represent exactly."""


def to_plain(source: Source, inferred: Types) -> dict:
    """Return the Types of a function as a dict of plain JSON values.

    Its keys are "values", "stored", "literals", "split", "result", "returned" and "refused", as in
    Types, and "nodes", the number of nodes. A node is the index that it has in ``nodes_of``. Raises
    NotPlain if ``from_plain`` would not return the same Types in every process.
    """
    number = {node: index for index, node in enumerate(nodes_of(source))}
    returned, refusal = inferred.returned, inferred.refused
    plain = {
        "nodes": len(number),
        "values": _grouped(inferred.values, number, _kind_to_plain),
        "stored": _grouped(inferred.stored, number, _kind_to_plain),
        "literals": _grouped(inferred.literals, number, partial(_literal_to_plain, source)),
        "split": sorted(number[node] for node in inferred.split),
        "result": _kind_to_plain(inferred.result),
        "returned": None if returned is None else _type_to_plain(returned),
        "refused": None if refusal is None else [number[refusal[0]], refusal[1]],
    }
    if refusal is not None and _MOVING.search(refusal[1]):
        raise NotPlain
    try:
        same = from_plain(source, json.loads(json.dumps(plain))) == inferred
    except ValueError as error:  # Numba types such a function only at its call
        raise NotPlain from error
    if not same:
        raise NotPlain
    return plain


def from_plain(source: Source, plain: dict) -> Types | None:
    """Return the Types that ``to_plain`` made this dict from.

    Returns None if the dict does not fit the function.
    """
    try:
        return _from_plain(source, nodes_of(source), plain)
    except Exception:  # a file of unknown origin may raise anything
        return None


def _from_plain(source: Source, nodes: list[ast.AST], plain: dict) -> Types:
    """Return the Types that the dict represents; raise an error if it does not fit the function."""
    if plain["nodes"] != len(nodes):
        raise ValueError(plain["nodes"])
    if plain["refused"]:
        index, reason = plain["refused"]
        return refused(source, nodes[index], reason)
    literals = [(_literal_from_plain(source, one), indices) for one, indices in plain["literals"]]
    return Types(
        dict(_spread(plain["values"], nodes)),
        _Literals({nodes[index]: make for make, indices in literals for index in indices}),
        dict(_spread(plain["stored"], nodes)),
        frozenset(nodes[index] for index in plain["split"]),
        _kind_from_plain(plain["result"]),
        None if plain["returned"] is None else _type_from_plain(plain["returned"]),
    )


def nodes_of(source: Source) -> list[ast.AST]:
    """Return the nodes that can have a type, in an order that depends on the text alone.

    They are those of the syntax tree, and of the second copies of the conditions of its ``while``
    loops.
    """
    trees = (source.tree, *source.later_tests.values())
    return list(dict.fromkeys(node for tree in trees for node in ast.walk(tree)))


def _grouped(kinds: Mapping[ast.expr, object], number: dict[ast.AST, int], to_plain) -> list:
    """Return a list of pairs [kind as JSON, numbers of the nodes that have this kind].

    ``kinds`` maps each node to its kind, and ``number`` maps it to its number. ``to_plain``
    converts a kind to JSON.
    """
    groups: dict[object, list[int]] = {}
    for node, kind in kinds.items():
        groups.setdefault(kind, []).append(number[node])
    return [[to_plain(kind), indices] for kind, indices in groups.items()]


def _spread(groups: list, nodes: list[ast.AST]) -> Iterator[tuple[ast.AST, Kind]]:
    """Yield (node, kind) for each node number in groups of [kind as JSON, node numbers]."""
    for plain, indices in groups:
        kind = _kind_from_plain(plain)
        yield from ((nodes[index], kind) for index in indices)


# --- kinds of numbers -----------------------------------------------------------------------


def _kind_to_plain(kind: Kind):
    """Return a Kind, which is a dtype, a tuple of Kinds or None, as a JSON value."""
    if isinstance(kind, tuple):
        return list(map(_kind_to_plain, kind))
    return None if kind is None else kind.str


def _kind_from_plain(plain) -> Kind:
    """Return the Kind that a JSON value of ``_kind_to_plain`` represents."""
    if isinstance(plain, list):
        return tuple(map(_kind_from_plain, plain))
    return None if plain is None else np.dtype(plain)


# --- types of Numba -------------------------------------------------------------------------

_NAMED = {str(kind): kind for kind in vars(types).values() if isinstance(kind, types.Type)}


class _Literals(Mapping):
    """A mapping from nodes to their literal types, each of which is created on access.

    ``makers`` maps each node to a callable that returns its type. Types of functions take long to
    create, because Numba then loads all its declarations, and few programs need them.
    """

    def __init__(self, makers: dict[ast.expr, Callable[[], types.Type]]):
        self._makers = makers

    def __getitem__(self, node: ast.expr) -> types.Type:
        return self._makers[node]()

    def __iter__(self) -> Iterator[ast.expr]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


def _literal_to_plain(source: Source, kind: types.Type):
    """Return a literal type as a plain JSON value.

    A function is represented by its public name, or by an outer name that the text reads. Raises
    NotPlain for a type that JSON cannot represent.
    """
    if isinstance(kind, types.BaseTuple):
        return ["tuple", *(_literal_to_plain(source, item) for item in kind.types)]
    if not isinstance(kind, types.Function):
        return _type_to_plain(kind)
    public = public_name(kind.typing_key)
    if public:
        return ["installed", *public]
    outer = outer_values(source.function)
    for chain in outer_reads(source.tree):
        if read_value(outer, chain) is kind.typing_key:
            return ["outer", *chain]
    raise NotPlain(kind)


def _literal_from_plain(source: Source, plain) -> Callable[[], types.Type]:
    """Return a callable without parameters that returns the literal type of this JSON value.

    ``plain`` is a value of ``_literal_to_plain``. Raises an error here, and not when the callable
    is called, if the value represents no type.
    """
    if isinstance(plain, list) and plain[0] == "tuple":
        items = [_literal_from_plain(source, item) for item in plain[1:]]
        return lambda: types.BaseTuple.from_types(tuple(item() for item in items))
    if isinstance(plain, list) and plain[0] in ("installed", "outer"):
        origin, *name = plain
        is_outer = origin == "outer"
        value = read_value(outer_values(source.function), name) if is_outer else installed(*name)
        if value is None:
            raise LookupError(name)
        return cache(lambda: context().resolve_value_type(value))
    kind = _type_from_plain(plain)
    return lambda: kind


def _type_to_plain(kind: types.Type):
    """Return a type of Numba as a JSON value; raise NotPlain if that is not possible."""
    if _NAMED.get(str(kind)) == kind:
        return str(kind)
    if isinstance(kind, types.Literal):
        return ["literal", kind.literal_value]
    if isinstance(kind, types.BaseTuple):
        return ["tuple", *map(_type_to_plain, kind.types)]
    if isinstance(kind, types.Array):
        number = _type_to_plain(kind.dtype)
        return ["array", number, kind.ndim, kind.layout, not kind.mutable, kind.aligned]
    raise NotPlain(kind)


def _type_from_plain(plain) -> types.Type:
    """Return the type that a JSON value of ``_type_to_plain`` represents."""
    if isinstance(plain, str):
        return _NAMED[plain]
    tag, *fields = plain
    if tag == "literal":
        return types.literal(*fields)
    if tag == "tuple":
        return types.BaseTuple.from_types(tuple(map(_type_from_plain, fields)))
    number, rank, layout, readonly, aligned = fields
    return types.Array(_type_from_plain(number), rank, layout, readonly, aligned=aligned)
