"""Tests that interactive pictures keep their keys from JupyterLab, and give the focus back."""

import re

import pytest

from labs.exercises import EXERCISES
from utils.lessons.line_order import LineOrder
from utils.paths import ROOT
from virtual_gpu.pictures import movie, what_if_stride
from virtual_gpu.pictures.svg import KEEP_KEYS
from virtual_gpu.tests.filmed import FILMS

PACKAGES = ("virtual_gpu", "utils", "labs")
# An element that takes arrow keys: a slider, a list of choices, or whatever can have the focus.
TAKES_KEYS = re.compile(r"""type=["\']?range["\']?|<select|tabindex=["\']?0|contenteditable""")
# The player gives keys to the elements of this page.
PAGES = {"player.js": "movie.html"}
# As JupyterLab 4.6 does: a cell can have the focus, and no shortcut works in what keeps its keys.
NOTEBOOK = """<div class="jp-Cell" tabindex="0">{picture}</div><script>
var ran = [];
document.addEventListener("keydown", event => {{
  if (event.key === "Enter" && event.target.closest(".jp-Cell") &&
      !event.target.closest("[data-lm-suppress-shortcuts]")) {{
    ran.push(event.target.tagName);
    event.preventDefault();
  }}
}});
</script>"""


def sources():
    files = (
        file
        for package in PACKAGES
        for suffix in ("py", "html", "js")
        for file in sorted((ROOT / package).rglob(f"*.{suffix}"))
    )
    return [
        file
        for file in files
        if "tests" not in file.parts and TAKES_KEYS.search(file.read_text(encoding="utf-8"))
    ]


def test_sliders_and_movies_are_found():
    assert {"svg.py", "movie.html", "player.js"} <= {file.name for file in sources()}


@pytest.mark.parametrize("file", sources(), ids=lambda file: file.name)
def test_what_takes_keys_tells_jupyterlab_to_leave_them(file):
    page = file.with_name(PAGES.get(file.name, file.name))
    text = page.read_text(encoding="utf-8")
    assert KEEP_KEYS in text or "{KEEP_KEYS}" in text


@pytest.mark.slow
@pytest.mark.parametrize(("picture", "element"), [
    (what_if_stride, "input[type=range]"),
    (what_if_stride, "button"),
    (lambda: movie(FILMS["naive"](), labels=["naive"], title="A title"), ".vm-play"),
])  # fmt: skip
def test_escape_and_enter_with_a_modifier_lead_back_to_the_notebook(browser, picture, element):
    page = browser.open(NOTEBOOK.format(picture=picture()._repr_html_())).page
    page.focus(element)
    page.keyboard.press("Enter")
    assert page.evaluate("ran") == []
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Control+Enter")
    assert page.evaluate("ran.length") == 2
    assert page.locator(element).first.get_attribute("data-lm-suppress-shortcuts") == "true"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.className") == "jp-Cell"


@pytest.mark.slow
def test_enter_with_a_modifier_moves_no_line(browser):
    order = LineOrder("order_saxpy", EXERCISES["order_saxpy"].listing)
    page = browser.open(NOTEBOOK.format(picture=order._repr_html_())).page
    page.focus(".line-order li")
    page.keyboard.press("Shift+Enter")
    assert page.evaluate("ran") == ["LI"]
    assert page.text_content(".call") == "order_saxpy = []"


@pytest.mark.parametrize("file", sources(), ids=lambda file: file.name)
def test_each_picture_with_such_elements_has_the_script_of_the_ways_back(file):
    movies = {"movie.html", "player.js"}
    page = file.with_name("movie.py" if file.name in movies else file.name)
    assert "LEAVE_KEYS" in page.read_text(encoding="utf-8")
