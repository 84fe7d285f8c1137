"""The environment without numba-cuda has all else that the course needs."""

import re

from utils.machine.check_pythons import requirements
from utils.paths import ROOT

FILE = ROOT / "utils" / "compilers" / "requirements.txt"
LEFT_OUT = {"numba-cuda", "jupyterlab"}


def names(lines):
    return {re.match(r"[\w-]+", line)[0] for line in lines if re.match(r"\w", line)}


def test_every_dependency_but_numba_cuda_is_named():
    named = names(FILE.read_text(encoding="utf-8").splitlines())
    needed = names(requirements(extras=("compiler",)))
    assert needed - named == LEFT_OUT
    assert LEFT_OUT & named == set()


def test_the_pin_of_the_compiler_is_that_of_the_extra():
    (line,) = [line for line in requirements(("next-compiler",)) if "mlir" in line]
    assert line in FILE.read_text(encoding="utf-8").splitlines()
    assert line.replace("[cu13]", "") in (ROOT / "constraints.txt").read_text().splitlines()
