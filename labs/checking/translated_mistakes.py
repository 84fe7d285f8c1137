"""The sentences of a table of mistakes in the reader's language.

A sentence of `wrong.py` is a message of its own. A sentence on a mutant is made by rule of two
clauses, which are translated one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from labs.checking.recognise import MistakeTable
from labs.checking.vocabulary import FUNCTION, KERNEL
from utils.translation import translate

BEHAVES = "Your {noun} behaves as if {slip}, {where}."
_OF_A_MUTANT = re.compile(
    r"Your (?P<noun>kernel|function) behaves as if (?P<slip>.+), (?P<where>(?:where|in) .+)\."
)
# Code, whose names differ from kernel to kernel, and the number of a line.
_CODE, _LINE = re.compile(r"`([^`]*)`"), re.compile(r"(?<=line )\{[^{}]*\}")


def translated(table: MistakeTable) -> MistakeTable:
    """Return a new table of mistakes with its sentences in the reader's language."""
    return MistakeTable(_translated(table.known), _translated(table.alike))


def messages(sentence: str) -> Iterator[str]:
    """Yield the English messages that make up a sentence, as the translators' catalogue has them.

    A sentence of `wrong.py` is one message. A sentence on a mutant gives three: the sentence with
    its noun and with the placeholders {slip} and {where}, and the two clauses that replace these,
    with {code} and {line} instead of their code and line number.
    """
    made = _OF_A_MUTANT.fullmatch(sentence)
    if not made:
        yield sentence
        return
    yield (KERNEL if made["noun"] == KERNEL.noun else FUNCTION).message(BEHAVES)
    yield from (_without_names(made[clause]) for clause in ("slip", "where"))


def in_the_readers_language(sentence: str) -> str:
    """Return a sentence in the reader's language, with the same placeholders as the English one."""
    made = _OF_A_MUTANT.fullmatch(sentence)
    if not made:
        return translate(sentence)
    whole, *_ = messages(sentence)
    slip, where = _clause(made["slip"]), _clause(made["where"])
    return translate(whole).replace("{slip}", slip).replace("{where}", where)


def _translated(by_print: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the same dict from fingerprint to sentences, with the sentences translated."""
    return {
        digest: [in_the_readers_language(one) for one in sentences]
        for digest, sentences in by_print.items()
    }


def _clause(text: str) -> str:
    """Return a clause of a sentence on a mutant, translated, with its own code and line.

    text: the English clause, such as "a barrier were missing" or "in line {line}".
    """
    names = {"{code}": _CODE.search(text), "{line}": _LINE.search(text)}
    told = translate(_without_names(text))
    for placeholder, name in names.items():
        told = told.replace(placeholder, name[0]) if name else told
    return told


def _without_names(clause: str) -> str:
    """Return a clause with {code} for its first code and {line} for its line placeholder.

    Code is what stands between backticks; a line placeholder is one in braces after "line ".
    """
    return _LINE.sub("{line}", _CODE.sub("{code}", clause, count=1))
