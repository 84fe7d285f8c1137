"""A race of the reader's kernel, on a stand-in for a GPU: kernels run on the virtual GPU."""

from types import SimpleNamespace

import pytest
from numba import cuda

from labs import EXERCISES
from utils import lessons as course
from utils.ladder import kept_functions
from utils.ladder.problems import StepVerdict
from utils.lessons import own_ladder, races
from utils.lessons.cards import Card
from utils.lessons.own_kernels import twins
from utils.machine import devices
from utils.measuring import measure, timing
from utils.reader_folder import LEDGER

SMALL = {"gemm": "64", "reduce": "2^12", "latency": "2^12", "cpu": "64"}
H200 = devices.find("NVIDIA H200")


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv(LEDGER, str(tmp_path / "predictions.json"))


def keep(*names):
    for name in names:
        kept_functions.keep(name, EXERCISES[name].solution)


@pytest.mark.skipif(cuda.is_available(), reason="tests/utils/lessons/test_race_gpu.py runs here")
@pytest.mark.parametrize("name", [one for one in sorted(twins()) if one != "loop_order"])
def test_a_race_times_both_in_turns_and_puts_mine_on_the_curve(name, device):
    keep(name)
    twin = twins()[name]
    # `wide_tiles` takes only whole tiles.
    shape = "128" if name == "wide_tiles" else SMALL[races.ladder_of(twin.step).name]
    shown = course.race(name, shape)
    times, figure = shown.parts
    assert [row[0] for row in times.rows] == [f"your {name}", twin.step.name]
    assert {row[1] for row in times.rows} == {"1 ms"}
    assert device[-14:] == [name, twin.step.name] * timing.REPETITIONS
    assert name in figure.figure.alt_text
    assert figure._repr_html_()


def test_on_the_cpu_the_race_runs_here():
    keep("loop_order")
    (times,) = course.race("loop_order", "64").parts
    assert [row[0] for row in times.rows] == ["your loop_order", "loop_reordered", "NumPy BLAS"]


@pytest.mark.skipif(cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_a_sentence_says_what_the_cell_would_do():
    keep("tree")
    shown = course.race("tree")
    assert isinstance(shown, Card)
    assert "times your tree, the course's reduce2 and CUB (CuPy) in turns at 2³⁰" in str(shown)


def test_without_a_right_kernel_or_a_step_there_is_one_sentence():
    assert "run its check" in str(course.race("tree"))
    keep("dot")
    assert "nothing to race against" in str(course.race("dot"))


def test_a_wrong_result_is_not_timed(device, monkeypatch):
    keep("tree")
    wrong = StepVerdict(error=1.0, allowed=0.0)
    monkeypatch.setattr(measure, "execute", lambda *_: wrong)
    assert "tree BLOCK=256 is not timed at 2¹²" in str(course.race("tree", "2^12"))
    assert not device


def test_my_ladder_has_a_stair_for_each_kernel_in_the_order_of_the_lessons():
    assert "Your ladder is empty yet" in str(course.my_ladder())
    keep("tree", "coalescing", "scale", "loop_order", "slices")
    picture, card = course.my_ladder().parts
    stairs = picture.alt
    assert stairs.index("coalescing of lesson 05") < stairs.index("tree of lesson 18: at most")
    assert "loop_order" not in stairs
    assert str(card).endswith("recorded size: scale.")


def test_on_a_gpu_my_ladder_has_measured_shares(monkeypatch):
    keep("coalescing")
    monkeypatch.setattr(devices, "current", lambda: H200)
    monkeypatch.setattr(own_ladder, "raced", lambda name: (SimpleNamespace(efficiency=0.05), None))
    assert "coalescing of lesson 05: 5.0%; at most" in course.my_ladder().alt


def test_a_kernel_that_cannot_be_counted_is_named(monkeypatch):
    keep("tree", "coalescing")
    text = kept_functions.kept_text("tree")
    kept_functions.file_of("tree").write_text(text.replace("shared[tid]", "unknown[tid]"))
    picture, card = course.my_ladder().parts
    assert "coalescing" in picture.alt
    assert str(card).startswith("tree: ")


def test_a_broken_file_without_a_step_does_not_cost_the_ladder():
    keep("coalescing", "scale")
    kept_functions.file_of("scale").write_text("def scale(:")
    assert "coalescing of lesson 05" in course.my_ladder().alt
