"""Run a corpus of kernels with either compiler's imports, and write what was found and counted.

``python -m virtual_gpu.tests.next_compiler.corpora CORPUS [--swapped]`` prints JSON: a dict from
the name of each kernel to its findings, counts and results.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import sys
from collections.abc import Callable

import numpy as np

import utils  # noqa: F401  # whose own choice of a compiler must come before that of this file
import virtual_gpu

from .swapped_imports import load_kernels

CORPORA = ("counted", "sanitizer", "other_steps", "tensor_products")


def main() -> None:
    parser = argparse.ArgumentParser(description="Run a corpus of kernels on the virtual GPU.")
    parser.add_argument("corpus", choices=CORPORA)
    parser.add_argument("--swapped", action="store_true", help="with numba_cuda_mlir's imports")
    arguments = parser.parse_args()
    load_kernels(arguments.swapped)
    virtual_gpu.install()
    makers = counted, sanitizer, _other_steps, _tensor_products
    launches = dict(zip(CORPORA, makers, strict=True))[arguments.corpus]()
    json.dump({name: traced(*launch()) for name, launch in launches.items()}, sys.stdout)


def counted() -> dict[str, Callable[[], tuple]]:
    """Return the launches of counters by name.

    A call of an item returns (kernel, grid, block, new arguments, shared bytes).
    """
    from virtual_gpu.tests.kernels.counted import launches

    return _by_name(launches())


def _other_steps() -> dict[str, Callable[[], tuple]]:
    """Return the same of the steps of ladders that have no records of counters."""
    import gemm_kernels
    from utils.ladder.shapes import GemmShape
    from virtual_gpu.tests.kernels.counted import of_step

    steps = (gemm_kernels.LADDER.step(name) for name in ("unified_memory", "split_k"))
    return _by_name([of_step(step.variant(), GemmShape(96, 64, 80)) for step in steps])


def _tensor_products() -> dict[str, Callable[[], tuple]]:
    """Return the same of the steps on tensor cores, and of other right products on them."""
    import tensor_kernels
    from utils.ladder.shapes import GemmShape
    from virtual_gpu.tests.kernels.counted import of_step
    from virtual_gpu.tests.planted import bugs_in_tensor_products as planted
    from virtual_gpu.tests.planted import tensor_products

    steps = [step.variant() for step in tensor_kernels.LADDER.steps]
    products = {}
    for launch in (planted.NAIVE, planted.SHARED, planted.SWIZZLED, planted.PIPELINED):
        m, n, k = launch.shape
        a, b = (np.ones(shape, np.float16) for shape in ((m, k), (k, n)))
        grid = -(-n // launch.tile[1]), -(-m // launch.tile[0])
        arguments = a, b, np.zeros((m, n), np.float32)
        kernel = getattr(tensor_products, launch.kernel)
        launched = kernel, grid, launch.threads, arguments, 0
        products[launch.kernel] = functools.partial(tuple, launched)
    return products | _by_name([of_step(step, GemmShape(35, 40, 56)) for step in steps])


def _by_name(launches: list) -> dict[str, Callable[[], tuple]]:
    """Return CountedLaunches by name, each as in ``counted``."""
    return {
        launch.name: lambda launch=launch: (
            launch.kernel, launch.grid, launch.block, launch.arguments(), launch.shared_bytes
        )
        for launch in launches
    }  # fmt: skip


def sanitizer() -> dict[str, Callable[[], tuple]]:
    """Return the launches of the broken and the correct kernels, each as in ``counted``."""
    from virtual_gpu.tests.kernels.run_case import CASES

    return {case.name: functools.partial(_of_case, case) for case in CASES.values()}


def _of_case(case) -> tuple:
    """Return the launch of a KernelCase: (kernel, grid, block, arguments, shared bytes)."""
    from virtual_gpu.host.allocation import device_array_like

    arguments = tuple(
        device_array_like(argument) if number in case.unset else argument
        for number, argument in enumerate(case.arguments())
    )
    return case.kernel, case.grid, case.block, arguments, case.shared_bytes


def traced(kernel, grid, block, arguments: tuple, shared_bytes: int) -> dict:
    """Return the findings, the counts and a digest of the arguments after a launch."""
    compiler = type(kernel).__module__.split(".")[0]
    try:
        result = virtual_gpu.trace(kernel, grid, block, *arguments, shared_bytes=shared_bytes)
    except virtual_gpu.VirtualGpuError as error:
        return {"compiler": compiler, "error": str(error)}
    return {
        "compiler": compiler,
        "findings": [[str(finding), finding.threads_in_all] for finding in result.findings],
        "hints": list(map(str, result.hints)),
        "lines": result.lines.fillna(-1).values.tolist(),
        "accesses": result.accesses.fillna(-1).values.tolist(),
        "turns": sorted([str(site), turns] for site, turns in result.turns.items()),
        "results": [digest(argument) for argument in arguments],
    }


def digest(argument) -> str:
    """Return a digest of an argument's content."""
    values = argument.copy_to_host() if hasattr(argument, "copy_to_host") else argument
    return hashlib.sha256(np.asarray(values).tobytes()).hexdigest()


if __name__ == "__main__":
    main()
