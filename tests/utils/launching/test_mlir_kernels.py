"""Fast launches pass to kernels of numba-cuda-mlir what its own launcher passes."""

import contextlib
import ctypes
import json
import re
import shutil
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("numba_cuda_mlir", reason="it is not installed here: make check-next-compiler")

from numba_cuda_mlir import compiler, cuda, types
from numba_cuda_mlir.numba_cuda.cudadrv import devicearray
from numba_cuda_mlir.numba_cuda.cudadrv import driver as driver_of_package

from gemm_kernels import autotuned
from gemm_kernels.parts import strided
from gemm_kernels.sgemm import blend, fitted
from gpu_xray import mlir
from gpu_xray.compile import compile_kernel
from tests.utils.launching import mlir_launcher
from tests.utils.launching.test_numba_kernels import ARRAYS, every_array, slot_like
from utils.ladder.step import Call, Launch
from utils.launching import driver, numba_kernels
from utils.launching.plan import LaunchPlan
from utils.launching.slots import Factor, Slot
from utils.launching.workspace import WorkspaceLayout
from utils.paths import ROOT

POINTER = 4096
TILING = strided.Tiling(64, 32, 8, 8, 4, 8)
PAIR, FACTOR = (np.uint32(5), np.uint32(6)), 1.5


@cuda.jit
def kernel(array, numbers, factor):
    pass


def interface_of(array: np.ndarray) -> dict:
    """Return the `__cuda_array_interface__` of an array like this one, at POINTER."""
    return {
        "shape": array.shape, "strides": array.strides, "typestr": array.dtype.str,
        "data": (POINTER, False), "version": 3,
    }  # fmt: skip


@pytest.fixture(scope="module")
def own_words(tmp_path_factory) -> dict[str, list[int]]:
    """The words that the package's own launcher passes, by the name of the array."""
    if not shutil.which("cc"):
        pytest.skip("there is no C compiler for a stand-in of the driver's library")
    folder = tmp_path_factory.mktemp("driver")
    source, library = folder / "driver.c", folder / "libcuda.so.1"
    source.write_text(mlir_launcher.DRIVER, encoding="utf-8")
    named = ["-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", library]
    subprocess.run(["cc", *named, source], check=True)
    arrays = json.dumps([interface_of(array) for array in ARRAYS.values()])
    command = [sys.executable, "-W", "ignore", "-m", mlir_launcher.__name__, library, arrays]
    run = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return dict(zip(ARRAYS, json.loads(run.stdout), strict=True))


@pytest.mark.parametrize("name", ARRAYS)
def test_a_launch_has_the_words_of_the_packages_own_launcher(own_words, name, monkeypatch):
    passed, array = [], ARRAYS[name]

    def launch(*arguments):
        addresses = (ctypes.c_void_p * len(own_words[name])).from_address(arguments[-2])
        passed.extend(ctypes.c_uint64.from_address(each).value for each in addresses)
        return (0,)

    monkeypatch.setattr(driver, "launch", launch)
    monkeypatch.setattr(driver, "present", lambda: True)
    monkeypatch.setattr(driver, "outside_captures", contextlib.nullcontext)
    monkeypatch.setattr(numba_kernels, "loaded", lambda kernel, arguments: "a function")
    call = Call(kernel, Launch((1,), (1,)), (slot_like(array), PAIR, Factor(0)))
    run = LaunchPlan((call,), 1, 1, WorkspaceLayout(first=1)).ready(device=0)
    run((POINTER,), (FACTOR,), 0, (array,))
    assert passed == own_words[name]


@every_array
def test_a_slot_has_the_type_that_the_package_gives_the_array_but_for_its_layout(array):
    (kind,) = numba_kernels.argument_types(kernel, (slot_like(array),))
    given = kernel.typeof_pyval(SimpleNamespace(__cuda_array_interface__=interface_of(array)))
    assert mlir.is_mlir(kind)
    assert kind.copy(layout="A") == given.copy(layout="A")


def test_the_code_of_a_kernel_does_not_depend_on_layouts():
    @cuda.jit
    def shifted(x, out):
        row, col = cuda.grid(2)
        out[row, col] = x[row, col] + 1

    def code(layout: str) -> str:
        matrix = types.Array(types.float32, 2, layout)
        compiled = compile_kernel(shifted, types.void(matrix, matrix), "sm_90")
        return compiled.ptx.replace(compiled.entry, "shifted")

    assert code("A") == code("C") == code("F")


def test_a_kernel_takes_as_many_words_as_are_packed():
    if not mlir.is_mlir(fitted):
        pytest.skip("the course's kernels are those of numba-cuda here")
    matrix, factor = slot_like(ARRAYS["every other"]), Factor(0)
    flat, number = slot_like(np.zeros(8, np.float32)), np.uint32(1)
    pair = number, number
    kernels = {
        fitted: (matrix, matrix),
        blend: (matrix, factor, factor, matrix),
        autotuned.STEP.build(**autotuned.STEP.constants()): (*[flat] * 4, factor, *[number] * 5),
        strided.kernel_of(*TILING.kernel, A_ALONG_K=True, B_ALONG_K=False): (
            *[flat] * 4, factor, factor, (*pair, number), *[pair] * 4,
        ),
    }  # fmt: skip
    for made, arguments in kernels.items():
        ptx = compile_kernel(made, numba_kernels.argument_types(made, arguments), "sm_90").ptx
        entry = re.search(r"\.entry[^(]*\(([^)]*)\)", ptx)[1]
        assert entry.count(".param") == sum(words(made, each) for each in arguments)


def words(made, argument) -> int:
    """Return the number of words that an argument of this kernel takes."""
    if isinstance(argument, Slot):
        return len(numba_kernels.numbers_of(made, argument))
    return len(argument) if isinstance(argument, tuple) else 1


def test_the_package_says_where_its_function_is(monkeypatch):
    compiled = compiler.CompileResult(
        SimpleNamespace(metadata={"cubin": b"code", "func_name": "kernel"})
    )
    handle = driver.bindings.CUfunction(POINTER)
    function = compiler.CUFunc(handle)
    monkeypatch.setattr(compiler.CodeLibrary, "get_cufunc", lambda self: function)
    other = SimpleNamespace(
        py_func=None, typeof_pyval=kernel.typeof_pyval, compile_for=lambda *types: compiled
    )
    monkeypatch.setattr(mlir, "is_mlir", lambda value: True)
    assert callable(type(kernel).compile_for)
    assert int(numba_kernels.loaded(other, ())) == POINTER


def test_the_package_says_whether_memory_was_given_back():
    class OnDevice(devicearray.DeviceNDArrayBase):
        """The package's own device array, which the virtual GPU replaces."""

    memory = driver_of_package.AutoFreePointer(
        None, driver.bindings.CUdeviceptr(POINTER), 48, finalizer=lambda: None
    )
    array = OnDevice((3, 4), (16, 4), np.dtype(np.float32), gpu_data=memory.own())
    assert array.gpu_data.device_ctypes_pointer.value == POINTER
    assert not numba_kernels.is_freed(array.gpu_data)
    memory._finalizer()
    memory.is_managed = False  # its owners would free it once more
    assert numba_kernels.is_freed(array.gpu_data)
