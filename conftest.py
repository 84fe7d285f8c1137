"""What holds for all tests."""

import pytest
from numba import cuda

import kernels_anywhere  # noqa: F401
from gpu_xray.compile import require_compiler
from tests.browser import chromium
from utils.errors import CourseError

# These launch kernels that are wrong, or count on the virtual GPU to run a launch. With a CUDA
# device launches run there, and a wrong one can end the process's use of the device.
collect_ignore_glob = ["virtual_gpu/tests/*"] if cuda.is_available() else []


def pytest_addoption(parser):
    parser.addoption(
        "--share", type=int, default=1, metavar="N",
        help="of the longest slow tests one in N, with each commit other ones",
    )  # fmt: skip


@pytest.fixture
def compiler():
    """Skips where NVVM and nvJitLink are not installed."""
    try:
        require_compiler()
    except CourseError as error:
        pytest.skip(str(error))


# For a file, not for the session: while it is open, nothing else can run an event loop here.
@pytest.fixture(scope="module")
def one_browser():
    with chromium() as started:
        yield started


@pytest.fixture
def browser(one_browser):
    """A headless Chromium: ``browser.open(html)`` returns the page; it is closed after the test."""
    yield one_browser
    one_browser.close_pages()
