"""Placeholders in a sentence about a mistake, filled from a run of the reader's kernel.

A sentence of `wrong.py` holds placeholders in braces, so that it fits any spelling of the mistake:

- `{a}`: the reader's name of the parameter a.
- `{line}`, `{other_line}`, `{thread}`, `{array}`, `{element}`: details of the first flaw found.
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

_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


def fill(sentence: str, run: Run) -> str | None:
    """Return the sentence with every placeholder filled, or None if the run lacks a value."""
    values = {name: _value(name, run) for name in set(_PLACEHOLDER.findall(sentence))}
    if None in values.values():
        return None
    return _PLACEHOLDER.sub(lambda match: values[match[1]], sentence)


def _value(name: str, run: Run) -> str | None:
    """Return the text for a placeholder, given without its braces, or None if the run has none.

    For two matches with "before" or "after" between them, it is the line number of the first match,
    or None if the lines are not in this order.
    """
    if name in run.names:
        return run.names[name]
    if name in _FINDING_VALUES:
        finding = first_flaw(run)
        return _FINDING_VALUES[name](run, finding) if finding else None
    words = name.split()
    for order, is_right in _ORDERS.items():
        if order in words:
            split_at = words.index(order)
            first, other = (_one(part, run) for part in (words[:split_at], words[split_at + 1 :]))
            return first if first and other and is_right(int(first), int(other)) else None
    return _one(words, run)


_ORDERS: Mapping[str, Callable[[int, int], bool]] = {"before": operator.lt, "after": operator.gt}


def _one(words: list[str], run: Run) -> str | None:
    """Return the value of the first match for a placeholder, such as a line number, or None.

    words: the words of the placeholder. If the first one is "last", the last match counts.
    """
    is_last = words[0] == "last"
    lines = list(_matches(words[1:] if is_last else words, run))
    return lines[-1 if is_last else 0] if lines else None


def conditions_in(sentence: str) -> int:
    """Return the number of conditions that a kernel must meet so that the sentence can be filled.

    `{threadfence before store c}` and other placeholders with "before" or "after" set two. A
    parameter's name of one letter sets none, and neither does a detail of the first flaw, such as
    `{line}`. Any other placeholder sets one, also `{branch}`.
    """
    return sum(map(_conditions, _PLACEHOLDER.findall(sentence)))


def _conditions(name: str) -> int:
    """Return how many conditions one placeholder sets, 0 to 2. name: its text without braces."""
    words = name.split()
    if any(order in words for order in _ORDERS):
        return 2
    is_longer = len(name) > 1 and name not in _FINDING_VALUES
    return int(len(words) > 1 or name == "branch" or is_longer)


def _matches(words: list[str], run: Run) -> Iterator[str]:
    """Yield the texts that fit a placeholder, in the order of accesses or of line numbers.

    words: "code", a kind of access and a parameter, for the source lines with such an access;
    "tile" and a parameter, for the arrays that its loads fill; a kind and a parameter, for the
    numbers of the lines with such an access; or a function's name or "return", for the numbers of
    its lines.
    """
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
    """Return the first finding of a run that is no warning, or None if there is none."""
    return next((one for one in run.trace.findings if not one.is_warning), None)


def _code(site: Site) -> str:
    """Return a source line without outer spaces and without the colon at its end."""
    return quoted(site.source).strip("`")


def _branch(run: Run, finding: Finding) -> ast.If | None:
    """Return the node of the innermost `if` around the line of a finding, or None.

    The line may be in its `else` part, but not the line of the `if` itself.
    """
    around = [
        node
        for node in ast.walk(run.tree)
        if isinstance(node, ast.If) and node.lineno < finding.line <= node.end_lineno
    ]
    return max(around, key=lambda node: node.lineno, default=None)


def _test(run: Run, finding: Finding) -> str | None:
    """Return the code of the test of the innermost `if` around a finding's line, or None."""
    branch = _branch(run, finding)
    return ast.unparse(branch.test) if branch else None


def _line_of_the_test(run: Run, finding: Finding) -> str | None:
    """Return, as text, the number of the line of the innermost `if` around a finding's line.

    Returns None if there is no such `if`.
    """
    branch = _branch(run, finding)
    return str(branch.lineno) if branch else None


_FINDING_VALUES: Mapping[str, Callable[[Run, Finding], str | None]] = {
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
    """Yield the reader's name of each shared or local array that a line fills from a parameter.

    That is an array into which a line stores that also loads the parameter from global memory. A
    name comes once per such pair of accesses, so it may repeat.
    """
    for load in run.accesses(parameter):
        for other in run.trace.access_counts:
            if other.site == load.site and other.kind == "store" and other.space != "global":
                yield other.array


def _lines_of(name: str, tree: ast.AST) -> Iterator[int]:
    """Yield the numbers of lines with a call of this function, or with a `return` for "return".

    The name is the last part of what is called, such as "syncthreads". The numbers are in the order
    of `ast.walk` and may repeat.
    """
    for node in ast.walk(tree):
        called = isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == name
        if called or (name == "return" and isinstance(node, ast.Return)):
            yield node.lineno
