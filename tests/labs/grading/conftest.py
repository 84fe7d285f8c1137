"""What the tests of marks share."""

import os

import pytest

from labs.grading.labs import find
from labs.grading.sandbox import require_sandbox
from utils.errors import CourseError

NEEDED = "COURSE_NEEDS_EVERYTHING"


@pytest.fixture(scope="session")
def sandbox():
    """Skips where functions of the host cannot be called safely; with NEEDED at 1 it fails."""
    try:
        require_sandbox()
    except CourseError as error:
        (pytest.fail if os.environ.get(NEEDED) == "1" else pytest.skip)(str(error))


@pytest.fixture
def lab(name, request):
    """The lab of this name, where it can be graded here."""
    found = find(name)
    if found.needs_sandbox:
        request.getfixturevalue("sandbox")
    return found
