"""The experiment that times the things apart which four tiles of b save together."""

import inspect

from hypothesis import given, settings
from hypothesis import strategies as st

from gemm_kernels import granularity, tiles_alone
from gemm_kernels.__main__ import COMMANDS
from utils.ladder.shapes import GemmShape
from utils.ladder.verify import verify_all
from utils.measuring.command_line import main

OWN = [v for v in tiles_alone.variants() if v.step.module == tiles_alone.__name__]
NAMES = [str(variant) for variant in tiles_alone.variants()]


@settings(max_examples=3, deadline=None)
@given(st.integers(1, 140), st.integers(1, 20), st.integers(1, 140))
def test_the_products_are_right_at_any_shape(m, k, n):
    verdicts = verify_all(tiles_alone.LADDER, OWN, GemmShape(m, k, n), kinds=("integers",))
    assert all(verdict.passed for verdict in verdicts)


def test_without_a_device_one_sentence_says_so(monkeypatch, capsys):
    monkeypatch.setattr("utils.machine.devices.current", lambda: None)
    assert main("", COMMANDS, ["tiles-alone"]) == 2
    assert "tiles-alone needs a CUDA device" in capsys.readouterr().err


def test_the_record_has_all_kernels_at_each_size():
    assert [(row.kernel, row.n) for row in tiles_alone.recorded_times()] == [
        (name, n) for n in tiles_alone.SIZES for name in NAMES
    ]


def test_own_kernels_are_changes_of_the_course_kernel():
    """Each has the source lines of `granularity`, apart from those that are changed on purpose."""
    source = inspect.getsource(granularity.build.__wrapped__).splitlines()
    for build in (tiles_alone.build_one_by_one, tiles_alone.build_loop_per_tile):
        own = inspect.getsource(build.__wrapped__).splitlines()
        kernel = own[next(i for i, line in enumerate(own) if "@cuda.jit" in line) + 2 : -1]
        new = [line for line in kernel if line.strip() not in {one.strip() for one in source}]
        assert len(new) <= 3, new
