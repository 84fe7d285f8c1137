"""Test the site in a browser, page by page: `make check-site`, after `make site`.

These tests are not part of `make test`, which does not make the site.
"""

import functools
import http.server
import re
import threading

import nbformat
import pytest

from labs.grading import labs as bank
from tests.site.faults import broken_links, files_with, pale, too_wide
from tests.site.scripts import script
from utils.paths import ROOT, lessons

SITE = ROOT / "build" / "site"
PAGES = sorted(file.relative_to(SITE).as_posix() for file in SITE.rglob("*.html"))
WIDTHS = (400, 1000, 1600)
MOVIES = "notebooks/05_coalescing.html"
SLIDERS = "notebooks/08_occupancy.html"
LESSONS = [f"notebooks/{file.stem}.html" for file in lessons().values()]
LABS = [name for name in PAGES if name.startswith("labs/handouts/") and "index" not in name]
NOTEBOOKS = [*LESSONS, *LABS]
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
    assert [name for name in LESSONS if name not in PAGES] == []


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


@pytest.mark.parametrize("word, name", [("coalesced", "05"), ("occupancy", "08"), ("tiling", "07")])
def test_the_search_puts_a_lesson_first(opened, word, name):
    page = opened(f"search.html?q={word}")
    page.locator("#search-results li a").first.wait_for()
    first = page.locator("#search-results li a").first
    assert f"notebooks/{name}" in first.get_attribute("href"), first.inner_text()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_a_description_a_licence_a_version_and_a_date(name):
    text = (SITE / name).read_text(encoding="utf-8")
    (words,) = re.findall(r'<meta name="description" content="([^"]+)">', text) or [""]
    assert len(words) > 20 or name in ("genindex.html", "search.html", "py-modindex.html")
    footer = text[text.index("<footer>") :]
    assert "BSD-3-Clause" in footer
    assert re.search(r"version (<a [^>]+>)?\d+\.\d+", footer)
    assert re.search(r"Last updated on \d+ \w+ 20\d\d", footer)


def test_no_two_lessons_have_the_same_description():
    texts = [(SITE / name).read_text(encoding="utf-8") for name in LESSONS]
    words = [re.search(r'name="description" content="([^"]+)"', text)[1] for text in texts]
    assert len(set(words)) == len(LESSONS)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_says_how_to_run_it_and_shows_no_set_up_cell(opened, name):
    page = opened(name)
    assert "make lab" in page.locator(".how-to-run").inner_text()
    file = page.locator(".how-to-run a.download").get_attribute("href")
    notebook = nbformat.read((SITE / name).parent / file, as_version=4)
    assert any("course.start(" in cell.source for cell in notebook.cells)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    code = page.locator(".cell_input").all_inner_texts()
    assert code
    assert [text for text in code if "course.start(" in text or "no-address-yet" in text] == []


def test_the_first_screen_says_how_to_begin(opened):
    page = opened("index.html")
    page.set_viewport_size({"width": 1280, "height": 800})
    for words in ("Begin with lesson 00", "Get the course"):
        assert page.get_by_role("link", name=words).first.bounding_box()["y"] < 500
    picture = page.locator(".traced_kernel:visible").bounding_box()
    assert picture["y"] < 500 < page.locator(".gemm_staircase:visible").bounding_box()["y"]
    assert "make lab" in page.locator("#get-the-course").inner_text()


def test_a_lesson_has_the_name_of_the_syllabus_everywhere(opened):
    titles = script("notebook_pages").titles()
    page = opened("notebooks/README.html")
    listed = page.locator(", ".join(f".sidebar-tree a[href^='{start}']" for start in "012e"))
    assert [text.strip() for text in listed.all_text_contents()] == list(titles.values())
    assert len(titles) > len(LESSONS)  # a translated lesson has a page, too
    for name, title in titles.items():
        text = (SITE / "notebooks" / name).with_suffix(".html").read_text(encoding="utf-8")
        heading = re.search(r"<h1>(.*?)<a ", text, re.DOTALL)
        assert heading[1] == title


@pytest.mark.parametrize("width", [1100, 1280, 1600])
def test_the_contents_of_a_long_page_are_beside_it(opened, width):
    page = opened(MOVIES)
    page.set_viewport_size({"width": width, "height": 900})
    contents, article = (page.locator(part).bounding_box() for part in (".toc-tree", "article"))
    assert contents["x"] >= article["x"] + article["width"]
    assert contents["x"] + contents["width"] <= width
    assert article["width"] > 500


@pytest.mark.parametrize("name", ["notebooks/README.html", "labs/handouts/index.html"])
def test_a_list_of_notebooks_fits_a_phone(opened, name):
    page = opened(name)
    page.set_viewport_size({"width": 420, "height": 900})
    hidden = "(box) => box.scrollWidth - box.clientWidth"
    assert page.locator(".table-wrapper").first.evaluate(hidden) <= 0


def test_each_exercise_of_a_lab_has_a_card_with_what_it_asks(opened):
    page = opened("labs/exercises.html")
    shown = page.locator(".exercise > h3").evaluate_all("(heads) => heads.map((one) => one.id)")
    wanted = {part.exercise for lab in bank.LABS.values() for part in lab.parts}
    assert sorted(shown) == sorted(wanted)
    for name in shown:
        card = page.locator(f".exercise:has(> h3[id={name}])")
        assert card.locator("svg, li").count() > 0, name


def test_code_can_be_copied_and_output_cannot(opened):
    page = opened(MOVIES)
    cells = page.locator(".cell_input .highlight").count()
    assert page.locator(".cell_input button.copybtn").count() == cells > 20
    assert page.locator(".cell_output button.copybtn").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_only_links_are_underlined_in_code(opened, scheme):
    page = opened(MOVIES)
    page.emulate_media(color_scheme=scheme)
    lines = page.locator(".highlight span").evaluate_all(
        "(all) => all.filter((e) => getComputedStyle(e).textDecorationLine !== 'none')"
        ".map((e) => e.textContent)"
    )
    assert lines == []


def test_the_titles_of_a_movie_are_aligned(opened):
    page = opened(MOVIES)
    assert page.locator(".vm h3").count() > 0
    padding = "(all) => all.map((each) => getComputedStyle(each).padding)"
    assert set(page.locator(".vm h3").evaluate_all(padding)) == {"0px"}


@pytest.mark.parametrize("name", ["notebooks/00_start_here.html", "notebooks/README.html"])
def test_tables_have_one_look(opened, name):
    page = opened(name)
    looks = page.locator("article table:not(.vgpu)").evaluate_all(
        """(all) => all.map((table) => {
          const cell = getComputedStyle(table.querySelector("tbody td"));
          const head = getComputedStyle(table.querySelector("thead tr:last-child th:last-child"));
          return [cell.borderLeftWidth, cell.borderRightWidth, head.backgroundColor].join();
        })"""
    )
    assert set(looks) == {"0px,0px,rgba(0, 0, 0, 0)"}


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
    page = opened("notebooks/00_start_here.html")
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
