"""Targets of unrolled loops: iterations, or instructions, per multiply-add of a matrix product."""

from __future__ import annotations

import ast
import math
import operator
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from labs.checking.phrasing import at_line
from labs.checking.run import Run
from labs.checking.target import Target
from labs.targets.machine_code import machine_code
from utils.translation import translate
from virtual_gpu import Site
from virtual_gpu.common.source import read_source

MULTIPLICATIONS = ("FFMA", "FMUL")
LOOPS, TESTS = (ast.For, ast.While), (ast.If, ast.IfExp, ast.Compare)
CHOOSING = ("min", "max", "selp")  # functions that the compiler makes a comparison of
DEEPEST = 8  # functions that call each other in which tests are counted
LONGEST = 16  # copies of a body that the compiler certainly writes out
_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def iterations_per_multiply_add(
    at_most: float, with_rest: bool = False, work: Callable[[Run], int] | None = None
) -> Target:
    """Return the target of at most `at_most` loop iterations per multiply-add of a product.

    The iterations are summed over all threads. Loops over a short `range` of constants do not
    count, because the compiler unrolls them fully. with_rest: test the target also at shapes that
    do not fill all blocks. There terms may be left over, so LONGEST - 1 iterations of each thread
    do not count. work: returns the multiply-adds of full tiles at such a shape, to test the target
    there for a kernel by tiles.
    """

    def measure(run: Run) -> float:
        return sum(iterations_of_kept_loops(run).values()) / math.prod(run.shape)

    def at_edges(run: Run) -> float:
        if work:
            return sum(iterations_of_kept_loops(run).values()) / work(run)
        count = measure(run)
        return count if count - (LONGEST - 1) / run.shape[2] > at_most else min(count, at_most)

    def cause(run: Run, value: float) -> str:
        iterations = iterations_of_kept_loops(run)
        most = max(iterations, key=iterations.__getitem__)
        m, n, k = run.shape
        is_all = iterations[most] == sum(iterations.values())
        others = "" if is_all else " Other loops make the rest."
        why = _why_it_counts(run.tree, most.line)
        return translate(
            "{where} makes {iterations:.4g} iterations in each thread, for the {k} terms of a "
            "sum.{others}{why} That is {value:.3g} per multiply-add; the target is {at_most:g}.",
            where=at_line(most),
            iterations=iterations[most] / (m * n),
            k=k,
            others=others,
            why=why,
            value=value,
            at_most=at_most,
        )

    words = f"at most {at_most:g} loop iterations per multiply-add"
    what, tested = "iterations per multiply-add", at_edges if with_rest or work else None
    return Target(what, at_most, words, measure, cause, at_edges=tested)


def iterations_of_kept_loops(run: Run) -> dict[Site, int]:
    """Return a dict from the source line of each loop to its number of iterations over all threads.

    Loops that the compiler unrolls fully are left out.
    """
    source = read_source(run.kernel.py_func)
    unrolled = {(source.file, line) for line in unrolled_loops(run.tree, source.names)}
    loops = run.trace.turns.items()
    return {site: count for site, count in loops if (site.file, site.line) not in unrolled}


def tests_per_multiply_add(at_most: float) -> Target:
    """Return the target of at most `at_most` tests per multiply-add of a product.

    Each iteration of a loop that the compiler does not unroll fully is a test, and so is each `if`
    in such a loop, every time. A comparison whose result is used as a number counts as well, and so
    do `min`, `max` and `selp`. A test in an unrolled loop counts once per copy of that loop's body.
    Those of the reader's functions count where these are called.
    """

    def tests(run: Run) -> dict[Site, int]:
        """Return a dict from each loop's source line to its tests over all threads.

        Loops that the compiler unrolls fully are left out.
        """
        source, kept = read_source(run.kernel.py_func), iterations_of_kept_loops(run)
        nodes = list(ast.walk(source.tree))
        constants = {**source.names, **_own_numbers(nodes)}
        loops = {one.lineno: one for one in nodes if isinstance(one, ast.For | ast.While)}
        lines = {site.line for site in kept if site.file == source.file}
        reader = _Reader(source.names, lines, constants)
        ifs = {line: reader.tests(loops[line]) for line in lines if line in loops}
        return {
            site: count * (1 + ifs.get(site.line, 0) * (site.file == source.file))
            for site, count in kept.items()
        }

    def measure(run: Run) -> float:
        return sum(tests(run).values()) / math.prod(run.shape)

    def cause(run: Run, value: float) -> str:
        by_line = tests(run)
        most = max(by_line, key=by_line.__getitem__)
        each = by_line[most] / iterations_of_kept_loops(run)[most]
        return translate(
            "{where} makes {each:.3g} tests in each iteration, with those of `if`. That is "
            "{value:.3g} per multiply-add; the target is {at_most:g}. Is there a test for each "
            "term, instead of one for each iteration?",
            where=at_line(most),
            each=each,
            value=value,
            at_most=at_most,
        )

    words = f"at most {at_most:g} tests per multiply-add, with those of `if`"
    return Target("tests per multiply-add", at_most, words, measure, cause)


@dataclass(frozen=True)
class _Reader:
    """Counts tests in the syntax trees of a reader's functions.

    names: the values of names from outside of the kernel. kept: the line numbers of the kernel's
    loops that are not unrolled. constants: the values of names that are whole numbers.
    """

    names: Mapping[str, object]
    kept: set[int]
    constants: Mapping[str, object]

    def tests(self, loop: ast.AST, depth: int = DEEPEST) -> int:
        """Return the number of tests in one iteration of a loop, or in one call of a function.

        Those of inner loops that are kept are left out, and so is the loop's own test. depth: how
        many functions may call each other.
        """
        own_test = getattr(loop, "test", None)
        found = 0
        for node in ast.iter_child_nodes(loop):
            if node is own_test or (isinstance(node, LOOPS) and node.lineno in self.kept):
                continue
            copies = _iterations(node.iter, self.constants) if isinstance(node, ast.For) else 1
            found += isinstance(node, TESTS) + copies * self.tests(node, depth)
            if isinstance(node, ast.Call):
                found += self._tests_of_call(node, depth)
        return found

    def _tests_of_call(self, call: ast.Call, depth: int) -> int:
        """Return the tests that a call makes: those of a reader's function, or 1 to choose a value.

        The result is 0 for any other call, and for a reader's function if `depth` is 0. depth: how
        many functions may call each other.
        """
        name = ast.unparse(call.func).split(".")[-1]
        function = getattr(self.names.get(name), "py_func", None)
        if function is None:
            return int(name in CHOOSING)
        return self.tests(read_source(function).tree, depth - 1) if depth else 0


def terms_per_iteration(at_most: int) -> Target:
    """Return the target of at most `at_most` terms of a sum per loop iteration.

    The count is k divided by the number of iterations per element of the result; loops that the
    compiler unrolls fully have none. So it is k for a kernel without another loop.
    """

    def iterations(run: Run) -> float:
        """Return the number of iterations of the loops that count, per element of the result."""
        return sum(iterations_of_kept_loops(run).values()) / math.prod(run.shape[:2])

    def measure(run: Run) -> float:
        return run.shape[2] / max(1.0, iterations(run))

    def cause(run: Run, value: float) -> str:
        return translate(
            "each thread makes {iterations:.3g} loop iterations for the {k} terms of a sum, if "
            "loops over a `range` of constants are left out. `k` can be any number, so the kernel "
            "needs a loop that goes on until `k`, with at most {at_most} terms per iteration.",
            iterations=iterations(run),
            k=run.shape[2],
            at_most=at_most,
        )

    words = f"a loop up to k, with at most {at_most} terms per iteration"
    return Target("terms per iteration", at_most, words, measure, cause)


def unrolled_loops(
    tree: ast.FunctionDef, constants: Mapping[str, object] | None = None
) -> set[int]:
    """Return the line numbers of loops over a range of constants, which the compiler unrolls.

    constants: the values of names from outside of the function, or None. If they are given, a loop
    is left out if unrolling would make more than 16 copies of its innermost body, because the
    compiler may keep it as a loop.
    """
    nodes = list(ast.walk(tree))
    stores = [one for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    own = {one.id for one in stores} - _own_constants(nodes, Counter(one.id for one in stores))
    own |= {one.arg for one in nodes if isinstance(one, ast.arg)}
    fixed = [
        node
        for node in nodes
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Call)
        if not any(isinstance(one, ast.Name) and one.id in own for one in ast.walk(node.iter))
    ]
    if constants is None:
        return {node.lineno for node in fixed}
    known = {**constants, **_own_numbers(nodes)}
    return {node.lineno for node in fixed if _copies(node, fixed, known) <= LONGEST}


def _own_numbers(nodes: list[ast.AST]) -> dict[str, object]:
    """Return a dict from name to value for each assignment of a literal, such as `U = 4`.

    Of several targets only the first one counts, and of several assignments the last one.
    """
    return {
        node.targets[0].id: node.value.value
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        if isinstance(node.targets[0], ast.Name)
    }


def _copies(loop: ast.For, fixed: list[ast.For], constants: Mapping[str, object]) -> int:
    """Return how many copies of its innermost body a fully unrolled loop has.

    fixed: all loops over a range of constants; those inside of `loop` multiply the number.
    constants: the values of names.
    """
    inside = {node for node in ast.walk(loop) if node is not loop}
    inner = [_copies(one, fixed, constants) for one in fixed if one in inside]
    return _iterations(loop.iter, constants) * max(inner, default=1)


def _iterations(call: ast.Call, constants: Mapping[str, object]) -> int:
    """Return the number of iterations of a loop over a `range` of constants.

    It is 17 if it is unknown, and for a `range` that Python cannot make or count. call: the call of
    `range`. constants: the values of names.
    """
    numbers = [_number(one, constants) for one in call.args]
    if ast.unparse(call.func) != "range" or not numbers or None in numbers:
        return LONGEST + 1
    try:
        return len(range(*numbers))
    except (TypeError, ValueError, OverflowError):
        return LONGEST + 1


def _number(node: ast.expr, constants: Mapping[str, object]) -> int | None:
    """Return the whole number to which an expression of constants evaluates, or None.

    It is None for any other expression, and for a division by zero. constants: the values of names.
    """
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _number(node.operand, constants)
        return None if value is None else -value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _number(node.left, constants), _number(node.right, constants)
        divides = isinstance(node.op, ast.FloorDiv | ast.Mod)
        if left is None or right is None or (divides and right == 0):
            return None
        return _OPERATORS[type(node.op)](left, right)
    value = node.value if isinstance(node, ast.Constant) else constants.get(ast.unparse(node))
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _own_constants(nodes: list[ast.AST], stores: Counter[str]) -> set[str]:
    """Return the names that a kernel sets exactly once, to a literal, as in `U = 4`.

    nodes: the nodes of the kernel. stores: how often each name is set.
    """
    return {
        node.targets[0].id
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        if isinstance(node.targets[0], ast.Name) and stores[node.targets[0].id] == 1
    }


def _why_it_counts(tree: ast.FunctionDef, line: int) -> str:
    """Return sentences, after a space, on why the iterations of an inner `for` loop are counted.

    Returns "" for an outer loop or a `while` loop. line: the number of the line on which the loop
    begins.
    """
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
    inner = {node for loop in loops for node in ast.walk(loop) if node is not loop}
    if not any(isinstance(one, ast.For) and one.lineno == line for one in inner):
        return ""
    return translate(
        " Iterations over a `range` of constants, such as `range(4)`, are not counted if they are "
        "at most {most}, because the compiler writes them out. This loop is longer, or its bounds "
        "are computed while the kernel runs, and then the source alone does not say what the "
        "compiler makes of it.",
        most=LONGEST,
    )


def instructions_per_multiply_add(at_most: float) -> Target:
    """Return the target of at most `at_most` instructions per multiply-add in the hottest loop.

    They are counted in the machine code: in the loop with the most multiply-adds, or in the whole
    kernel if it has no loop. FFMA and FMUL count as multiply-adds. The count is None without a
    compiler for CUDA, and for a kernel that the compiler refuses.
    """

    def measure(run: Run) -> float | None:
        code = machine_code(run)
        if code is None:
            return None
        body = code.hot.body if code.hot else code.code
        return len(body) / max(1, _count(body, *MULTIPLICATIONS))

    def cause(run: Run, value: float) -> str:
        code = machine_code(run)
        body = code.hot.body if code.hot else code.code
        return translate(
            "in the machine code ({arch}) the loop with the most multiply-adds has {count} "
            "instructions for {wanted} of them. That is {value:.3g} for each; the target is "
            "{at_most:g}. {what_they_do}",
            arch=code.arch,
            count=len(body),
            wanted=_count(body, *MULTIPLICATIONS),
            value=value,
            at_most=at_most,
            what_they_do=_what_they_do(body, run),
        )

    words = f"at most {at_most:g} instructions per multiply-add in the machine code"
    return Target("instructions per multiply-add", at_most, words, measure, cause, of_machine=True)


def _what_they_do(body, run: Run) -> str:
    """Return sentences on the most likely cause of needless instructions in a loop.

    Conversions to float64 are looked for first, then selections, then more comparisons than half of
    the multiplications, then a loop that the compiler has unrolled further. body: the
    instructions of the loop.
    """
    multiplications = _count(body, *MULTIPLICATIONS)
    # The names of uniform instructions, whose values are the same in all lanes, begin with a U.
    selects, tests = _count(body, "SEL", "USEL"), _count(body, "ISETP", "UISETP")
    if _count(body, "DSETP", "DADD", "DFMA", "I2F"):
        return translate(
            "Some convert an index to float64 and compare there: Numba does so where a "
            "`uint32` meets an integer that may be negative."
        )
    if selects:
        return translate(
            "{selects} instructions (`SEL`, `USEL`) choose between two values of an index: "
            "here the compiler does not know that the index is never negative. *What one word can "
            "cost* in lesson 06 says why.",
            selects=selects,
        )
    if tests > max(2, multiplications / 2):
        return translate(
            "{tests} instructions (`ISETP`) compare: is there a test for each term, instead of "
            "one for each iteration?",
            tests=tests,
        )
    terms = round(math.prod(run.shape) / max(1, sum(iterations_of_kept_loops(run).values())))
    if multiplications > terms:
        return translate(
            "The compiler has made {multiplications} multiply-adds from the {terms} of your "
            "iteration, and {others} of the instructions neither load nor multiply: most of them "
            "compute addresses. Neighbouring terms, such as `i` and `i + 1`, share an address of "
            "`{matrix}`. Which terms does your iteration add?",
            multiplications=multiplications,
            terms=terms,
            others=len(body) - multiplications - _count(body, "LDG"),
            matrix=run.job.parameters[0],
        )
    return translate(
        "Only {multiplications} multiply-adds share one comparison and one jump, because the "
        "compiler has not unrolled this loop any further. There is no rule for that: try another "
        "form of the same test, such as `i < k - {last}`.",
        multiplications=multiplications,
        last=terms - 1,
    )


def _count(body, *names: str) -> int:
    """Return how many instructions have one of these names. body: the instructions."""
    return sum(one.name in names for one in body)
