"""A cache key for the types of a function, which changes whenever Numba may infer other types.

It is a digest of the function's syntax tree without its position in the file, of every outer value
that the tree reads, of the functions that it calls, and of the installed versions.
"""

from __future__ import annotations

import ast
import dis
import functools
import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import CellType, CodeType, FunctionType, ModuleType

import numpy as np
from numba.core import types
from numba.core.dispatcher import Dispatcher
from numba.cuda.dispatcher import CUDADispatcher

from ..common.errors import Unsupported
from ..common.source import Source, own_nodes
from . import installed_code
from .installed_code import is_installed, public_name
from .tuples import is_named_tuple

try:
    from numba.cuda.extending import _Intrinsic as CudaIntrinsic
except ImportError:  # plain numba
    from numba.core.extending import _Intrinsic as CudaIntrinsic
from numba.core.extending import _Intrinsic

_PLAIN = (int, float, complex, str, bytes, bool, type(None), type(Ellipsis))
_ABSENT = object()  # the value of an unbound name


class Unknown(Exception):
    """Raised for a value whose content cannot be described."""


@dataclass(frozen=True)
class Text:
    """A function's syntax tree as Numba reads it.

    ``digest`` is the SHA-256 hash of the tree in hex. ``reads`` holds the outer names that the tree
    reads, each with the attributes that follow it, such as ``("cuda", "threadIdx", "x")``.
    ``source`` is the function's text.
    """

    source: Source
    digest: str
    reads: tuple[tuple[str, ...], ...]


def text_of(source: Source) -> Text:
    """Return the Text of a function; it does not depend on the file or on line numbers."""
    digest = hashlib.sha256(ast.dump(source.tree).encode()).hexdigest()
    return Text(source, digest, outer_reads(source.tree))


def key_of(text: Text, arguments: tuple[types.Type, ...], text_of_function: Callable) -> str | None:
    """Return the key (SHA-256 in hex) of the types of a function for these argument types.

    ``text_of_function(python function)`` returns the Text of a device function. Returns None if a
    value cannot be described, or if another package has registered typing rules.
    """
    if not installed_code.only_numba_types():
        return None
    describer = _ValueDescriber(text_of_function)
    try:
        return _digest("function", describer.function(text), describer.value(arguments))
    except Unknown:
        return None


def rule_key(name: str, function: Callable | None, dtypes: tuple[np.dtype, ...]) -> str | None:
    """Return the key (SHA-256 in hex) of Numba's typing of an operation on numbers.

    ``name`` says which question about ``function`` and ``dtypes`` the key is for; ``function`` is
    None for a question about dtypes alone. Returns None for a function that is not of Python, NumPy
    or Numba, or if another package has registered typing rules.
    """
    public = public_name(function) if function else ""
    if public is None or not installed_code.only_numba_types():
        return None
    return _digest(name, public, [dtype.str for dtype in dtypes])


def _digest(*parts) -> str:
    """Return the SHA-256 hash in hex of the parts and of the installed versions."""
    return hashlib.sha256(repr((parts, installed_code.versions())).encode()).hexdigest()


# --- the outer names of a text --------------------------------------------------------------


def outer_reads(tree: ast.FunctionDef) -> tuple[tuple[str, ...], ...]:
    """Return the outer names that a function reads, each with the attributes that follow it.

    The result is a sorted tuple of tuples, such as ``("cuda", "threadIdx", "x")``. Builtins such as
    ``range`` are among them, and so are all names within inner functions that this function does
    not bind.
    """
    nodes = [node for statement in tree.body for node in ast.walk(statement)]
    within = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    whole = (node for node in nodes if id(node) not in within)
    chains = {_chain(node) for node in whole if isinstance(node, ast.Name | ast.Attribute)}
    bound = _bound_names(tree)
    return tuple(sorted(chain for chain in chains if chain and chain[0] not in bound))


def outer_values(function: FunctionType) -> dict[str, object]:
    """Return a dict from the globals and free variables that a function can see to their values.

    A free variable hides a global. One that the enclosing function has not bound yet has the value
    ``_ABSENT``. Builtins such as ``range`` are not in the dict.
    """
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {**function.__globals__, **{name: _content(cell) for name, cell in cells}}


def read_value(outer: dict[str, object], chain: Sequence[str]) -> object:
    """Return the value of a name with attributes, such as ``("cuda", "threadIdx", "x")``.

    ``outer`` maps names to values. Returns None if there is no such name or attribute.
    """
    value = outer.get(chain[0])
    for attribute in chain[1:]:
        value = getattr(value, attribute, None)
    return value


def _content(cell: CellType):
    """Return the content of a closure's cell, or _ABSENT if it is not bound yet."""
    try:
        return cell.cell_contents
    except ValueError:  # the enclosing function has not bound it yet
        return _ABSENT


def _chain(node: ast.expr) -> tuple[str, ...]:
    """Return a name and its attributes as a tuple, such as ``("cuda", "threadIdx", "x")``.

    Returns () for an attribute of another expression.
    """
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.insert(0, node.attr)
        node = node.value
    return (node.id, *attributes) if isinstance(node, ast.Name) else ()


def _bound_names(tree: ast.FunctionDef) -> set[str]:
    """Return the names of the function's parameters and of the variables that it assigns.

    A name bound by a comprehension is not one of them, because it may also name a global that is
    read elsewhere. Names of inner functions, and names within them, are left out, too.
    """
    own = list(own_nodes(tree))
    loops = [node for node in own if isinstance(node, ast.comprehension)]
    looped = {id(node) for loop in loops for node in ast.walk(loop.target)}
    names = [node for node in own if isinstance(node, ast.Name) and id(node) not in looped]
    stored = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    return stored | {argument.arg for argument in tree.args.args}


# --- descriptions of values -----------------------------------------------------------------


class _ValueDescriber:
    """Describes values by their content, as nested tuples and lists of strings and numbers.

    Raises Unknown for a value that it cannot describe, and for a function that calls itself, whose
    types depend on which call comes first.
    """

    def __init__(self, text_of_function: Callable):
        self._text_of_function = text_of_function
        self._open: list[FunctionType] = []
        self._known: dict[FunctionType, object] = {}

    def function(self, text: Text) -> object:
        """Return a tuple that describes a function that Numba types.

        It holds the digest, the outer values and the defaults of the function.
        """
        python = text.source.function
        with self._opened(python):
            outer = outer_values(python)
            reads = [(chain, self._read(outer, chain)) for chain in text.reads]
            return text.digest, reads, self.value(python.__defaults__)

    def value(self, value) -> object:
        """Return a description of any value that a function may read, mostly a tuple.

        Raises Unknown if the value cannot be described.
        """
        if type(value) in _PLAIN:
            return type(value).__name__, repr(value)
        if isinstance(value, tuple | list):
            return self._sequence(value)
        if isinstance(value, np.ndarray | np.generic):
            return _numbers(value)
        if isinstance(value, np.dtype):
            return "dtype", repr(value)
        if isinstance(value, types.Type):
            return self._type(value)
        if is_named_tuple(value):
            return self._tuple_class(value)
        if isinstance(value, ModuleType) and is_installed(value.__name__):
            return "module", value.__name__
        return public_name(value) or self._callable(value)

    def _read(self, outer: dict, chain: tuple[str, ...]) -> object:
        """Return a description of the value of a name with attributes; None if there is none."""
        name, *attributes = chain
        value = outer.get(name, _ABSENT)
        while isinstance(value, ModuleType) and attributes and not is_installed(value.__name__):
            value = vars(value).get(attributes.pop(0), _ABSENT)
        return None if value is _ABSENT else self.value(value)

    def _sequence(self, value: tuple | list) -> object:
        """Return a description of a tuple, named tuple or list, with that of its items."""
        items = [self.value(item) for item in value]
        if type(value) in (tuple, list):
            return type(value).__name__, items
        return self._tuple_class(type(value)), items

    def _tuple_class(self, kind: type) -> object:
        """Return (name, fields, defaults) of a named tuple's class; raise Unknown for others.

        defaults holds pairs of a field and the description of its default value.
        """
        if not is_named_tuple(kind) or kind.__bases__ != (tuple,):
            raise Unknown(kind)
        defaults = [(name, self.value(item)) for name, item in kind._field_defaults.items()]
        return kind.__name__, kind._fields, defaults

    def _type(self, kind: types.Type) -> object:
        """Return a description of a type of Numba; raise Unknown for one of another package."""
        if isinstance(kind, types.Function):
            return "Function", self.value(kind.typing_key)
        if isinstance(kind, types.Dispatcher):
            return "Dispatcher", self.value(kind.dispatcher)
        numba_class = type(kind)
        if not is_installed(numba_class.__module__) or " at 0x" in str(kind.key):
            raise Unknown(kind)
        # Numba itself compares types by these three.
        return numba_class.__module__, numba_class.__qualname__, self.value(kind.key)

    def _callable(self, value) -> object:
        """Return a description of a device function or an intrinsic; raise Unknown for others."""
        if isinstance(value, _INTRINSICS):
            return "intrinsic", self._python(value._defn)
        if not isinstance(value, _DISPATCHERS):
            raise Unknown(value)
        python = value.py_func
        if python not in self._known:
            self._known[python] = self.function(self._text(python))
        return self._known[python], *self._declarations(value)

    def _text(self, python: FunctionType) -> Text:
        """Return the Text of a Python function; raise Unknown if its source cannot be read."""
        try:
            return self._text_of_function(python)
        except Unsupported as error:
            raise Unknown(python) from error

    def _declarations(self, dispatcher) -> tuple:
        """Return a tuple of a dispatcher's class name, options and declared signatures.

        The signatures are left out if the dispatcher also takes other types.
        """
        options = [(name, self.value(value)) for name, value in dispatcher.targetoptions.items()]
        if dispatcher._can_compile:
            return type(dispatcher).__name__, options
        overloads = dispatcher.overloads.items()
        declared = [(value, overload.signature.return_type) for value, overload in overloads]
        return type(dispatcher).__name__, options, self.value(declared)

    def _python(self, function: FunctionType) -> object:
        """Return a tuple that describes a Python function that decides the types of an intrinsic.

        It holds the digest of its bytecode, its outer values and its defaults.
        """
        with self._opened(function):
            outer, (names, code) = outer_values(function), _names_and_code(function.__code__)
            reads = [(name, self._of_python(outer[name])) for name in names if name in outer]
            defaults = self.value(function.__defaults__)
            keyword_defaults = sorted((function.__kwdefaults__ or {}).items())
            return code, reads, defaults, self.value(keyword_defaults)

    def _of_python(self, value) -> object:
        """Return a description of a value that Python code reads; None for an unbound name."""
        if isinstance(value, FunctionType) and not public_name(value):
            return self._python(value)
        return None if value is _ABSENT else self.value(value)

    @contextmanager
    def _opened(self, function: FunctionType) -> Iterator[None]:
        """Inside the context, mark the function as being described.

        Raises Unknown if it is marked already.
        """
        if function in self._open:
            raise Unknown(function)
        self._open.append(function)
        try:
            yield
        finally:
            self._open.pop()


_INTRINSICS = (_Intrinsic, CudaIntrinsic)
_DISPATCHERS = (Dispatcher, CUDADispatcher)


def _numbers(value: np.ndarray | np.generic) -> object:
    """Return a tuple of the dtype, shape, memory flags and hash of a NumPy array or scalar.

    Raises Unknown for an array of Python objects and for a subclass of ndarray.
    """
    if value.dtype.hasobject or not (type(value) is np.ndarray or isinstance(value, np.generic)):
        raise Unknown(value)
    content = hashlib.sha256(value.tobytes()).hexdigest()
    flags = str(value.flags) if isinstance(value, np.ndarray) else ""
    return repr(value.dtype), value.shape, flags, content


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object, then those of all functions within it, at any depth."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


@functools.lru_cache(maxsize=1024)
def _names_and_code(code: CodeType) -> tuple[list[str], str]:
    """Return the outer names that Python code reads, sorted, and a digest of its bytecode.

    The functions within the code are included. The digest is a SHA-256 hash in hex.
    """
    codes = list(_codes(code))
    names = {name for nested in codes for name in (*_globals(nested), *nested.co_freevars)}
    bytecode = [(c.co_code, _constants(c), c.co_names, c.co_varnames) for c in codes]
    return sorted(names), hashlib.sha256(repr(bytecode).encode()).hexdigest()


def _globals(code: CodeType) -> set[str]:
    """Return the names that a code object loads as globals."""
    return {i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"}


def _constants(code: CodeType) -> list[str]:
    """Return the constants of a code object as ``repr`` gives them, without functions in it."""
    return [repr(constant) for constant in code.co_consts if not isinstance(constant, CodeType)]
