"""The chain, the limits and the table of reads of lesson 10."""

import re
from pathlib import Path

import pytest

from gemm_kernels import tiles_alone
from gpu_xray.compile import NO_COMPILER
from labs.exercises.shared_cost.solution import shared_cost
from utils.errors import CourseError
from utils.lessons.lesson_10 import chain, limits, own_reads
from utils.lessons.own_kernels import of_text
from utils.paths import ROOT


@pytest.fixture
def no_compiler(monkeypatch):
    def refuse(*_):
        raise CourseError(NO_COMPILER)

    monkeypatch.setattr("utils.lessons.inner_loops.xray", refuse)


def test_the_chain_needs_no_compiler_and_its_factors_multiply(no_compiler):
    alt = str(chain.draw_chain(tiles_alone.recorded_times()))
    first, *_, last = map(float, re.findall(r"([\d.]+) ms", alt))
    product = 1.0
    for factor in re.findall(r"([\d.]+) times faster", alt):
        product *= float(factor)
    assert product == pytest.approx(first / last, rel=0.01)


def test_what_is_better_is_bold():
    body = chain.draw_chain(tiles_alone.recorded_times()).body
    bold = re.findall(r'font-weight="bold"[^>]*>([^<]+)<', body)
    assert "2.88 instructions" in bold
    assert "1.16 wavefronts" in bold
    assert "sums by turns" in bold
    assert "1.54 wavefronts" not in bold


def test_the_limits_have_a_recorded_bar_for_the_recorded_grains():
    picture = limits.draw_limits(shared_cost)
    assert "grain 4: at most 21.5. grain 8: at most 22.8" in str(picture)
    assert picture.body.count('height="11"') == len(limits.GRAINS) + 3


@pytest.mark.slow
def test_the_experiment_reads_four_words_twice_as_often(compiler, monkeypatch):
    kept = {
        name: of_text(name, Path(ROOT, f"labs/exercises/{name}/solution.py").read_text("utf-8"))
        for name in ("two_tiles", "reads_again")
    }
    monkeypatch.setattr(own_reads, "kept_text", kept.get)
    monkeypatch.setattr(own_reads, "mine", kept.get)
    before, after = own_reads.beside_two_tiles(kept["reads_again"]).rows
    assert before[:4] == ("your two_tiles", "32", "32", "4")
    assert after[:4] == ("your reads_again", "32", "32", "8")
    monkeypatch.setattr(own_reads, "kept_text", {}.get)
    assert len(own_reads.beside_two_tiles(kept["reads_again"]).rows) == 1
