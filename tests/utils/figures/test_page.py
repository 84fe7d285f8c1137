"""Tests of a figure as SVG in the page's colours, as a file, and where styles are removed."""

import base64
import io
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

from tests.utils.figures.example_figures import FIGURES
from utils.errors import CourseError
from utils.figures import page
from utils.figures.look import COLOURS, GRID, INK, QUIET, Figure, new_figure, with_alt


@pytest.fixture(scope="module")
def figure():
    return FIGURES["curve"]()


@pytest.fixture(scope="module")
def shown(figure):
    return page.as_html(figure)


def svg_of(shown):
    return re.search(r"<svg.*</svg>", shown)[0]


def test_words_stay_words(shown):
    assert ">naive</text>" in shown
    assert ">recorded 2026-11-21 on NVIDIA H200</text>" in shown


def test_the_picture_grows_with_the_page_and_says_what_it_shows(figure, shown):
    root = ElementTree.fromstring(svg_of(shown))
    assert "width" not in root.attrib
    assert "width:100%" in root.get("style")
    assert (root.get("role"), root.get("aria-label")) == ("img", figure.alt_text)


def test_neutral_colours_are_the_pages_ink(shown):
    svg = svg_of(shown)
    assert "currentColor" in svg
    assert not any(colour in svg for colour in (INK, QUIET, GRID))


def test_nothing_of_the_figure_holds_for_the_whole_page(shown):
    assert "<style" not in svg_of(shown)
    (sheet,) = re.findall(r"<style>(.*?)</style>", shown)
    assert all(rule.startswith(".course-figure") for rule in sheet.split("}") if rule)


def test_every_reference_leads_to_an_id(shown):
    ids = set(re.findall(r'\bid="([^"]+)"', shown))
    references = set(re.findall(r'(?:href="|url\()#([^")]+)', shown))
    assert references
    assert references <= ids


def test_the_same_figure_gives_the_same_page():
    assert page.as_html(FIGURES["curve"]()) == page.as_html(FIGURES["curve"]())


class SanitizedOutput(HTMLParser):
    """The texts and images that JupyterLab shows of an untrusted output.

    JupyterLab removes SVG, and all styles except inline ones. visible: the texts, and the alt text
    of each image.
    """

    def __init__(self, text):
        super().__init__()
        self.visible, self.hidden = [], 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "div":
            self.hidden += "display:none" in attrs.get("style", "")
        if tag == "img":
            self.visible.append(attrs["alt"])

    def handle_endtag(self, tag):
        if tag == "div" and self.hidden:
            self.hidden -= 1

    def handle_data(self, data):
        if not self.hidden and self.lasttag != "style":
            self.visible.append(data)


def test_where_svg_and_styles_are_taken_away_one_picture_is_left(figure, shown):
    assert SanitizedOutput(shown).visible == [figure.alt_text]
    png = base64.b64decode(re.search(r"base64,([^\"]+)", shown)[1])
    image = Image.open(io.BytesIO(png))
    assert image.text["Description"] == figure.alt_text
    assert min(image.convert("RGB").getpixel((0, 0))) >= 250


def test_the_picture_keeps_the_colours_of_all_series():
    figure = new_figure("Six series", "drawn for a test", height=2)
    axes = figure.subplots()
    for level, colour in enumerate(COLOURS):
        axes.plot([0, 1], [level, level], color=colour)
    shown = page.as_html(with_alt(figure, "six lines"))
    png = base64.b64decode(re.search(r"base64,([^\"]+)", shown)[1])
    pixels = np.unique(np.array(Image.open(io.BytesIO(png)).convert("RGB")).reshape(-1, 3), axis=0)
    for colour in COLOURS:
        rgb = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
        assert abs(pixels.astype(int) - rgb).max(axis=1).min() <= 8, colour


def test_words_outside_of_the_hidden_box_would_be_left_over(shown):
    assert len(SanitizedOutput(shown.replace("display:none", "")).visible) > 1


def test_a_large_figure_leaves_its_words_instead_of_a_picture(figure, monkeypatch):
    monkeypatch.setattr(page, "MOST_BYTES", 5_000)
    shown = page.as_html(figure)
    assert "<img" not in shown
    assert SanitizedOutput(shown).visible == [figure.alt_text]


@pytest.mark.parametrize("ground, behind", [("light", "#ffffff"), ("dark", "#0d1117")])
def test_a_file_has_a_ground_and_needs_no_page(figure, tmp_path, ground, behind):
    page.save(figure, tmp_path / "a.svg", ground)
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert "currentColor" not in text
    assert f'fill="{behind}"' in text
    assert (INK in text) == (ground == "light")


def test_a_picture_on_disk_carries_its_words(figure, tmp_path):
    page.save(figure, tmp_path / "a.png")
    assert Image.open(tmp_path / "a.png").text["Description"] == figure.alt_text


def test_a_figure_without_alt_text_is_not_shown():
    with pytest.raises(CourseError, match="no alt text"):
        page.show(Figure())


def test_alt_text_with_quotes_stays_inside_its_attribute():
    shown = page.as_html(with_alt(Figure(), 'a "quoted" <b>'))
    assert 'alt="a &quot;quoted&quot; &lt;b&gt;"' in shown
    assert ElementTree.fromstring(svg_of(shown)).get("aria-label") == 'a "quoted" <b>'


def test_showing_a_figure_puts_it_on_the_page_and_closes_it(monkeypatch):
    displayed = []
    monkeypatch.setattr(page, "display", displayed.append)
    figure = with_alt(page.pyplot.figure(), "an empty figure")
    page.show(figure)
    assert 'alt="an empty figure"' in displayed[0].data
    assert not page.pyplot.fignum_exists(figure.number)
