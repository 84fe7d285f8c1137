"""Loops without an end are stopped by their rounds, which do not depend on a busy machine."""

import pytest


@pytest.fixture(autouse=True)
def _few_rounds(monkeypatch):
    # A right kernel takes less than a million rounds, counted for each thread, at any shape.
    monkeypatch.setenv("VIRTUAL_GPU_LANE_ROUNDS", "3e6")
