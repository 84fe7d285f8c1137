"""Places in a sentence about a mistake, filled with what a run of the reader's kernel did.

A sentence of `wrong.py` holds places in braces, so that it fits any spelling of the mistake:

- `{a}`: the reader's name of the parameter a.
- `{line}`, `{other_line}`, `{thread}`, `{array}`, `{element}`: of the first flaw that was found.
- `{load a}`, `{last load a}`, `{store c}`: the first or last line that loads from a, or stores
  into c.
- `{code}`, `{code load a}`, `{code store c}`: the source code of such a line.
- `{tile a}`: the reader's name of the array that the line which loads from a fills.
- `{return}`, `{syncthreads}`, `{last block_sum}` ...: the first or last line that returns or calls
  this function.
- `{threadfence before store c}`, `{threadfence after add}`: such a line, if it stands before, or
  after, another one.
- `{branch}`, `{branch line}`: the test of the innermost `if` around the line of the first flaw.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping

from labs.checking.phrasing import element, quoted
from labs.checking.run import Run
from virtual_gpu import Finding, Site

_PLACE = re.compile(r"\{([^{}]+)\}")


def filled(sentence: str, run: Run) -> str | None:
    """Return the sentence with every place filled, or None where a place does not exist."""
    places = {name: _value(name, run) for name in set(_PLACE.findall(sentence))}
    if None in places.values():
        return None
    return _PLACE.sub(lambda match: places[match[1]], sentence)


def _value(name: str, run: Run) -> str | None:
    if name in run.names:
        return run.names[name]
    if name in _OF_A_FINDING:
        finding = first_flaw(run)
        return _OF_A_FINDING[name](run, finding) if finding else None
    words = name.split()
    for order, is_right in _ORDERS.items():
        if order in words:
            place = words.index(order)
            first, other = (_one(part, run) for part in (words[:place], words[place + 1 :]))
            return first if first and other and is_right(int(first), int(other)) else None
    return _one(words, run)


_ORDERS: Mapping[str, Callable[[int, int], bool]] = {"before": operator.lt, "after": operator.gt}


def _one(words: list[str], run: Run) -> str | None:
    """The first of what these words name, or the last one."""
    is_last = words[0] == "last"
    found = list(_found(words[1:] if is_last else words, run))
    return found[-1 if is_last else 0] if found else None


def conditions_in(sentence: str) -> int:
    """Return how much the places of a sentence ask for that not every kernel has."""
    return sum(map(_conditions, _PLACE.findall(sentence)))


def _conditions(name: str) -> int:
    words = name.split()
    if any(order in words for order in _ORDERS):
        return 2
    return int(len(words) > 1 or name == "branch" or (name not in _OF_A_FINDING and len(name) > 1))


def _found(words: list[str], run: Run) -> Iterator[str]:
    """What the words of a place name, in the order of the launch or of the lines."""
    if words[0] == "code":
        accesses = run.accesses(words[2], words[1])
        yield from (_code(one.site) for one in accesses)
    elif words[0] == "tile":
        yield from _tiles(words[1], run)
    elif len(words) == 2:
        yield from (str(one.site.line) for one in run.accesses(words[1], words[0]))
    else:
        yield from map(str, sorted(_lines_of(words[0], run.tree)))


def first_flaw(run: Run) -> Finding | None:
    """Return the first finding that is no warning."""
    return next((one for one in run.trace.findings if not one.is_warning), None)


def _code(site: Site) -> str:
    return quoted(site.source).strip("`")


def _branch(run: Run, finding: Finding) -> ast.If | None:
    """The innermost `if` that holds the line of a finding."""
    around = [
        node
        for node in ast.walk(run.tree)
        if isinstance(node, ast.If) and node.lineno < finding.line <= node.end_lineno
    ]
    return max(around, key=lambda node: node.lineno, default=None)


def _test(run: Run, finding: Finding) -> str | None:
    branch = _branch(run, finding)
    return ast.unparse(branch.test) if branch else None


def _line_of_the_test(run: Run, finding: Finding) -> str | None:
    branch = _branch(run, finding)
    return str(branch.lineno) if branch else None


_OF_A_FINDING: Mapping[str, Callable[[Run, Finding], str | None]] = {
    "line": lambda run, one: str(one.line),
    "other_line": lambda run, one: str(one.other_line) if one.other_line else None,
    "thread": lambda run, one: str(one.threads[0]),
    "array": lambda run, one: one.array,
    "element": lambda run, one: element(one.array, one.index).strip("`"),
    "code": lambda run, one: _code(one.site),
    "branch": _test,
    "branch line": _line_of_the_test,
}


def _tiles(parameter: str, run: Run) -> Iterator[str]:
    """Arrays of the block or of a thread that are stored to where the parameter is loaded."""
    for load in run.accesses(parameter):
        for other in run.trace.access_counts:
            if other.site == load.site and other.kind == "store" and other.space != "global":
                yield other.array


def _lines_of(name: str, tree: ast.AST) -> Iterator[int]:
    """The lines with a `return`, or with a call of the function of this name."""
    for node in ast.walk(tree):
        called = isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == name
        if called or (name == "return" and isinstance(node, ast.Return)):
            yield node.lineno
