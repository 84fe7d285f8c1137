"""The virtual GPU runs kernels as Numba would: types, control flow, functions, arrays."""

import math
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda, float32, int32, njit, uint8, uint32

from virtual_gpu import LaunchError, LimitReached, Unsupported, active, install, trace

FACTOR = 3
TABLE = np.array([10, 20, 30, 40], np.float32)


def launch(kernel, *arguments, grid=2, block=32):
    """Run a kernel on the virtual GPU and fail on any finding."""
    result = trace(kernel, grid, block, *arguments)
    assert result.findings == ()
    return result


@cuda.jit
def classify(x, out):
    i = cuda.grid(1)
    if i >= x.size:
        return
    value = x[i]
    if value < 0:
        out[i] = -1
    elif value == 0:
        out[i] = 0
    else:
        out[i] = 1


def test_each_lane_takes_its_own_branch():
    x = np.array([-3, 0, 5, -1, 0, 2] * 9, np.int64)
    out = np.full(54, 99)
    launch(classify, x, out)
    assert (out == np.sign(x)).all()


@cuda.jit
def collatz_steps(start, steps, limit):
    i = cuda.grid(1)
    if i < start.size:
        n = start[i]
        count = 0
        while True:
            if n == 1:
                break
            if count >= limit:
                count = -1
                break
            count += 1
            if n % 2 == 0:
                n = n // 2
                continue
            n = 3 * n + 1
        steps[i] = count


def python_collatz(n, limit):
    count = 0
    while n != 1:
        if count >= limit:
            return -1
        count += 1
        n = n // 2 if n % 2 == 0 else 3 * n + 1
    return count


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 500), min_size=1, max_size=64), st.integers(0, 60))
def test_while_break_and_continue_by_lane(starts, limit):
    steps = np.zeros(len(starts), np.int64)
    launch(collatz_steps, np.array(starts), steps, limit)
    assert steps.tolist() == [python_collatz(n, limit) for n in starts]


@cuda.jit
def ranges_by_lane(first, last, step, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for k in range(first[i], last[i], step[i]):
            if k % 7 == 3:
                continue
            if total > 100:
                break
            total += k
        else:
            total += 1000
        out[i] = total


def python_ranges(first, last, step):
    total = 0
    for k in range(first, last, step):
        if k % 7 == 3:
            continue
        if total > 100:
            break
        total += k
    else:
        total += 1000
    return total


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(-30, 30), st.integers(-30, 30), st.sampled_from([-3, -1, 1, 2, 5])),
        min_size=1, max_size=50,
    )
)  # fmt: skip
def test_for_loops_with_bounds_that_differ_by_lane(bounds):
    first, last, step = (np.array(column) for column in zip(*bounds, strict=True))
    out = np.zeros(len(bounds), np.int64)
    launch(ranges_by_lane, first, last, step, out)
    assert out.tolist() == [python_ranges(*b) for b in bounds]


@cuda.jit
def range_to_the_limit(out):
    i = cuda.threadIdx.x
    rounds = 0
    for _ in range(int32(2147483640 + i % 3), int32(2147483647), int32(4)):
        rounds += 1
    out[i] = rounds


def test_a_range_by_lane_does_not_wrap_at_the_limit_of_its_type():
    out = np.zeros(3, np.int64)
    launch(range_to_the_limit, out, grid=1, block=3)
    assert out.tolist() == [2, 2, 2]


@cuda.jit
def guarded(x, out):
    i = cuda.grid(1)
    if i < x.size and x[i] > 0:
        out[i] = 1
    if i < out.size and (i >= x.size or x[i] <= 0):
        out[i] = 2


def test_the_right_side_of_and_is_read_only_where_it_is_needed():
    x = np.array([1.0, -1.0, 2.0], np.float32)
    out = np.zeros(3, np.int64)
    launch(guarded, x, out)
    assert out.tolist() == [1, 2, 1]


@cuda.jit(device=True)
def clamp(value, low, high):
    if value < low:
        return low
    if value > high:
        return high
    return value


@cuda.jit
def clamped(x, out):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        out[i, j] = clamp(x[i, j], float32(-1), float32(1)) * FACTOR + TABLE[j % len(TABLE)]


def test_device_functions_closures_and_module_arrays():
    x = np.linspace(-2, 2, 35, dtype=np.float32).reshape(5, 7)
    out = np.zeros_like(x)
    launch(clamped, x, out, grid=(2, 2), block=(4, 4))
    expected = np.clip(x, -1, 1) * FACTOR + TABLE[np.arange(7) % 4]
    np.testing.assert_allclose(out, expected, rtol=1e-6)


@cuda.jit
def swap_and_rows(x, out):
    row = x[cuda.blockIdx.x]
    shape = x.shape
    low, high = 0, shape[1] - 1
    local = cuda.local.array(4, float32)
    for k in range(4):
        local[k] = row[min(k, high)]
    while low < high:
        low, high = low + 1, high - 1
    out[cuda.blockIdx.x, cuda.threadIdx.x] = local[cuda.threadIdx.x % 4] + low


def test_rows_tuples_and_local_arrays():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    out = np.zeros((3, 5), np.float32)
    launch(swap_and_rows, x, out, grid=3, block=5)
    assert (out == x[:, np.arange(5) % 4] + 2).all()


@cuda.jit
def three_dimensions(out):
    x, y, z = cuda.grid(3)
    if x < out.shape[0] and y < out.shape[1] and z < out.shape[2]:
        out[x, y, z] = x * 100 + y * 10 + z


def test_three_dimensional_grids_blocks_and_arrays():
    out = np.zeros((5, 3, 4), np.int64)
    launch(three_dimensions, out, grid=(3, 2, 2), block=(2, 2, 3))
    x, y, z = np.indices(out.shape)
    assert (out == x * 100 + y * 10 + z).all()


@cuda.jit
def typed(x, y, out):
    i = cuda.grid(1)
    out[0, i] = x[i] * 2  # float32 * int64 is float64 in Numba
    out[1, i] = x[i] * float32(2) + y[i]
    out[2, i] = uint8(250) + uint8(10)  # integers widen: no wrap
    out[3, i] = uint8(uint8(250) + uint8(10))  # the cast wraps
    out[4, i] = uint32(0) - uint32(1)
    out[5, i] = int32(-7) // 2
    out[6, i] = int32(-7) % 3
    out[7, i] = 7 / 2


def test_arithmetic_has_numbas_types():
    x = np.full(32, 1 / 3, np.float32)
    out = np.zeros((8, 32))
    counts = launch(typed, x, x, out, grid=1)
    assert out[0, 0] == np.float64(x[0]) * 2
    assert out[1, 0] == x[0] * np.float32(2) + x[0]
    assert out[2:, 0].tolist() == [260, 4, float(2**64 - 1), -4, 2, 3.5]
    by_source = counts.lines.set_index("source").float64_ops
    assert by_source.filter(like="out[0, i]").item() == 32
    assert by_source.filter(like="out[1, i]").item() == 0


OPERATORS = [operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod,
             operator.truediv, operator.and_, operator.lshift, operator.lt]  # fmt: skip


def _kernel_of(function):
    if function is operator.lt:
        return lambda x, y: x < y
    symbol = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%", "truediv": "/",
              "and_": "&", "lshift": "<<"}[function.__name__]  # fmt: skip
    return eval(f"lambda x, y: x {symbol} y")


@pytest.mark.parametrize("function", OPERATORS, ids=lambda f: f.__name__)
def test_operators_agree_with_numbas_cpu_compiler(function):
    from virtual_gpu.numbers import operations

    compiled = njit(_kernel_of(function))
    kinds = [np.int32, np.uint32, np.int64] + ([] if function in (operator.and_, operator.lshift)
                                              else [np.float32, np.float64])  # fmt: skip
    for left in kinds:
        for right in kinds:
            x, y = left(29), right(5)
            expected = compiled(x, y)
            result = operations.prepared(function, (x.dtype, y.dtype))(x, y)
            assert result == expected
            assert math.isclose(float(result), float(expected), rel_tol=1e-7)


@cuda.jit
def copy_strided(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i]


def test_a_strided_device_array_works_and_a_strided_host_array_is_refused():
    base = np.arange(20.0)
    out = np.zeros(10)
    with pytest.raises(LaunchError, match=r"not contiguous; pass np\.ascontiguousarray"):
        copy_strided[1, 32](base[::2], out)
    device = cuda.to_device(base)
    copy_strided[1, 32](device[::2], out)
    assert out.tolist() == base[::2].tolist()
    copy_strided[1, 32](device[::-1][:10], out)
    assert out.tolist() == base[::-1][:10].tolist()


def test_numbas_own_launch_syntax_runs_here():
    assert active()
    install()
    install()
    stream = cuda.stream()
    x = cuda.to_device(np.arange(8.0), stream=stream)
    out = cuda.device_array(8)
    assert np.isnan(out.copy_to_host()).all()
    start, end = cuda.event(), cuda.event()
    start.record(stream)
    copy_strided[1, 32, stream, 0](x, out)
    end.record(stream)
    stream.synchronize()
    assert cuda.event_elapsed_time(start, end) > 0
    assert out.copy_to_host().tolist() == list(range(8))
    managed = cuda.managed_array(8)
    copy_strided[1, 32](x, managed)
    assert managed.sum() == 28


@cuda.jit
def dynamic(out):
    tile = cuda.shared.array(0, float32)
    tile[cuda.threadIdx.x] = cuda.threadIdx.x
    cuda.syncthreads()
    out[cuda.threadIdx.x] = tile[tile.size - 1 - cuda.threadIdx.x]


def test_dynamic_shared_memory_is_given_at_launch():
    out = np.zeros(64, np.float32)
    dynamic[1, 64, 0, 256](out)
    assert out.tolist() == list(range(63, -1, -1))


def test_bad_launches_are_refused_with_one_sentence():
    x = np.zeros(4)
    for grid, block, arguments, message in [
        (1, 1025, (x, x), "at most 1024"),
        (0, 32, (x, x), "at least 1"),
        (1, 32, (x,), r"takes 2 arguments \(\w+, \w+\); 1 was given"),
        (1, 32, (x, "text"), "the argument out is a str|takes arrays and numbers"),
        (1, (1, 1, 128), (x, x), r"at most \(1024, 1024, 64\)"),
        (1, 32, (x, np.zeros(2, [("a", "U4")])), "has dtype"),
    ]:
        with pytest.raises(LaunchError, match=message):
            copy_strided[grid, block](*arguments)


@cuda.jit
def uses_a_set(x):
    for value in {1, 2}:
        x[0] = value


@cuda.jit
def uses_fromiter(x):
    x[0] = np.linspace(0, 1, 3)[1]


def helper(x):
    return x


@cuda.jit
def calls_plain_python(x):
    x[0] = helper(x[0])


@pytest.mark.parametrize("kernel", [uses_a_set, uses_fromiter, calls_plain_python])
def test_what_is_not_known_is_refused_by_name_and_line_before_anything_runs(kernel):
    x = np.full(3, np.nan)
    with pytest.raises(Unsupported, match=r"line \d+ `.*not known to the virtual GPU"):
        kernel[1, 1](x)
    assert np.isnan(x).all()


def test_the_real_compiler_works_in_the_same_process():
    pytest.importorskip("numba_cuda", reason="plain numba has no working CUDA compiler here")
    from numba import void

    x, out = np.arange(4.0), np.zeros(4)
    copy_strided[1, 32](x, out)
    ptx, _ = cuda.compile_ptx(
        copy_strided.py_func, void(float32[::1], float32[::1]), cc=(9, 0)
    )
    assert "ld.global" in ptx
    copy_strided[1, 32](x, out)
    assert out.tolist() == [0, 1, 2, 3]


@cuda.jit
def endless(x):
    while x[0] == 0:
        pass


def test_an_endless_loop_is_an_error():
    with pytest.raises(LimitReached, match="does the loop end"):
        endless[1, 1](np.zeros(1))


def test_shared_memory_beyond_a_blocks_limit_is_refused():
    @cuda.jit
    def greedy(x):
        tile = cuda.shared.array((128, 128), float32)
        tile[0, 0] = x[0]

    with pytest.raises(LaunchError, match="65536 bytes of shared memory"):
        greedy[1, 1](np.zeros(1))


def test_numbas_own_reduction_runs_here():
    add = cuda.reduce(lambda a, b: a + b)
    x = np.arange(1234.0)
    assert add(cuda.to_device(x)) == x.sum()


@cuda.jit
def sums_of_rows(x, out):
    r = cuda.grid(1)
    for c in range(x.shape[1]):
        out[r][0] += x[r][c]


def test_an_element_of_a_row_is_an_element_of_the_array():
    x, out = np.arange(12.0).reshape(3, 4), np.zeros((3, 2))
    assert trace(sums_of_rows, 1, 3, x, out).findings == ()
    np.testing.assert_array_equal(out[:, 0], x.sum(axis=1))
    assert [f.index for f in trace(sums_of_rows, 1, 4, x, out).findings] == [(3, 0), (3, 0)]


def test_a_store_to_an_element_of_a_row_is_checked_for_races():
    @cuda.jit
    def everyone(x):
        x[0][1] = cuda.threadIdx.x

    assert [f.kind for f in trace(everyone, 1, 32, np.zeros((2, 2))).findings] == ["race"]
