"""Tests of the way in which a sentence quotes a source line."""

import pytest

from labs.checking.phrasing import at, at_line, rounded
from virtual_gpu import Site


@pytest.mark.parametrize(
    "source, shown",
    [
        ("    while i < k:", "`while i < k`"),
        ("        for u in range(4) :", "`for u in range(4)`"),
        ("    c[row, col] = total", "`c[row, col] = total`"),
        ("    a[1:]", "`a[1:]`"),
    ],
)
def test_a_quote_has_no_colon_at_its_end(source, shown):
    site = Site("file.py", 7, source)
    assert at(site) == f"Line 7, {shown}"
    assert at_line(site) == f"line 7, {shown}"


@pytest.mark.parametrize(
    "value, shown",
    [(1024, "1,024"), (999.6, "1,000"), (3.9216, "3.92"), (0, "0"), (2e6, "2,000,000")],
)
def test_a_count_has_three_digits_or_all_before_the_point(value, shown):
    assert rounded(value) == shown
