"""Targets of kernels whose numbers belong in registers, as the machine code shows them."""

from __future__ import annotations

import ast

from gpu_xray.loops import FFMA
from labs.checking.phrasing import quoted, sentence
from labs.checking.run import Run
from labs.checking.target import Target
from labs.targets.loop_unrolling import written_out
from labs.targets.machine_code import machine_code

# Instructions of a loop that keep sums from being added up, and what they do there.
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
    """All numbers of a thread lie in registers; unknown where the compiler is missing."""

    def measure(seen: Run) -> float | None:
        code = machine_code(seen)
        return None if code is None else float(code.local_bytes)

    def cause(seen: Run, value: float) -> str:
        code = machine_code(seen)
        if code.spill_bytes:
            return (
                f"{code.spill_bytes} bytes of each thread are spilled: the kernel may use "
                f"{code.registers} registers, and its numbers need more. What limits them?"
            )
        moved = ", ".join(f"{code.instructions[one]} `{one}`" for one in ("LDL", "STL"))
        return (
            f"{value:g} bytes of each thread lie in local memory, which is memory and no "
            f"register. The machine code ({code.arch}) loads and stores there ({moved}). "
            f"{_why(seen)}"
        )

    words = "no local memory in the machine code"
    return Target("bytes of local memory", 0, words, measure, cause, of_machine=True)


def share_of_multiply_adds(at_least: float) -> Target:
    """Of the loop with the most multiply-adds; held as instructions for each of them."""

    def measure(seen: Run) -> float | None:
        code = machine_code(seen)
        return None if code is None else 1 / max(code.ffma_share, 1e-3)

    def cause(seen: Run, value: float) -> str:
        code = machine_code(seen)
        body = code.hot.body if code.hot else code.code
        many = sum(one.name in FFMA for one in body)
        return (
            f"in the machine code ({code.arch}) the loop with the most multiply-adds has "
            f"{len(body)} instructions, and {many} of them multiply and add. That is "
            f"{many / len(body):.1%}; the target is {at_least:.0%}. "
            f"{_what_stands_between(body, seen.tree)}"
        )

    words = f"at least {at_least:.0%} of the loop's machine code are multiply-adds"
    return Target(
        "instructions per multiply-add", 1 / at_least, words, measure, cause, of_machine=True
    )


def _what_stands_between(body, tree: ast.FunctionDef) -> str:
    """The cause of what stands between multiply-adds, or what it is, or a question."""
    return (
        _most_of(_AWAY, body)
        or _open_loop(tree)
        or _most_of(_CHOICES, body)
        or "What do the others do that one turn must not repeat for each multiply-add?"
    )


def _most_of(kinds, body) -> str:
    """The first kind of instructions of which there are many; empty where there is none."""
    for names, words in kinds:
        count = sum(one.name in names for one in body)
        if count > sum(one.name in FFMA for one in body) / 2:
            listed = ", ".join(f"`{name}`" for name in names if any(o.name == name for o in body))
            return sentence(f"{count} instructions ({listed}) {words}")
    return ""


def _open_loop(tree: ast.FunctionDef) -> str:
    """The loop over a local array that ends where the compiler cannot know; empty without one."""
    access, _, loop = _unknown_index(tree) or (None, None, None)
    if loop is None:
        return ""
    head = quoted(ast.unparse(loop).splitlines()[0])
    return (
        f"Line {loop.lineno}, {head}, still ends at a number that only the launch knows. So the "
        f"compiler cannot know which elements of `{access.value.id}` that loop takes."
    )


def _why(seen: Run) -> str:
    """The first index of a local array that the compiler cannot know."""
    unknown = _unknown_index(seen.tree)
    if unknown is None:
        return "Which array is too large for registers, or who gets its address?"
    access, name, loop = unknown
    told = f"In line {access.lineno} the index of `{ast.unparse(access)}` is known only when the "
    told += "kernel runs"
    if loop is None:
        return f"{told}, and a register has no address: the array must lie in memory."
    head = quoted(ast.unparse(loop).splitlines()[0])
    return (
        f"{told}, because nobody knows before how far `{name}` goes in line {loop.lineno}, {head}. "
        "A register has no address: the array must lie in memory."
    )


def _unknown_index(tree: ast.FunctionDef):
    """(access, name, its loop or None) for the first such index in the code; None without one."""
    arrays = {
        node.targets[0].id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and "local.array" in ast.unparse(node.value)
        if isinstance(node.targets[0], ast.Name)
    }
    gone = written_out(tree)
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
    known = {loop.target.id for loop in loops if loop.lineno in gone}
    found = [
        (node, name.id)
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
        if node.value.id in arrays
        for name in ast.walk(node.slice)
        if isinstance(name, ast.Name) and not _is_known(node, name.id, known, loops, gone)
    ]
    if not found:
        return None
    access, name = min(found, key=lambda one: one[0].lineno)
    around = [loop for loop in loops if loop.lineno <= access.lineno <= loop.end_lineno]
    deciding = [loop for loop in around if name in ast.unparse(loop).splitlines()[0]]
    return access, name, deciding[-1] if deciding else None


def _is_known(access: ast.AST, name: str, known: set[str], loops: list, gone: set[int]) -> bool:
    """Whether the innermost loop over this name has bounds that the compiler knows."""
    around = [
        loop
        for loop in loops
        if loop.lineno <= access.lineno <= loop.end_lineno
        if isinstance(loop, ast.For) and getattr(loop.target, "id", None) == name
    ]
    return around[-1].lineno in gone if around else name in known
