"""The report on a program's kernels, as text for a terminal and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from ..common.errors import Finding
from ..common.filenames import short_names
from ..counts.hints import Hint
from ..counts.verdict import verdict
from .advice import advice
from .launch_log import KernelLog

MOST_HINTS = 3  # of a report as text
UNSEEN = (
    "hint: the program copies no array to the host, so it has not seen what its kernels have "
    "stored. Call copy_to_host() of the results."
)


@dataclass(frozen=True)
class ProgramSummary:
    """The kernels of a program, with the sentences that a report says about them.

    ``names`` maps the path of each file to a short name. ``unseen`` is True if the program has
    copied no result to the host.
    """

    kernels: tuple[KernelLog, ...]
    names: Mapping[str, str]
    unseen: bool = False

    @property
    def headline(self) -> str:
        """The totals, such as ``2 kernels, 13 launches, 1 flaw``.

        Without flaws the text has ``no flaw found`` instead of their number. The number of errors
        is added if there were any. Without kernels the text is ``no kernel was launched``.
        """
        if not self.kernels:
            return "no kernel was launched"
        flaws = sum(len(kernel.flaws) for kernel in self.kernels)
        errors = sum(len(kernel.errors) for kernel in self.kernels)
        parts = (
            _counted(len(self.kernels), "kernel", "kernels"),
            _launches(sum(kernel.launches for kernel in self.kernels)),
            _counted(flaws, "flaw", "flaws") if flaws else "no flaw found",
            *([_counted(errors, "error", "errors")] if errors else ()),
        )
        return ", ".join(parts)

    def place(self, kernel: KernelLog) -> str:
        """Return the kernel's file, line and number of launches: ``saxpy.py:12, 3 launches``."""
        return f"{self.names[kernel.file]}:{kernel.line}, {_launches(kernel.launches)}"

    def verdict(self, kernel: KernelLog) -> str:
        """Return a text such as ``1 race, 2 barrier errors; 1 warning``.

        Without a flaw it begins with ``no flaw found``. If an error ended a launch, the text ends
        with ``ended by an error``, and it says only that if there are no findings.
        """
        if kernel.errors and not kernel.findings:
            return "ended by an error"
        flaws = verdict(kernel.findings, (), self.names)
        return f"{flaws}; ended by an error" if kernel.errors else flaws

    def remarks(self, kernel: KernelLog) -> list[tuple[str, str]]:
        """Return a list of tuples (word, text), one for each remark on a kernel.

        The word is "flaw", "error", "warning" or "hint", and the list has this order.
        """
        rows = [("flaw", self._sentences(flaw, kernel)) for flaw in kernel.flaws]
        rows += [("error", error) for error in kernel.errors]
        rows += [("warning", self._sentences(warning, kernel)) for warning in kernel.warnings]
        return rows + [("hint", hint) for hint in self.hints(kernel)]

    def hints(self, kernel: KernelLog) -> list[str]:
        """Return one text per hint on a kernel, with its advice.

        The hints on float64 come last; if there are several, one text stands for all of them.
        """
        doubles = [hint for hint in kernel.hints if hint.kind == "float64"]
        others = [hint for hint in kernel.hints if hint.kind != "float64"]
        texts = [self._sentences(hint, kernel) for hint in others]
        if len(doubles) > 1:
            lines = ", ".join(f"{n}" for n in sorted({hint.line for hint in doubles}))
            operations = sum(hint.figures["float64_ops"] for hint in doubles)
            _, cure = doubles[0].message.split(": ", 1)
            where = self._elsewhere(doubles[0], kernel)
            message = f"{operations:,} operations in float64, although no array is: {cure}"
            return [*texts, f"hint at lines {lines}: {message}.{where}"]
        return texts + [self._sentences(hint, kernel) for hint in doubles]

    def _sentences(self, note: Finding | Hint, kernel: KernelLog) -> str:
        """Return a finding or hint as text, with what to do and which line launched the kernel.

        The name of its file follows in brackets if that is not the kernel's file. The launch is
        named for a finding only.
        """
        text = f"{note}{self._elsewhere(note, kernel)}"
        cure = advice(note)
        text += f" {cure}" if cure else ""
        if isinstance(note, Hint):
            return text
        file, line = kernel.call_of(note)
        return f"{text} Launched at {self.names[file]}:{line}."

    def _elsewhere(self, note: Finding | Hint, kernel: KernelLog) -> str:
        """Return a space and the name of a note's file in brackets; "" for the kernel's file."""
        return f" ({self.names[note.site.file]})" if note.site.file != kernel.file else ""


def summary_of(
    kernels: tuple[KernelLog, ...], folder: Path, unseen: bool = False
) -> ProgramSummary:
    """Return the summary of these kernels; files below ``folder`` are named relative to it.

    ``unseen`` is True if the program has copied no result to the host.
    """
    notes = (note for kernel in kernels for note in (*kernel.findings, *kernel.hints))
    files = [kernel.file for kernel in kernels] + [note.site.file for note in notes]
    files += [file for kernel in kernels for file, _ in kernel.calls]
    return ProgramSummary(kernels, short_names(files, folder), unseen)


def _counted(number: int, one: str, several: str) -> str:
    """Return a number with its noun in the singular (``one``) or the plural."""
    return f"{number:,} {one if number == 1 else several}"


def _launches(number: int) -> str:
    """Return text such as ``1 launch`` or ``13 launches``."""
    return _counted(number, "launch", "launches")


def as_text(summary: ProgramSummary) -> str:
    """Return the report as text: a headline, the kernels, then at most MOST_HINTS hints.

    Kernels with a flaw or an error come first. The flaws, errors and warnings of a kernel follow
    its line, one per line. The hints have the order of ``_hints_in_order``; if there are more than
    MOST_HINTS, a last line counts those that are left out.
    """
    rows = [f"virtual GPU: {summary.headline}"]
    for kernel in sorted(summary.kernels, key=lambda k: not (k.flaws or k.errors)):
        rows.append(f"  {kernel.name} ({summary.place(kernel)}): {summary.verdict(kernel)}")
        remarks = summary.remarks(kernel)
        rows += [f"    {labelled(word, text)}" for word, text in remarks if word != "hint"]
    hints = _hints_in_order(summary)
    rows += [f"  {text}" for text in hints[:MOST_HINTS]]
    if len(hints) > MOST_HINTS:
        rest = _counted(len(hints) - MOST_HINTS, "more hint", "more hints")
        rows.append(f"  {rest}: --html FILE or --json FILE lists all.")
    return "\n".join(rows)


def _hints_in_order(summary: ProgramSummary) -> list[str]:
    """Return the hints on all kernels as texts, the most important first.

    If no result was copied back, that hint is first. Then follow the first hint on each kernel, the
    second hint on each, and so on. With several kernels, each of these texts begins with the
    kernel's name.
    """
    several = len(summary.kernels) > 1
    rows = [
        (place, f"{kernel.name}, {text}" if several else text)
        for kernel in summary.kernels
        for place, text in enumerate(summary.hints(kernel))
    ]
    texts = [text for _, text in sorted(rows, key=lambda row: row[0])]
    return [UNSEEN, *texts] if summary.unseen else texts


def labelled(word: str, text: str) -> str:
    """Return ``text`` with ``error: `` or ``warning: `` before it if that is the ``word``.

    The sentences of flaws and hints already name their kind, so they are returned unchanged.
    """
    return text if word in ("flaw", "hint") else f"{word}: {text}"


def as_json(summary: ProgramSummary) -> str:
    """Return the report as JSON, which ends with a newline.

    It is an object with ``hints``, sentences on the whole program, and ``kernels``, a list of
    objects with the keys ``name``, ``file``, ``line``, ``launches``, ``verdict``, ``findings``,
    ``hints``, ``errors`` and ``counts``. Counts are summed over all launches that ran to their end;
    their names and units are those of counters.LineCount. Errors are sentences. Findings and hints
    are objects with ``kind``, ``file``, ``line``, ``source``, ``array``, ``message`` and
    ``advice``; a finding also has ``launched_at``, ``warning``, ``index``, ``threads``,
    ``threads_in_all`` and ``other_line``. Files are short names, and ``launched_at`` is such as
    "saxpy.py:12".
    """
    rows = [_kernel(kernel, summary) for kernel in summary.kernels]
    hints = [UNSEEN] if summary.unseen else []
    return json.dumps({"kernels": rows, "hints": hints}, indent=1) + "\n"


def _kernel(kernel: KernelLog, summary: ProgramSummary) -> dict:
    """Return the results of one kernel as a dict with the keys that ``as_json`` names."""
    names = summary.names
    return {
        "name": kernel.name,
        "file": names[kernel.file],
        "line": kernel.line,
        "launches": kernel.launches,
        "verdict": summary.verdict(kernel),
        "findings": [_finding(finding, kernel, names) for finding in kernel.findings],
        "hints": [_note(hint, names) for hint in kernel.hints],
        "errors": list(kernel.errors),
        "counts": asdict(kernel.counts),
    }


def _note(note: Finding | Hint, names: Mapping[str, str]) -> dict:
    """Return a dict with the JSON keys that findings and hints have in common.

    ``names`` maps each file to the name that is shown.
    """
    return {
        "kind": note.kind,
        "file": names[note.site.file],
        "line": note.line,
        "source": note.site.source,
        "array": note.array,
        "message": note.message,
        "advice": advice(note),
    }


def _finding(finding: Finding, kernel: KernelLog, names: Mapping[str, str]) -> dict:
    """Return a finding on a kernel as a dict with the keys that ``as_json`` names."""
    file, line = kernel.call_of(finding)
    return {
        **_note(finding, names),
        "launched_at": f"{names[file]}:{line}",
        "warning": finding.is_warning,
        "index": [int(i) for i in finding.index],
        "threads": [{"block": t.block, "thread": t.thread} for t in finding.threads],
        "threads_in_all": finding.threads_in_all,
        "other_line": finding.other_line,
    }
