"""The occupancy calculator equals the driver on an H200 and NVIDIA's header elsewhere.

The truth is data/measured/nvidia_h200/occupancy.csv and block_size.csv, made by
``python -m tools.records.occupancy``.
"""

import ctypes
import dataclasses
import random
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.division import cdiv
from utils.errors import CourseError
from utils.machine import devices
from utils.machine.occupancy import (
    RESOURCES,
    best_block_size,
    known,
    limits_of,
    occupancy,
    square_side,
)
from utils.paths import DATA, ROOT

H200 = (9, 0)
CAPABILITIES = list(known())
TRUTH = DATA / "measured" / "nvidia_h200"
OCCUPANCY = pd.read_csv(TRUTH / "occupancy.csv")
BLOCK_SIZE = pd.read_csv(TRUTH / "block_size.csv")
HEADERS = [*Path(sysconfig.get_path("purelib")).glob("nvidia/cu*/include/cuda_occupancy.h")]

# Kernels that every compute capability can have.
KERNELS = st.tuples(
    st.sampled_from(CAPABILITIES), st.integers(1, 1024), st.integers(1, 62), st.integers(0, 49000)
)


@pytest.fixture(scope="module")
def header(tmp_path_factory):
    """Return NVIDIA's calculator: (limits, threads, registers, bytes, carveout) -> blocks."""
    if not HEADERS or not shutil.which("cc"):
        pytest.skip("needs a C compiler and the toolkit's cuda_occupancy.h")
    library = tmp_path_factory.mktemp("header") / "occupancy.so"
    source = ROOT / "tools" / "records" / "occupancy_header.c"
    include = HEADERS[0].parent
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{include}", source, "-o", library], check=True)
    blocks = ctypes.CDLL(library).blocks
    size, number = ctypes.c_size_t, ctypes.c_int
    blocks.argtypes = [number * 6, size * 4, number, number, size, number, number * 4]

    def ask(limits, threads, registers, shared_bytes, carveout):
        compute = (number * 6)(*limits.compute_capability, limits.threads_per_block,
                               limits.threads_per_sm, limits.registers_per_block,
                               limits.registers_per_sm)  # fmt: skip
        memory = (size * 4)(1024 * limits.shared_kib_per_block, 1024 * limits.shared_kib_per_sm,
                            limits.max_shared_bytes, limits.shared_reserved_bytes)  # fmt: skip
        room = (number * 4)()
        preference = -1 if carveout is None else carveout
        per_sm = blocks(compute, memory, threads, registers, shared_bytes, preference, room)
        return per_sm, tuple(room)

    return ask


def questions(limits, count=500):
    """Yield random kernels that this device could run."""
    draw = random.Random(str(limits.compute_capability))
    for _ in range(count):
        carveout = draw.choice([None, draw.randint(0, 100)]) if limits.shared_kib_steps else None
        shared_bytes = draw.choice([0, draw.randint(0, 8192), draw.randint(0, 48 * 1024)])
        if limits.shared_kib_per_block_optin > 48 and draw.random() < 0.2:
            shared_bytes = draw.randint(48 * 1024, limits.max_shared_bytes)
        threads = draw.randint(1, limits.threads_per_block)
        yield threads, draw.randint(1, limits.registers_per_thread), shared_bytes, carveout


@pytest.mark.parametrize("capability", [c for c in CAPABILITIES if c >= (3, 0)], ids=str)
def test_the_calculator_equals_nvidias_header(header, capability):
    # The header knows 3.0 and later.
    unlimited = 2**31 - 1
    limits = limits_of(capability)
    for question in questions(limits):
        computed = occupancy(capability, *question)
        room = tuple(computed.room.get(resource, unlimited) for resource in RESOURCES)
        assert (computed.blocks, room) == header(limits, *question), question


def recorded(row):
    """Return our calculator's answer to a question that the driver was asked."""
    carveout = None if pd.isna(row.carveout) else int(row.carveout)
    shared_bytes = row.static_bytes + row.dynamic_bytes
    return occupancy(H200, row.threads, row.registers, shared_bytes, carveout).blocks


def test_every_answer_of_the_driver_on_an_h200_is_ours():
    wrong = [row for row in OCCUPANCY.itertuples() if recorded(row) != row.blocks]
    assert wrong == []


def test_the_record_covers_what_could_go_wrong():
    questions = OCCUPANCY.drop(columns="blocks").drop_duplicates()
    assert len(questions) == len(OCCUPANCY) >= 200
    # Both sides of a unit of registers, of which a warp gets 8 per thread.
    for unit in (32, 40, 48, 56, 64, 72, 80, 96, 104, 128, 168):
        assert {unit, unit + 1} <= set(OCCUPANCY["registers"])
    assert (OCCUPANCY["threads"] % 32).nunique() > 3
    assert (OCCUPANCY["static_bytes"] + OCCUPANCY["dynamic_bytes"]).max() == 227 * 1024
    assert OCCUPANCY["carveout"].nunique() > 5
    assert OCCUPANCY["blocks"].min() == 0


@pytest.mark.parametrize(
    "column, value",
    [("register_unit", 512), ("shared_unit_bytes", 256), ("shared_reserved_bytes", 0),
     ("sub_partitions", 1), ("warp_granularity", 8), ("blocks_per_sm", 33),
     ("shared_kib_per_sm", 227)],
)  # fmt: skip
def test_a_wrong_figure_in_the_table_would_be_noticed(monkeypatch, column, value):
    wrong = dataclasses.replace(limits_of(H200), **{column: value})
    monkeypatch.setattr("gpu_xray.limits.known", lambda: {H200: wrong})
    assert any(recorded(row) != row.blocks for row in OCCUPANCY.itertuples())


def suggested(row):
    def shared_bytes(threads):
        dynamic = row.bytes_per_thread * threads if row.bytes_per_thread else row.dynamic_bytes
        return row.static_bytes + dynamic

    return best_block_size(H200, row.registers, shared_bytes, row.max_threads)


def test_every_block_size_that_the_driver_suggests_is_ours():
    assert [suggested(row) for row in BLOCK_SIZE.itertuples()] == list(BLOCK_SIZE["threads"])
    assert BLOCK_SIZE["threads"].nunique() > 5


@given(kernel=KERNELS, more=st.integers(1, 1000))
def test_more_of_a_resource_never_raises_the_number_of_blocks(kernel, more):
    capability, threads, registers, shared_bytes = kernel
    blocks = occupancy(*kernel).blocks
    assert occupancy(capability, threads, 63, shared_bytes).blocks <= blocks
    assert occupancy(capability, min(threads + more, 1024), *kernel[2:]).blocks <= blocks
    more_shared = min(shared_bytes + more, 48 * 1024)
    assert occupancy(capability, threads, registers, more_shared).blocks <= blocks


@given(kernel=KERNELS)
def test_the_blocks_fit_and_one_more_would_not(kernel):
    limits, resident = limits_of(kernel[0]), occupancy(*kernel)
    assert 0 <= resident.fraction <= 1
    assert resident.warps * 32 <= limits.threads_per_sm
    assert resident.blocks == min(resident.room.values())
    assert resident.limit
    assert all(resident.room[resource] == resident.blocks for resource in resident.limit)


@given(kernel=KERNELS)
def test_no_block_size_beats_the_best(kernel):
    capability, threads, registers, shared_bytes = kernel
    best = best_block_size(capability, registers, shared_bytes)
    aligned = cdiv(threads, 32) * 32
    most = best * occupancy(capability, best, registers, shared_bytes).blocks
    other = aligned * occupancy(capability, aligned, registers, shared_bytes).blocks
    assert (most, best) >= (other, aligned)


@given(threads=st.integers(1, 1024))
def test_the_square_block_is_the_largest_whose_side_is_a_power_of_two(threads):
    side = square_side(threads)
    assert side**2 <= threads < (2 * side) ** 2
    assert side & (side - 1) == 0


@pytest.mark.parametrize("device", devices.known(), ids=lambda device: device.name)
def test_the_data_sheets_have_the_same_shared_memory(device):
    limits = limits_of(device.compute_capability)
    assert device.shared_kib_per_sm == limits.shared_kib_per_sm
    assert device.max_shared_kib_per_block == limits.shared_kib_per_block_optin


@pytest.mark.parametrize("limits", known().values(), ids=lambda limits: limits.compute_capability)
def test_every_row_is_plausible_and_names_its_source(limits):
    assert limits.source
    assert limits.registers_per_block <= limits.registers_per_sm
    assert limits.shared_kib_per_block <= limits.shared_kib_per_block_optin
    kept = limits.shared_reserved_bytes / 1024
    assert limits.shared_kib_per_block_optin + kept <= limits.shared_kib_per_sm
    if limits.shared_kib_steps:
        assert limits.shared_kib_steps[-1] == limits.shared_kib_per_sm


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (((9, 5), 32, 32), r"\(9, 5\) is no compute capability .* one of 2.0, .*, 12.1"),
        (([9, 0], 32, 32), "is no compute capability"),
        ((H200, 0, 32), "threads=0, and compute capability 9.0 takes 1 to 1024"),
        ((H200, 1025, 32), "threads=1025, .* takes 1 to 1024"),
        ((H200, 32.5, 32), "threads=32.5 is no whole number"),
        ((H200, 32, 0), "registers=0, .* takes 1 to 255"),
        (((2, 0), 32, 64), "registers=64, and compute capability 2.0 takes 1 to 63"),
        ((H200, 32, 32, 227 * 1024 + 1), "shared_bytes=232449, .* takes 0 to 232448"),
        ((H200, 32, 32, -1), "shared_bytes=-1, "),
        ((H200, 32, 32, 0, 101), "carveout=101, .* takes 0 to 100"),
        (((6, 1), 32, 32, 0, 50), "compute capability 6.1 has no carve-out"),
    ],
)
def test_what_no_kernel_can_have_is_refused_with_a_sentence(arguments, sentence):
    with pytest.raises(CourseError, match=sentence):
        occupancy(*arguments)


def test_a_kernel_of_which_no_block_fits_is_refused_with_a_sentence():
    with pytest.raises(CourseError, match=r"No block fits an SM .* 300000 bytes"):
        best_block_size(H200, 32, shared_bytes=300000)
    with pytest.raises(CourseError, match=r"max_threads=2048, .* takes 1 to 1024"):
        best_block_size(H200, 32, max_threads=2048)
    with pytest.raises(CourseError, match="A block of 0 threads has no side"):
        square_side(0)


def test_a_block_with_too_many_registers_fits_no_sm():
    resident = occupancy(H200, threads=1024, registers=128)
    assert (resident.blocks, resident.fraction, resident.limit) == (0, 0.0, ("registers",))
