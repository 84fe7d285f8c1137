"""The search for constants: what is timed, kept, continued and chosen."""

from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest
from numba import cuda

from gemm_kernels import LADDER
from gemm_kernels.autotuned import STEP
from gemm_kernels.dispatch import constants
from gemm_kernels.tuning import search
from gpu_xray.compile import require_compiler
from utils.errors import CourseError
from utils.ladder.shapes import GemmShape
from utils.machine import devices
from utils.measuring import command_line
from utils.measuring.timing import Timing

H200 = devices.find("NVIDIA H200")
SHAPE = GemmShape(128, 64, 256)
SMALL_TILE = (64, 32, 8, 8, 4, 8)


def tune(sizes):
    return command_line.main("SGEMM", (search.COMMAND,), ["tune", *sizes])


class Sms:
    """A device with two multiprocessors, so that small shapes have a tail."""

    MULTIPROCESSOR_COUNT = 2
    compute_capability = (9, 0)


@pytest.fixture
def timed(monkeypatch, tmp_path):
    """Pretend to be an H200 that is slower with more slices; return the list of timed variants."""
    try:
        require_compiler()
    except CourseError as error:
        pytest.skip(str(error))
    done = []

    def time_gpu(rivals):
        done.append(len(rivals))
        return [Timing(1.0 + len(done), 1.0, 1.0, 7, 1)]

    monkeypatch.setattr(constants, "FOLDER", tmp_path)
    monkeypatch.setattr(devices, "current", lambda: replace(H200, sms=2))
    monkeypatch.setattr(cuda, "get_current_device", Sms)
    monkeypatch.setattr(search, "time_gpu", time_gpu)
    monkeypatch.setattr(search, "TILES", (SMALL_TILE,))
    constants.forget()
    yield done
    constants.forget()


def test_the_fastest_candidate_is_chosen_at_its_shape_and_at_near_ones(timed, tmp_path):
    assert tune([str(SHAPE)]) == 0
    (file,) = tmp_path.iterdir()
    table = pd.read_csv(file)
    assert len(table) == len(timed) > 1
    fastest = table.loc[table["time_ms"].idxmin()]
    for shape in (SHAPE, GemmShape(130, 60, 256)):
        chosen = STEP.variant().at(shape).constants
        assert chosen == {name: fastest[name] for name in chosen}


def test_a_search_goes_on_where_it_was(timed):
    tune([str(SHAPE)])
    before = len(timed)
    assert tune([str(SHAPE)]) == 0
    assert len(timed) == before


def test_what_spills_or_does_not_fit_is_not_timed(timed, monkeypatch):
    sizes = dict(zip(search.TILE_CONSTANTS, SMALL_TILE, strict=True))
    facts = {"registers": 96, "shared_bytes": 4096, "spill_bytes": 0}
    facts |= {"early_uses": 0, "cycles_per_ffma": 1.2}
    for changed, fits in (({}, True), ({"spill_bytes": 4}, False), ({"registers": 255}, False)):
        report = SimpleNamespace(**facts | changed)
        monkeypatch.setattr(search, "xray", lambda *arguments, report=report: report)
        assert search.examine(sizes | {"ORDER": 0}, H200).fits == fits
    monkeypatch.setattr(search, "examine", does_not_fit)
    monkeypatch.setattr(search, "TILES", (SMALL_TILE, SMALL_TILE))
    assert search.candidates(SHAPE, H200) == []


def does_not_fit(sizes, device):
    return search.Facts(fits=False, early_uses=0, cycles_per_ffma=1.0)


def test_candidates_that_leave_most_of_the_device_idle_come_last(timed):
    one_tile = GemmShape(64, 32, 2048)
    slices = [each.constants["SLICES"] for each in search.candidates(one_tile, H200)]
    assert min(slices[:4]) >= 4
    assert slices[-2:] == [1, 1]


def test_a_wrong_result_ends_the_search(timed, monkeypatch):
    wrong = SimpleNamespace(passed=False)
    monkeypatch.setattr(search, "execute", lambda *arguments, **named: wrong)
    assert tune([str(SHAPE)]) == command_line.REFUSED


def test_without_a_device_the_search_says_what_is_used_instead(monkeypatch, capsys):
    monkeypatch.setattr(devices, "current", lambda: None)
    assert tune(["64"]) == command_line.REFUSED
    assert "tune needs a CUDA device" in capsys.readouterr().err


def test_what_is_tuned_for_the_ladders_sizes_can_be_launched():
    for size in LADDER.sizes:
        shape = LADDER.parse(size)
        launch = STEP.variant().at(shape).launch(shape)
        assert launch.block[0] % 32 == 0
