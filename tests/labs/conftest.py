"""Of each loop over kernels the first ones are tested at once, the others with the slow."""

from collections import Counter

import pytest

from labs import EXERCISES
from labs.exercise import Exercise

AT_ONCE = 4
LOOPS = {f"test_{name}.py" for name, one in EXERCISES.items() if isinstance(one, Exercise)}


def pytest_collection_modifyitems(items):
    """Kernels run on an interpreter: thousands of them take longer than one waits for a test."""
    before = Counter()
    for item in items:
        loop = item.path, getattr(item, "originalname", item.name)
        if item.path.name not in LOOPS or item.get_closest_marker("slow"):
            continue
        before[loop] += 1
        if before[loop] > AT_ONCE:
            item.add_marker(pytest.mark.slow)
