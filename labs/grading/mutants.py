"""Wrong functions by rule: every small slip that a function's text allows, one at a time."""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from labs.grading.mutations import FURTHER_RULES, RULES, Rule


@dataclass(frozen=True, eq=False)
class Mutant:
    """A text with one slip.

    rule: the name of the rule. node: what it changes, and tree: the whole, both as they were.
    line: the source line of the node. text: the whole text with the change.
    """

    rule: str
    node: ast.AST
    tree: ast.Module
    line: str
    text: str

    @property
    def what(self) -> str:
        """The rule, and the line that it changes."""
        return f"{self.rule} in `{self.line}`"


def mutants(text: str) -> Iterator[tuple[str, str]]:
    """Yield what is changed, and the text with this one change, for each place and basic rule."""
    for one in _changes(text, RULES):
        yield one.what, one.text


def sample(text: str, most: int | None = None) -> list[Mutant]:
    """Return mutants by all rules of the course; see `mutants_by`."""
    return mutants_by(text, (*RULES, *FURTHER_RULES), most)


def mutants_by(text: str, rules: tuple[Rule, ...], most: int | None = None) -> list[Mutant]:
    """Return mutants by some rules, spread over the rules, the same ones each time.

    most: how many at most; None for all.
    """
    by_rule: dict[str, list[Mutant]] = {}
    known = set()
    for one in _changes(text, rules):
        if one.text not in known:
            known.add(one.text)
            by_rule.setdefault(one.rule, []).append(one)
    for found in by_rule.values():
        found.sort(key=lambda one: hashlib.sha256(one.text.encode()).digest())
    in_turn = zip_longest(*by_rule.values())  # the first of each rule, then the second of each
    return [one for row in in_turn for one in row if one is not None][:most]


def _changes(text: str, rules: tuple[Rule, ...]) -> Iterator[Mutant]:
    lines, tree = text.splitlines(), ast.parse(text)
    for number, node in enumerate(ast.walk(tree)):
        for rule in rules:
            if not rule(copy.deepcopy(node)):
                continue
            changed = copy.deepcopy(tree)
            rule(list(ast.walk(changed))[number])
            ast.fix_missing_locations(changed)
            yield Mutant(rule.__name__, node, tree, _line(node, lines), ast.unparse(changed))


def _line(node: ast.AST, lines: list[str]) -> str:
    return lines[node.lineno - 1].strip() if hasattr(node, "lineno") else ""
