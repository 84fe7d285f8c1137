"""A kernel that cannot run is refused with one sentence: it neither crashes nor hangs."""

import linecache

import numpy as np
import pytest
from numba import cuda, uint32

from virtual_gpu import LaunchError, Unsupported, register, trace

NINE = 9
FULL = 0xFFFFFFFF


def defined(source, **names):
    """Return the function ``f`` of this text, whose lines can be read although it is in no file."""
    path = f"<{len(source)} {source[:40]}>"
    linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)
    namespace = {**globals(), **names}
    exec(compile(source, path, "exec"), namespace)
    return namespace["f"]


def run(body, *arguments, **names):
    kernel = cuda.jit(defined(f"def f(out, x):\n    {body}\n", **names))
    out = np.zeros(4, np.int64)
    kernel[1, 1](out, *arguments)
    return out[0]


@pytest.mark.parametrize(
    "function, value, want",
    [
        ("ffs", np.int32(16), 5),
        ("ffs", np.int64(0), 0),
        ("ffs", np.uint64(1 << 40), 41),
        ("clz", np.int8(16), 3),
        ("clz", np.int32(1), 31),
        ("popc", np.uint16(0xF0F), 8),
        ("brev", np.uint32(1), 1 << 31),
        ("brev", np.uint8(16), 1 << 27),  # Numba casts to uint32
    ],
)
def test_a_bit_function_of_one_thread(function, value, want):
    assert run(f"out[0] = cuda.{function}(x)", value) == want


@pytest.mark.parametrize(
    "body, x, what",
    [
        ("out[0] = cuda.ffs(x)", np.int8(3), "a bit function of int8 .Numba refuses it"),
        ("out[0] = cuda.popc(x)", 1.5, "a value that is no integer"),
        ("out[0] = cuda.clz(out)", 1, "a value that is no integer"),
        ("out[0] = cuda.shfl_sync(x, 1, 0)", 3.0, "a mask, lane or predicate of type float64"),
        ("out[0] = cuda.shfl_xor_sync(FULL, 1, x)", 1.0, "a mask, lane or predicate of type float"),
        ("out[0] = cuda.ballot_sync(FULL, x)", 0.5, "a mask, lane or predicate of type float64"),
        ("out[0] = cuda.any_sync(x, 1)", 1.0, "a mask, lane or predicate of type float64"),
        ("out[0] = cuda.syncthreads_or(x > 0)", 1, "a predicate of type bool .*write int"),
        ("out[0] = out[x, x]", 1, "2 indices into an array of rank 1"),
        ("cuda.syncwarp(x)", 1.0, "a mask, lane or predicate of type float64"),
        ("out[0] = cuda.match_any_sync(x, 1)", 1.0, "a mask, lane or predicate of type float64"),
        ("out[0] = cuda.shfl_sync(FULL, out, 0)", 1, "a shuffle of a value that is no number"),
    ],
)
def test_what_is_no_integer_is_no_mask_and_no_set_of_bits(body, x, what):
    with pytest.raises(Unsupported, match=what):
        run(body, x)


@pytest.mark.parametrize(
    "body, what",
    [
        ("out[0] = min(())", r"min\(\) of an empty tuple"),
        ("out[0] = max(())", r"max\(\) of an empty tuple"),
        ("out[0] = None is None == 5", "the comparison Is"),
    ],
)
def test_what_has_no_value_is_refused(body, what):
    with pytest.raises(Unsupported, match=what):
        run(body, 1)


@pytest.mark.parametrize(
    "body, what",
    [
        ("cuda.atomic.add(out, 0, 1j)", "a value that is no real number"),
        ("cuda.atomic.max(out, 0, out)", "a value that is no real number"),
        ("cuda.atomic.cas(out, 0, 0, 1j)", "a value that is no real number"),
        ("cuda.atomic.inc(out, 0, 1)", "inc"),
        ("cuda.atomic.exch(x, 0, 1)", "exch"),
        ("cuda.atomic.add(x[1:].view, 0, 1)", "view"),
    ],
)
def test_an_atomic_takes_what_numba_takes(body, what):
    with pytest.raises(Unsupported, match=what):
        run(body, np.zeros(4))


@cuda.jit(device=True)
def scaled(value, by=2, plus=0):
    return value * by + plus


@pytest.mark.parametrize(
    "call",
    ["scaled()", "scaled(1, 2, 3, 4)", "scaled(1, on=2)", "scaled(1, value=2)", "scaled(by=1)"],
)
def test_a_call_that_does_not_fit_its_function_is_refused(call):
    with pytest.raises(Unsupported, match=r"a call that does not fit scaled\(value, by, plus\)"):
        run(f"out[0] = {call}", 1)


@pytest.mark.parametrize(
    "made", ["[x] * 4", "[x for _ in range(4)]", "np.zeros(4, np.int64)", "np.array([x, x])"]
)
def test_a_list_or_a_numpy_array_is_refused_with_what_a_kernel_has_in_its_place(made):
    with pytest.raises(Unsupported, match=r"no lists and no NumPy arrays.*cuda\.local\.array"):
        run(f"out[0] = ({made})[0]", 1)


@pytest.mark.parametrize("change", ["kept[1] = x", "kept[x % 4] += x", "(kept, kept)[0][1] = x"])
def test_a_change_of_a_tuple_is_refused_with_what_a_kernel_has_in_its_place(change):
    refusal = r"a tuple cannot be changed \(Numba refuses it, too\).*cuda\.local\.array"
    with pytest.raises(Unsupported, match=refusal):
        run(f"kept = (0, 0, 0, 0); {change}; out[0] = kept[1]", 1)


def test_a_tuple_that_is_not_changed_is_no_list():
    assert run("kept = (0, 0, 0, 5); out[0] = kept[3] + kept[x]", 1) == 5


def test_an_element_of_a_number_is_refused():
    with pytest.raises(Unsupported, match=r"storing to x\[0\], an element of a number"):
        run("x[0] = 1; out[0] = x", 1)
    refusal = r"x\[0\], where x is a number since its assignment \(Numba refuses it, too: use"
    with pytest.raises(Unsupported, match=refusal):
        run("x = cuda.grid(1); out[0] = x[0]", 1)


def test_a_default_stands_for_an_argument_left_out_before_a_named_one():
    assert run("out[0] = scaled(1, plus=7)", 1) == 9
    assert run("out[0] = scaled(value=1, plus=7)", 1) == 9
    with pytest.raises(Unsupported, match="a call that does not fit scaled"):
        run("out[0] = scaled(plus=7)", 1)
    assert run("out[0] = scaled(by=5, value=3)", 1) == 15


@pytest.mark.parametrize("body", ["9**9**9**9", "NINE**NINE**NINE**NINE", "1 << (1 << 60)"])
def test_a_constant_too_long_for_the_kernel_is_not_computed(body):
    run(f"out[0] = {body}", 1)


def test_constants_that_fit_are_folded():
    assert run("out[0] = (1 << 62) + 3**39 // 3**38", 1) == 2**62 + 3
    assert run("out[0] = (-2) ** 63", 1) == -(2**63)


@pytest.mark.parametrize(
    "body", ["out[0] = x" + " + x" * 2000, "out[0] = x\n" + "".join(
        f"    {'elif' if n else 'if'} x == {n}: out[1] = {n}\n" for n in range(900)
    )],
    ids=["sum", "elif"],
)  # fmt: skip
def test_nesting_beyond_pythons_stack_is_one_sentence(body):
    with pytest.raises(Unsupported, match=r"^f: its expressions or branches are nested"):
        run(body, 1)


@cuda.jit(device=True)
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def test_a_device_function_may_call_itself():
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = fibonacci(i)

    out = np.zeros(8, np.int64)
    assert trace(kernel, 1, 8, out).findings == ()
    assert out.tolist() == [0, 1, 1, 2, 3, 5, 8, 13]


@cuda.jit(device=True)
def is_even(n):
    return True if n == 0 else is_odd(n - 1)


@cuda.jit(device=True)
def is_odd(n):
    return False if n == 0 else is_even(n - 1)


@cuda.jit(device=True)
def countdown(n):
    if n == 0:
        return 0
    return countdown(n - 1)


def test_recursion_through_another_function_or_without_a_bound_is_refused():
    with pytest.raises(Unsupported, match=r"is_even, .* calls itself through is_odd is"):
        run("out[0] = is_even(x)", 3)
    with pytest.raises(Unsupported, match=r"countdown: .*deeper than the virtual GPU can follow"):
        run("out[0] = countdown(x)", 100000)
    assert run("out[0] = countdown(x) + cuda.popc(uint32(7))", 5, uint32=uint32) == 3


@pytest.mark.parametrize(
    "body, what",
    [
        ("out[0] = x.T.reshape(24)[1]", "a reshape of x, which is not contiguous"),
        ("out[0] = x.reshape(23)[1]", r"a reshape of x \(shape \(4, 6\)\) to another number"),
        ("out[0] = x.reshape(-1, 5)[0, 1]", "to another number of elements"),
        ("out[0] = x.T.flat[3]", r"x\.T\.flat"),
    ],
)
def test_an_array_is_seen_in_another_shape_only_where_it_fits(body, what):
    with pytest.raises(Unsupported, match=what):
        run(body, np.zeros((4, 6)))


def test_an_enumerated_range_must_be_the_same_for_all_threads():
    body = "for k, v in enumerate(range(x[cuda.threadIdx.x])): out[0] = v"
    kernel = cuda.jit(defined(f"def f(out, x):\n    {body}\n"))
    with pytest.raises(Unsupported, match="differ by thread"):
        kernel[1, 2](np.zeros(4, np.int64), np.array([1, 2]))


def plain(value):
    return value + 1


@pytest.mark.parametrize(
    "body, what",
    [
        ("out[0] = cuda.gird(1)", r"cuda.gird, which numba.cuda does not have \(is cuda.grid mean"),
        ("out[0] = cuda.zzzzzz(1)", "cuda.zzzzzz, which numba.cuda does not have, is not known"),
        ("out[0] = plain(x)", r"of plain\(\), a Python function without @cuda.jit\(device=True"),
        ("out[0] = x.size", r"x.size, where x is a number \(int64\), is not known"),
        ("out[0] = out.sum", "out.sum, where out is a 1D array, is not known"),
        ("i, j = cuda.grid(1)", r"unpacking into 2 names from a number \(int64\)"),
        ("i = cuda.threadIdx + cuda.blockIdx", r"add\(\) of a Dim3 \(x, y, z\) and a Dim3"),
        ("out[0] = out * 2", r"mul\(\) of a 1D array and a number \(int64\)"),
        ("print('out', out)", r"print\(\) of a 1D array \(Numba refuses it, too\)"),
        ("i, j = out.shape", "unpacking into 2 names from a tuple of 1 is"),
    ],
)
def test_a_mistake_is_told_with_what_stands_there(body, what):
    with pytest.raises(Unsupported, match=what):
        run(body, 7, plain=plain)


@cuda.jit
def one(x):
    x[0] = 1


@pytest.mark.parametrize(
    "launch, what",
    [
        (lambda x: one[8](x), r"one\[8\] is no launch; write one\[grid, block\], or"),
        (lambda x: one[8 / 4, 1](x), r"The grid is 2.0; .*\(such as math.ceil\(n / threads\)\)\.$"),
        (lambda x: one[0, 1](x), r"each at least 1\.$"),
        (lambda x: trace(one[1, 1], 1, 1, x), r"given a VirtualLaunch where it needs a kernel"),
    ],
)
def test_a_launch_that_is_none_says_how_one_is_written(launch, what):
    with pytest.raises(LaunchError, match=what):
        launch(np.zeros(4))


def test_what_is_registered_must_be_two_functions():
    with pytest.raises(TypeError, match=r"was given 3 and .*; it needs two functions"):
        register(3, plain)
