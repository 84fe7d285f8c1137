"""The documents that the course grew from have short names, and code and comments use them."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import tomllib
from collections.abc import Iterator

import pytest

from utils.paths import DATA, ROOT

SOURCES = tomllib.loads((DATA / "sources.toml").read_text(encoding="utf-8"))
PACKAGES = (
    *("gemm_kernels", "reduce_kernels", "latency_kernels", "tensor_kernels"),
    *("labs", "tools", "utils"),
)
# There a source is always source code.
OF_CODE = ("virtual_gpu", "gpu_xray")
# A document without a name. Source code, a source line and the source of a line are none.
NAMELESS = re.compile(
    r"\b(?:the|a|one)\s+source(?:'s)?\b(?!\s+(?:code|lines?|of|file|document))", re.IGNORECASE
)
NAMED = re.compile(r"\b[A-ZÁÉÍÓÚ][a-záéíóú]+(?: and others)? (?:19|20)\d\d\b")
MONTHS = ("November", "December", "Summer", "Spring")


def test_the_page_of_sources_has_every_document_with_its_title_and_where_it_errs():
    page = (ROOT / "notebooks" / "sources.md").read_text(encoding="utf-8")
    entries = dict(re.findall(r"^## (.+)\n((?:(?!## ).*\n?)*)", page, re.MULTILINE))
    for name, document in SOURCES.items():
        assert f"**{document['title'].split(', in ')[0]}**" in entries[name]
        assert "**Taken:**" in entries[name]
        assert "**Where it errs:**" in entries[name]
        assert str(document.get("year", "no year")) in entries[name]


def told() -> Iterator[tuple[str, str]]:
    """Each docstring and comment of the course, after the place where it stands."""
    for path in (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))):
        place = path.relative_to(ROOT).as_posix()
        if place.startswith(OF_CODE):
            continue
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                yield place, ast.get_docstring(node) or ""
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield f"{place}:{token.start[0]}", token.string


def nameless(text: str) -> list[str]:
    return NAMELESS.findall(text)


def unknown(text: str) -> list[str]:
    """What looks like a short name and is none."""
    found = (" ".join(name.split()) for name in NAMED.findall(text))
    return [name for name in found if name not in SOURCES and not name.startswith(MONTHS)]


def test_no_document_is_called_the_source():
    assert [place for place, text in told() if nameless(text)] == []


def test_every_short_name_in_the_code_is_that_of_a_document():
    assert [(place, unknown(text)) for place, text in told() if unknown(text)] == []


@pytest.mark.parametrize("name", SOURCES)
def test_a_document_has_title_authors_and_file(name):
    source = SOURCES[name]
    assert {"title", "authors", "file"} <= set(source) <= {"title", "authors", "file", "year"}
    assert "year" not in source or name.endswith(str(source["year"]))


def test_a_document_without_a_name_and_a_name_without_a_document_would_be_found():
    assert nameless("As in the source, a thread copies once.")
    assert nameless("# The source's blocks")
    assert not nameless("The source line, the source code and the source of such a line.")
    assert unknown("Volkov 2011 and Volkov 2010, in November 2026") == ["Volkov 2011"]
