"""Movies in a real browser: they play, count as the virtual GPU does, and stay readable."""

import re
from functools import cache

import numpy as np
import pytest
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook, new_output

from gemm_kernels import granularity
from virtual_gpu import VirtualGpuError, trace
from virtual_gpu.pictures import movie, once_per_page
from virtual_gpu.pictures.film import LAST_STEPS, MOST_STEPS, film_of
from virtual_gpu.pictures.stage import poster_of
from virtual_gpu.pictures.svg import KEEP_KEYS
from virtual_gpu.tests.filmed import FILMS, product, tiled

pytestmark = pytest.mark.slow  # each plays a film in a browser

MOST_BYTES = 300 * 1024
# What JupyterLab 4.6 leaves of an output in a notebook that is not trusted.
NOT_KEPT = ("script", "style", "svg")
COUNTED = re.compile(
    r"so far: ([\d,]+) requests? and ([\d,]+) sectors? of global memory, "
    r"([\d,]+) requests? and ([\d,]+) wavefronts? of shared memory, ([\d,]+) atomic"
)

filmed = cache(lambda name: FILMS[name]())


@cache
def shown(*names: str, focus: str = "reads") -> str:
    return movie(*map(filmed, names), labels=names, title="A title", focus=focus)._repr_html_()


TILING = ("naive", "tiled")


def step(opened) -> tuple[int, int]:
    """Return the number of the step that is shown, and the number of steps."""
    return tuple(map(int, re.match(r"Step (\d+) of (\d+)", opened.text(".vm-say")).groups()))


def press(opened, *keys: str) -> None:
    opened.page.focus(".vm")
    for key in keys:
        opened.page.keyboard.press(key)


# ---- the player ----


def test_it_plays_pauses_and_stops_at_the_end(browser):
    opened = browser.open(shown(*TILING))
    assert step(opened) == (1, 9)  # not the step that is drawn without scripts
    opened.page.select_option("[data-set=speed]", "4")
    opened.page.click(".vm-play")
    assert opened.page.get_attribute(".vm-play", "aria-label") == "pause"
    opened.page.wait_for_function("document.querySelector('input[type=range]').value > 5")
    opened.page.click(".vm-play")
    paused = step(opened)
    assert paused[0] > 6
    assert opened.page.get_attribute(".vm-play", "aria-label") == "play"
    opened.page.click(".vm-play")
    opened.page.wait_for_selector(".vm-play[aria-label=play]")
    assert step(opened) == (9, 9)


def test_it_opens_at_the_step_asked_for_in_each_film(browser):
    films = movie(*map(filmed, TILING), labels=TILING, title="A title", opens=3)
    opened = browser.open(films._repr_html_())
    assert step(opened)[0] == 3
    opened.page.click(".vm-tab >> nth=1")
    assert step(opened)[0] == 3
    with pytest.raises(VirtualGpuError, match="opens=99; it must be a step of each film"):
        movie(*map(filmed, TILING), opens=99)


def test_buttons_slider_and_strip_go_to_a_step(browser):
    opened = browser.open(shown(*TILING))
    opened.page.click("[data-do=next]")
    assert step(opened) == (2, 9)
    opened.page.click("[data-do=first]")
    opened.page.click("[data-do=back]")
    assert step(opened) == (1, 9)
    opened.page.fill("input[type=range]", "3")
    assert step(opened) == (4, 9)
    box = opened.page.locator(".vm-tab .vm-strip").first.bounding_box()
    slot = box["width"] * 50 / 600
    opened.page.mouse.click(box["x"] + 7.5 * slot, box["y"] + box["height"] / 2)
    assert step(opened) == (8, 9)
    opened.page.click(".vm-tab >> nth=1")
    assert step(opened) == (1, 17)
    assert "reads a (global), writes sa (shared)" in opened.text(".vm-say")


def test_jupyterlab_leaves_the_keys_to_a_movie_and_its_parts(browser):
    page = browser.open(shown(*TILING)).page
    page.click(".vm-code button")  # opens details, which may have buttons of their own
    takes_keys = page.locator(".vm, .vm button, .vm input, .vm select, .vm [tabindex='0']")
    keeping = page.locator(f".vm[{KEEP_KEYS}], .vm [{KEEP_KEYS}]")
    assert takes_keys.count() == keeping.count() > 10


def test_keys_step_and_jump_and_do_not_reach_the_page(browser):
    opened = browser.open(shown(*TILING))
    opened.page.evaluate(
        "window.heard = 0; document.addEventListener('keydown', () => window.heard++)"
    )
    press(opened, "Home", "ArrowRight", "ArrowRight", "ArrowLeft")
    assert step(opened) == (2, 9)
    press(opened, "End")
    assert step(opened) == (9, 9)
    press(opened, "Home", " ")
    assert opened.page.get_attribute(".vm-play", "aria-label") == "pause"
    press(opened, " ")
    assert opened.page.get_attribute(".vm-play", "aria-label") == "play"
    assert opened.page.evaluate("window.heard") == 0
    press(opened, "x")
    assert opened.page.evaluate("window.heard") == 1


def test_a_screen_reader_hears_the_step_and_the_parts_have_names(browser):
    opened = browser.open(shown(*TILING))
    assert opened.page.get_attribute(".vm-say", "role") == "status"
    assert opened.page.get_attribute(".vm-say", "aria-live") == "polite"
    opened.page.click(".vm-play")
    assert opened.page.get_attribute(".vm-say", "aria-live") == "off"  # not each step of a film
    opened.page.click(".vm-play")
    slider = opened.page.get_attribute("input[type=range]", "aria-valuetext")
    assert slider == opened.text(".vm-say")
    unnamed = opened.page.evaluate(
        "Array.from(document.querySelectorAll('.vm button, .vm input, .vm svg')).filter(n => "
        "!n.closest('[aria-hidden=true], button[aria-label]') && !n.closest('label') && "
        "!n.getAttribute('aria-label') && !n.textContent.trim()).length"
    )
    assert unnamed == 0


# ---- what it counts ----


def counts_of_lines(opened) -> dict[int, list[int]]:
    counts = {}
    for line in opened.page.query_selector_all(".vm-film:not([hidden]) .vm-code button"):
        number = int(line.query_selector(".no").inner_text())
        figures = COUNTED.match(line.get_attribute("title")).groups()
        counts[number] = [int(figure.replace(",", "")) for figure in figures]
    return counts


def counts_of_trace(trace) -> dict[int, list[int]]:
    return {
        site.line: [
            c.global_load_requests + c.global_store_requests,
            c.global_load_sectors + c.global_store_sectors,
            c.shared_load_requests + c.shared_store_requests,
            c.shared_load_wavefronts + c.shared_store_wavefronts,
            c.atomics,
        ]
        for site, c in trace.counts.items()
        if c.warps or c.atomics
    }


@pytest.mark.parametrize("name", FILMS)
def test_at_its_end_every_line_has_the_counts_of_the_trace(browser, name):
    opened = browser.open(shown(name))
    press(opened, "End")
    assert counts_of_lines(opened) == counts_of_trace(filmed(name))
    assert opened.messages == []


def test_one_warp_alone_is_counted_where_one_is_chosen(browser):
    opened = browser.open(shown("naive_strided", focus="sectors"))
    press(opened, "End")
    (line,) = [c for c in counts_of_lines(opened).values() if c[0] == 64]
    assert line == [64, 32 * 33, 0, 0, 0]
    opened.page.select_option("[data-set=warp]", "")
    assert opened.text("[data-stat=sectors] b") == "8,704"
    assert opened.text("[data-stat=wasted] b") == f"{8704 * 32 - 34816:,}"


def test_both_kernels_are_compared_on_one_scale(browser):
    opened = browser.open(shown(*TILING))
    heights = opened.page.evaluate(
        "Array.from(document.querySelectorAll('.vm-strip')).map(strip => Math.max("
        "...Array.from(strip.querySelectorAll('.used')).map(bar => +bar.getAttribute('height'))))"
    )
    assert heights == [26, 13]
    assert "of 256 · tiled: 64" in opened.text("[data-stat=global_reads]")


# ---- what it shows ----


def test_pointing_at_a_square_follows_its_thread(browser):
    opened = browser.open(shown(*TILING))
    box = opened.page.locator(".vm-stage .touch").first.bounding_box()
    opened.page.mouse.move(box["x"] + box["width"] * 2.5 / 8, box["y"] + box["height"] * 1.5 / 8)
    told = "Thread (2, 1), warp 0, lane 6: reads a[1, 0], reads b[0, 2]."
    assert opened.text(".vm-follow") == told
    assert opened.page.locator(".ring.in").count() == 3
    opened.page.mouse.move(0, 0)
    assert opened.page.text_content(".vm-follow") == ""
    opened.page.fill("[data-set=thread]", "6")
    opened.page.keyboard.press("Enter")
    assert opened.text(".vm-follow") == told


def test_a_thread_that_stores_two_elements_is_followed_from_both(browser):
    kernel = granularity.build(GRAIN=2, TILE=8)
    wide = trace(
        kernel, 1, (8, 8), np.ones((8, 8), np.float32), *np.ones((2, 8, 16), np.float32), record=0
    )
    opened = browser.open(movie(wide, title="A title")._repr_html_())
    box = opened.page.locator(".vm-stage .touch").first.bounding_box()
    for column in (1.5, 9.5):
        opened.page.mouse.move(box["x"] + box["width"] * column / 16, box["y"] + box["height"] / 4)
        assert opened.text(".vm-follow").startswith("Thread (1, 2)")


def test_a_clicked_line_shows_lanes_by_sectors_and_its_waste(browser):
    opened = browser.open(shown("naive_strided", focus="sectors"))
    opened.page.click(".vm-code button >> nth=0")
    detail = opened.text(".vm-detail")
    assert "reads a: 256 requests, 8,192 sectors moved; 32,768 of 262,144 bytes used" in detail
    assert "88% wasted" in detail
    assert opened.page.locator(".vm-detail svg").count() == 2


def test_conflicts_are_marked_bank_by_bank(browser):
    opened = browser.open(shown("reduce1", focus="banks"))
    costliest = poster_of(film_of(filmed("reduce1"), "reduce1", "banks"), "banks")
    opened.page.fill("input[type=range]", str(costliest))
    assert "2 wavefronts: 2 words of one bank" in opened.text(".vm-memory")
    assert opened.page.locator("[data-array] .sector").count() == 12
    assert opened.page.locator('.vm-memory rect[style*="--waste"]').count() == 3 * 8


def test_lanes_of_8_bytes_are_served_by_half_warps(browser):
    opened = browser.open(shown("float64", focus="banks"))
    assert "8 bytes a lane: half warps in turn" in opened.text(".vm-memory")


def test_values_stand_in_the_cells_and_add_up(browser):
    opened = browser.open(shown("reduce2"))
    press(opened, "End")
    cells = opened.page.locator("[data-array] .count").all_text_contents()
    assert cells.count("64") == 2  # shared[0] and partials[0]


def test_a_shuffle_is_drawn_as_arrows_from_lane_to_lane(browser):
    opened = browser.open(shown("warp_sum"))
    press(opened, "Home", "ArrowRight")
    assert "Shuffle." in opened.text(".vm-memory")
    curves = opened.page.locator('.vm-memory path[fill="none"]').evaluate_all(
        "all => all.map(path => path.getAttribute('d').match(/^M([\\d.]+).* ([\\d.]+) [\\d.]+$/)"
        ".slice(1).map(x => Math.floor((x - 8) / 12.125)))"
    )
    assert curves == [[lane + 16 if lane < 16 else lane, lane] for lane in range(32)]
    opened.page.fill("[data-set=thread]", "3")
    opened.page.keyboard.press("Enter")
    assert "takes a value from lane 19" in opened.text(".vm-follow")


def test_threads_with_nothing_to_do_are_shown(browser):
    opened = browser.open(shown("reduce2"))
    press(opened, "Home", "ArrowRight", "ArrowRight")
    assert "32 of 64 threads take part" in opened.text(".vm-threads")
    assert opened.page.locator(".vm-threads .idle").count() == 32


def test_a_step_redraws_only_the_cells_that_it_changes(browser):
    opened = browser.open(shown("tiled of 32"))
    press(opened, "Home", *["ArrowRight"] * 8)
    opened.page.evaluate(
        "window.seen = new Set(); new MutationObserver(all => all.forEach(one => "
        "window.seen.add(one.target))).observe(document.querySelector('.vm-stage'), "
        "{subtree: true, attributes: true, attributeFilter: ['style', 'fill-opacity']})"
    )
    press(opened, "ArrowRight")
    changed = opened.page.evaluate("window.seen.size")
    cells = opened.page.locator(".cells rect").count()
    assert cells == 5 * 1024
    assert 64 <= changed < 400


def test_rectangular_matrices_meet_at_their_edges(browser):
    opened = browser.open(shown("tiled with edges"))
    boxes = dict(
        opened.page.locator("[data-array]").evaluate_all(
            "all => all.map(g => { const b = g.querySelector('.field').getBBox(); "
            "return [g.querySelector('text').textContent.split(' ')[0], "
            "[b.x, b.y, b.width, b.height]]; })"
        )
    )
    a, b, c = boxes["a"], boxes["b"], boxes["c"]
    assert (a[1], a[3]) == (c[1], c[3])
    assert (b[0], b[2]) == (c[0], c[2])
    assert a[2] / a[3] == pytest.approx(10 / 3, rel=1e-3)


def test_of_large_arrays_the_touched_part_is_drawn_and_the_rest_named(browser):
    large = product(tiled.build(16), (16, 16), 256, grid=(16, 16))
    film = movie(large)
    opened = browser.open(film._repr_html_())
    remarks = opened.text(".vm-remarks")
    assert "Of b only rows 0 to 47 and 240 to 255, columns 0 to 15 are drawn." in remarks
    assert "201 steps in the middle are left out, and not counted." in remarks
    assert step(opened)[1] == MOST_STEPS + 1
    opened.page.fill("input[type=range]", str(MOST_STEPS - LAST_STEPS))
    assert "201 steps left out" in opened.text(".vm-memory")
    press(opened, "End")
    assert opened.messages == []


# ---- where it stands ----


@pytest.mark.parametrize(
    "page, system, dark",
    [
        ("", "light", False),
        ("", "dark", True),
        ('data-theme="light"', "dark", False),  # Sphinx
        ('data-theme="dark"', "light", True),
        ('data-jp-theme-light="true"', "dark", False),  # JupyterLab
        ('data-jp-theme-light="false"', "light", True),
        ('theme="dark"', "light", True),  # Colab
    ],
)
def test_the_pages_theme_beats_the_systems(browser, page, system, dark):
    opened = browser.open(shown(*TILING), html=page, color_scheme=system)
    ground = opened.page.evaluate("getComputedStyle(document.querySelector('.vm')).backgroundColor")
    assert (ground == "rgb(21, 26, 33)") == dark


@pytest.mark.parametrize(
    "names, focus",
    [
        (TILING, "reads"),
        (("reduce1", "reduce2"), "banks"),
        (("naive of 32", "naive_strided"), "sectors"),
        (("tiled of 32",), "reads"),
        (("reduce1 of 1024",), "banks"),
        (("warp_sum",), "reads"),
    ],
)
def test_it_fits_a_phone_and_is_small_and_quiet(browser, names, focus):
    fragment = shown(*names, focus=focus)
    assert len(fragment.encode()) <= MOST_BYTES
    opened = browser.open(fragment, width=420)
    press(opened, "ArrowRight", "ArrowRight")
    opened.page.locator(".vm-film:not([hidden]) .vm-code button").first.click()
    assert opened.overflow <= 0
    assert opened.messages == []
    assert opened.asked == []


def test_without_javascript_the_first_picture_stands(browser):
    opened = browser.open(shown(*TILING), java_script_enabled=False)
    assert opened.text(".vm-caption") == "naive: step 5 of 9, source line 43"
    assert opened.page.locator(".vm-stage:visible").count() == 2
    assert opened.page.locator(".vm-stage .cells path").count() >= 6
    assert not opened.page.locator(".vm-bar").is_visible()
    assert not opened.page.locator(".vm-still").is_visible()


def test_what_a_sanitiser_leaves_is_words_and_images(browser):
    sanitised = shown(*TILING)
    for tag in NOT_KEPT:
        sanitised = re.sub(rf"<{tag}\b.*?</{tag}>", "", sanitised, flags=re.DOTALL)
    opened = browser.open(sanitised.replace(" hidden", ""))
    opened.page.wait_for_function("Array.from(document.images).every(one => one.complete)")
    widths = opened.page.evaluate("Array.from(document.images).map(one => one.naturalWidth)")
    assert widths == [420, 420]
    body = opened.text("body")
    assert "tiled: 17 steps; 64 reads from global memory, 256 from shared." in body
    assert "speed" not in body
    assert not opened.page.locator(".vm-live").is_visible()
    assert opened.messages == []
    assert opened.asked == []


def test_printed_it_is_light_and_without_its_buttons(browser):
    opened = browser.open(shown(*TILING), color_scheme="dark")
    opened.page.emulate_media(media="print")
    assert not opened.page.locator(".vm-bar").is_visible()
    assert opened.page.locator(".vm-stage:visible").count() == 1
    ground = opened.page.evaluate("getComputedStyle(document.querySelector('.vm')).backgroundColor")
    assert ground == "rgb(255, 255, 255)"


def test_two_movies_of_a_page_need_one_player(browser):
    both = shown(*TILING) + shown("reduce1", focus="banks")
    page = once_per_page(both)
    assert page.count("function play(root, data)") == 1
    assert len(page) < len(both) - 30_000
    opened = browser.open(page)
    assert opened.page.locator(".vm.live").count() == 2
    opened.page.locator(".vm >> nth=1 >> [data-do=next]").click()
    captions = opened.page.locator(".vm-say").all_text_contents()
    assert [words.split(" ·")[0] for words in captions] == ["Step 1 of 9", "Step 2 of 15"]


def test_a_second_player_on_a_page_leaves_the_work_to_the_first(browser):
    opened = browser.open(shown(*TILING))
    opened.page.evaluate(
        "window.before = Object.keys(window).filter(k => k.startsWith('virtualGpuMovie'))"
        ".map(k => window[k])"
    )
    opened.page.evaluate(
        """fragment => { const place = document.createElement('div');
        place.innerHTML = fragment; document.body.append(place);
        place.querySelectorAll('script').forEach(old => { const made = document.createElement(
        'script'); made.textContent = old.textContent; old.replaceWith(made); }); }""",
        shown("reduce1", focus="banks"),
    )
    assert opened.page.locator(".vm.live").count() == 2
    assert opened.page.evaluate(
        "Object.keys(window).filter(k => k.startsWith('virtualGpuMovie'))"
        ".every((k, n) => window[k] === window.before[n])"
    )
    assert opened.messages == []


def test_the_same_output_twice_on_a_page_lives_twice(browser):
    opened = browser.open(shown("tiled") + shown("tiled"))
    opened.page.locator(".vm >> nth=1 >> [data-do=next]").click()
    captions = opened.page.locator(".vm-say").all_text_contents()
    assert [words.split(" ·")[0] for words in captions] == ["Step 1 of 17", "Step 2 of 17"]
    names = opened.page.locator(".vm-stage pattern").evaluate_all("all => all.map(one => one.id)")
    assert len(set(names)) == 2


def test_a_line_of_the_source_cannot_end_the_script(browser):
    named = movie(filmed("tiled"), labels=("</script><b>",), title="<i>&")
    opened = browser.open(named._repr_html_())
    assert opened.text(".vm-name") == "</script><b>"
    assert opened.text(".vm h3") == "<i>&"
    assert opened.messages == []


def test_on_a_page_of_nbconvert_the_source_keeps_its_indentation(browser):
    cell = new_code_cell("1", outputs=[new_output("display_data", {"text/html": shown(*TILING)})])
    page, _ = HTMLExporter(embed_images=True).from_notebook_node(new_notebook(cells=[cell]))
    (output,) = re.findall(r"<style>\.vm\{.*?</script>\s*<script>.*?</script>", page, re.DOTALL)
    opened = browser.open(output)
    lines = opened.page.locator(".vm-code >> nth=0 >> code").all_text_contents()
    assert lines[1] == "def naive(a, b, c):"
    assert lines[2].replace("\N{NO-BREAK SPACE}", " ") == "    m, k = a.shape"
