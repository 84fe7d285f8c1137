"""What the virtual GPU found, as a card."""

import numpy as np
from numba import cuda

from utils.lessons.findings import findings
from virtual_gpu import trace


@cuda.jit
def shifted(x, by):
    i = cuda.grid(1)
    x[i + by] = 1


def test_a_flaw_is_told_with_its_line_thread_and_element():
    told = findings(trace(shifted, 1, 32, np.zeros(32, np.float32), 1))
    assert told.kind == "bad"
    assert "x[i + by] = 1" in str(told)
    assert "thread (31) of block (0)" in str(told)


def test_a_launch_without_a_flaw_says_so():
    told = findings(trace(shifted, 1, 32, np.zeros(32, np.float32), 0))
    assert (told.kind, str(told)) == ("good", "The virtual GPU found nothing wrong in shifted.")


def test_no_more_is_told_than_was_asked_for():
    seen = trace(shifted, 1, 32, np.zeros(32, np.float32), -40)
    assert len(findings(seen, first=5).sentences) == len(seen.findings)
    assert len(findings(seen).sentences) == 1
