"""Wrong functions by rule: every small slip that a function's text allows, one at a time."""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Iterator
from itertools import zip_longest

from labs.grading.mutations import FURTHER_RULES, RULES, Rule


def mutants(text: str) -> Iterator[tuple[str, str]]:
    """What is changed, and the text with this one change, for each place where a rule applies."""
    for _, what, changed in _changes(text, RULES):
        yield what, changed


def sample(text: str, most: int | None = None) -> list[tuple[str, str]]:
    """The same with the further rules, and of all that at most so many, spread over the rules.

    Always the same ones for the same text. most: None for all.
    """
    by_rule: dict[str, list[tuple[str, str]]] = {}
    known = set()
    for rule, what, changed in _changes(text, (*RULES, *FURTHER_RULES)):
        if changed not in known:
            known.add(changed)
            by_rule.setdefault(rule, []).append((what, changed))
    for found in by_rule.values():
        found.sort(key=lambda one: hashlib.sha256(one[1].encode()).digest())
    turns = zip_longest(*by_rule.values())  # the first of each rule, then the second of each
    return [one for turn in turns for one in turn if one is not None][:most]


def _changes(text: str, rules: tuple[Rule, ...]) -> Iterator[tuple[str, str, str]]:
    """Of each change its rule, what is changed, and the whole text with it."""
    lines, tree = text.splitlines(), ast.parse(text)
    for number, node in enumerate(ast.walk(tree)):
        for rule in rules:
            if not rule(copy.deepcopy(node)):
                continue
            changed = copy.deepcopy(tree)
            rule(list(ast.walk(changed))[number])
            ast.fix_missing_locations(changed)
            yield rule.__name__, f"{rule.__name__} in `{_line(node, lines)}`", ast.unparse(changed)


def _line(node: ast.AST, lines: list[str]) -> str:
    return lines[node.lineno - 1].strip() if hasattr(node, "lineno") else ""
