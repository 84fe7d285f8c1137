"""Curves and sliders of occupancy, and the page without a running kernel."""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

import gemm_kernels
from utils.errors import CourseError
from utils.lessons import occupancy_of_fastest, run_notebooks
from utils.lessons.lesson_08 import occupancy_figures
from utils.lessons.lesson_08.occupancy_figures import (
    controls,
    curves,
    occupancy_against_speed,
    sliders,
)
from utils.machine import devices
from utils.machine.occupancy import known

H200 = (9, 0)


@pytest.mark.parametrize("capability", known(), ids=str)
def test_the_curves_end_at_the_limits_of_the_capability(capability):
    figure = curves(capability, threads=256, registers=63, shared_bytes=1000)
    limits = known()[capability]
    threads, registers, shared = figure.axes
    assert threads.get_xlim() == (0, limits.threads_per_block)
    assert registers.get_xlim() == (0, limits.registers_per_thread)
    assert shared.get_xlim() == (0, limits.shared_kib_per_block_optin)
    assert all(axes.get_ylim() == (0, limits.warps_per_sm) for axes in figure.axes)


@pytest.mark.parametrize(
    ("last", "ticks"),
    [
        (1024, [0, 256, 512, 768, 1024]),
        (255, [0, 64, 128, 192, 255]),
        (227, [0, 64, 128, 192, 227]),
        (99, [0, 32, 64, 99]),
    ],
)
def test_ticks_are_powers_of_two_that_leave_room_for_the_end(last, ticks):
    assert occupancy_figures._ticks(last) == ticks


def title_of(figure):
    return figure.texts[0].get_text().replace("\n", " ")


def test_the_dot_is_the_kernel_and_the_title_names_what_limits_it():
    figure = curves(H200, threads=256, registers=40)
    dots = [line for line in figure.axes[0].get_lines() if line.get_marker() == "o"]
    assert [(dot.get_xdata()[0], dot.get_ydata()[0]) for dot in dots] == [(256, 48)]
    title = "6 blocks per SM, 48 of 64 warps (75 %), limited by registers"
    assert title_of(figure) == title
    kernel = "256 threads, 40 registers, 0 bytes shared"
    assert figure.texts[1].get_text().startswith(kernel)
    assert f"{kernel}: {title}" in figure.alt_text


def test_a_kernel_that_fits_no_sm_is_called_so():
    figure = curves(H200, threads=1024, registers=200)
    assert title_of(figure).endswith("No block fits an SM, for want of registers")


def test_a_change_that_is_short_has_its_ground_too():
    # Up to 32 registers there are 64 warps, limited by warp slots; beyond, registers limit them.
    (bars,) = curves(H200, threads=256, registers=40).axes[1].containers
    heights = {round(bar.get_x()): bar.get_height() for bar in bars}
    assert (heights[1], heights[33]) == (64, 48)
    assert sum(bar.get_width() for bar in bars) == pytest.approx(255 - 1)


def test_the_fastest_step_is_marked_with_its_occupancy():
    h200 = devices.find("H200")
    figure = occupancy_against_speed(gemm_kernels.LADDER, "4096", h200, ["naive", "autotuned"])
    fastest = occupancy_of_fastest(gemm_kernels.LADDER, "4096")
    assert {text.get_text() for text in figure.axes[0].texts} >= {"naive", "autotuned"}
    assert f"autotuned, has {fastest:.0f} % occupancy" in figure.alt_text


def test_a_step_without_a_record_is_not_marked():
    with pytest.raises(CourseError, match="There is no record of best at 4096: choose from naive"):
        occupancy_against_speed(gemm_kernels.LADDER, "4096", devices.find("H200"), ["best"])


@pytest.fixture
def undrawn(monkeypatch):
    """Replace each picture by its alt text, because drawing one takes half a second."""

    def as_html(figure):
        return f'<img alt="{figure.alt_text}">'

    monkeypatch.setattr(occupancy_figures.page, "as_html", as_html)


def picture_says(box):
    return re.search(r'alt="([^"]*)"', box.children[-1].value)[1]


def test_a_slider_draws_the_curves_anew(undrawn):
    box = controls(H200, threads=256, registers=32, shared_bytes=0)
    _, threads, registers, shared, _ = box.children
    assert "8 blocks per SM" in picture_says(box)
    registers.value = 41
    assert "5 blocks per SM" in picture_says(box)
    threads.value = 128
    shared.value = 200_000
    assert "128 threads, 41 registers, 195.3 KiB shared: 1 block per SM" in picture_says(box)


def test_another_capability_moves_the_sliders_into_its_limits(undrawn):
    box = controls(H200, threads=256, registers=255, shared_bytes=200_000)
    box.children[0].value = (2, 0)
    assert (box.children[2].value, box.children[3].value) == (63, 48 * 1024)
    assert "compute capability 2.0" in picture_says(box)


def test_impossible_values_are_refused_with_a_sentence():
    with pytest.raises(CourseError, match=r"registers=300, and compute capability 9\.0 takes"):
        curves(H200, threads=256, registers=300)


@pytest.mark.slow
def test_a_picture_stands_beside_the_sliders(undrawn, monkeypatch):
    shown = []
    monkeypatch.setattr(occupancy_figures, "display", lambda data, raw: shown.append((data, raw)))
    sliders(H200, beside=[curves(H200, 256, count) for count in (32, 255)])
    sliders(H200)
    for (data, raw), pictures in zip(shown, (2, 1), strict=True):
        assert raw
        assert "application/vnd.jupyter.widget-view+json" in data
        assert data["text/html"].count("<img") == pictures


def test_a_page_shows_what_stands_beside_a_widget(tmp_path):
    show = "display({**IntSlider()._repr_mimebundle_(), 'text/html': 'a picture'}, raw=True)"
    source = f"from ipywidgets import IntSlider\n{show}"
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    notebook = new_notebook(cells=[new_code_cell(source)], metadata=metadata)
    nbformat.write(notebook, tmp_path / "widget.ipynb")
    run = run_notebooks.run(tmp_path / "widget.ipynb", tmp_path, run_notebooks.RunOptions(60))
    assert run.failure is None
    page = run.page.read_text(encoding="utf-8")
    assert "a picture" in page
    assert "widget-view" not in page
