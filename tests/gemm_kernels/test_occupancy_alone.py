"""The experiment that times products with fewer and fewer blocks on an SM."""

import pytest

from gemm_kernels import occupancy_alone
from gemm_kernels.__main__ import COMMANDS
from utils.machine.occupancy import limits_of, occupancy
from utils.measuring.command_line import main

H200 = (9, 0)
REGISTERS = {"naive": 32, "tiled": 32, "tiled_dynamic": 32, "ilp": 72, "register_blocked": 104}
REGISTERS |= {"vectorized": 128}
STATIC_BYTES = {"tiled": 2048, "ilp": 8192, "register_blocked": 4096, "vectorized": 8448}


def test_the_limits_are_those_of_the_architecture():
    limits = limits_of(H200)
    assert limits.shared_kib_per_sm * 1024 == occupancy_alone.SHARED_OF_SM
    assert limits.max_shared_bytes == occupancy_alone.SHARED_OF_BLOCK
    assert limits.shared_reserved_bytes == occupancy_alone.OF_DRIVER
    assert limits.shared_unit_bytes == occupancy_alone.UNIT


@pytest.mark.parametrize("blocks", range(1, 33))
def test_as_many_blocks_fit_as_are_wanted(blocks):
    shared_bytes = occupancy_alone.shared_for(blocks, 0)
    assert occupancy(H200, 64, 32, shared_bytes).blocks == blocks
    if blocks > 1:
        assert occupancy(H200, 64, 32, shared_bytes + 1).blocks == blocks - 1


def test_each_row_of_the_record_has_the_blocks_of_the_model():
    names = {str(variant): most for variant, most in occupancy_alone.kernels().items()}
    rows = occupancy_alone.recorded_times()
    for row in rows:
        step = row.kernel.split()[0]
        shared_bytes = STATIC_BYTES.get(step, 0) + row.shared_bytes
        threads = 32 * row.warps // row.blocks
        resident = occupancy(H200, threads, REGISTERS[step], shared_bytes)
        assert (resident.blocks, resident.warps) == (row.blocks, row.warps)
    for name, most in names.items():
        assert [row.blocks for row in rows if row.kernel == name] == list(range(most, 0, -1))


def test_without_a_device_one_sentence_says_so(monkeypatch, capsys):
    monkeypatch.setattr("utils.machine.devices.current", lambda: None)
    assert main("", COMMANDS, ["occupancy-alone"]) == 2
    assert "occupancy-alone needs a CUDA device" in capsys.readouterr().err
