"""An error shows the line that launched the kernel and its sentence, not the interpreter."""

import os
import signal
import subprocess
import sys

import pytest

from utils.paths import ROOT

SCRIPT = """
import numpy as np
from numba import cuda
import virtual_gpu

virtual_gpu.install()


@cuda.jit
def beyond(x):
    x[cuda.grid(1) + 1] = 0


{call}
"""


def stderr_of(tmp_path, call, code=1, **environment):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(call=call))
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True,
        env={"PYTHONPATH": str(ROOT), "PATH": "", **environment},
    )  # fmt: skip
    assert done.returncode == code
    return done.stderr.splitlines()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("beyond[1, 8](np.zeros(8))", "OutOfBounds"),
        ("virtual_gpu.trace(beyond, 0, 8, np.zeros(8))", "LaunchError"),
        ("virtual_gpu.trace(lambda x: x[{}], 1, 8, np.zeros(8))", "Unsupported"),
    ],
)
def test_two_frames_and_the_sentence(tmp_path, call, error):
    lines = stderr_of(tmp_path, call)
    assert sum(line.startswith('  File "') for line in lines) == 2
    assert len(lines) <= 9
    assert any(call in line for line in lines)
    assert f"errors.{error}: " in lines[-1]


def test_a_flaw_in_another_file_than_the_kernels_names_it(tmp_path):
    (tmp_path / "helpers.py").write_text(
        "from numba import cuda\n@cuda.jit(device=True)\ndef at(x, i):\n    return x[i]\n"
    )
    kernel = "@cuda.jit\ndef reads(x, out):\n    out[0] = at(x, {})"
    call = f"from helpers import at\n\n{kernel}\n\nreads[1, 1](np.zeros(4), np.zeros(1))"
    lines = stderr_of(tmp_path, call.format(4))
    assert "line 4 `return x[i]`" in lines[-1]
    assert lines[-1].endswith(" (helpers.py)")
    (warning, _) = stderr_of(tmp_path, call.format(-1), code=0)
    assert warning.endswith("Numba counts it from the end. (helpers.py)")


def test_all_frames_are_there_when_asked_for(tmp_path):
    lines = stderr_of(tmp_path, "beyond[1, 8](np.zeros(8))", VIRTUAL_GPU_TRACEBACK="1")
    assert sum(line.startswith('  File "') for line in lines) > 5


INTERRUPTED = """
import os, signal, threading
os.environ["VIRTUAL_GPU_SECONDS"] = "60"  # and no limit of rounds
signal.signal(signal.SIGINT, signal.default_int_handler)  # not so in the background

@cuda.jit
def counting(x):
    k = 0
    while k < x[0]:
        k += 1
    x[1] = k

threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
"""


@pytest.mark.skipif(os.name == "nt", reason="this system has no SIGINT for one process")
def test_an_interrupt_shows_the_launch_and_not_the_interpreter(tmp_path):
    call = INTERRUPTED + "counting[1, 1](np.full(2, 1e12))"
    lines = stderr_of(tmp_path, call, code=-signal.SIGINT)
    assert sum(line.startswith('  File "') for line in lines) == 2
    assert any("counting[1, 1]" in line for line in lines)
    assert lines[-1] == "KeyboardInterrupt"
