"""The check of the site finds each fault in a page that has it."""

import pytest

from tests.site.faults import broken_links, files_with, pale, too_wide

GOOD = '<p style="color:#595959;background:#fff">words</p>'


@pytest.mark.parametrize(
    "fragment",
    [
        '<p style="color:#999">words</p>',
        '<p style="background:#222;color:#111">words</p>',
        '<p style="opacity:.4">words</p>',
        '<div style="background:#000"><code style="color:oklch(30% 0 0)">words</code></div>',
    ],
)
def test_pale_text_is_found(browser, fragment):
    (found,) = pale(browser.open(GOOD + fragment).page)
    assert found.endswith("words")


def test_what_is_hidden_or_readable_is_not_pale(browser):
    hidden = '<p hidden style="color:#eee">a</p><svg><text fill="#eee">b</text></svg>'
    assert pale(browser.open(GOOD + hidden).page) == []


def test_a_page_that_is_too_wide_is_found_at_the_width_where_it_is(browser):
    page = browser.open('<div style="width:600px;height:9px"></div>').page
    assert [found.split()[-1] for found in too_wide(page, (400, 1000))] == ["400"]


def test_links_that_lead_nowhere_are_found(tmp_path):
    links = ("b.html", "b.html#there", "#here", "https://example.org/", "c.html", "b.html#gone")
    text = "".join(f'<a href="{link}">words</a>' for link in links)
    (tmp_path / "a.html").write_text(f'<p id="here">{text}</p>', encoding="utf-8")
    (tmp_path / "b.html").write_text('<p id="there"></p><img src="d.svg">', encoding="utf-8")
    found = sorted(broken_links(tmp_path))
    assert found == ["a.html: b.html#gone", "a.html: c.html", "b.html: d.svg"]


def test_a_word_is_found_in_pages_and_scripts(tmp_path):
    (tmp_path / "a.html").write_text("a path: /somewhere/else", encoding="utf-8")
    (tmp_path / "b.js").write_text("nothing", encoding="utf-8")
    assert [file.name for file in files_with(tmp_path, "/somewhere")] == ["a.html"]
