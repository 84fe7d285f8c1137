"""Importing the virtual GPU loads nothing that only a table or a picture needs."""

import json
import os
import subprocess
import sys

from utils.paths import ROOT

LAUNCH_AND_COUNT = """
import json, sys
import numpy as np
from numba import cuda
import virtual_gpu

def set_to_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = 1

virtual_gpu.install()
x = np.zeros(40, np.float32)
cuda.jit(set_to_one)[2, 32](x)
text = str(virtual_gpu.trace(set_to_one, 2, 32, x))
from virtual_gpu import pictures
print(json.dumps([name for name in sys.argv[1:] if name in sys.modules]))
"""


def test_neither_an_import_nor_a_launch_loads_pandas_or_matplotlib(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(LAUNCH_AND_COUNT)
    ended = subprocess.run(
        [sys.executable, script, "numba.cuda", "pandas", "matplotlib", "IPython", "pytest"],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(ended.stdout) == ["numba.cuda"]


def test_numbas_simulator_is_refused_with_a_sentence(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-m", "virtual_gpu", "script.py"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_ENABLE_CUDASIM": "1"},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.stderr.splitlines()[-1].startswith(
        "ImportError: NUMBA_ENABLE_CUDASIM puts Numba's simulator in the place of numba.cuda, which"
    )


def test_a_missing_numba_is_named_in_a_sentence(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", "import sys; sys.modules['numba'] = None; import virtual_gpu"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.stderr.splitlines()[-1] == (
        "ImportError: The virtual GPU asks Numba for the types in a kernel, also in one of "
        "numba-cuda-mlir, and numba is not installed: python -m pip install numba. In a clone of "
        "the course, `make setup` installs it into .venv, and `source .venv/bin/activate` "
        "activates that environment."
    )
