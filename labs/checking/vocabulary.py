"""The words of a verdict that differ between a kernel of many threads and a CPU function."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

from utils.translated_findings import translate_message
from utils.translation import translate
from virtual_gpu import Finding


@dataclass(frozen=True)
class Vocabulary:
    """The words with which a verdict speaks about a kernel, or about a CPU function.

    noun: "kernel" or "function". any: "a kernel" or "this function". run: how the task runs it,
    such as "launches the kernel". actor: the subject of a sentence about an access; None stands for
    the thread with its number. needed: the reason why an input must not change. idle: a clause
    about code that does nothing. never_stores: a clause about code that stores nothing. missing,
    wrong, endless: questions to the reader on elements never written, wrong values and an endless
    loop, if no cause is known. nothing_found: an addition to the sentence on a right result.
    slow_float64: the end of a sentence on why float64 is slow there. replacements: pairs of a
    regular expression and its replacement in the virtual GPU's messages.
    """

    noun: str
    any: str
    run: str
    actor: str | None
    needed: str
    idle: str
    never_stores: str
    missing: str
    wrong: str
    endless: str
    nothing_found: str
    slow_float64: str
    replacements: tuple[tuple[str, str], ...] = ()

    def message(self, text: str) -> str:
        """Return an English sentence with this vocabulary's words for {noun}, {missing} and so on.

        Each placeholder with the name of a field is replaced, and other placeholders stay. The
        words are filled in before the sentence is translated, because a translation must agree with
        the noun.
        """
        for one in fields(self):
            text = text.replace(f"{{{one.name}}}", str(getattr(self, one.name)))
        return text

    def say(self, text: str, /, **values: object) -> str:
        """Return a sentence in the reader's language, with this vocabulary's words and the values.

        text: the English sentence. values: what replaces its other placeholders.
        """
        return translate(self.message(text), **values)

    def subject(self, finding: Finding) -> str:
        """Return the subject of a clause on a finding: "the loop", or the thread and its number."""
        return translate_message(self.actor or str(finding.threads[0]))

    def describe(self, finding: Finding) -> str:
        """Return the message of a finding in the reader's language.

        For a CPU function, "the loop" replaces the number of the thread.
        """
        thread = str(finding.threads[0])
        return translate_message(finding.message.replace(thread, self.actor or thread))

    def rephrase(self, message: str) -> str:
        """Return an English message of the virtual GPU after all `replacements` in it."""
        for pattern, replacement in self.replacements:
            message = re.sub(pattern, replacement, message)
        return message


KERNEL = Vocabulary(
    noun="kernel",
    any="a kernel",
    run="launches the kernel",
    actor=None,
    needed="Other threads may still read it",
    idle="no thread reads or writes any array. Is the body still to be written, or do all threads "
    "return at once?",
    never_stores="no thread ever stores",
    missing="Which threads have no element, or leave too early?",
    wrong="Which elements does this thread read, and what does it do?",
    endless="Is there a thread for which this loop never ends, because what it tests does not "
    "change?",
    nothing_found=", and the virtual GPU found no error",
    slow_float64="most GPUs are many times slower",
)
FUNCTION = Vocabulary(
    noun="function",
    any="this function",
    run="calls the function",
    actor="the loop",
    needed="Who called the function may still need it",
    idle="no array is read or written. Is the body still to be written?",
    never_stores="it never stores",
    missing="Which loop starts too late, or ends too early?",
    wrong="Which elements does the innermost line read, and what does it do?",
    endless="Does this loop ever end, or does what it tests not change?",
    nothing_found="",
    slow_float64="an instruction of the CPU works on half as many numbers at once",
    replacements=(
        (r": reached by thread \(0\) of block \(0\)", ""),
        (r" \(a kernel computes element by element\)", ""),
        (r" \(Numba refuses it, too: write .*?\)(?= is not known)", ""),
        (r"a kernel has no `try`.*", "`try` is not known to this check."),
        (r"a kernel can make no .*", "an array or a list made here is not known to this check."),
        (
            r"not known to (the virtual GPU|this check)\.",
            "not known to this check. It runs your function step by step, and knows loops, numbers "
            "and single elements of arrays.",
        ),
    ),
)
