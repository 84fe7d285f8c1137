"""Random calls of `sgemm` and `reduce` on a GPU: `python -m tools.random_calls --calls 500`.

The calls vary layouts, factors, NaN, odd sizes, and arrays of three libraries. Separate parts make
plain calls, calls on streams, in threads and in captured graphs. Each result is compared with
float64 within its error bound, and each call is made twice and must give the same bits.
compute-sanitizer can watch the same calls.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
import pytest
from numba import cuda

from gemm_kernels import sgemm
from reduce_kernels import reduce
from reduce_kernels.reduction import longest_chain
from utils.errors import CourseError
from utils.ladder.tasks import ERROR_PER_ROOT_K
from utils.machine.versions import cupy, torch

LARGEST = 700
# The number of concurrent threads, and True if calls choose a stream. One thread captures graphs.
PARTS = {"plain": (1, False), "streams": (1, True), "threads": (4, True), "graphs": (1, False)}
# The number of elements in memory for m rows and n columns, and the view that is the matrix.
LAYOUTS: dict[str, Callable[[int, int], tuple[int, Callable]]] = {
    "rows": lambda m, n: (m * n, lambda x: x.reshape(m, n)),
    "columns": lambda m, n: (m * n, lambda x: x.reshape(n, m).T),
    "gaps": lambda m, n: (m * (n + 3), lambda x: x.reshape(m, n + 3)[:, 1 : n + 1]),
    "off": lambda m, n: (m * n + 1, lambda x: x[1:].reshape(m, n)),
    "every other": lambda m, n: (2 * m * n, lambda x: x.reshape(m, 2 * n)[:, ::2]),
    "backwards": lambda m, n: (m * n, lambda x: x.reshape(m, n)[::-1]),
}
FAMILIES = ("numba", "cupy", "torch")
OPERATIONS = {"sum": np.sum, "max": np.max, "min": np.min, "prod": np.prod}


class RandomMatrix:
    """A random float32 matrix on the host and on the device, in one of the layouts.

    `memory` is the whole host memory and `host` the matrix in it, a view. `layout` is a key of
    `LAYOUTS`. One matrix in ten holds a NaN. `backwards` allows the layout of this name, which has
    a negative stride. `draw` is the source of random choices. `on_device` is the matrix in a copy
    of the memory on the device.
    """

    def __init__(self, draw: random.Random, rows: int, columns: int, backwards: bool) -> None:
        names = [name for name in LAYOUTS if backwards or name != "backwards"]
        self.layout = draw.choice(names)
        elements, self._part = LAYOUTS[self.layout](rows, columns)
        generator = np.random.default_rng(draw.getrandbits(32))
        self.memory = generator.standard_normal(elements, np.float32)
        self.host = self._part(self.memory)
        if draw.random() < 0.1:
            self.host[draw.randrange(rows), draw.randrange(columns)] = np.nan
        self.on_device = cuda.to_device(self.memory)

    def array(self, family: str):
        """Return the device matrix as an array of a library: "numba", "cupy" or "torch"."""
        backwards = self.layout == "backwards"
        forwards = self.host[::-1] if backwards else self.host
        first = forwards.__array_interface__["data"][0]
        first -= self.memory.__array_interface__["data"][0]
        interface = dict(self.on_device.__cuda_array_interface__)
        interface |= {"shape": forwards.shape, "strides": forwards.strides}
        interface |= {"data": (interface["data"][0] + first, False)}
        array = of_family(family, cuda.from_cuda_array_interface(interface, owner=self.on_device))
        return array[::-1] if backwards else array

    def fill(self) -> None:
        """Restore the device memory to its initial content, and wait until that is done."""
        self.on_device.copy_to_device(self.memory)
        cuda.synchronize()

    def result(self) -> np.ndarray:
        """Return the present content of the device matrix as a host array."""
        return self._part(self.on_device.copy_to_host())


def of_family(family: str, array):
    """Return an array of a library, "numba", "cupy" or "torch", over a Numba array's memory."""
    if family == "torch":
        return torch().as_tensor(array, device="cuda")
    return cupy().asarray(array) if family == "cupy" else array


@contextmanager
def stream_of(family: str, draw: random.Random):
    """Let calls within this context use a new stream of the library, or sometimes the default one.

    Yields the value for `stream=`: a stream of Numba, or None, because the streams of CuPy and
    PyTorch are made current. Waits for the device at the end. family: "numba", "cupy" or "torch".
    draw: the source of random choices.
    """
    if draw.random() < 0.3:
        yield None
        cuda.synchronize()
        return
    if family == "torch":
        with torch().cuda.stream(torch().cuda.Stream()):
            yield None
    elif family == "cupy":
        with cupy().cuda.Stream(non_blocking=True):
            yield None
    else:
        yield cuda.stream()
    cuda.synchronize()


def product(draw: random.Random, family: str, make_call: Callable) -> None:
    """Compute one random product twice; raise AssertionError unless both results are right.

    draw: the source of random choices. family: "numba", "cupy" or "torch". make_call: a function of
    (call, family) that makes the call.
    """
    m, n, k = (round(math.exp(draw.uniform(0, math.log(LARGEST)))) for _ in range(3))
    backwards = family != "torch"
    a, b = RandomMatrix(draw, m, k, backwards), RandomMatrix(draw, k, n, backwards)
    out = RandomMatrix(draw, m, n, backwards)
    alpha, beta = draw.choice((1.0, 1.0, 0.0, -2.5)), draw.choice((0.0, 0.0, 1.0, -0.5))
    arrays = [each.array(family) for each in (a, b, out)]
    results = []
    for _ in range(2):
        out.fill()
        make_call(lambda stream=None: sgemm(*arrays, alpha, beta, stream), family)
        results.append(out.result())
    where = f"{m}×{n}×{k} {family} {a.layout}, {b.layout}, {out.layout} α={alpha} β={beta}"
    exact = np.zeros((m, n))
    with np.errstate(invalid="ignore"):
        if alpha:
            exact += alpha * (a.host.astype(float) @ b.host.astype(float))
        if beta:
            exact += beta * out.host.astype(float)
    check(results, exact, ERROR_PER_ROOT_K * max(1.0, k) ** 0.5, where)


def check(results: list[np.ndarray], exact: np.ndarray, allowed: float, where: str) -> None:
    """Raise AssertionError unless both results have equal bits and are within the error bound.

    The norm of the error may be 2·allowed times the norm of the exact result, or times the square
    root of its number of elements if that is more. NaN must be exactly where the exact result has
    NaN. results: the same product, computed twice. where: the beginning of the error's sentence.
    """
    first, second = results
    assert first.tobytes() == second.tobytes(), f"{where}: other bits the second time"
    assert (np.isnan(first) == np.isnan(exact)).all(), f"{where}: NaN in other places"
    known = ~np.isnan(exact)
    scale = np.linalg.norm(exact[known])
    error = np.linalg.norm(first[known] - exact[known])
    # Cancellation between the product and beta·out adds a rounding error of each.
    assert error <= 2 * allowed * max(scale, known.sum() ** 0.5), f"{where}: off by {error}"


def reduction(draw: random.Random, family: str, make_call: Callable) -> None:
    """Compute one random reduction with and without `out`; raise AssertionError if one is wrong.

    Both results must have equal bits. They are also compared with the right result, except for a
    product of floats. draw: the source of random choices. family: "numba", "cupy" or "torch".
    make_call: a function of (call, family) that makes the call with `out`.
    """
    elements = round(math.exp(draw.uniform(0, math.log(10**6))))
    generator = np.random.default_rng(draw.getrandbits(32))
    dtype = draw.choice((np.float32, np.float64, np.int32, np.int64))
    host = generator.integers(-3, 4, elements).astype(dtype)
    if dtype in (np.float32, np.float64):
        host = generator.standard_normal(elements).astype(dtype)
    op, skipped = draw.choice(list(OPERATIONS)), draw.choice((0, 0, 1, 3))
    whole = cuda.to_device(np.concatenate([np.zeros(skipped, dtype), host]))
    cuda.synchronize()
    x = of_family(family, whole[skipped:])
    expected = OPERATIONS[op](host)
    out = cuda.to_device(np.zeros(1, np.asarray(expected).dtype))
    out_array = of_family(family, out)
    make_call(lambda stream=None: reduce(x, op, out_array, stream), family)
    result = out.copy_to_host()[0]
    with stream_of(family, draw) as stream:
        direct = reduce(x, op, stream=stream)
    where = f"{op} of {elements} {np.dtype(dtype)} {family}"
    assert direct.tobytes() == result.tobytes(), f"{where}: other bits without out"
    if op == "sum" and dtype in (np.float32, np.float64):
        unit = np.finfo(dtype).eps / 2
        bound = longest_chain(elements, host.itemsize) * unit * math.fsum(map(abs, host))
        assert abs(math.fsum([*host, -result])) <= bound, where
    elif op != "prod" or dtype in (np.int32, np.int64):
        assert result == expected, f"{where}: {result} for {expected}"


def overlapping(draw: random.Random, family: str, make_call: Callable) -> None:
    """Fail unless `sgemm` refuses an `out` that shares memory with an input.

    The product has a random size and overlap. draw: the source of random choices. family: "numba",
    "cupy" or "torch". make_call: is not called.
    """
    n, shift = draw.randrange(2, 60), draw.randrange(-1, 2)
    memory = cuda.to_device(np.zeros(3 * n * n, np.float32))
    a = of_family(family, memory[n * n : 2 * n * n].reshape(n, n))
    start = n * n + shift * draw.randrange(n * n)
    out = of_family(family, memory[start : start + n * n].reshape(n, n))
    with pytest.raises(CourseError, match="out shares memory with a"):
        sgemm(a, a, out)


def captured(call: Callable, family: str) -> None:
    """Capture a call as a CUDA graph of "torch" or "cupy", launch it, and wait for it."""
    if family == "torch":
        pytorch = torch()
        graph = pytorch.cuda.CUDAGraph()
        with pytorch.cuda.graph(graph):
            call()
        graph.replay()
    else:
        with cupy().cuda.Stream(non_blocking=True) as stream:
            stream.begin_capture()
            call()
            graph = stream.end_capture()
            graph.launch(stream)
            stream.synchronize()
    cuda.synchronize()


def one_call(seed: int, families: tuple[str, ...], part: str) -> str | None:
    """Make and check one random call; return a sentence on what is wrong, or None if it is right.

    seed: decides everything about the call. families: the libraries to choose from. part: a key of
    PARTS.
    """
    draw = random.Random(seed)
    family = draw.choice(families)
    operation = draw.choices((product, reduction, overlapping), (80, 15, 5))[0]
    _, streams = PARTS[part]

    def eager(call: Callable, family: str) -> None:
        with stream_of(family, draw) if streams else nullcontext() as stream:
            call(stream=stream)

    try:
        operation(draw, family, captured if part == "graphs" else eager)
    except (Exception, pytest.fail.Exception) as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(frame.filename).name}:{frame.lineno}"
        return f"seed {seed}, {part}, {operation.__name__}, {family}: {error!r} at {where}"
    return None


def wrong_calls(calls: int, seed: int = 0, parts: Iterable[str] = PARTS) -> list[str]:
    """Make random calls in each part and return a sentence per wrong call.

    Without CuPy and PyTorch, the part "graphs" makes no calls. calls: the number of random calls in
    each part. seed: the first call's seed; the others count up from it. parts: keys of `PARTS`.
    """
    families = tuple(
        name for name in FAMILIES
        if name == "numba" or (name == "cupy" and cupy()) or (name == "torch" and torch())
    )  # fmt: skip
    results = []
    for part in parts:
        usable = families[1:] if part == "graphs" else families  # Numba captures no graph
        with ThreadPoolExecutor(PARTS[part][0]) as pool:
            results += pool.map(
                lambda each: one_call(each, usable, part),  # noqa: B023
                range(seed, seed + calls if usable else seed),
            )
    return [wrong for wrong in results if wrong]


def host_times() -> list[str]:
    """Return a line per installed library, function and size: microseconds of Python per call.

    The functions are `sgemm`, and `reduce` with and without `out`; a figure is the median of 20
    series of 50 calls.
    """
    lines = []
    for family in FAMILIES:
        if (family == "torch" and not torch()) or (family == "cupy" and not cupy()):
            continue
        for n in (64, 512, 1024, 513):
            host = np.ones((n, n), np.float32)
            a, b, out = (of_family(family, cuda.to_device(host)) for _ in range(3))
            total = of_family(family, cuda.device_array(1, np.float32))
            for name, call in (
                (f"sgemm {n}", lambda: sgemm(a, b, out)),  # noqa: B023
                (f"reduce {n}² into out", lambda: reduce(a, out=total)),  # noqa: B023
                (f"reduce {n}²", lambda: reduce(a)),  # noqa: B023
            ):
                bursts = []
                for _ in range(20):
                    cuda.synchronize()
                    start = time.perf_counter()
                    for _ in range(50):
                        call()
                    bursts.append((time.perf_counter() - start) / 50 * 1e6)
                lines.append(f"{family:6} {name:22} {sorted(bursts)[10]:7.2f} us")
    return lines


def main() -> int:
    """Make random calls, print a sentence per wrong call, and return an exit code.

    At most 20 sentences are printed. The code is 0 if all calls are right, 1 if one is wrong, and 2
    without a GPU. With --host, only the lines of `host_times` are printed.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=500, help="of each part")
    parser.add_argument("--part", choices=PARTS, help="only this part")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--host", action="store_true", help="print what Python costs, and stop")
    options = parser.parse_args()
    if not cuda.is_available():
        print("This needs a CUDA device.", file=sys.stderr)
        return 2
    if options.host:
        print("\n".join(host_times()))
        return 0
    parts = [options.part] if options.part else list(PARTS)
    wrong = wrong_calls(options.calls, options.seed, parts)
    print("\n".join(wrong[:20]))
    print(f"{len(wrong)} of {options.calls * len(parts)} calls are wrong ({', '.join(parts)}).")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
