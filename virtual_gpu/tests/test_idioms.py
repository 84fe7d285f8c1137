"""The virtual GPU takes the idioms that Numba's compiler takes, and refuses those it refuses."""

import contextlib
import functools
import importlib.util
import io
import re
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from numba import cuda

from virtual_gpu import KernelRaised, LaunchError, Unsupported, VirtualGpuError, install, trace
from virtual_gpu.language.cures import meant_by
from virtual_gpu.tests.idioms import (
    COMPILES,
    FOLDERS,
    REFUSES,
    THREADS,
    arguments,
    kernels_of,
    read_idioms,
    recorded,
    refusal_of,
)

IDIOMS = read_idioms()
CLAIMS = ("Numba refuses", "Numba's compiler refuses")


@functools.cache
def answers():
    """Return a dict from each idiom to the answer of the virtual GPU and its message."""
    install()
    said = {}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for idiom, function in kernels_of(IDIOMS, Path(folder), device=True).items():
            with contextlib.redirect_stdout(io.StringIO()):
                said[idiom] = answer(function)
    return said


def answer(function):
    try:
        trace(cuda.jit(function), 1, THREADS, *arguments(), shared_bytes=256)
    except (Unsupported, LaunchError) as error:
        return REFUSES, str(error)
    except VirtualGpuError as error:  # the kernel runs, and ends with an error of its own
        return COMPILES, str(error)
    return COMPILES, ""


def test_the_corpus_is_large_and_has_an_answer_for_each_idiom():
    assert len(IDIOMS) >= 400
    assert {idiom.numba for idiom in IDIOMS} == {COMPILES, REFUSES}
    assert len({idiom.code for idiom in IDIOMS}) == len(IDIOMS)


def test_no_reason_names_a_folder_of_the_machine_that_recorded_it(tmp_path):
    assert [idiom.code for idiom in read_idioms() if re.search(FOLDERS, idiom.reason)] == []
    kernel, library = tmp_path / "idiom_1.py", tmp_path / "x-1.2" / "math.so"
    error = ValueError(f"Raised from {kernel} (40), '{library}', 1 / 2")
    assert refusal_of(error) == "Raised from idiom_1.py (40), 'math.so', 1 / 2"


@pytest.mark.slow
def test_the_virtual_gpu_agrees_with_numba_on_99_of_100_idioms():
    different = [idiom.code for idiom, (here, _) in answers().items() if here != idiom.numba]
    assert len(different) <= 0.01 * len(IDIOMS), different


@pytest.mark.slow
def test_numba_is_said_to_refuse_only_what_it_refuses():
    claimed = [i for i, (_, message) in answers().items() if any(c in message for c in CLAIMS)]
    assert len(claimed) > 40
    assert [idiom.code for idiom in claimed if idiom.numba == COMPILES] == []


@pytest.mark.slow
def test_the_record_is_what_this_compiler_says():
    if importlib.util.find_spec("cuda.bindings.nvvm") is None:
        pytest.skip("Numba's compiler is not installed")
    sample = IDIOMS[:: len(IDIOMS) // 30]
    install()
    with tempfile.TemporaryDirectory() as folder:
        functions = kernels_of(sample, Path(folder), device=False)
        again = {i.code: recorded(i, f).numba for i, f in functions.items()}
    assert again == {idiom.code: idiom.numba for idiom in sample}


SLIPS = {
    "out[t] = np.sqrt(x[t])": "write math.sqrt()",
    "out[t] = np.abs(x[t])": "write abs()",
    "import math\\nout[t] = 1": "import at the top of the file",
    "from math import sqrt\\nout[t] = sqrt(x[t])": "import at the top of the file",
    "out[t] = x.size()": "write x.size without ()",
    "out[t] = x.shape()": "write x.shape without ()",
    "out[t] = threadIdx.x": "the name threadIdx is not defined; write cuda.threadIdx",
    "atomic.add(out, 0, 1)": "write cuda.atomic",
    "syncthreads()": "write cuda.syncthreads",
    "cuda.synchronize()": "the threads of a block wait with cuda.syncthreads()",
}


def function_of(code, folder):
    (idiom,) = (idiom for idiom in IDIOMS if idiom.code == code)
    install()
    (function,) = kernels_of([idiom], folder, device=True).values()
    return function


@pytest.mark.parametrize("code", SLIPS)
def test_a_frequent_slip_is_refused_with_its_cure(code, tmp_path):
    here, message = answer(function_of(code, tmp_path))
    assert here == REFUSES
    assert SLIPS[code] in message


@pytest.mark.parametrize("name", ["np", "math", "cuda"])
def test_a_module_that_is_not_imported_has_its_import_as_the_cure(name):
    assert "import" in meant_by(name)


def test_a_barrier_that_is_not_called_is_told(tmp_path):
    with pytest.warns(UserWarning, match=r"cuda.syncthreads is not called .* write cuda.syncthr"):
        assert answer(function_of("cuda.syncthreads", tmp_path)) == (COMPILES, "")


# --- values: each thread's results are those of Python ---------------------------------------


class _Index:
    y, z = 0, 0

    def __init__(self, x):
        self.x = x


def by_python(function):
    """Run a kernel that uses no more of CUDA than ``threadIdx`` in plain Python."""
    values = arguments()
    names = function.__globals__

    class OneThread:
        threadIdx = None

    for thread in range(THREADS):
        OneThread.threadIdx = _Index(thread)
        names["cuda"] = OneThread
        function(*values)
    return values


VALUES = [
    "for p in range(math.ceil(k / 2)): out[t] += p",
    "for j in [1, 2, 4]: out[t] += j",
    "for dx, dy in [(0, 1), (1, 0)]: out[t] += dx + 2 * dy",
    "for j in [k, 2]: out[t] += j",
    "if t in [1, 2, 3]: out[t] = 1",
    "if t not in [1, 2]: out[t] = 1",
    "if t in range(3): out[t] = 1",
    "if t in n: out[t] = 1",
    "out[t] = sum(y[t])",
    "out[t] = max(y[t])",
    "out[t] = y[t].sum()",
    "out[t] = y[t].mean()",
    "out[t] = y[t].std()",
    "out[t] = y[t].argmax()",
    "out[t] = y[:, 1].sum()",
    "out[t] = x[:t].sum()",
    "out[t] = n.all()",
    "out[t] = n.any()",
    "out[t] = c.real[t] + c.imag[t]",
    "a, b = y[t, :2]\\nout[t] = a + b",
    "for a in x[t:]: out[t] += a",
    "for a in np.nditer(x): out[t] += a.item()",
    "out[t] = (v := t) + v",
    "out[t] = isinstance(t, (int, float))",
    "out[t] = (1, 2) < (1, 3)",
    "out[t] = x[None, :][0, t]",
    "y[t, t % 4:] = 3",
    "out[t] = np.iinfo(np.int64).min",
    "out[t] = sum(x, 1.0)",
    "out[t] = (1, 2, 3).index(2)",
]


@pytest.mark.parametrize("code", VALUES)
def test_an_idiom_gives_what_python_gives(code, tmp_path):
    function = function_of(code, tmp_path)
    values = arguments()
    trace(cuda.jit(function), 1, THREADS, *values)
    expected = by_python(function_of(code, tmp_path))
    for got, wanted in zip(values, expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5)


LOCAL = """
def kernel(x, out):
    t = cuda.threadIdx.x
    m = cuda.local.array((3, 4), float32)
    for i in range(3):
        for j in range(4):
            m[i, j] = 10 * i + j + t
    row, column, tail = m[1], m[:, t % 4], m[t % 3, t % 4:]
    row[2] = 100
    a, b, d, e = m[2]
    out[t, 0] = m[1, 2] + column[2]
    out[t, 1] = len(tail) + tail[-1]
    out[t, 2] = a + b + d + e
    out[t, 3] = m[1:][::-1][0][0]
    m[0][:2] = -1
    out[t, 4] = m[0, 1] + m[0, 2]
"""


def test_parts_of_a_local_array_are_views_of_it(tmp_path):
    path = tmp_path / "local_parts.py"
    path.write_text(f"from numba import cuda, float32\n{LOCAL}", encoding="utf-8")
    spec = importlib.util.spec_from_file_location("local_parts", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    out = np.zeros((THREADS, 5))
    run = trace(cuda.jit(module.kernel), 1, THREADS, np.zeros(1), out)
    assert {finding.kind for finding in run.findings} <= {"wrapped_index"}
    for t in range(THREADS):
        m = 10 * np.arange(3)[:, None] + np.arange(4) + t
        m[1, 2] = 100
        tail = m[t % 3, t % 4 :]
        expected = [m[1, 2] + m[2, t % 4], len(tail) + tail[-1], m[2].sum(), m[2, 0], -1 + m[0, 2]]
        np.testing.assert_array_equal(out[t], expected)


def test_a_part_of_a_local_array_is_checked_for_bounds_and_content():
    @cuda.jit
    def kernel(out):
        m = cuda.local.array((2, 3), np.float32)
        m[1, 0] = 1
        row = m[1]
        out[0] = row[0] + row[1]
        row[3] = 2

    run = trace(kernel, 1, 1, np.zeros(1))
    assert {finding.kind for finding in run.findings} == {"uninitialised", "out_of_bounds"}


def test_a_global_device_array_is_the_memory_itself_and_checked():
    install()
    table = cuda.to_device(np.arange(4.0))

    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        out[t] = table[t]
        table[t // 2] = t

    run = trace(kernel, 1, 4, np.zeros(4))
    assert "race" in {finding.kind for finding in run.findings}
    assert table.copy_to_host()[3] == 3
    assert table.copy_to_host()[1] in (2, 3)


def test_the_deallocations_of_the_context_are_there():
    install()
    pending = cuda.current_context().deallocations
    pending.clear()
    assert len(pending) == 0


def test_a_wrong_number_of_indices_is_told_at_its_own_line():
    @cuda.jit
    def kernel(a, out):
        n = 32
        s = cuda.shared.array(n, np.float32)
        t = cuda.threadIdx.x
        s[t] = a[t, 0]
        out[t] = s[t]

    with pytest.raises(Unsupported) as caught:
        trace(kernel, 1, 32, np.zeros(32, np.float32), np.zeros(32))
    assert "s[t] = a[t, 0]" in str(caught.value)
    assert "neither a number nor" not in str(caught.value)


def test_a_range_with_step_0_is_an_error_of_the_kernel():
    @cuda.jit
    def kernel(out, step):
        for i in range(0, 4, step):
            out[0] += i

    with pytest.raises(KernelRaised, match="step 0"):
        trace(kernel, 1, 1, np.zeros(1), 0)
