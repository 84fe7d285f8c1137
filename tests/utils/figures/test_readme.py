"""Tests that the results on pages come from the records, and that the pages' links exist."""

import re
import statistics

import pytest

from utils.figures import plots, three_machines, traced_kernel
from utils.figures.readme import (
    GPU_STEPS,
    PAGES,
    README,
    STAIRCASE,
    calls,
    short_results,
    with_results,
)
from utils.figures.results_page import (
    FIGURES,
    GROUNDS,
    ON_CPU,
    ON_GPU,
    PAGE,
    figures,
    results,
)
from utils.machine import devices
from utils.machine.devices import REFERENCE
from utils.measuring import as_called, records
from utils.paths import ROOT


@pytest.mark.parametrize("page,sections", PAGES, ids=["readme", "results", "virtual_gpu"])
def test_what_a_page_says_of_results_is_what_the_records_give(page, sections):
    text = page.read_text(encoding="utf-8")
    assert with_results(text, sections) == text, "run python -m utils.figures.readme"


def test_a_figure_that_was_changed_by_hand_would_be_found():
    text = README.read_text(encoding="utf-8")
    for wrong in (text.replace("| 7.5% |", "| 8.5% |"), text.replace("<!-- short ", "<!-- ")):
        assert wrong != text
        assert with_results(wrong, {"short results": short_results}) != wrong


def test_the_table_has_every_recorded_step():
    steps = {
        step
        for ladder, _, _ in (*ON_GPU, *ON_CPU)
        for device in records.recorded_devices(ladder)
        for step in records.measured(device, ladder)["step"]
    }
    assert steps
    tables = results()
    assert all(f"`{step}`" in tables for step in steps)


def test_the_short_table_has_each_of_its_rungs_and_one_thread_of_each_cpu():
    steps = re.findall(r"^\| `(\w+)`", short_results(), re.MULTILINE)
    cpus = records.recorded_devices("cpu")
    assert [step for step in steps if step in GPU_STEPS] == list(GPU_STEPS)
    assert len(steps) == len(GPU_STEPS) + len(cpus)


def test_products_of_plain_rows_have_a_mean_of_their_own():
    rows = [row for row in as_called.read(as_called.file_of(REFERENCE)) if row.function == "sgemm"]
    plain = [row.ratio for row in rows if row.layout == "rows, rows"]
    others = [row.ratio for row in rows if row.layout != "rows, rows"]
    table = calls()
    for kind, ratios in (("both inputs in rows", plain), ("other layouts", others)):
        mean = statistics.geometric_mean(ratios)
        assert f"| `sgemm`, {kind} | {len(ratios)} | {mean:.2f} |" in table


@pytest.mark.parametrize("page", [README, PAGE, ROOT / "CONTRIBUTING.md", ROOT / "PLATFORMS.md"])
def test_every_link_of_a_page_leads_to_a_file(page):
    assert [link for link in links(page) if not (page.parent / link).exists()] == []


def test_every_plot_is_shown_on_light_and_on_dark_ground():
    shown = {link.rpartition("/")[2] for link in links(PAGE)}
    assert shown >= {f"{name}_{ground}.svg" for name in figures() for ground in GROUNDS}
    pictures = [link.rpartition("/")[2] for link in links(README) if link.endswith(".svg")]
    names = (traced_kernel.NAME, STAIRCASE)
    assert pictures == [f"{name}_{ground}.svg" for name in names for ground in reversed(GROUNDS)]


def links(page):
    """Return the targets of a page's links and pictures, without links to its own headings."""
    pattern = r'\]\(([^)#]+)\)|src(?:set)?="([^"]+)"'
    targets = re.findall(pattern, page.read_text(encoding="utf-8"))
    return [link or picture for link, picture in targets]


def test_the_pictures_show_the_records_on_light_and_on_dark_ground(tmp_path):
    for name, figure in figures().items():
        for ground in GROUNDS:
            file = f"{name}_{ground}.svg"
            plots.save(figure, tmp_path / file, ground)
            drawn = (tmp_path / file).read_text(encoding="utf-8")
            committed = (FIGURES / file).read_text(encoding="utf-8")
            assert _words(drawn) == _words(committed), "run python -m utils.figures.readme"


@pytest.mark.parametrize("ground", GROUNDS)
def test_the_picture_of_a_traced_kernel_is_what_the_virtual_gpu_finds(ground):
    drawn = traced_kernel.svg_text(ground)
    committed = (FIGURES / f"{traced_kernel.NAME}_{ground}.svg").read_text(encoding="utf-8")
    assert drawn == committed, "run python -m utils.figures.readme"
    traced = traced_kernel.traced()
    assert [finding.kind for finding in traced.findings] == ["race"]
    words = " ".join(re.findall(r"<text[^>]*>([^<]*)", drawn))
    for note in (*traced.findings, *traced.hints):
        assert str(note) in words
    assert f"{traced.totals['shared_load_wavefronts']:,}" in words


def test_the_picture_of_three_machines_has_the_data_sheet_of_the_reference():
    committed = (FIGURES / f"{three_machines.NAME}.svg").read_text(encoding="utf-8")
    assert three_machines.svg_text() == committed, "run python -m utils.figures.readme"
    sheet = devices.find(REFERENCE)
    assert f"one of {sheet.sms} on" in committed
    assert f"{2 * 4096**3 / sheet.peak_gflops / 1e6:.2f} ms" in committed


def _words(svg):
    """Return the texts of a picture; widths of letters depend on the machine that drew it."""
    return re.findall(r'aria-label="[^"]*"|<text[^>]*>([^<]*)', svg)
