"""Requests, sectors and banks as SVG, what-if pictures, and details in the annotated source."""

import re

import numpy as np
import pytest
from numba import cuda, float32

from virtual_gpu import trace
from virtual_gpu.counts.counters import WarpAccess
from virtual_gpu.pictures import (
    draw_banks,
    draw_request,
    draw_requests,
    draw_sectors,
    what_if_padding,
    what_if_stride,
)
from virtual_gpu.pictures.line_details import MOST_LINES
from virtual_gpu.pictures.svg import (
    BLUE,
    KEEP_KEYS,
    ORANGE,
    PALE,
    Picture,
    frames,
    stills,
    svg,
    text,
)
from virtual_gpu.tests.filmed import FILMS

LANES = np.arange(32)
SHAPE = re.compile(r'<path d="([^"]*)"[^>]*fill="([^"]*)"')


def boxes(picture: Picture, colour: str) -> int:
    """Return the number of rectangles of this colour in the paths of a picture."""
    return sum(d.count("M") for d, fill in SHAPE.findall(picture.body) if fill == colour)


def access(addresses, space="global", itemsize=4) -> WarpAccess:
    return WarpAccess("x", space, "load", itemsize, tuple(addresses))


# ---- one request word by word ----


def test_a_request_shows_used_words_and_what_comes_with_them():
    picture = draw_request(LANES * 8, "every other word")
    assert (boxes(picture, BLUE), boxes(picture, PALE)) == (32, 32)
    assert str(picture) == (
        "every other word: 32 lanes touch 8 sectors in 2 cache lines and use 32 of 64 words "
        "that come."
    )


def test_of_many_cache_lines_four_are_drawn():
    picture = draw_request(LANES * 128)
    assert boxes(picture, BLUE) == 4
    assert "… and 28 more cache lines" in picture.body


def test_lanes_that_are_away_ask_for_nothing():
    picture = draw_request([None] * 31 + [64])
    assert "1 lane touch" in str(picture)
    assert ">lane 31<" in picture.body


def test_requests_stand_below_each_other_with_their_titles():
    picture = draw_requests({"together": LANES * 4, "apart": LANES * 128})
    assert picture.body.index(">together<") < picture.body.index(">apart<")


def test_a_wide_lane_uses_all_its_words():
    assert boxes(draw_request(LANES * 16, width=16), BLUE) == 128


# ---- lanes by sectors, lanes by banks ----


def test_sectors_show_used_against_moved_bytes():
    picture = draw_sectors(access(LANES * 64))
    assert "32 sectors, 128 of 1,024 bytes used" in str(picture)
    assert boxes(picture, BLUE) == 32
    assert boxes(picture, PALE) == 32  # the seven words beside each, in one


def test_lanes_that_share_an_address_use_it_once():
    assert "1 sector, 4 of 32 bytes used" in str(draw_sectors(access([128] * 32)))


def test_banks_show_conflicts_and_which_words_they_serve():
    picture = draw_banks(access(LANES % 4 * 128 + LANES // 4 * 4, "shared"))
    assert (boxes(picture, BLUE), boxes(picture, ORANGE)) == (0, 32)
    assert "4 wavefronts. Bank 0 serves 4 words in turn: 0, 32, 64, 96" in str(picture)


def test_one_word_for_all_lanes_is_no_conflict():
    picture = draw_banks(access([0] * 32, "shared"))
    assert boxes(picture, ORANGE) == 0
    assert "1 wavefront. No bank is asked for two words at once." in str(picture)


@pytest.mark.parametrize(
    "itemsize, addresses, said",
    [
        (8, LANES * 8, "2 wavefronts (half warps in turn). No bank"),
        (16, LANES * 16, "4 wavefronts (quarter warps in turn). No bank"),
        (16, LANES // 2 * 16, "2 wavefronts (half warps in turn). No bank"),
        (8, LANES * 128, "32 wavefronts (half warps in turn). Bank 0 serves 16 words"),
    ],
)
def test_wide_lanes_are_served_by_parts_of_a_warp(itemsize, addresses, said):
    assert said in str(draw_banks(access(addresses, "shared", itemsize)))


def test_memory_without_banks_or_sectors_is_refused():
    with pytest.raises(ValueError, match="has no banks"):
        draw_banks(access(LANES))
    with pytest.raises(ValueError, match="has no sectors"):
        draw_sectors(access(LANES, "shared"))


# ---- what if ----


def test_the_stride_decides_about_sectors():
    text = str(what_if_stride())
    assert "1 word apart: 4 sectors in 1 cache line, 100% is used" in text
    assert "32 words apart: 32 sectors in 32 cache lines, 12.5% is used" in text


def test_pictures_of_all_strides_are_alike_in_height_and_show_cache_lines_that_nobody_reads():
    drawings = what_if_stride((1, 2, 32)).body.split("<svg")[2::2]  # after the legend, with curves
    assert len({re.search(r'viewBox="([^"]+)"', one)[1] for one in drawings}) == 1
    assert [one.count("not brought") for one in drawings] == [3, 2, 0]


def test_the_curve_of_the_sectors_is_blue_up_to_the_stride_that_is_shown():
    curves = what_if_stride((1, 4, 8, 32)).body.split("<svg")[3::2]
    lines = [re.findall(r'd="M([^"]*)"[^>]*stroke-width="2"', one) for one in curves]
    assert [[line.count("L") for line in each] for each in lines] == [[3, n] for n in range(4)]
    assert all(grey.startswith(blue) for grey, blue in lines)
    heights = [float(point.split()[1]) for point in lines[0][0].split("L")]
    assert heights[0] > heights[1] > heights[2] == heights[3]
    assert "Marked: 8 apart: 32 sectors" in curves[2]


def test_a_request_can_have_the_names_of_its_parts():
    plain, named = (draw_request(LANES * 4, named=named).body for named in (False, True))
    names = ("word: 4 bytes", "sector: 8 words", "cache line: 4 sectors")
    assert [(name in plain, name in named) for name in names] == 3 * [(False, True)]


def test_the_pitch_of_a_tile_decides_about_banks():
    text = str(what_if_padding((32, 33, 36)))
    assert text.endswith(
        "32 words in a row: 32 wavefronts; 33 words in a row: 1 wavefront; "
        "36 words in a row: 4 wavefronts."
    )


def test_a_what_if_plays_and_slides_in_a_browser(browser):
    opened = browser.open(what_if_stride()._repr_html_(), width=420)
    heights = opened.page.evaluate("document.querySelector('.picture').clientHeight")
    opened.page.fill("input[type=range]", "12")
    assert opened.text("output") == "32 words apart"
    assert "32 sectors in 32 cache lines" in opened.text(".frame.on")
    assert opened.page.evaluate("document.querySelector('.picture').clientHeight") == heights
    opened.page.click("button")
    assert opened.text("button") == "Pause"
    opened.page.wait_for_function("document.querySelector('input').value != 12")
    opened.page.click("button")
    assert opened.text("button") == "Play"
    assert opened.messages + opened.asked == []


def test_jupyterlab_leaves_the_keys_to_a_slider():
    page = frames(["one", "two"], ["a", "b"], "what")
    focusable = re.findall(r"<(?:input|button)\b[^>]*>", page)
    assert len(focusable) == 2
    assert all(KEEP_KEYS in one for one in focusable)


def test_playing_ends_at_the_last_picture_and_begins_anew(browser):
    page = browser.open(what_if_stride()._repr_html_()).page
    slider, button = page.locator("input[type=range]"), page.locator("button")
    last = slider.get_attribute("max")
    slider.fill(str(int(last) - 1))
    button.click()
    page.wait_for_function("document.querySelector('button').textContent == 'Play'")
    assert slider.input_value() == last
    button.click()
    assert (slider.input_value(), button.text_content()) == ("0", "Pause")


# ---- where styles are taken away ----


def sanitised(picture: Picture) -> str:
    page = picture._repr_html_()
    for tag in ("script", "style", "svg"):
        page = re.sub(rf"<{tag}\b.*?</{tag}>", "", page, flags=re.DOTALL)
    return page


def test_without_styles_and_svg_words_and_images_stay(browser):
    first = svg(100, 20, text(0, 15, 'a "first" & <one>'), "the first")
    picture = Picture(frames([first, svg(50, 20, "", "a later one")], ["1", "2"], "n"), "Words.")
    opened = browser.open(sanitised(picture))
    opened.page.wait_for_function("Array.from(document.images).every(one => one.complete)")
    images = opened.page.evaluate("Array.from(document.images).map(i => [i.alt, i.naturalWidth])")
    assert images == [["the first", 100]]
    assert opened.text("body") == "Words."
    assert opened.asked == []


def test_of_frames_that_start_later_that_one_stays():
    drawings = [svg(9, 9, "", f"number {at}") for at in range(3)]
    images = stills(frames(drawings, ["a", "b", "c"], "n", start=1))
    assert re.findall(r'alt="([^"]*)"', images) == ["number 1"]


def test_with_styles_the_images_are_hidden(browser):
    opened = browser.open(draw_sectors(access(LANES * 4))._repr_html_(), width=420)
    assert opened.page.locator("svg:visible").count() == 2
    assert opened.page.locator("img:visible").count() == 0
    assert opened.overflow <= 0


# ---- the annotated source ----


def test_a_counted_line_opens_without_scripts(browser):
    traced = FILMS["naive_strided"]()
    opened = browser.open(traced._repr_html_(), java_script_enabled=False)
    details = opened.page.locator("details")
    assert details.count() == 2
    assert not opened.page.locator("details svg").first.is_visible()
    opened.page.locator("summary").first.click()
    detail = details.first.inner_text()
    assert "load of a, whole launch: 256 requests moved 8,192 sectors, 262,144 bytes" in detail
    assert "32,768 used, 88% wasted as far as one request knows." in detail
    assert opened.page.locator("details svg").first.is_visible()


@cuda.jit
def one_of_each(x):
    tile = cuda.shared.array(1, float32)
    tile[0] = x[0]
    cuda.atomic.add(x, 0, 1)


def test_one_is_no_plural():
    page = trace(one_of_each, 1, 1, np.zeros(1, np.float32))._repr_html_()
    assert "load of x, whole launch: 1 request moved 1 sector, 32 bytes; 4 used" in page
    assert "store of tile, whole launch: 1 request took 1 wavefront, 1 per request." in page
    assert "atomic of x, whole launch: 1 operation of threads." in page


def test_the_table_opens_its_costliest_lines_and_stays_small():
    for name in ("tiled", "reduce1", "warp_sum"):
        made = FILMS[name]()._repr_html_()
        assert 1 <= made.count("<details>") <= MOST_LINES
        assert len(made) < 40_000


@pytest.mark.parametrize("name", ["tiled", "reduce1", "naive_strided"])
def test_the_table_is_readable_on_a_phone(browser, name):
    opened = browser.open(FILMS[name]()._repr_html_(), width=420)
    opened.page.locator("summary").first.click()
    cells = opened.page.locator(".vgpu td:visible, .vgpu details svg:visible")
    edges = cells.evaluate_all("all => all.map(one => one.getBoundingClientRect().right)")
    assert max(edges) <= 420
    assert opened.page.evaluate(
        "document.querySelector('.vgpu-scroll').scrollWidth <= "
        "document.querySelector('.vgpu-scroll').clientWidth"
    )
    assert opened.overflow <= 0


# ---- the table of a traced source ----


@cuda.jit
def one_line(x):
    x[cuda.grid(1)] = float32(1)


@cuda.jit
def one_long_line(x):
    x[cuda.grid(1)] = float32(1) if cuda.threadIdx.x + cuda.blockIdx.x < x.size - 1 else float32(2)


def test_a_table_has_the_largest_letters_that_fit_a_page(browser):
    block, x = 32, np.zeros(32, np.float32)
    small = trace(one_line, 1, block, x)._repr_html_()
    wide = trace(one_long_line, 1, block, x)._repr_html_()
    sizes = []
    for page in (small, wide):
        opened = browser.open(f'<div style="width: 736px">{page}</div>').page
        size = "getComputedStyle(document.querySelector('.vgpu td.code')).fontSize"
        sizes.append(opened.evaluate(size))
        if page is small:
            assert opened.evaluate("document.querySelector('.vgpu').clientWidth") <= 736
    assert sizes == ["13px", "10.5px"]
