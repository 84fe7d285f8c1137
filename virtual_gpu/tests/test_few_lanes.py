"""A loop of few threads runs one thread after another: findings, counts and results stay the same.

Each kernel runs twice: on vectors of lanes alone, and with the code for one lane wherever there is
some, also for many lanes and short loops.
"""

import itertools
import linecache
import math
import operator
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda, float32, int32
from numba.cuda import libdevice

import utils  # noqa: F401  # whose own choice of a compiler must come before that of these files
import virtual_gpu
from virtual_gpu.checks.report import Report
from virtual_gpu.common.lanes import Geometry
from virtual_gpu.language import few_lanes
from virtual_gpu.language.few_lanes import FewLanes
from virtual_gpu.launching.launch import Observer, launch
from virtual_gpu.numbers import operations, plain_numbers
from virtual_gpu.numbers.plain_numbers import FLOAT32, NoText, Numbers, Text
from virtual_gpu.tests.kernels import few_threads
from virtual_gpu.tests.kernels.differential_cases import operands
from virtual_gpu.tests.next_compiler import corpora
from virtual_gpu.types import numba_types

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float32", "float64",
)  # fmt: skip
MIXED_PAIRS = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.lt, operator.eq, operator.and_, operator.lshift, operator.rshift, min, max,
)  # fmt: skip
ONE_VALUE = ((1, min), (1, max))  # are extremes of a tuple
LAUNCHES = corpora.counted() | corpora.sanitizer()


@pytest.fixture
def attempts(monkeypatch):
    """Let the code for one lane run wherever there is some; return the outcomes of its runs."""
    outcomes, attempt = [], FewLanes._attempt

    def noted(self, *arguments):
        result = attempt(self, *arguments)
        outcomes.append(result is not None)
        return result

    monkeypatch.setattr(FewLanes, "_attempt", noted)
    for name, value in (("STRICT", True), ("FEW_ITERATIONS", 0), ("MOST_CODES", 1000)):
        monkeypatch.setattr(few_lanes, name, value)
    # Vectors of one lane take long, and a busy machine makes it longer.
    monkeypatch.setenv("VIRTUAL_GPU_SECONDS", "600")
    return outcomes


def outcome(kernel, grid, block, arguments, shared):
    """Return what a launch without counters says and leaves in its arguments."""
    report, error = Report(collect=True), None
    extents = [((*np.atleast_1d(e).tolist(), 1, 1)[:3]) for e in (grid, block)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            launch(kernel, Geometry(*extents), arguments, shared, Observer(report))
        except virtual_gpu.VirtualGpuError as raised:
            error = type(raised).__name__, str(raised)
    findings = [(str(finding), finding.threads_in_all) for finding in report.findings]
    return error, findings, [corpora.digest(argument) for argument in arguments]


def assert_equal(monkeypatch, make_launch):
    """Launch and trace a kernel without and with the code for one lane; compare everything."""
    for run in (outcome, corpora.traced):
        limit_lanes(monkeypatch, 0)
        vectors = run(*make_launch())
        limit_lanes(monkeypatch, 1 << 20)
        assert run(*make_launch()) == vectors


@cuda.jit(device=True)
def weight_of_the_thread(k):
    return k * cuda.threadIdx.x + cuda.blockIdx.x


@cuda.jit(device=True)
def sum_of_weights(n):
    total = 0
    for k in range(n):
        total += weight_of_the_thread(k)
    return total


@cuda.jit
def function_that_reads_its_thread(out):
    i = cuda.grid(1)
    out[i] = sum_of_weights(5)


def test_a_device_function_reads_its_thread_and_block(attempts):
    out = np.zeros(8, np.int64)
    virtual_gpu.install()
    function_that_reads_its_thread[2, 4](out)
    np.testing.assert_array_equal(out, [10 * t + 5 * b for b in range(2) for t in range(4)])
    assert attempts == [True]


def limit_lanes(monkeypatch, most):
    for name in ("MOST_LANES", "MOST_LANES_OF_A_SHORT_CALL"):
        monkeypatch.setattr(few_lanes, name, most)


@pytest.mark.parametrize("name", LAUNCHES)
def test_every_kernel_of_the_corpora_is_judged_alike(name, attempts, monkeypatch):
    assert_equal(monkeypatch, LAUNCHES[name])


# --- numbers ------------------------------------------------------------------------------------


def bits(values, dtype):
    return np.asarray(values, dtype).view(f"u{dtype.itemsize}").tolist()


def texts_of(functions):
    """Yield (function, dtypes, text, names) of each operation that has a text."""
    for function, count in itertools.product(functions, (1, 2)):
        for names in itertools.product(DTYPES, repeat=count):
            is_mixed = len(set(names)) > 1
            if (is_mixed and function not in MIXED_PAIRS) or (count, function) in ONE_VALUE:
                continue
            dtypes, numbers = tuple(map(np.dtype, names)), Numbers()
            inputs = [
                Text(f"x{n}", d, True, plain_numbers.bits_of_dtype(d), atom=True)
                for n, d in enumerate(dtypes)
            ]
            try:
                yield function, dtypes, numbers.apply(function, inputs), numbers.names
            except NoText:
                continue


EXTREMES = (libdevice.fmaxf, libdevice.fminf)


def compared(function, dtypes, text, names, size):
    """Return the bits of one operation by its text and by NumPy, on many operands."""
    columns = [column[:size] for column in operands(*map(str, dtypes))()]
    parameters = ", ".join(f"x{n}" for n in range(len(dtypes)))
    by_text = eval(f"lambda {parameters}: {text.code}", names)
    numbers = [map(plain_numbers.as_python, column) for column in columns]
    got = [by_text(*row) for row in zip(*numbers, strict=True)]
    want = np.broadcast_to(operations.prepared(function, dtypes)(*columns), columns[0].shape)
    kind = (
        np.float32 if text.dtype == FLOAT32 else {"b": bool, "f": float}.get(text.dtype.kind, int)
    )
    assert {type(number) for number in got} == {kind}, function
    assert want.dtype == text.dtype
    # Which NaN an operation gives depends on the instructions of NumPy's loop, and so does which of
    # two zeros the larger or smaller one is.
    pairs = [
        (g, w)
        for g, w in zip(got, want, strict=True)
        if (g == g or w == w) and not (function in EXTREMES and g == w == 0)
    ]
    return tuple(bits(column, text.dtype) for column in zip(*pairs, strict=True))


FAST = [f for f in operations.COMPUTE if f in MIXED_PAIRS or f in (
    operator.neg, operator.ne, operator.le, operator.gt, operator.ge, operator.or_, operator.xor,
    abs, math.fabs, math.sqrt,
)]  # fmt: skip


@pytest.mark.parametrize(
    ("functions", "size"),
    [(FAST, 16), pytest.param(list(operations.COMPUTE), 600, marks=pytest.mark.slow)],
)
def test_the_text_of_an_operation_gives_the_bits_of_numpy(functions, size):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seen = 0
        for each in texts_of(functions):
            got, want = compared(*each, size)
            assert got == want, each[:2]
            seen += 1
    assert seen > 200


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
def test_the_text_of_a_cast_gives_the_bits_of_numpy(source, target):
    numbers, dtype, kind = Numbers(), np.dtype(target), np.dtype(source)
    text = numbers.cast(Text("x", kind, True, plain_numbers.bits_of_dtype(kind)), dtype)
    by_text = eval(f"lambda x: {text.code}", numbers.names)
    with np.errstate(all="ignore"):
        (values,) = operands(source)()
        got = [by_text(plain_numbers.as_python(value)) for value in values]
        assert bits(got, dtype) == bits(numba_types.cast(values, dtype), dtype)


# --- kernels of few threads ---------------------------------------------------------------------


@cuda.jit(device=True)
def squared_distance(x, y, origin):
    dx, dy = x - origin[0], y - origin[1]
    return dx * dx + dy * dy


@cuda.jit(device=True)
def insert(keys, count, key):
    place = count
    while place > 0 and keys[place - 1] > key:
        keys[place] = keys[place - 1]
        place -= 1
    keys[place] = key


@cuda.jit
def sums_of_one_thread(x, out):
    t = cuda.threadIdx.x
    if t == 3:
        total, count, largest = float32(0), 0, -1
        for i in range(x.size):
            if x[i] < 0.1:
                continue
            total += x[i] * float32(2)
            count += 1
            if x[i] > largest:
                largest = x[i]
        out[0], out[1], out[2] = total, count, largest
    out[3 + t] = t


@cuda.jit
def prefix_of_one_thread(x, out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    if t == 0:
        for i in range(1, 64):
            tile[i] = tile[i - 1] + tile[i]
    cuda.syncthreads()
    out[t] = tile[63 - t]


@cuda.jit
def prefix_without_first_barrier(x, out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    if t == 0:
        for i in range(1, 64):
            tile[i] = tile[i - 1] + tile[i]
    cuda.syncthreads()
    out[t] = tile[63 - t]


@cuda.jit
def prefix_without_last_barrier(x, out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    if t == 0:
        for i in range(1, 64):
            tile[i] = tile[i - 1] + tile[i]
    out[t] = tile[63 - t]


@cuda.jit
def sum_of_an_unset_tile(x, out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t < 40:
        tile[t] = x[t]
    cuda.syncthreads()
    if t == 0:
        for i in range(64):
            out[0] += tile[i]


@cuda.jit
def one_index_too_many(x, out):
    t = cuda.threadIdx.x
    if t == 1:
        for i in range(x.size):
            out[i] = x[i + 1] - x[i]


@cuda.jit
def index_from_the_end(x, out):
    t = cuda.threadIdx.x
    if t == 1:
        for i in range(x.size):
            out[i] = x[i - 1]


@cuda.jit
def store_that_does_not_fit(x, out):
    t = cuda.threadIdx.x
    small = cuda.shared.array(64, int32)
    if t == 1:
        for i in range(64):
            small[i] = 1 << (i // 2)
            out[i] = small[i]


@cuda.jit
def every_block_has_a_worker(x, out):
    tile = cuda.shared.array(32, float32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    tile[t] = x[b * 32 + t]
    cuda.syncthreads()
    if t == 5:
        n, i, seen = 0, 0, 0.0
        while i < 32:
            if tile[i] > 0.9 and n > 3:
                break
            n += 1 if tile[i] > 0.5 else 0
            seen = seen + tile[i]
            i += 1
        else:
            n = 100 + n
        out[b], out[b + 8], out[b + 16] = n, seen, i


@cuda.jit
def two_workers_overlap(x, out):
    t = cuda.threadIdx.x
    if t % 32 == 0:
        for i in range(t, t + 33):
            out[i] = x[i] + t


@cuda.jit
def one_worker_after_another(x, out):
    t = cuda.threadIdx.x
    for worker in range(0, 64, 16):
        if t == worker:
            for i in range(1, 60):
                out[i] = out[i - 1] + x[i]
        cuda.syncthreads()


@cuda.jit
def several_sort_in_local_arrays(x, out):
    t = cuda.grid(1)
    keys = cuda.local.array(8, float32)
    if t % 3 == 0:
        for i in range(8):
            insert(keys, i, x[(5 * t + i) % x.size])
        for i in range(8):
            out[t] += keys[i] * i


@cuda.jit
def unset_element_of_a_local_array(x, out):
    t = cuda.grid(1)
    keys = cuda.local.array(8, float32)
    if t % 3 == 0:
        keys[t % 8] = x[t]
        total = 0.0
        for i in range(t % 8, 8):
            total += keys[i]
        out[t] = total


@cuda.jit
def parts_of_shared_arrays(x, out):
    points = cuda.shared.array((32, 2), float32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    points[t, 0], points[t, 1] = x[b, t], x[t, b]
    cuda.syncthreads()
    nearest, best = -1, 1e30
    for i in range(t % 7, 32):
        distance = squared_distance(points[t, 0], points[t, 1], points[i])
        if distance < best and i != t:
            nearest, best = i, distance
    out[b, t] = nearest * 100 + best
    cuda.syncthreads()
    points[31 - t, 0] = 1
    out[b, t] += points[t, 1]


@cuda.jit
def parts_that_race_later(x, out):
    points = cuda.shared.array((32, 2), float32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    points[t, 0], points[t, 1] = x[b, t], x[t, b]
    cuda.syncthreads()
    total = 0.0
    for i in range(t, 32):
        total += squared_distance(points[t, 0], points[t, 1], points[i])
    points[31 - t, 1] = 1
    out[b, t] = total


@cuda.jit
def integers_wrap_around(x, out):
    t = cuda.threadIdx.x
    if t == 0:
        state, mixed, short = 12345, 0, int32(7)
        for i in range(out.size):
            state = state * 6364136223846793005 + 1442695040888963407
            mixed = (mixed ^ (state >> 33)) // (i - 3) % 1000003
            short = int32(short * 31 + i)
            out[i] = mixed + short + min(i, state) - max(state, -i)


def vectors(read, written, dtype=np.float32):
    rng = np.random.default_rng(4)
    return lambda: (rng.permutation(np.linspace(0, 1, read, dtype=np.float32)),
                    np.zeros(written, dtype))  # fmt: skip


def matrices():
    rng = np.random.default_rng(5)
    return rng.random((32, 32), np.float32), np.zeros((32, 32), np.float32)


# The kernel, grid, block, arguments, and whether its lanes can run one by one.
KERNELS = (
    (sums_of_one_thread, 1, 64, vectors(500, 80), True),
    (prefix_of_one_thread, 1, 64, vectors(64, 64), True),
    (prefix_without_first_barrier, 1, 64, vectors(64, 64), False),
    (prefix_without_last_barrier, 1, 64, vectors(64, 64), True),
    (sum_of_an_unset_tile, 1, 64, vectors(64, 64), False),
    (one_index_too_many, 1, 32, vectors(50, 50), False),
    (index_from_the_end, 1, 32, vectors(50, 50), False),
    (store_that_does_not_fit, 1, 32, vectors(64, 64, np.int64), False),
    (every_block_has_a_worker, 1, 32, vectors(256, 64), True),
    (every_block_has_a_worker, 8, 32, vectors(256, 64), False),  # they part
    (two_workers_overlap, 1, 64, vectors(100, 100), False),
    (one_worker_after_another, 1, 64, vectors(64, 64), True),
    (several_sort_in_local_arrays, 2, 32, vectors(64, 64), True),
    (unset_element_of_a_local_array, 1, 32, vectors(64, 64), False),
    (parts_of_shared_arrays, 4, 32, matrices, True),
    (parts_that_race_later, 4, 32, matrices, True),
    (integers_wrap_around, 1, 32, vectors(1, 200, np.int64), True),
)


@pytest.mark.parametrize("case", KERNELS, ids=lambda case: case[0].py_func.__name__)
def test_a_kernel_of_few_threads_is_judged_alike(case, attempts, monkeypatch):
    kernel, grid, block, make_arguments, runs = case
    made = make_arguments()
    assert_equal(monkeypatch, lambda: (kernel, grid, block, tuple(np.copy(a) for a in made), 0))
    assert any(attempts) == runs


# --- kernels that nobody has written ------------------------------------------------------------

TARGETS = ("a", "b", "n", "k", "f")  # float64, float32, two integers, float32
NUMBERS = (
    "a", "b", "n", "k", "f", "i", "t", "x[i % 40]", "tile[(i + k) % 16]", "2.5", "3",
    "float32(0.1)", "x[i]", "tile[i]", "keys[n % 4]", "half(b)", "math.sqrt(abs(a))",
)  # fmt: skip
OPERATORS = ("+", "-", "*", "/", "//", "%")
TESTS = ("<", "<=", "==", "!=")
CASTS = {"a": "float({})", "b": "float32({})", "n": "int({}) % 1000", "k": "int({}) % 50",
         "f": "float32({})"}  # fmt: skip

operands_ = st.sampled_from(NUMBERS)
expressions = st.one_of(
    operands_,
    st.tuples(operands_, st.sampled_from(OPERATORS), operands_).map(" ".join),
    st.tuples(operands_, operands_).map("min({0[0]}, {0[1]})".format),
    st.tuples(operands_, operands_, operands_).map("({0[0]} if {0[1]} > 1 else {0[2]})".format),
)
tests = st.one_of(
    st.tuples(operands_, st.sampled_from(TESTS), operands_).map(" ".join),
    st.tuples(operands_, operands_, operands_).map("{0[0]} < {0[1]} and not {0[2]} > 2".format),
)
assignments = st.sampled_from(TARGETS).flatmap(
    lambda name: expressions.map(lambda text: f"{name} = {CASTS[name].format(f'({text})')}")
)
stores = st.one_of(
    expressions.map("out[i % 40] = float32({})".format),
    expressions.map("tile[i % 16] = float32({})".format),
    expressions.map("keys[n % 4] += float32({})".format),
)
simple = st.one_of(assignments, stores, st.sampled_from(("n += 1", "a += x[i % 40]")))
branches = st.tuples(tests, simple, st.one_of(simple, st.just("continue"), st.just("break")))
bodies = st.lists(
    st.one_of(simple, branches.map(lambda b: f"if {b[0]}:\n    {b[1]}\nelse:\n    {b[2]}")),
    min_size=1, max_size=4,
)  # fmt: skip

KERNEL = """def f(x, out, only):
    tile = cuda.shared.array(16, float32)
    keys = cuda.local.array(4, float32)
    t = cuda.threadIdx.x
    if t < 16:
        tile[t] = x[t]
    keys[0] = keys[1] = keys[2] = keys[3] = t
    a, b, n, k, f = 0.5, float32(1.5), 1, 2, float32(t)
    cuda.syncthreads()
    if t < only:
        for i in range(t % 3, SIZE):
BODY
        out[40 + t] = a + b + n + k + f + keys[t % 4]
"""


@cuda.jit(device=True)
def half(value):
    return value * float32(0.5)


def kernel_of(body, size):
    """Return a kernel whose loop has these statements."""
    lines = [f"            {line}" for text in body for line in text.split("\n")]
    source = KERNEL.replace("BODY", "\n".join(lines)).replace("SIZE", str(size))
    path = f"<{source}>"
    linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)
    namespace = {"cuda": cuda, "float32": float32, "math": math, "half": half}
    exec(compile(source, path, "exec"), namespace)
    return cuda.jit(namespace["f"])


@settings(max_examples=10, deadline=None)
@given(bodies, st.sampled_from((1, 3)), st.sampled_from((12, 40, 45)))
def test_any_loop_of_few_threads_is_judged_alike(body, only, size):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("STRICT", True), ("FEW_ITERATIONS", 0)):
            patch.setattr(few_lanes, name, value)
        kernel, x = kernel_of(body, size), np.linspace(0, 3, 40, dtype=np.float32)
        assert_equal(patch, lambda: (kernel, 1, 32, (x.copy(), np.zeros(80, np.float32), only), 0))


# --- what it costs ------------------------------------------------------------------------------

SLOW_WORKLOAD = "block matching, 64 threads"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name == SLOW_WORKLOAD else [])
        for name in few_threads.WORKLOADS
    ],
)
def test_the_workloads_of_the_benchmark_are_judged_alike(name, attempts, monkeypatch):
    def make_launch():
        kernel, grid, block, arguments = few_threads.WORKLOADS[name]()
        return kernel, grid, block, arguments, 0

    assert_equal(monkeypatch, make_launch)
    assert any(attempts)


def calls_of(kernel, size):
    """Return the number of calls of Python and C functions that one launch makes."""
    x, out, calls = np.ones(size, np.float32), np.zeros(1), 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        kernel[1, 1](x, out)
    finally:
        sys.setprofile(None)
    assert out[0] == size
    return calls


def test_an_iteration_of_one_thread_makes_almost_no_calls():
    """On vectors of lanes an iteration of this loop makes more than 80 calls."""
    virtual_gpu.install()
    few_threads.total[1, 1](np.ones(9, np.float32), np.zeros(1))
    few, many = calls_of(few_threads.total, 1000), calls_of(few_threads.total, 1500)
    assert many - few < 500
