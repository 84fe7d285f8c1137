"""Of each loop over kernels the first ones are tested at once, the others with the slow.

`--share 3` leaves two thirds of these slow ones out: which ones, changes with each commit.
"""

import subprocess
from collections import Counter
from pathlib import Path
from zlib import crc32

import pytest

from labs import EXERCISES
from labs.exercise import Exercise

AT_ONCE = 3
LOOPS = {f"test_{name}.py" for name, one in EXERCISES.items() if isinstance(one, Exercise)}


def pytest_collection_modifyitems(config, items):
    """Kernels run on an interpreter: thousands of them take longer than one waits for a test."""
    _mark_slow(items)
    parts = config.getoption("--share")
    if parts > 1:
        turn = _commits() % parts
        kept = [item for item in items if not _is_shared(item) or _part(item, parts) == turn]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept


def _is_shared(item) -> bool:
    return item.path.name in LOOPS and item.get_closest_marker("slow") is not None


def _part(item, parts: int) -> int:
    return crc32(item.nodeid.encode()) % parts


def _commits() -> int:
    """How many commits this clone has; 0 where git does not say."""
    told = subprocess.run(
        ["git", "rev-list", "--count", "HEAD"], cwd=Path(__file__).parent, capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip
    return int(told.stdout) if told.returncode == 0 else 0


def _mark_slow(items) -> None:
    before = Counter()
    for item in items:
        loop = item.path, getattr(item, "originalname", item.name)
        if item.path.name not in LOOPS or item.get_closest_marker("slow"):
            continue
        before[loop] += 1
        if before[loop] > AT_ONCE:
            item.add_marker(pytest.mark.slow)
