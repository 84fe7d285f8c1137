"""Tests of the card with the virtual GPU's findings."""

import numpy as np
from numba import cuda

from utils.lessons.findings import findings
from virtual_gpu import trace


@cuda.jit
def shifted(x, by):
    i = cuda.grid(1)
    x[i + by] = 1


def test_a_flaw_is_told_with_its_line_thread_and_element():
    card = findings(trace(shifted, 1, 32, np.zeros(32, np.float32), 1))
    assert card.kind == "bad"
    assert "x[i + by] = 1" in str(card)
    assert "thread (31) of block (0)" in str(card)


def test_a_launch_without_a_flaw_says_so():
    card = findings(trace(shifted, 1, 32, np.zeros(32, np.float32), 0))
    assert (card.kind, str(card)) == ("good", "The virtual GPU found nothing wrong in shifted.")


def test_no_more_is_told_than_was_asked_for():
    launch = trace(shifted, 1, 32, np.zeros(32, np.float32), -40)
    assert len(findings(launch, first=5).sentences) == len(launch.findings)
    assert len(findings(launch).sentences) == 1
