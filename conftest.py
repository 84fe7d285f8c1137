"""Options and fixtures for all tests."""

import gc
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

# Modules and tests stay until the end. While they are made, Python's search for garbage would look
# at them again and again, for a third of the time. `pytest_collection_finish` allows it again.
gc.disable()
# Tests compare sentences, whatever language the tester reads.
os.environ.update(IN_ENGLISH)
# A passed check keeps the kernel: not among those of the tester.
os.environ[LEDGER] = str(Path(tempfile.mkdtemp(prefix="course-tests-")) / "predictions.json")

# These tests launch kernels that are wrong, or rely on the virtual GPU to run a launch. If there is
# a CUDA device, launches run there, and a wrong kernel can make it unusable for the process.
collect_ignore_glob = ["virtual_gpu/tests/*"] if cuda.is_available() else []


def pytest_addoption(parser):
    """Add the options --exercises and --every-case to pytest.

    --exercises NAMES runs only the cases of these exercises in tests/labs. --every-case runs all
    cases of each test.
    """
    parser.addoption("--exercises", metavar="NAMES", help="in tests/labs: cases about these alone")
    parser.addoption(
        "--every-case", action="store_true",
        help="all cases of each test, also those that tests/fast_cases.csv leaves to `make slow`",
    )  # fmt: skip


@pytest.hookimpl(hookwrapper=True)
def pytest_generate_tests(metafunc):
    """Leave out the cases that -m would leave out, except with --every-case."""
    yield
    if not metafunc.config.getoption("--every-case"):
        fast_cases.choose(metafunc)


def pytest_collection_modifyitems(config, items):
    """Mark the cases that `tests/fast_cases.csv` leaves out as slow, except with --every-case."""
    if not config.getoption("--every-case"):
        fast_cases.mark_slow(items)


def pytest_collection_finish():
    """Search for garbage from here on, but not among the objects that are there already."""
    gc.freeze()
    gc.enable()


@pytest.fixture
def compiler():
    """Skip the test if NVVM or nvJitLink is not installed; the fixture's value is None."""
    try:
        require_compiler()
    except CourseError as error:
        pytest.skip(str(error))


# Per file, not per session: while the browser is open, nothing else can run an event loop here.
@pytest.fixture(scope="module")
def one_browser():
    """Yield the ``tests.browser.Browser`` that all tests of one file share: a headless Chromium.

    It is closed after the last test of the file.
    """
    with chromium() as started:
        yield started


@pytest.fixture
def browser(one_browser):
    """Yield a ``tests.browser.Browser``: a headless Chromium that the tests of one file share.

    ``open(fragment)`` shows HTML in a new page and returns it as a Shown, with its console
    messages. ``new_page(width)`` returns an empty playwright page. After each test all pages are
    closed.
    """
    yield one_browser
    one_browser.close_pages()
