"""The number of global loads in flight before the first use, in machine code."""

import pytest
from numba import cuda, float32, int64, void

from gpu_xray import xray
from gpu_xray.loads_in_flight import loads_before_use
from gpu_xray.sass import Instruction
from latency_kernels import copies
from latency_kernels.copy import IN_FLIGHT, copy

VECTORS = void(float32[::1], float32[::1])


def one(opcode: str, *operands: str) -> Instruction:
    return Instruction(0, "", opcode, operands, 0)


LOAD_2, LOAD_3 = (one("LDG.E", f"R{to}", "desc[UR4][R8.64]") for to in (2, 3))
STORE_2 = one("STG.E", "desc[UR4][R10.64]", "R2")


def test_loads_count_until_a_value_is_needed():
    assert loads_before_use([LOAD_2, LOAD_3, STORE_2]) == 2
    assert loads_before_use([LOAD_2, STORE_2, LOAD_3]) == 1
    assert loads_before_use([LOAD_2, one("FADD", "R4", "R2", "R5"), LOAD_3]) == 1


def test_the_longest_run_of_loads_counts_wherever_it_is():
    assert loads_before_use([LOAD_2, STORE_2, LOAD_2, LOAD_3, STORE_2]) == 2
    assert loads_before_use([STORE_2]) == 0


def test_an_address_takes_two_registers_and_a_wide_load_writes_several():
    wide = one("LDG.E.128", "R12", "desc[UR4][R8.64]")
    assert loads_before_use([wide, one("FADD", "R4", "R15", "R5"), LOAD_2]) == 1
    assert loads_before_use([wide, one("FADD", "R4", "R16", "R5"), LOAD_2]) == 2
    through = one("LDG.E", "R4", "desc[UR4][R2.64]")
    assert loads_before_use([LOAD_3, through]) == 1


@pytest.mark.usefixtures("compiler")
def test_the_copy_at_the_memory_ceiling_has_four_in_flight():
    assert xray(copy, VECTORS).loads_before_use == IN_FLIGHT == 4


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize(("width", "count"), [(1, 1), (1, 4), (4, 8)])
def test_copies_have_as_many_loads_in_flight_as_they_say(width, count):
    kernel = copies.build(width, count, 64)
    result = xray(kernel, void(float32[::1], float32[::1], int64))
    assert result.loads_before_use == count


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_alternating_loads_and_stores_have_one_in_flight():
    @cuda.jit
    def in_turn(x, out):
        first = cuda.grid(1)
        for j in range(4):
            out[first + 256 * j] = x[first + 256 * j]

    assert xray(in_turn, VECTORS).loads_before_use == 1
