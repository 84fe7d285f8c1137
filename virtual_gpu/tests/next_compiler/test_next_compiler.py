"""The virtual GPU takes kernels of numba-cuda-mlir: launches, traces, transfers, and refusals."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba import cuda as numba_cuda

import virtual_gpu
from utils.paths import ROOT
from virtual_gpu import LaunchError, OutOfBounds, Race, trace

from . import require_the_package

require_the_package()

from numba_cuda_mlir import cuda, types  # noqa: E402
from numba_cuda_mlir.types import float32, int32  # noqa: E402

virtual_gpu.install()


@cuda.jit(device=True)
def scaled(a, x):
    return float32(a * x)


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] += scaled(a, x[i])


def vectors(size=1000):
    return np.arange(size, dtype=np.float32), np.ones(size, np.float32)


def test_a_launch_on_host_arrays():
    x, y = vectors()
    saxpy[8, 128](np.float32(2), x, y)
    assert np.array_equal(y, 2 * x + 1)


def test_a_launch_on_device_arrays_in_a_stream_with_events():
    x, y = vectors()
    stream, start, end = cuda.stream(), cuda.event(), cuda.event()
    dx, dy = cuda.to_device(x, stream=stream), cuda.device_array_like(y)
    dy.copy_to_device(y)
    start.record(stream)
    saxpy[8, 128, stream](np.float32(2), dx, dy)
    end.record(stream)
    end.synchronize()
    cuda.synchronize()
    assert cuda.event_elapsed_time(start, end) >= 0
    assert np.array_equal(dy.copy_to_host(), 2 * x + 1)
    assert isinstance(dx, cuda.DeviceNDArray)


def test_transfers_are_counted():
    x, y = vectors()
    with virtual_gpu.counting_transfers() as copies:
        saxpy[8, 128](np.float32(2), cuda.to_device(x), y)
    assert [copy.by for copy in copies] == ["to_device", "launch", "launch"]


def test_functions_of_half_precision():
    @cuda.jit
    def halves(x, out):
        i = cuda.grid(1)
        out[i] = cuda.fp16.hdiv(cuda.fp16.hsqrt(x[i]), cuda.fp16.hexp2(x[i]))

    x = np.arange(1, 9, dtype=np.float16)
    out = np.zeros(8, np.float16)
    halves[1, 8](x, out)
    assert np.array_equal(out, np.sqrt(x) / np.exp2(x))


def test_directions_of_arguments():
    x, y = vectors()
    saxpy[8, 128](np.float32(2), cuda.In(x), cuda.InOut(y))
    assert np.array_equal(y, 2 * x + 1)


def test_a_launch_by_configure_and_by_forall():
    x, y = vectors()
    saxpy.configure(8, 128)(np.float32(1), x, y)
    saxpy.forall(x.size)(np.float32(1), x, y)
    assert np.array_equal(y, 2 * x + 1)


def test_a_trace_shows_the_kernel_and_the_functions_that_it_calls():
    x, y = vectors()
    result = trace(saxpy, 8, 128, np.float32(2), x, y)
    assert result.findings == ()
    assert [section.name for section in result.sections] == ["saxpy", "scaled"]
    assert result.totals["global_load_requests"] == 64
    assert set(result.lines["source"]) == {"y[i] += scaled(a, x[i])", "return float32(a * x)"}


def test_a_recorded_block_is_filmed():
    x, y = vectors(64)
    movie = trace(saxpy, 1, 64, np.float32(2), x, y, record=0).movie()
    assert "scaled(a, x[i])" in movie._repr_html_()


def test_a_plain_function_is_traced():
    def plain(x):
        x[cuda.grid(1)] = float32(2)

    x, _ = vectors(64)
    assert trace(plain, 1, 64, x).findings == ()
    assert x.tolist() == [2] * 64


@cuda.jit
def reversed_in_place(x):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    x[t] = tile[63 - t]


def test_a_flaw_is_an_error_at_the_launch():
    with pytest.raises(Race, match="tile"):
        reversed_in_place[1, 64](np.zeros(64, np.float32))
    with pytest.raises(OutOfBounds, match="x"):
        reversed_in_place[1, 64](np.zeros(60, np.float32))


def test_signatures_cast_the_arguments():
    @cuda.jit("void(float32[::1], float32)")
    def fill(x, value):
        x[cuda.grid(1)] = value

    x = np.zeros(32, np.float32)
    fill[1, 32](x, 3)
    assert x.tolist() == [3] * 32
    with pytest.raises(LaunchError, match="its signature says"):
        fill[1, 32](np.zeros(32), 3)


def test_overloads_are_declared_signatures_and_the_types_of_launches():
    @cuda.jit("void(float32[::1], float32)")
    def declared(x, value):
        x[cuda.grid(1)] = value

    @cuda.jit
    def store(x, value):
        x[0] = value

    assert list(declared.overloads) == [(types.float32[::1], types.float32)]
    store[1, 1](cuda.device_array(1), np.int32(5))
    assert list(store.overloads) == store.signatures == [(types.float64[::1], types.int32)]
    store[1, 1](np.zeros((2, 2), np.float32)[0], 1.0)
    assert store.signatures[1:] == [(types.float32[::1], types.float64)]
    with pytest.raises(LaunchError, match=r"regs_per_thread of store needs machine code"):
        _ = store.overloads[store.signatures[0]].regs_per_thread


def test_the_best_of_several_signatures_is_taken():
    @cuda.jit([types.void(float32[::1], float32), types.void(types.float64[::1], types.float64)])
    def third(out, x):
        out[0] = x / 3

    single, double = np.zeros(1, np.float32), np.zeros(1)
    third[1, 1](single, np.float32(1))
    third[1, 1](double, 1.0)
    assert (single[0], double[0]) == (np.float32(1) / np.float32(3), 1 / 3)
    with pytest.raises(LaunchError, match=r"\(float32, 1d, C\), float32\) or \(array\(float64"):
        third[1, 1](np.zeros(1, np.int32), 1.0)


def test_a_declared_device_function_may_call_one_that_is_defined_later():
    @cuda.jit("int32(int32)", device=True)
    def first(n):
        return second(n) + int32(1)

    @cuda.jit(device=True)
    def second(n):
        return n * n

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = first(i)

    out = np.zeros(8, np.int32)
    kernel[1, 8](out)
    assert out.tolist() == [n * n + 1 for n in range(8)]


def test_a_declared_signature_of_a_device_function_casts():
    @cuda.jit("float32(float32)", device=True)
    def half(x):
        return x / float32(2)

    @cuda.jit
    def kernel(out):
        out[cuda.grid(1)] = half(1 / 3)

    out = np.zeros(1)
    kernel[1, 1](out)
    assert out[0] == np.float32(1 / 3) / np.float32(2)


def test_a_kernel_is_specialised():
    x, y = vectors()
    special = saxpy.specialize(np.float32(2), x, y)
    special[8, 128](np.float32(2), x, y)
    assert np.array_equal(y, 2 * x + 1)


def test_functions_of_a_module_of_the_program(tmp_path, monkeypatch):
    (tmp_path / "helpers_of_a_kernel.py").write_text(
        "from numba_cuda_mlir import cuda, types\nSTART = 3\nfloat_type = types.float32\n\n"
        "@cuda.jit(device=True)\ndef twice(x):\n    return x * float_type(2)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import helpers_of_a_kernel as helpers

    @cuda.jit
    def kernel(out):
        mine = cuda.local.array(1, helpers.float_type)
        mine[0] = helpers.twice(float32(helpers.START))
        out[cuda.grid(1)] = mine[0]

    out = np.zeros(4, np.float32)
    kernel[1, 4](out)
    assert out.tolist() == [6] * 4


def test_a_registered_function_of_inline_ptx():
    @cuda.jit(device=True)
    def low_bits(value, mask):
        cuda.inline_ptx("and.b32 $0, $1, $2;", "=r", value, "r", value, "r", mask)
        return value

    virtual_gpu.register(low_bits, lambda machine, value, mask: value & mask)

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = low_bits(i, 3)

    out = np.zeros(8, np.int64)
    kernel[1, 8](out)
    assert out.tolist() == [0, 1, 2, 3] * 2


@pytest.mark.parametrize("alignment, requests", [(16, 1), (8, 2), (4, 4)])
def test_a_vector_moves_as_many_bytes_at_once_as_its_alignment_allows(alignment, requests):
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = cuda.vector.load(x, i * 4, 4, alignment=alignment).w

    x, _ = vectors(128)
    out = np.zeros(32, np.float32)
    totals = trace(kernel, 1, 32, x, out).totals
    assert totals["global_load_requests"] == requests
    assert np.array_equal(out, x[3::4])


# --- what is refused ------------------------------------------------------------------------


def message_of(launch, *arguments) -> str:
    with pytest.raises(virtual_gpu.VirtualGpuError) as error:
        launch(*arguments)
    return str(error.value)


@numba_cuda.jit(device=True)
def half_of_numba(x):
    return x / 2


def test_a_function_of_numba_in_a_kernel_of_the_next_compiler():
    @cuda.jit
    def mixed(x):
        x[0] = half_of_numba(x[0])

    message = message_of(mixed[1, 1], np.ones(1))
    assert message.startswith("mixed (")
    assert message.endswith(
        "is a function of numba_cuda_mlir.cuda, but half_of_numba, which it uses, is of numba; "
        "import both from one package."
    )


def test_a_function_of_the_next_compiler_in_a_kernel_of_numba():
    @numba_cuda.jit
    def mixed(x):
        x[0] = scaled(x[0], x[0])

    @numba_cuda.jit(device=True)
    def between(x):
        return scaled(x, x)

    @numba_cuda.jit
    def mixed_further_down(x):
        x[0] = between(x[0])

    for kernel in (mixed, mixed_further_down):
        message = message_of(kernel[1, 1], np.ones(1))
        assert "of numba.cuda, but scaled, which it uses, is of numba_cuda_mlir.cuda" in message


def test_a_function_and_a_type_of_numba_in_a_module_of_the_program(tmp_path, monkeypatch):
    (tmp_path / "numba_helpers.py").write_text(
        "from numba import cuda, float32\n\n"
        "@cuda.jit(device=True)\ndef twice(x):\n    return x * float32(2)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import numba_helpers as helpers

    @cuda.jit
    def calls(x):
        x[0] = helpers.twice(x[0])

    @cuda.jit
    def casts(x):
        x[0] = helpers.float32(x[0])

    assert "but helpers.twice, which it uses, is of numba;" in message_of(calls[1, 1], np.ones(1))
    assert "but helpers.float32, which it uses, is of numba;" in message_of(casts[1, 1], np.ones(1))


def test_the_whole_package_as_a_name():
    import numba_cuda_mlir

    @numba_cuda_mlir.cuda.jit
    def kernel(x):
        x[numba_cuda_mlir.cuda.grid(1)] = numba_cuda_mlir.types.float32(2)

    x = np.zeros(4, np.float32)
    kernel[1, 4](x)
    assert x.tolist() == [2] * 4


def test_inline_ptx_and_functions_that_are_not_there():
    @cuda.jit
    def with_ptx(x):
        cuda.inline_ptx("bar.sync 0;")

    @cuda.jit
    def with_a_slip(x):
        x[0] = cuda.vector.lod(x, 0, 4)

    message = message_of(with_ptx[1, 1], np.ones(1))
    assert "a call of cuda.inline_ptx(), inline PTX, which register() can replace" in message
    assert "cuda.vector.lod" in message_of(with_a_slip[1, 1], np.ones(4))


def test_a_function_that_only_the_next_compiler_has_in_a_kernel_of_numba():
    @numba_cuda.jit
    def kernel(x):
        x[0] = numba_cuda.vector.load(x, 0, 4)

    assert "cuda.vector, which numba.cuda does not have" in message_of(kernel[1, 1], np.ones(4))


def test_clusters_of_blocks():
    assert "knows no clusters" in message_of(lambda: saxpy[8, 128, 0, 0, (2, 1, 1)])


def test_vectors_that_cuda_does_not_have():
    @cuda.jit
    def kernel(x):
        x[0] = cuda.vector.load(x, 0, 5, alignment=4).x

    assert "a vector of 5 elements of float32" in message_of(kernel[1, 1], np.ones(8, np.float32))


def test_machine_code():
    for name in ("inspect_sass", "inspect_mlir", "get_regs_per_thread"):
        with pytest.raises(LaunchError, match=f"{name} of saxpy needs machine code"):
            getattr(saxpy, name)()


# --- where it is installed ------------------------------------------------------------------


def python(*arguments, cwd, **variables) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


SCRIPT = """import numpy as np
from numba_cuda_mlir import cuda


@cuda.jit
def vector_add(a, b, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] + b[i]


assert cuda.is_available()
n = 1_000
a = np.ones(n, dtype=np.float32)
b = np.ones(n, dtype=np.float32)
out = np.zeros(n, dtype=np.float32)
blocks = (n + 255) // 256
vector_add[blocks, 256](a, b, out)
print(out.sum())
"""
FOR_THE_SIMULATOR = """import os

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
import numpy as np
from numba import cuda


@cuda.jit(debug=True, opt=False)
def add_neighbour(x, out):
    tile = cuda.shared.array(32, dtype=np.float64)
    t = cuda.threadIdx.x
    tile[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = tile[t] + tile[(t + 1) % 32]


x = cuda.to_device(np.arange(64.0))
out = cuda.device_array(64)
add_neighbour[2, 32](x, out)
cuda.synchronize()
print(out.copy_to_host().sum())
"""


@pytest.mark.parametrize(
    "text, printed, kernel",
    [(SCRIPT, "2000.0", "vector_add"), (FOR_THE_SIMULATOR, "4032.0", "add_neighbour")],
    ids=["next compiler", "simulator"],
)
def test_a_script_runs_unchanged(tmp_path, text, printed, kernel):
    (tmp_path / "script.py").write_text(text)
    ended = python("-m", "virtual_gpu", "script.py", cwd=tmp_path)
    assert (ended.returncode, ended.stdout.strip()) == (0, printed), ended.stderr
    assert "virtual GPU: 1 kernel, 1 launch, no flaw found" in ended.stderr
    assert kernel in ended.stderr


def test_a_flaw_ends_a_test_of_pytest(tmp_path):
    (tmp_path / "test_fill.py").write_text(
        "import numpy as np\nfrom numba_cuda_mlir import cuda\n\n"
        "@cuda.jit\ndef fill(x):\n    x[cuda.grid(1)] = 1\n\n"
        "def test_fits():\n    fill[1, 32](np.zeros(32))\n\n"
        "def test_is_too_short():\n    fill[1, 32](np.zeros(31))\n"
    )
    ended = python(
        "-m", "pytest", "-q", "-p", "virtual_gpu.programs.pytest_plugin", "-p", "no:cacheprovider",
        "--virtual-gpu=on", cwd=tmp_path,
    )  # fmt: skip
    assert "1 failed, 1 passed" in ended.stdout
    assert "The virtual GPU found: out_of_bounds at line 6" in ended.stdout


INSTALLED = """
import sys
import numpy as np
import virtual_gpu

early = "early" in sys.argv
if early:
    from numba_cuda_mlir import cuda
with virtual_gpu.installed():
    from numba_cuda_mlir import cuda

    @cuda.jit
    def fill(x):
        x[cuda.grid(1)] = 1

    x = np.zeros(32)
    fill[1, 32](x)
    assert x.all() and cuda.to_device(x).copy_to_host().all() and fill.overloads
from numba_cuda_mlir.descriptor import MLIRDispatcher

changed = [
    name
    for owner in (cuda, MLIRDispatcher, sys.modules["numba_cuda_mlir.numba_cuda.api"])
    for name, value in vars(owner).items()
    if "virtual_gpu" in str(getattr(value, "__module__", "")) + type(value).__module__
]
assert not changed, changed
assert not virtual_gpu.active() and not fill.overloads
assert "virtual_gpu" not in str(sys.meta_path)
"""


@pytest.mark.parametrize("when", ["early", "late"])
def test_installed_puts_everything_back(tmp_path, when):
    (tmp_path / "script.py").write_text(INSTALLED)
    ended = python("script.py", when, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr


def test_ptx_is_made_by_its_own_compiler(compiler):
    text = saxpy.inspect_asm((types.float32, types.float32[::1], types.float32[::1]))
    assert ".target sm_90" in text
    older, _ = cuda.compile_ptx(
        saxpy.py_func, types.void(types.float32, types.float32[::1], types.float32[::1]), cc=(7, 5)
    )
    assert ".target sm_75" in older
