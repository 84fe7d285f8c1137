"""Options and fixtures for all tests."""

import os
import tempfile
from pathlib import Path

import pytest
from numba import cuda

import kernels_anywhere  # noqa: F401
from gpu_xray.compile import require_compiler
from tests import fast_cases
from tests.browser import chromium
from utils.errors import CourseError
from utils.reader_folder import LEDGER
from utils.translation import IN_ENGLISH

# Tests compare sentences, whatever language the tester reads.
os.environ.update(IN_ENGLISH)
# A passed check keeps the kernel: not among those of the tester.
os.environ[LEDGER] = str(Path(tempfile.mkdtemp(prefix="course-tests-")) / "predictions.json")

# These tests launch kernels that are wrong, or rely on the virtual GPU to run a launch. If there is
# a CUDA device, launches run there, and a wrong kernel can make it unusable for the process.
collect_ignore_glob = ["virtual_gpu/tests/*"] if cuda.is_available() else []


def pytest_addoption(parser):
    """Add the options --exercises and --every-case to pytest."""
    parser.addoption("--exercises", metavar="NAMES", help="in tests/labs: cases about these alone")
    parser.addoption(
        "--every-case", action="store_true",
        help="all cases of each test, also those that tests/fast_cases.csv leaves to `make slow`",
    )  # fmt: skip


def pytest_collection_modifyitems(config, items):
    """Mark the cases that `tests/fast_cases.csv` leaves out as slow, except with --every-case."""
    if not config.getoption("--every-case"):
        fast_cases.mark_slow(items)


@pytest.fixture
def compiler():
    """Skip the test if NVVM or nvJitLink is not installed."""
    try:
        require_compiler()
    except CourseError as error:
        pytest.skip(str(error))


# Per file, not per session: while the browser is open, nothing else can run an event loop here.
@pytest.fixture(scope="module")
def one_browser():
    """Yield a Chromium that all tests of one file share."""
    with chromium() as started:
        yield started


@pytest.fixture
def browser(one_browser):
    """Yield a headless Chromium whose pages are closed after the test; see ``tests.browser``."""
    yield one_browser
    one_browser.close_pages()
