"""Targets that are counted in machine code, for kernels that keep their numbers in registers."""

from __future__ import annotations

import ast

from gpu_xray.loops import FFMA
from labs.checking.phrasing import quoted, sentence
from labs.checking.run import Run
from labs.checking.target import Target
from labs.targets.loop_unrolling import unrolled_loops
from labs.targets.machine_code import machine_code
from utils.translation import translate

# Instructions that keep a loop from its multiply-adds, each with a clause on what they do.
_AWAY = (
    (("LDL", "STL"), "go to local memory and back"),
    (("LDS", "STS"), "go to shared memory and back"),
    (("BRA",), "are jumps, and one is enough: which loop may end after each of its turns?"),
)
_CHOICES = (
    (("SEL", "USEL"), "choose between two values"),
    (("ISETP", "UISETP"), "compare, and most of them stand between the multiply-adds"),
)


def no_local_memory() -> Target:
    """Return the target of no local memory in the machine code.

    The count is the bytes of local memory per thread. It is None without a compiler for CUDA, and
    for a kernel that the compiler refuses.
    """

    def measure(run: Run) -> float | None:
        code = machine_code(run)
        return None if code is None else float(code.local_bytes)

    def cause(run: Run, value: float) -> str:
        code = machine_code(run)
        if code.spill_bytes:
            return translate(
                "{spill_bytes} bytes of each thread are spilled: the kernel may use "
                "{registers} registers, and its numbers need more. What limits them?",
                spill_bytes=code.spill_bytes,
                registers=code.registers,
            )
        moved = ", ".join(f"{code.instructions[one]} `{one}`" for one in ("LDL", "STL"))
        return translate(
            "{value:g} bytes of each thread lie in local memory, which is memory and no "
            "register. The whole machine code ({arch}) loads and stores there ({moved}). {why}",
            value=value,
            arch=code.arch,
            moved=moved,
            why=_why(run),
        )

    words = "no local memory in the machine code"
    return Target("bytes of local memory", 0, words, measure, cause, of_machine=True)


def no_shared_memory() -> Target:
    """Return the target of no shared memory, at every shape.

    The count is the number of words that are loaded and stored there.
    """

    def measure(run: Run) -> float:
        return float(sum(one.words for one in run.trace.access_counts if one.space == "shared"))

    def cause(run: Run, value: float) -> str:
        return translate(
            "the kernel loads and stores {words:,} words of shared memory. The task asks for "
            "registers, which need no load and no store.",
            words=int(value),
        )

    return Target("words of shared memory used", 0, "no shared memory", measure, cause, True)


def share_of_multiply_adds(at_least: float) -> Target:
    """Return the target that a fraction of the hottest loop's instructions are multiply-adds.

    at_least: the fraction, from 0 to 1. The count is the number of instructions per multiply-add,
    because a Target has an upper limit; it is at most 1000. It is None without a compiler for CUDA,
    and for a kernel that the compiler refuses.
    """

    def measure(run: Run) -> float | None:
        code = machine_code(run)
        return None if code is None else 1 / max(code.ffma_share, 1e-3)

    def cause(run: Run, value: float) -> str:
        code = machine_code(run)
        body = code.hot.body if code.hot else code.code
        many = sum(one.name in FFMA for one in body)
        return translate(
            "in the machine code ({arch}) the loop with the most multiply-adds has {count} "
            "instructions, and {many} of them multiply and add. That is {share:.1%}; the "
            "target is {at_least:.0%}. {what_stands_between}",
            arch=code.arch,
            count=len(body),
            many=many,
            share=many / len(body),
            at_least=at_least,
            what_stands_between=_what_stands_between(body, run.tree),
        )

    words = f"at least {at_least:.0%} of the loop's machine code are multiply-adds"
    return Target(
        "instructions per multiply-add", 1 / at_least, words, measure, cause, of_machine=True
    )


def _what_stands_between(body, tree: ast.FunctionDef) -> str:
    """Return a sentence on the instructions between multiply-adds, or a question to the reader.

    body: the instructions of the loop. tree: the kernel's syntax tree.
    """
    return (
        _carried_index(tree)
        or _counted_index(tree)
        or _most_of(_AWAY, body)
        or _open_loop(tree)
        or _most_of(_CHOICES, body)
        or "What do the others do that one turn must not repeat for each multiply-add?"
    )


def _most_of(kinds, body) -> str:
    """Return a sentence on the first kind of instructions that is too frequent, or "" if none is.

    That is more than half as frequent as multiply-adds. kinds: pairs of instruction names and a
    clause on what these instructions do. body: the instructions of the loop.
    """
    for names, words in kinds:
        count = sum(one.name in names for one in body)
        if count > sum(one.name in FFMA for one in body) / 2:
            listed = ", ".join(f"`{name}`" for name in names if any(o.name == name for o in body))
            return sentence(f"{count} instructions ({listed}) {words}")
    return ""


def _open_loop(tree: ast.FunctionDef) -> str:
    """Return sentences on a loop over a local array whose end is not constant, or ""."""
    access, _, loop = _unknown_index(tree) or (None, None, None)
    if loop is None:
        return ""
    head = quoted(ast.unparse(loop).splitlines()[0])
    return translate(
        "Line {line}, {head}, still ends at a number that only the launch knows. So the "
        "compiler cannot know which elements of `{id}` that loop takes.",
        line=loop.lineno,
        head=head,
        id=access.value.id,
    )


def _why(run: Run) -> str:
    """Return sentences on the first index of a local array that the compiler cannot know.

    If there is none, return sentences on an index that a loop computes from its own value or from
    its counter, and without such an index a question to the reader.
    """
    unknown = _unknown_index(run.tree)
    if unknown is None:
        return _carried_index(run.tree) or _counted_index(run.tree) or translate(
            "Which array is too large for registers, or who gets its address?"
        )
    access, name, loop = unknown
    symptom = (
        f"In line {access.lineno} the index of `{ast.unparse(access)}` is known only when the "
        "kernel runs"
    )
    setting = _setting(access, name, run.tree)
    if loop is None and setting:
        return translate(
            "{symptom}, because line {line} computes `{name}` from {parts}, which the "
            "compiler does not know. A register has no address: the array must lie in memory.",
            symptom=symptom,
            line=setting.lineno,
            name=name,
            parts=" and ".join(map(quoted, _differing(setting.value, run.tree))),
        )
    if loop is None:
        return translate(
            "{symptom}, and a register has no address: the array must lie in memory.",
            symptom=symptom,
        )
    head = quoted(ast.unparse(loop).splitlines()[0])
    return translate(
        "{symptom}, because nobody knows before how far `{name}` goes in line {line}, "
        "{head}. A register has no address: the array must lie in memory.",
        symptom=symptom,
        name=name,
        line=loop.lineno,
        head=head,
    )


def _carried_index(tree: ast.FunctionDef) -> str:
    """Return sentences on a local array's index that a loop computes from its own value, or ""."""
    for access, name in _indices(tree):
        loops = _loops_around(access, tree)
        heads = [loop.target if isinstance(loop, ast.For) else loop.test for loop in loops]
        if any(name in _names_in(head) for head in heads):
            continue
        for node in (node for loop in loops for node in ast.walk(loop)):
            if name in _stepped(node):
                return translate(
                    "Line {line} computes the index `{name}` from its own last value: {step}. So "
                    "the compiler does not know which element of `{id}` line {access} takes.",
                    line=node.lineno,
                    name=name,
                    step=quoted(ast.unparse(node)),
                    id=access.value.id,
                    access=access.lineno,
                )
    return ""


def _counted_index(tree: ast.FunctionDef) -> str:
    """Return sentences on a local array's index that is computed from a loop's counter, or "".

    The loop is one whose end only the launch knows, so that it cannot be unrolled fully.
    """
    unrolled = unrolled_loops(tree)
    for access, name in _indices(tree):
        loops = _loops_around(access, tree)
        counters = {one for loop in loops for one in _open_counters(loop, unrolled)} - {name}
        for node in (node for loop in loops for node in ast.walk(loop)):
            if not isinstance(node, ast.Assign) or getattr(node.targets[0], "id", None) != name:
                continue
            if found := sorted(_names_in(node.value) & counters):
                return translate(
                    "Line {line} computes the index `{name}` from {parts}, which is known only "
                    "when the kernel runs. So the compiler does not know which element of `{id}` "
                    "line {access} takes, and the code must choose one of them.",
                    line=node.lineno,
                    name=name,
                    parts=" and ".join(map(quoted, found)),
                    id=access.value.id,
                    access=access.lineno,
                )
    return ""


def _open_counters(loop: ast.For | ast.While, unrolled: set[int]) -> set[str]:
    """Return the counters of a loop that the compiler does not unroll fully; none if it does.

    loop: a `for` loop counts as unrolled if its line is in `unrolled`, and a `while` loop if its
    test compares its counter with constants alone. unrolled: line numbers of `for` loops.
    """
    if isinstance(loop, ast.For):
        return set() if loop.lineno in unrolled else _names_in(loop.target)
    stepped = {name for node in ast.walk(loop) for name in _stepped(node)}
    counters = stepped & _names_in(loop.test)
    return counters if _names_in(loop.test) - counters else set()


def _stepped(node: ast.AST) -> set[str]:
    """Return the names that a statement computes from their own values, as `j += 1` does.

    `j = j + 1` does so, too. Of several targets only the first one counts.
    """
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return {node.target.id}
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return {node.targets[0].id} & _names_in(node.value)
    return set()


def _loops_around(access: ast.AST, tree: ast.FunctionDef) -> list[ast.For | ast.While]:
    """Return the loops around a node, from the outermost to the innermost."""
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
    return [loop for loop in loops if loop.lineno <= access.lineno <= loop.end_lineno]


def _names_in(node: ast.AST) -> set[str]:
    """Return all names that occur in a syntax tree, such as those of variables and functions."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _indices(tree: ast.FunctionDef) -> list[tuple[ast.Subscript, str]]:
    """Return (access, name) for each name in the index of an access to a local array."""
    arrays = {
        node.targets[0].id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and "local.array" in ast.unparse(node.value)
        if isinstance(node.targets[0], ast.Name)
    }
    return [
        (node, name.id)
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
        if node.value.id in arrays
        for name in ast.walk(node.slice)
        if isinstance(name, ast.Name)
    ]


def _unknown_index(tree: ast.FunctionDef):
    """Return the first index of a local array that the compiler cannot know, or None.

    It is returned as (access node, name in the index, node of the loop over that name or None).
    """
    unrolled = unrolled_loops(tree)
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For)]
    unrolled -= {loop.lineno for loop in loops if _differing(loop.iter, tree)}
    known = {loop.target.id for loop in loops if loop.lineno in unrolled}
    unknown = [
        (node, name)
        for node, name in _indices(tree)
        if not _is_known(node, name, known, unrolled, tree)
    ]
    if not unknown:
        return None
    access, name = min(unknown, key=lambda one: one[0].lineno)
    around = _loops_around(access, tree)
    deciding = [loop for loop in around if name in ast.unparse(loop).splitlines()[0]]
    return access, name, deciding[-1] if deciding else None


def _is_known(
    access: ast.AST, name: str, known: set[str], unrolled: set[int], tree: ast.FunctionDef
) -> bool:
    """Return True if the compiler knows the values of a name in an index of a local array.

    That is so if the innermost `for` loop over this name around the access is unrolled. If no such
    loop is around it, the name must be in `known` and not be computed from numbers that differ from
    thread to thread. known: the names over which unrolled loops run. unrolled: the line numbers of
    unrolled loops. tree: the kernel's syntax tree.
    """
    around = [
        loop
        for loop in _loops_around(access, tree)
        if isinstance(loop, ast.For) and getattr(loop.target, "id", None) == name
    ]
    if around:
        return around[-1].lineno in unrolled
    return name in known and not _setting(access, name, tree)


def _setting(access: ast.AST, name: str, tree: ast.FunctionDef) -> ast.Assign | None:
    """Return the last assignment that makes a name differ from thread to thread, or None.

    Only assignments in the innermost loop around `access` count, or those of the whole kernel if
    there is no loop around it. Those that compute the name from its own last value do not count.
    """
    loops = _loops_around(access, tree)
    found = [
        node
        for node in ast.walk(loops[-1] if loops else tree)
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == name
        if name not in _names_in(node.value) and _differing(node.value, tree)
    ]
    return found[-1] if found else None


def _differing(value: ast.AST, tree: ast.FunctionDef) -> list[str]:
    """Return the parts of an expression that differ from thread to thread, as source text.

    They are indices of a thread or a block, and names that are computed from them.
    """
    names = _names_by_thread(tree)
    parts = (
        node
        for node in ast.walk(value)
        if (isinstance(node, ast.Name) and node.id in names) or _is_index_of_thread(node)
    )
    return list(dict.fromkeys(ast.unparse(node) for node in parts))


def _is_index_of_thread(node: ast.AST) -> bool:
    """Return True for `cuda.threadIdx.x`, `cuda.blockIdx.y`, `cuda.grid(2)` and the like."""
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) == "cuda.grid"
    if not isinstance(node, ast.Attribute):
        return False
    return ast.unparse(node.value) in ("cuda.threadIdx", "cuda.blockIdx")


def _names_by_thread(tree: ast.FunctionDef) -> set[str]:
    """Return the names that are computed from the index of a thread or a block, also indirectly."""
    sources = [
        (node.targets[0], node.value) for node in ast.walk(tree) if isinstance(node, ast.Assign)
    ]
    sources += [(node.target, node.iter) for node in ast.walk(tree) if isinstance(node, ast.For)]
    pairs = [pair for target, value in sources for pair in _paired(target, value)]
    names: set[str] = set()
    while True:
        more = {
            target.id
            for target, value in pairs
            if isinstance(target, ast.Name)
            if _names_in(value) & names or any(map(_is_index_of_thread, ast.walk(value)))
        }
        if more <= names:
            return names
        names |= more


def _paired(target: ast.AST, value: ast.AST) -> list[tuple[ast.AST, ast.AST]]:
    """Return pairs (target, value) of an assignment, several for `row, col = x, y`."""
    if not isinstance(target, ast.Tuple):
        return [(target, value)]
    if isinstance(value, ast.Tuple):
        return list(zip(target.elts, value.elts, strict=False))
    return [(one, value) for one in target.elts]
