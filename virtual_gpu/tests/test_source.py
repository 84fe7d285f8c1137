"""The sources of a kernel's text: files, ``python -c`` and lambdas."""

import subprocess
import sys

import numpy as np
import pytest
from numba import cuda, float32

import virtual_gpu
from utils.paths import ROOT

virtual_gpu.install()


def made(text: str, name: str = "kernel"):
    names = {"cuda": cuda, "float32": float32, "np": np}
    exec(text, names)
    return names[name]


def test_a_function_that_exec_made_is_refused():
    kernel = cuda.jit(made("def kernel(x):\n    for i in range(4):\n        x[i] = i\n"))
    with pytest.raises(virtual_gpu.Unsupported, match="source of kernel cannot be read"):
        kernel[1, 1](np.zeros(4))


def test_a_kernel_of_python_dash_c_is_read_with_its_loops():
    text = (
        "import virtual_gpu; virtual_gpu.install()\n"
        "from numba import cuda\n"
        "import numpy as np\n"
        "@cuda.jit\n"
        "def kernel(x):\n"
        "    for i in range(4):\n"
        "        x[i] = i\n"
        "x = np.zeros(4)\n"
        "kernel[1, 1](x)\n"
        "print(x.tolist())\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ended.stdout.strip() == "[0.0, 1.0, 2.0, 3.0]"
