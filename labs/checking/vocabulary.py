"""What a verdict calls what was written: a kernel of many threads, or a function of the CPU."""

from __future__ import annotations

import re
from dataclasses import dataclass

from virtual_gpu import Finding


@dataclass(frozen=True)
class Kind:
    """The words of a verdict that differ.

    noun: what it is; any: one of its kind, in general. run: what the task does with it.
    actor: who does something, in place of a thread with its number; None for that thread.
    needed: why an input must not change. idle, never_stores: of one that does nothing, or stores
    nothing. missing, wrong, endless: the questions where no probe knows a cause.
    nothing_found: what is added to a right result. slow_float64: where it is slow.
    others: of the virtual GPU's sentences, pieces and what stands in their place.
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
    others: tuple[tuple[str, str], ...] = ()

    def who(self, finding: Finding) -> str:
        """Who did what was found, within a sentence."""
        return self.actor or str(finding.threads[0])

    def told(self, finding: Finding) -> str:
        """What was found, said of this kind."""
        return finding.message.replace(str(finding.threads[0]), self.who(finding))

    def said(self, message: str) -> str:
        """A sentence of the virtual GPU, said of this kind."""
        for piece, other in self.others:
            message = re.sub(piece, other, message)
        return message


KERNEL = Kind(
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
    nothing_found=", and the virtual GPU found nothing",
    slow_float64="most GPUs are many times slower",
)
FUNCTION = Kind(
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
    others=(
        (r": reached by thread \(0\) of block \(0\)", ""),
        (r" \(a kernel computes element by element\)", ""),
        (r"a kernel can make no .*", "an array or a list made here is not known to this check."),
        (
            r"not known to (the virtual GPU|this check)\.",
            "not known to this check. It runs your function step by step, and knows loops, numbers "
            "and single elements of arrays.",
        ),
    ),
)
