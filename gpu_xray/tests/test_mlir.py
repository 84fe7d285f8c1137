"""The x-ray of kernels of numba-cuda-mlir: figures, signatures, options, and clear errors."""

import importlib.util

import numpy as np
import pytest
from numba import cuda as numba_cuda
from numba import float32, void

from gpu_xray import ARCHITECTURES, mlir, xray
from gpu_xray.errors import CourseError

pytest.importorskip(mlir.PACKAGE)

from numba_cuda_mlir import cuda, tools, types
from numba_cuda_mlir.numba_cuda.cudadrv import devices

VECTORS = "void(float32[::1], float32[::1])"


@cuda.jit
def double(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + x[i]


@cuda.jit
def many_sums(x, out):
    sums = cuda.local.array(64, types.float32)
    for i in range(64):
        sums[i] = x[i]
    for turn in range(x.size):
        for i in range(64):
            sums[i] += sums[i] * x[turn]
    for i in range(64):
        out[i] = sums[i]


@numba_cuda.jit(device=True)
def of_numba(x):
    return x


@cuda.jit
def mixed(x, out):
    out[0] = of_numba(x[0])


@numba_cuda.jit
def mixed_in_numba(x, out):
    out[0] = helper(x[0])


@cuda.jit(device=True)
def helper(x):
    return x


@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_a_kernel_is_compiled_for_the_architecture_without_a_device(arch):
    seen = xray(double, VECTORS, arch)
    assert (seen.compiler, seen.arch, seen.kernel) == ("numba-cuda-mlir", arch, "double")
    assert f".target {arch}" in seen.ptx
    assert (seen.loads, seen.stores) == ({"LDG.32": 1}, {"STG.32": 1})
    assert seen.registers > 0 == seen.local_bytes


def test_a_signature_may_be_text_or_types_of_either_package():
    ours = types.void(types.float32[::1], types.float32[::1])
    first, *others = [
        xray(double, signature).code
        for signature in (VECTORS, ours, void(float32[::1], float32[::1]))
    ]
    assert all(other == first for other in others)


def test_options_of_the_kernel_are_kept():
    seen = xray(cuda.jit(max_registers=32)(many_sums.py_func), VECTORS)
    assert seen.registers == 32
    assert seen.spill_bytes > 0 == xray(many_sums, VECTORS).spill_bytes


def test_the_listing_has_machine_code_beside_the_lines_of_the_kernel():
    rows = {row.source.strip(): row for row in xray(double, VECTORS).listing().rows}
    assert "STG" in [one.name for one in rows["out[i] = x[i] + x[i]"].sass]


def test_the_stand_in_for_the_device_goes_afterwards():
    before = devices.get_context, tools._cached_cc
    with mlir.standing_in((7, 5)):
        assert tools.get_gpu_compute_capability(tuple) == (7, 5)
        tools._cached_cc = None
        assert tools.get_gpu_compute_capability(tuple) == (7, 5)
    assert (devices.get_context, tools._cached_cc) == before


def test_a_kernel_that_mixes_two_compilers_is_refused_by_name():
    with pytest.raises(CourseError, match=r"mixed uses `cuda` of numba_cuda_mlir.*of_numba"):
        xray(mixed, VECTORS)
    other = r"mixed_in_numba uses `cuda` of numba.*helper"
    if importlib.util.find_spec("numba_cuda") is None:
        other = "numba-cuda, is not installed"
    with pytest.raises(CourseError, match=other):
        xray(mixed_in_numba, VECTORS)


def test_an_unknown_type_and_a_wrong_number_of_arguments_get_a_sentence():
    with pytest.raises(CourseError, match="takes 2 arguments"):
        xray(double, "void(float32[::1])")
    with pytest.raises(CourseError, match="is no signature"):
        xray(double, (np.float32, np.float32))


def test_a_kernel_that_cannot_be_compiled_is_refused_with_the_reason():
    @cuda.jit
    def wrong(x, out):
        out[0] = x.nothing

    with pytest.raises(CourseError, match=r"wrong cannot be compiled.*Unknown attribute 'nothing'"):
        xray(wrong, VECTORS)


def test_every_architecture_with_budgets_is_known():
    assert {"sm_75", "sm_80", "sm_90"} <= ARCHITECTURES.keys()
