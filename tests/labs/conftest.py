"""`--share 3` leaves out two thirds of the longest slow tests; each commit has other ones."""

import subprocess
from pathlib import Path
from zlib import crc32

# Thousands of kernels on an interpreter, and every step compiled for every architecture.
SHARED = ("test_versions.py", "test_promises.py")


def pytest_collection_modifyitems(config, items):
    """Keep this commit's share of the slow tests."""
    parts = config.getoption("--share")
    if parts > 1:
        turn = _commits() % parts
        kept = [item for item in items if not _is_shared(item) or _part(item, parts) == turn]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept


def _is_shared(item) -> bool:
    return item.path.name in SHARED and item.get_closest_marker("slow") is not None


def _part(item, parts: int) -> int:
    return crc32(item.nodeid.encode()) % parts


def _commits() -> int:
    """How many commits this clone has; 0 where git does not say."""
    told = subprocess.run(
        ["git", "rev-list", "--count", "HEAD"], cwd=Path(__file__).parent, capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip
    return int(told.stdout) if told.returncode == 0 else 0
