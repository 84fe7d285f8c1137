"""The card after `check`: counts, bounds and recorded times of three kernels."""

import sys
from dataclasses import replace

import pytest

from labs import EXERCISES
from labs.checking.variants import function_in, right_versions
from utils import lessons as course
from utils.errors import CourseError
from utils.figures.kernel_bars import ROLES
from utils.ladder import kept_functions
from utils.ladder.ladder import ladder_of
from utils.lessons import bounds, comparison
from utils.lessons.block_sums import issued_by_block, shortest_way
from utils.lessons.bounds import bounds_of, memory_of, tightest
from utils.lessons.cards import Card, Table
from utils.lessons.comparison import variants_of, words_of
from utils.lessons.lesson import device_shown
from utils.lessons.own_kernels import twins
from utils.lessons.recorded import recorded_ms
from utils.measuring import records
from utils.reader_folder import LEDGER
from virtual_gpu.pictures.svg import Picture


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv(LEDGER, str(tmp_path / "predictions.json"))


def keep(*names):
    for name in names:
        kept_functions.keep(name, EXERCISES[name].solution)


@pytest.fixture
def no_own_functions(monkeypatch):
    """Compare the tree of lesson 18 as the kernels of other lessons, without its own function."""
    monkeypatch.setattr(comparison, "_counterparts", dict)


@pytest.mark.parametrize("name", sorted(EXERCISES))
def test_every_exercise_has_its_card(name):
    keep(name)
    shown = course.compare(name)
    assert shown._repr_html_()
    if name in twins():
        assert EXERCISES[name].name in str(shown) or "yours" in str(shown)
        assert isinstance(shown.parts[0], Table)
        assert len(shown.parts[0].head) <= 5


def test_without_a_right_kernel_one_sentence_says_what_to_do_and_gives_nothing_away():
    shown = course.compare("tree")
    assert isinstance(shown, Card)
    assert "run its check" in str(shown)
    assert not any(digit in str(shown) for digit in "0123456789")


@pytest.mark.slow
def test_a_kernel_that_changed_after_its_check_is_noticed(monkeypatch):
    keep("tree")
    main = sys.modules["__main__"]
    for kernel, changed in (("solution", False), ("starter", True)):
        monkeypatch.setattr(main, "tree", getattr(EXERCISES["tree"], kernel), raising=False)
        said = "has changed since check found it right" in repr(course.compare("tree").parts)
        assert said == changed


def keep_unrolled_tree():
    """Keep a tree whose loop has as many iterations as a constant says: the compiler unrolls it."""
    exercise = EXERCISES["tree"]
    text = dict(right_versions(exercise))["half of the constant"]
    kept_functions.keep("tree", function_in("tree", text))


@pytest.mark.slow
def test_tree_is_compared_with_reduce1_and_reduce2(compiler, no_own_functions):
    keep_unrolled_tree()
    counts, picture, note = course.compare("tree").parts
    rows = {row[0]: row[1:] for row in counts.rows}
    assert list(rows) == ["reduce1, the step before", "your tree", "reduce2, the course's step"]
    assert rows["your tree"][:3] == rows["reduce2, the course's step"][:3]
    assert rows["your tree"] != rows["reduce1, the step before"]
    for step in (twins()["tree"].before, twins()["tree"].variant):
        assert f"{recorded_ms(step, '2^30'):.3g} ms" in picture.alt
    assert "your tree ≤" in picture.alt
    assert "upper bound" in str(note)


def test_the_bars_of_a_role_have_its_colour():
    keep("tiling")
    (picture,) = (part for part in course.compare("tiling").parts if isinstance(part, Picture))
    variants = variants_of("tiling")
    groups = sum(len(bounds_of(one, "4096")) for one in variants.values())
    for role in variants:
        recorded = role != "mine"
        assert picture.body.count(ROLES[role]) == groups // 3 + 1 + recorded


def test_each_own_kernel_needs_no_more_of_global_memory_than_the_targets_of_its_exercise_say():
    keep("two_tiles", "coalescing")
    assert memory_of(course.mine("two_tiles"), "4096").words == pytest.approx(3 / 32, rel=0.01)
    assert memory_of(course.mine("coalescing"), "4096").words == pytest.approx(2, rel=0.01)


def test_a_longer_product_takes_as_much_longer_as_it_has_more_work():
    keep("tiling")
    small, large = (bounds_of(course.mine("tiling"), shape) for shape in ("2048", "4096"))
    for name in small:
        assert large[name].ms / small[name].ms == pytest.approx(8, rel=0.01)


def test_no_lower_bound_is_above_the_recorded_time_of_the_courses_step():
    for name in (
        "coalescing", "tiling", "two_tiles", "tree", "add_while_loading", "four_loads", "shuffles",
        "ticket",
    ):  # fmt: skip
        twin = twins()[name]
        for step in filter(None, (twin.variant, twin.before)):
            _, ms = tightest(bounds_of(step, twin.shape))
            assert ms <= recorded_ms(step, twin.shape)


@pytest.mark.parametrize("name", ["four_loads", "tree", "shuffles"])
def test_nothing_recorded_is_faster_than_the_bound_of_dram(name):
    twin = twins()[name]
    ladder = ladder_of(twin.step)
    work = twin.step.task.work(ladder.parse(twin.shape))
    bound = bounds_of(twin.variant, twin.shape)[bounds.DRAM]
    assert work.bytes / bound.ms / 1e6 == pytest.approx(device_shown().memory_gb_per_s)
    mates = [step.name for step in ladder.steps if step.task is twin.step.task]
    frame = records.measured(device_shown().name, ladder.name)
    same = frame[(frame["elements"] == 2**30) & frame["step"].isin(mates)]
    assert bound.ms < same[["time_ms_min", "library_ms"]].min().min()


def test_the_bars_of_dram_say_that_its_rate_is_the_data_sheets(no_own_functions):
    keep("tree")
    _, picture, *_ = course.compare("tree").parts
    assert "bytes from DRAM, by the data sheet" in picture.alt


def test_without_the_bandwidth_of_dram_its_bound_is_left_out(monkeypatch):
    device = replace(device_shown(), memory_gb_per_s=None, driver_gb_per_s=None)
    monkeypatch.setattr(bounds, "device_shown", lambda: device)
    twin = twins()["tree"]
    assert list(bounds_of(twin.variant, twin.shape)) == [bounds.ON_CHIP, bounds.ISSUE]


def test_without_a_compiler_registers_are_a_sentence(monkeypatch, no_own_functions):
    keep("tree")

    def no_compiler(*_):
        raise CourseError("There is no compiler.")

    for module in (bounds, comparison):
        monkeypatch.setattr(module, "compiled_of", no_compiler)
    monkeypatch.setattr(bounds, "issued_by_block", no_compiler)
    counts, picture, note = course.compare("tree").parts
    assert "registers" not in " ".join(counts.head)
    assert "issue slots" not in picture.alt
    assert "Registers are not known: There is no compiler." in str(note)


@pytest.mark.slow
def test_a_resource_known_for_one_kernel_alone_has_no_bar(compiler):
    keep("shuffles")
    known = [bounds.ISSUE in bounds_of(one, "2^30") for one in variants_of("shuffles").values()]
    assert known.count(True) == 1
    _, picture, note = course.compare("shuffles").parts
    assert "issue slots" not in picture.alt
    assert "Instructions are not compared" in str(note)


def test_unrolled_code_has_bounds_of_its_instructions(compiler):
    keep_unrolled_tree()
    issued = issued_by_block(course.mine("tree"))
    assert issued.at_most
    assert issued.per(4) == f"≤ {issued.number / 4:.0f}"
    exact = issued_by_block(twins()["tree"].variant)
    assert not exact.at_most
    assert issued.fewest < exact.number < 2 * issued.number
    assert "≤" in str(course.block_cycles(mine=course.mine("tree")))


class Instruction:
    def __init__(self, name, target=None, predicate=""):
        self.name, self.target, self.predicate = name, target, predicate


def test_the_shortest_way_jumps_where_it_can():
    jump, leave = Instruction("BRA", 3, "@P0"), Instruction("EXIT", None, "@P1")
    rest = [Instruction("FADD"), Instruction("FADD"), Instruction("STG"), Instruction("EXIT")]
    assert shortest_way([jump, *rest]) == 3
    assert shortest_way([Instruction("BRA", 3), *rest]) == 3
    assert shortest_way([leave, *rest]) == 1
    assert shortest_way(rest) == 4


def test_words_name_the_step_of_each_role():
    keep("tiling")
    assert words_of("tiling", variants_of("tiling")) == {
        "before": "naive, the step before",
        "mine": "your tiling",
        "course": "tiled, the course's step",
    }
