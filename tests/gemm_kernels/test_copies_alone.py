"""The experiment that times asynchronous copies apart from the larger thread tile."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gemm_kernels import copies_alone
from gemm_kernels.__main__ import COMMANDS
from utils.ladder.shapes import GemmShape
from utils.ladder.verify import verify_all
from utils.measuring.command_line import main

NAMES = [str(variant) for variant in copies_alone.variants()]


@settings(max_examples=2, deadline=None)
@given(st.integers(1, 140), st.integers(1, 5), st.integers(1, 35))
def test_the_product_is_right_at_any_shape_of_quads(m, k, n):
    shape, (_, own, _) = GemmShape(m, 4 * n, 4 * k), copies_alone.variants()
    verdicts = verify_all(copies_alone.LADDER, [own], shape, kinds=("integers",))
    assert all(verdict.passed for verdict in verdicts)


def test_only_the_copy_separates_the_second_kernel_from_the_third():
    _, without, copied = copies_alone.variants()
    assert without.values == copied.values
    assert without.launch(GemmShape(260, 520, 8)) == copied.launch(GemmShape(260, 520, 8))


def test_without_a_device_one_sentence_says_so(monkeypatch, capsys):
    monkeypatch.setattr("utils.machine.devices.current", lambda: None)
    assert main("", COMMANDS, ["copies-alone"]) == 2
    assert "copies-alone needs a CUDA device" in capsys.readouterr().err


def test_each_record_has_all_kernels_at_each_size():
    recorded = copies_alone.recorded_times()
    for device in {row.device for row in recorded}:
        assert [(row.kernel, row.n) for row in recorded if row.device == device] == [
            (name, n) for n in copies_alone.SIZES for name in NAMES
        ]
