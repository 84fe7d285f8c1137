"""The occupancy calculator equals the driver on an H200 and NVIDIA's header elsewhere.

The truth is data/measured/nvidia_h200/occupancy.csv and block_size.csv, made by
``python -m tests.kernels.occupancy``.
"""

import ctypes
import random
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils import devices
from utils.errors import CourseError
from utils.occupancy import (
    RESOURCES,
    best_block_size,
    known,
    limits_of,
    occupancy,
    square_side,
)
from utils.records import DATA

H200 = (9, 0)
CAPABILITIES = list(known())
TRUTH = DATA / "measured" / "nvidia_h200"
HEADERS = [*Path(sysconfig.get_path("purelib")).glob("nvidia/cu*/include/cuda_occupancy.h")]

blocks_of_threads = st.integers(1, 1024)
registers = st.integers(1, 63)
shared = st.integers(0, 48 * 1024)
capabilities = st.sampled_from(CAPABILITIES)


@pytest.fixture(scope="module")
def header(tmp_path_factory):
    """NVIDIA's calculator, compiled: (limits, threads, registers, bytes, carveout) -> blocks."""
    if not HEADERS or not shutil.which("cc"):
        pytest.skip("needs a C compiler and the toolkit's cuda_occupancy.h")
    library = tmp_path_factory.mktemp("header") / "occupancy.so"
    source = Path(__file__).parent / "kernels" / "occupancy_header.c"
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
        found = blocks(compute, memory, threads, registers, shared_bytes, preference, room)
        return found, tuple(room)

    return ask


def questions(limits, count=500):
    """Random kernels that could run on such a device."""
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
    """The header knows 3.0 and later."""
    unlimited = 2**31 - 1
    limits = limits_of(capability)
    for question in questions(limits):
        ours = occupancy(capability, *question)
        room = tuple(ours.room.get(resource, unlimited) for resource in RESOURCES)
        assert (ours.blocks, room) == header(limits, *question), question
