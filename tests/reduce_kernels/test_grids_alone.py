"""The experiment that times reduce6 with grids near the blocks that run at once."""

from reduce_kernels import grids_alone
from reduce_kernels.__main__ import COMMANDS
from utils.measuring.command_line import main


def test_each_kernel_has_the_grid_that_it_is_timed_for():
    assert tuple(map(grids_alone.blocks_of, grids_alone.variants())) == grids_alone.GRIDS


def test_without_a_device_one_sentence_says_so(monkeypatch, capsys):
    monkeypatch.setattr("utils.machine.devices.current", lambda: None)
    assert main("", COMMANDS, ["grids-alone"]) == 2
    assert "grids-alone needs a CUDA device" in capsys.readouterr().err


def test_each_record_has_all_grids():
    names = [str(variant) for variant in grids_alone.variants()]
    for device in {row.device for row in grids_alone.recorded_times()}:
        timed = [row for row in grids_alone.recorded_times() if row.device == device]
        assert [(row.kernel, row.elements) for row in timed] == [
            (name, grids_alone.ELEMENTS) for name in names
        ]
