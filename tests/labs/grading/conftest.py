"""Fixtures of the tests of marks."""

import os

import pytest

from labs.grading.labs import find
from labs.grading.sandbox import require_sandbox
from utils.errors import CourseError

NEEDED = "COURSE_NEEDS_EVERYTHING"


@pytest.fixture(scope="session")
def sandbox():
    """Skip if host functions cannot be called safely; fail instead if NEEDED is 1."""
    try:
        require_sandbox()
    except CourseError as error:
        (pytest.fail if os.environ.get(NEEDED) == "1" else pytest.skip)(str(error))


@pytest.fixture
def lab(name, request):
    """Return the lab of this name, skipping if it cannot be graded here."""
    requested = find(name)
    if requested.needs_sandbox:
        request.getfixturevalue("sandbox")
    return requested
