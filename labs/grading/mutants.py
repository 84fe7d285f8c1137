"""Wrong functions made from a right one by rules: each has one small mistake, called a slip."""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from labs.grading.mutation_rules import FURTHER_RULES, RULES, Rule


@dataclass(frozen=True, eq=False)
class Mutant:
    """The source code of a function with one slip.

    rule: the name of the rule that made it. node, tree: the syntax node that the rule changes and
    its whole tree, both before the change. line: the source line of the node without its
    indentation, or "". text: the whole source code after the change.
    """

    rule: str
    node: ast.AST
    tree: ast.Module
    line: str
    text: str

    @property
    def what(self) -> str:
        """A label: the rule's name and the source line, as ``rule in `line` ``."""
        return f"{self.rule} in `{self.line}`"


def mutants(text: str) -> Iterator[tuple[str, str]]:
    """Yield (label, changed source code) for each rule of RULES and each node to which it applies.

    Two of them may have the same source code. text: the source code of a right function.
    """
    for one in _changes(text, RULES):
        yield one.what, one.text


def sample(text: str, most: int | None = None) -> list[Mutant]:
    """Return the first `most` mutants by RULES and FURTHER_RULES, no two with the same text.

    The list begins with one mutant per rule, then has a second one per rule, and so on. text: the
    source code of a right function. most: None for all mutants.
    """
    return mutants_by(text, (*RULES, *FURTHER_RULES), most)


def mutants_by(text: str, rules: tuple[Rule, ...], most: int | None = None) -> list[Mutant]:
    """Return mutants by the given rules, no two with the same text.

    The list begins with one mutant per rule, then has a second one per rule, and so on. The order
    is the same in every call. most: the greatest number of mutants, or None for all.
    """
    by_rule: dict[str, list[Mutant]] = {}
    texts = set()
    for one in _changes(text, rules):
        if one.text not in texts:
            texts.add(one.text)
            by_rule.setdefault(one.rule, []).append(one)
    for of_rule in by_rule.values():
        of_rule.sort(key=lambda one: hashlib.sha256(one.text.encode()).digest())
    rounds = zip_longest(*by_rule.values())  # the first of each rule, then the second of each
    return [one for row in rounds for one in row if one is not None][:most]


def _changes(text: str, rules: tuple[Rule, ...]) -> Iterator[Mutant]:
    """Yield a mutant for each node and each rule that applies to it, in the order of `ast.walk`."""
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
    """Return the source line of a node without its indentation, or "" if the node has no line."""
    return lines[node.lineno - 1].strip() if hasattr(node, "lineno") else ""
