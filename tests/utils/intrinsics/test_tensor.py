"""The intrinsics of tensor cores are one instruction each."""

import numpy as np
import pytest
from numba import cuda, types

from gpu_xray import xray
from gpu_xray.errors import CourseError
from tests.utils.intrinsics.tensor_programs import BITS, HALVES, programs

pytestmark = pytest.mark.usefixtures("compiler")

KERNELS = programs(cuda, types)


def opcodes(report, *names: str) -> list[str]:
    """Return the opcodes with modifiers of the instructions that have one of these names."""
    return [each.opcode for each in report.code if each.name in names]


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_a_product_of_16_steps_is_one_instruction_and_its_fragments_are_two(arch):
    seen = xray(KERNELS.whole, HALVES, arch)
    assert opcodes(seen, "HMMA") == ["HMMA.16816.F32"]
    assert sorted(opcodes(seen, "LDSM")) == ["LDSM.16.M88.4", "LDSM.16.MT88.2"]
    assert seen.loads["LDGSTS.128"] == 2
    assert (seen.loads["LDSM.128"], seen.loads["LDSM.64"]) == (1, 1)
    assert seen.local_bytes == 0


def test_bfloat16_is_another_product_of_the_same_form():
    seen = xray(KERNELS.bfloat16, BITS)
    assert opcodes(seen, "HMMA") == ["HMMA.16816.F32.BF16"]
    assert seen.local_bytes == 0


@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_a_product_of_8_steps_and_wide_accesses_suit_older_devices(arch):
    seen = xray(KERNELS.by_halves, HALVES, arch)
    assert opcodes(seen, "HMMA") == ["HMMA.1688.F32"]
    assert sorted(opcodes(seen, "LDSM")) == ["LDSM.16.M88.2", "LDSM.16.MT88.4"]
    assert (seen.loads["LDG.128"], seen.stores["STS.128"]) == (2, 2)
    assert seen.local_bytes == 0


@pytest.mark.slow
def test_a_pair_is_loaded_by_one_instruction_of_32_bits():
    seen = xray(KERNELS.by_pairs, HALVES)
    assert len(opcodes(seen, "HMMA")) == 2
    assert (seen.loads["LDG.32"], seen.loads["LDG.16"]) == (4, 4)


def test_the_x_ray_counts_what_tensor_cores_need():
    figures = xray(KERNELS.whole, HALVES).figures()
    assert figures["for tensor cores"] == "1 HMMA, 2 LDSM, 2 LDGSTS"
    assert figures["HMMA share"].endswith("of all")


@pytest.mark.parametrize("kernel, signature", [("whole", BITS), ("bfloat16", HALVES)])
def test_matrices_of_another_dtype_are_refused(kernel, signature):
    with pytest.raises(CourseError, match="cannot be compiled"):
        xray(getattr(KERNELS, kernel), signature)


A = np.arange(256).reshape(16, 16) % 7 - 3
B = np.arange(128).reshape(16, 8) % 5 - 2


def test_the_virtual_gpu_runs_a_product():
    c = np.full((16, 8), np.nan, np.float32)
    KERNELS.whole[1, 32](A.astype(np.float16), B.astype(np.float16), c)
    np.testing.assert_array_equal(c, A @ B)


def test_the_virtual_gpu_loads_pairs():
    c = np.full((16, 8), np.nan, np.float32)
    KERNELS.by_pairs[1, 32](A.astype(np.float16), B.astype(np.float16), c)
    np.testing.assert_array_equal(c, A @ B)


def test_a_copy_from_outside_of_the_source_brings_zeros():
    c = np.full((16, 8), np.nan, np.float32)
    KERNELS.whole[1, 32](A.astype(np.float16), B[:9].astype(np.float16), c)
    np.testing.assert_array_equal(c, A[:, :9] @ B[:9])
