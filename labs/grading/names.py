"""The values of a submission's names, read from its statements without running any.

A name may be set several times. A function gets the value that it had at the function's definition,
or else the first value after it. So a cell below a kernel that tries another size does not change
the mark.
"""

from __future__ import annotations

import ast
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from labs.grading import allow_list
from labs.grading.allow_list import NotAllowed
from labs.grading.constants import Module, Unknown, constant, modules_in, whole_numbers
from labs.grading.lines import register

_OWN_SCOPE = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp,
    ast.DictComp, ast.GeneratorExp,
)  # fmt: skip
Lists = tuple[tuple[int, ...] | None, ...]  # the whole numbers of one list, or of none


@dataclass(frozen=True)
class Compiler:
    """A compiler of Numba, with those of its options that can change results.

    name: `cuda.jit` or `njit`. options: pairs of an option's name and value. In a submission, a
    compiler only decorates definitions and is never the value of a variable, because Numba
    evaluates a signature that is a string.
    """

    name: str
    options: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True)
class Definition:
    """The definition of a function in a submission.

    tree: its syntax tree. file: the name, in `linecache`, of the text to which its line numbers
    refer. order: the number of its statement in the submission. compiler: the compiler that
    decorates it, None for plain Python. refused: a sentence on why it cannot be used, for example
    because of another decorator, or "".
    """

    tree: ast.FunctionDef
    file: str
    order: int
    compiler: Compiler | None = None
    refused: str = ""


@dataclass
class Names:
    """The names that a submission defines, recorded statement by statement.

    definitions: maps a function's name to its definitions, in order. orders: maps a name to the
    lists or tuples assigned to it, as pairs of a line and the whole numbers, or None if it holds
    anything else. lists: maps a name to a tuple on its present value, which is empty if that is no
    list. Otherwise the tuple has one element, the whole numbers or None as in `orders`. elsewhere:
    maps a name that is defined where the grader reads no function, such as within an `if`, to a
    sentence on that. files: maps the name of a piece to the number of the submission's file that
    holds it. order: the number of statements read so far.
    """

    definitions: dict[str, list[Definition]] = field(default_factory=dict)
    orders: dict[str, list[tuple[int, tuple[int, ...] | None]]] = field(default_factory=dict)
    lists: dict[str, Lists] = field(default_factory=dict)
    elsewhere: dict[str, str] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)
    order: int = 0
    _orders: dict[str, list[int]] = field(default_factory=dict)
    _values: dict[str, list[object]] = field(default_factory=dict)

    def bind(self, name: str, value: object) -> None:
        """Record that a name has this value from the current statement on."""
        self._orders.setdefault(name, []).append(self.order)
        self._values.setdefault(name, []).append(value)
        self.lists.pop(name, None)

    def now(self, name: str) -> object:
        """Return the value that was recorded for a name most recently, or None if there is none."""
        return self._values[name][-1] if name in self._values else None

    def at(self, name: str, order: int) -> object:
        """Return the value of a name for a function that statement number `order` defines, or None.

        It is the latest value up to that statement, or else the first one after it. It is None if
        the name never got a value.
        """
        if name not in self._values:
            return None
        return self._values[name][max(bisect(self._orders[name], order) - 1, 0)]


def read(statement: ast.stmt, names: Names, file: str) -> None:
    """Record in `names` what a top-level statement defines, and count the statement.

    If the statement is nested too deeply or is too long, its names get this reason instead of a
    value. file: the name, in `linecache`, of the piece of text that holds the statement.
    """
    names.order += 1
    try:
        _read(statement, names, file)
    except (RecursionError, MemoryError, SyntaxError, ValueError):
        _leave(statement, names, file)


def _leave(statement: ast.stmt, names: Names, file: str) -> None:
    """Record in `names` that a statement is nested too deeply, or is too long, to be read.

    The names that the statement defines get this reason instead of a value.
    """
    why = f"Line {statement.lineno} is nested too deeply, or too long, to be graded."
    if isinstance(statement, ast.FunctionDef):
        _add(statement.name, Definition(statement, file, names.order, refused=why), names)
        return
    for node in _own_nodes(statement):
        if _is_stored(node):
            names.bind(node.id, Unknown(why))
            names.elsewhere[node.id] = why


def _read(statement: ast.stmt, names: Names, file: str) -> None:
    """Record in `names` what a top-level statement defines, according to its kind."""
    if isinstance(statement, ast.Import):
        _import(statement, names)
    elif isinstance(statement, ast.ImportFrom):
        _import_from(statement, names)
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        _assign(statement, names, file)
    elif isinstance(statement, ast.AugAssign):
        _augment(statement, names)
    elif isinstance(statement, ast.FunctionDef):
        _define(statement, names, file)
    else:
        _read_others(statement, names)


def _import(statement: ast.Import, names: Names) -> None:
    """Record the modules of `import …`; a module that is not allowed is recorded as Unknown."""
    for alias in statement.names:
        module = alias.name if alias.asname else alias.name.split(".")[0]
        known = module in allow_list.MODULES
        unknown = Unknown(f"Line {statement.lineno} imports `{module}`.")
        names.bind(alias.asname or module, Module(module) if known else unknown)


def _import_from(statement: ast.ImportFrom, names: Names) -> None:
    """Record the names of `from … import …`; one that is not allowed is recorded as Unknown."""
    module = statement.module or ""
    members = allow_list.PLAIN.members.get(module, frozenset())
    for alias in statement.names:
        name, inner = alias.asname or alias.name, f"{module}.{alias.name}"
        if inner in allow_list.COMPILERS:
            names.bind(name, Compiler(allow_list.COMPILERS[inner]))
        elif inner in allow_list.MODULES:
            names.bind(name, Module(inner))
        elif alias.name in members:
            names.bind(name, getattr(allow_list.MODULES[module], alias.name))
        elif alias.name == "*" and module in allow_list.MODULES:
            for member in sorted(members):
                names.bind(member, getattr(allow_list.MODULES[module], member))
            for whole, compiler in allow_list.COMPILERS.items():
                if whole.rpartition(".")[0] == module:
                    names.bind(whole.rpartition(".")[2], Compiler(compiler))
        else:
            names.bind(name, Unknown(f"Line {statement.lineno} imports it from `{module}`."))


def _define(statement: ast.FunctionDef, names: Names, file: str) -> None:
    """Record the definition of a function, with its compiler or why it is refused.

    Each name that the function declares as `global` becomes Unknown.
    """
    compiler, refused = None, ""
    try:
        for decorator in statement.decorator_list:
            compiler = _decorating(decorator, compiler, names)
    except NotAllowed as error:
        refused = str(error)
    for node in ast.walk(statement):
        for name in node.names if isinstance(node, ast.Global) else ():
            names.bind(name, Unknown(f"Line {node.lineno} lets a function change it."))
    _add(statement.name, Definition(statement, file, names.order, compiler, refused), names)


def _add(name: str, definition: Definition, names: Names) -> None:
    """Append a definition to `names.definitions[name]`."""
    names.definitions.setdefault(name, []).append(definition)


def _decorating(decorator: ast.expr, before: Compiler | None, names: Names) -> Compiler:
    """Return the compiler of a decorator, with the options of the decorators above it added.

    before: the compiler of the decorators above, or None. Raises NotAllowed for a decorator that is
    no compiler.
    """
    compiler = _compiler_of(decorator, names, as_decorator=True)
    if compiler is None:
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        raise NotAllowed(
            f"Line {decorator.lineno}: the decorator `{ast.unparse(function)[:60]}` is not allowed."
        )
    return replace(compiler, options=(before.options if before else ()) + compiler.options)


def _compiler_of(node: ast.expr, names: Names, as_decorator: bool = False) -> Compiler | None:
    """Return the compiler that an expression such as `cuda.jit(fastmath=True)` means, or None.

    as_decorator: True if positional arguments of a call are allowed; they are signatures, and are
    ignored.
    """
    if isinstance(node, ast.Call):
        compiler = _compiler_of(node.func, names)
        if compiler is None or (node.args and not as_decorator):
            return None
        return replace(compiler, options=compiler.options + tuple(_options(node.keywords)))
    if isinstance(node, ast.Name):
        value = names.now(node.id)
        if value is None and node.id in allow_list.DECORATORS:
            return Compiler(allow_list.DECORATORS[node.id])
        return value if isinstance(value, Compiler) else None
    if not isinstance(node, ast.Attribute):
        return None
    module = allow_list.module_of(node.value, modules_in(node.value, names.now))
    name = f"{module}.{node.attr}"
    if name in allow_list.COMPILERS:
        return Compiler(allow_list.COMPILERS[name])
    # A cell may stand without the cell that imports `cuda`.
    base = node.value.id if isinstance(node.value, ast.Name) else None
    unbound = base is not None and names.now(base) is None
    text = f"{base}.{node.attr}"
    if unbound and text in allow_list.DECORATORS:
        return Compiler(allow_list.DECORATORS[text])
    return None


def _options(keywords: list[ast.keyword]) -> Iterator[tuple[str, bool]]:
    """Yield (name, bool) of each keyword argument that is an option which can change results.

    Other options are left out, and so are options whose value is not a literal. The bool is the
    truth value of the literal.
    """
    for keyword in keywords:
        if keyword.arg in allow_list.OPTIONS and isinstance(keyword.value, ast.Constant):
            yield keyword.arg, bool(keyword.value.value)


def _assign(statement: ast.Assign | ast.AnnAssign, names: Names, file: str) -> None:
    """Record in `names` what an assignment gives its targets: constants, functions or compilers.

    A target that gets any other value is recorded as Unknown.
    """
    if statement.value is None:
        return
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    lists = _lists_in(statement.value, names)
    for target in targets:
        if isinstance(target, ast.Name) and _assign_function(target.id, statement, names, file):
            continue
        own = [one.id for one in ast.walk(target) if _is_stored(one)]
        try:
            value = constant(statement.value, names.now)
            values = value if isinstance(target, ast.Tuple | ast.List) else (value,)
            pairs = list(zip(own, values, strict=True))
        except (*_NO_VALUE, NotAllowed):
            unknown = Unknown(f"Line {statement.lineno} gives it no constant.")
            pairs = [(name, unknown) for name in own]
        for name, one in pairs:
            names.bind(name, one)
        if isinstance(target, ast.Name):
            names.lists[target.id] = lists
            numbered = [(statement.value.lineno, numbers) for numbers in lists]
            names.orders.setdefault(target.id, []).extend(numbered)


def _lists_in(value: ast.expr, names: Names) -> Lists:
    """Return a tuple of one element if a value is a list or a tuple, or the name of one; else ().

    The element is the tuple of the whole numbers, or None if the list holds anything else.
    """
    if isinstance(value, ast.Name):
        return names.lists.get(value.id, ())
    if not isinstance(value, ast.List | ast.Tuple):
        return ()
    try:
        return (whole_numbers(value, names.now),)
    except (*_NO_VALUE, NotAllowed):
        return (None,)


_NO_VALUE = (ArithmeticError, LookupError, TypeError, ValueError, RecursionError, MemoryError)


def _is_stored(node: ast.AST) -> bool:
    """Return True if a syntax node is a name to which a value is assigned."""
    return isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)


def _assign_function(name: str, statement: ast.stmt, names: Names, file: str) -> bool:
    """Record in `names` that a name is assigned a function or a compiler; return True if it is.

    The function is a lambda, one of the submission's own functions, or such a function compiled as
    in `kernel = cuda.jit(function)`. For any other value, return False and record nothing.
    """
    value, order = statement.value, names.order
    if isinstance(value, ast.Lambda):
        _add(name, _of_lambda(name, value, statement, names, file), names)
        return True
    compiler = _compiler_of(value, names)
    if compiler:
        names.bind(name, compiler)
        return True
    if isinstance(value, ast.Call) and len(value.args) == 1 and not value.keywords:
        compiler, value = _compiler_of(value.func, names), value.args[0]
        if compiler is None:
            return False
        if isinstance(value, ast.Lambda):
            function = _of_lambda(name, value, statement, names, file)
            _add(name, replace(function, compiler=compiler), names)
            return True
    if not (isinstance(value, ast.Name) and value.id in names.definitions):
        return False
    whole = names.definitions[value.id][-1]
    if compiler:
        whole = replace(whole, compiler=compiler, order=order)
    if value.id == name:
        names.definitions[name].pop()
    _add(name, whole, names)
    return True


def _of_lambda(
    name: str, value: ast.Lambda, statement: ast.stmt, names: Names, file: str
) -> Definition:
    """Return the definition of a function `name` that does what a lambda does, at the same line.

    The function's text is registered in `linecache` under a file name of its own, which is added to
    `names.files`.
    """
    line = statement.lineno
    returned = ast.Return(value.body)
    tree = ast.FunctionDef(name=name, args=value.args, body=[returned], decorator_list=[])
    tree.type_params = []
    text = "\n" * (line - 1) + ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    own_file = f"{file[:-1]} {name} {names.order}>"
    register(own_file, text)
    names.files[own_file] = names.files[file]
    return Definition(ast.parse(text).body[0], own_file, names.order)


def _augment(statement: ast.AugAssign, names: Names) -> None:
    """Record in `names` the new value of a name after a statement such as `THREADS *= 2`.

    If the result is no constant, Unknown is recorded. Targets that are no names are ignored.
    """
    if not isinstance(statement.target, ast.Name):
        return
    name = statement.target.id
    whole = ast.BinOp(ast.Name(name, ast.Load()), statement.op, statement.value)
    try:
        value = constant(whole, names.now)
    except (*_NO_VALUE, NotAllowed):
        value = Unknown(f"Line {statement.lineno} gives it no constant.")
    names.bind(name, value)


def _read_others(statement: ast.stmt, names: Names) -> None:
    """Record in `names` what another statement, such as `if` or `with`, may define.

    A name that it assigns is recorded as Unknown, and its imports are recorded as usual. For a
    class or a function, a sentence is recorded in `names.elsewhere`.
    """
    for node in _own_nodes(statement):
        if _is_stored(node):
            names.bind(node.id, Unknown(f"Line {node.lineno} gives it no constant."))
        elif isinstance(node, ast.Import):
            _import(node, names)
        elif isinstance(node, ast.ImportFrom):
            _import_from(node, names)
        elif isinstance(node, ast.ClassDef):
            names.elsewhere[node.name] = f"Line {node.lineno}: `{node.name}` is a class."
        elif isinstance(node, ast.FunctionDef):
            names.elsewhere[node.name] = (
                f"Line {node.lineno}: `{node.name}` is defined within another statement: write it "
                "at the left margin."
            )


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes of a statement in the order of the text, without those of inner scopes.

    A function, lambda, class or comprehension is yielded, but nothing inside it. Also, nothing
    inside an `except` branch is yielded, because the grader has all allowed modules.
    """
    pending = [statement]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _OWN_SCOPE) and not isinstance(node, ast.ExceptHandler):
            pending += reversed(list(ast.iter_child_nodes(node)))
