"""Collects what the checks find, once per line, kind and array."""

from __future__ import annotations

from .errors import ERROR_OF_KIND, Finding, Site


class Report:
    """Findings of one launch. With ``collect`` all are kept; without it the first one raises."""

    def __init__(self, collect: bool):
        self.collect = collect
        self._findings: dict[tuple, Finding] = {}
        self.warnings: dict[tuple, Finding] = {}

    def add(self, finding: Finding) -> None:
        """Keep a finding (the first of its line, kind and array), or raise it."""
        if finding.kind == "wrapped_index":
            self.warnings.setdefault(_key(finding), finding)
            return
        if not self.collect:
            raise ERROR_OF_KIND[finding.kind](str(finding), finding)
        self._findings.setdefault(_key(finding), finding)

    def knows(self, kind: str, site: Site, array: str) -> bool:
        """Whether this flaw of this line is in the report already."""
        return (kind, site, array) in self._findings or (kind, site, array) in self.warnings

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Errors first, then warnings, each in the order in which they were found."""
        return (*self._findings.values(), *self.warnings.values())


def _key(finding: Finding) -> tuple:
    return finding.kind, finding.site, finding.array
