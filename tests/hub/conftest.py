"""What the tests of the hub need, besides a browser."""

import os
import shutil

import pytest

from tests.hub.running import MISSING


@pytest.fixture(scope="session")
def proxy():
    """Skips where the hub's proxy is not on PATH; fails where everything was promised."""
    if shutil.which("configurable-http-proxy") is None:
        (pytest.fail if os.environ.get("COURSE_NEEDS_EVERYTHING") == "1" else pytest.skip)(MISSING)
