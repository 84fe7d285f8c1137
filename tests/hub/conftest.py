"""Fixtures of the hub's tests, in addition to a browser."""

import os
import shutil

import pytest

from tests.hub.running import MISSING


@pytest.fixture(scope="session")
def proxy():
    """Skip if the hub's proxy is not on PATH; fail instead if everything must run."""
    if shutil.which("configurable-http-proxy") is None:
        (pytest.fail if os.environ.get("COURSE_NEEDS_EVERYTHING") == "1" else pytest.skip)(MISSING)
