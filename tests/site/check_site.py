"""Test the site in a browser, page by page: `make check-site`, after `make site`.

These tests are not part of `make test`, which does not make the site.
"""

import functools
import http.server
import threading

import pytest

from tests.site.faults import broken_links, files_with, pale, too_wide
from utils.paths import ROOT, lessons

SITE = ROOT / "build" / "site"
PAGES = sorted(file.relative_to(SITE).as_posix() for file in SITE.rglob("*.html"))
WIDTHS = (400, 1000, 1600)
MOVIES = "notebooks/05_coalescing.html"
SLIDERS = "notebooks/08_occupancy.html"
MOST_TABS = 400  # until a part of a page must have been reached


class SilentHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *message):
        pass


@pytest.fixture(scope="module")
def address():
    """Serve the site on this machine alone and yield its address."""
    handler = functools.partial(SilentHandler, directory=SITE)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def opened(browser, address):
    """Yield a function that opens a page; then fail if it logged anything or left this machine."""
    shown = browser.open("")

    def go(page: str):
        shown.page.goto(f"{address}/{page}")
        return shown.page

    yield go
    assert shown.messages == []
    assert [request for request in shown.asked if not request.startswith(address)] == []


def test_every_lesson_has_a_page():
    pages = [f"notebooks/{file.stem}.html" for file in lessons().values()]
    assert [name for name in pages if name not in PAGES] == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_and_can_be_read_in_light_and_dark(opened, name):
    page = opened(name)
    assert page.locator("h1").count() == (name != "search.html")  # which waits for a question
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert pale(page) == [], scheme
    assert too_wide(page, WIDTHS) == []


@pytest.mark.parametrize("name", ["index.html", MOVIES])
def test_the_readers_choice_of_dark_beats_a_light_system(opened, name):
    page = opened(name)
    page.evaluate("localStorage.setItem('theme', 'dark')")
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(13, 17, 23)"
    assert pale(page) == []


def test_all_links_lead_somewhere():
    assert broken_links(SITE) == []


def test_no_page_names_a_folder_of_this_machine():
    assert list(files_with(SITE, str(ROOT))) == []


def test_the_search_finds_a_term(opened):
    page = opened("search.html?q=bank+conflict")
    page.locator("#search-results li a").first.wait_for()
    found = page.locator("#search-results li a").all_inner_texts()
    assert any("Tiling" in title for title in found)


def tab_to(page, selector: str) -> None:
    """Press Tab until the focus is on an element that matches the selector."""
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if page.evaluate("(s) => document.activeElement.matches(s)", selector):
            return
    pytest.fail(f"{MOST_TABS} times Tab do not lead to {selector}.")


def test_the_keyboard_reaches_the_content_and_the_navigation(opened):
    page = opened("index.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText") == "Skip to content"
    tab_to(page, ".sidebar-tree a")
    tab_to(page, "article a")


def test_the_keyboard_plays_a_movie(opened):
    page = opened(MOVIES)
    tab_to(page, ".skip-to-content")
    page.keyboard.press("Enter")
    tab_to(page, ".vm-play")
    page.keyboard.press("Space")
    page.wait_for_function("document.querySelector('.vm input[type=range]').value > 1")


def test_a_line_of_a_traced_source_opens(opened):
    page = opened(MOVIES)
    line = page.locator(".vgpu details").first
    assert not line.locator("svg").first.is_visible()
    line.locator("summary").click()
    assert line.locator("svg").first.is_visible()


def test_sliders_are_pictures(opened):
    page = opened(SLIDERS)
    cell = page.locator(".cell", has_text="sliders(").last
    assert cell.locator(".cell_output svg").first.is_visible()
    text = page.content()
    assert [word for word in ("widget-view", "html-manager", "require.js") if word in text] == []


@pytest.mark.parametrize("name", ["index.html", MOVIES])
def test_a_printed_page_has_no_navigation(opened, name):
    page = opened(name)
    page.emulate_media(media="print", color_scheme="dark")
    for part in (".sidebar-drawer", ".toc-drawer", ".mobile-header", ".vm-bar"):
        assert not any(found.is_visible() for found in page.locator(part).all()), part
    assert page.locator("article").is_visible()
    assert pale(page) == []
