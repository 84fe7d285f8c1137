"""Run one case on this CUDA device: ``python -m virtual_gpu.tests.kernels.run_case NAME``.

Meant to be started under compute-sanitizer. The last line of a run that comes to its end is
``finished`` for a broken kernel, and ``right`` or ``wrong`` for a correct one. A kernel that hangs
is ended after SECONDS, with ``Timeout`` and a traceback on stderr.
"""

from __future__ import annotations

import argparse
import faulthandler

import numpy as np
from numba import cuda

from . import KernelCase, broken, correct

SECONDS = 30  # to compile and run one kernel, on a machine that runs many at once
CASES = {case.name: case for case in (*broken.CASES, *correct.CASES)}


def main() -> None:
    parser = argparse.ArgumentParser(description="Run one case on this machine's CUDA device.")
    parser.add_argument("name", choices=CASES, metavar="NAME", help="the kernel's name")
    case = CASES[parser.parse_args().name]
    print(outcome(case, launch(case)), flush=True)


def launch(case: KernelCase) -> np.ndarray:
    """Launch the case and return its last argument, copied back to the host."""
    arguments = [_on_device(case, number) for number in range(len(case.arguments()))]
    # A thread outside Python ends the process: a hung launch never returns to the interpreter.
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    case.kernel[case.grid, case.block, 0, case.shared_bytes](*arguments)
    cuda.synchronize()
    result = arguments[-1].copy_to_host()
    faulthandler.cancel_dump_traceback_later()
    return result


def _on_device(case: KernelCase, number: int):
    """Return one argument: a number, a copied array, or an array that is only allocated."""
    argument = case.arguments()[number]
    if not isinstance(argument, np.ndarray):
        return argument
    if number in case.unset:
        return cuda.device_array_like(argument)
    return cuda.to_device(argument)


def outcome(case: KernelCase, result: np.ndarray) -> str:
    """Return the word that the run ends with."""
    if case.corpus == "broken":
        return "finished"
    return "right" if case.is_right(result) else "wrong"


if __name__ == "__main__":
    main()
