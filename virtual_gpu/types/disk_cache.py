"""What Numba has said about types, kept on disk as JSON for the next process.

``VIRTUAL_GPU_CACHE`` names the folder; without it the folder is in the user's cache. ``off`` or an
empty value switches the cache off. ``VIRTUAL_GPU_CACHE_READ_ONLY=1`` reads entries and writes none.
Entries are in a folder within it that holds nothing else, so that a sandbox can be shown that one.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import tempfile
import zlib
from pathlib import Path

ENTRIES = "types"
MOST_FILES = 16_384  # about 60 MB
_UNREADABLE = (OSError, EOFError, ValueError, TypeError, RecursionError, zlib.error)


def folder() -> Path | None:
    """Return the folder of the entries; None where the cache is switched off."""
    named = os.environ.get("VIRTUAL_GPU_CACHE")
    if named is not None:
        return None if named.strip().lower() in ("", "0", "off") else Path(named) / ENTRIES
    try:
        return Path.home() / ".cache" / "numba-virtual-gpu" / ENTRIES
    except RuntimeError:  # a user without a home
        return None


def read(key: str | None):
    """Return what was written under this key; None where there is no whole entry of it."""
    where = folder()
    if key is None or where is None:
        return None
    with contextlib.suppress(*_UNREADABLE):
        entry = json.loads(gzip.decompress(_file(where, key).read_bytes()))
        if isinstance(entry, dict) and entry.get("key") == key:
            return entry.get("content")
    return None


def write(key: str | None, content) -> None:
    """Keep plain JSON under this key. Where nothing can be written, nothing happens."""
    where = folder()
    if key is None or where is None or _is_read_only():
        return
    raw = gzip.compress(json.dumps({"key": key, "content": content}).encode(), 6, mtime=0)
    with contextlib.suppress(OSError):
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write_whole(_file(where, key), raw)
        _prune(where)


def _is_read_only() -> bool:
    return os.environ.get("VIRTUAL_GPU_CACHE_READ_ONLY", "0") not in ("", "0")


def _file(where: Path, key: str) -> Path:
    return where / f"{key}.json.gz"


def _write_whole(file: Path, raw: bytes) -> None:
    """Write under another name first, so that a reader finds the whole file or none."""
    new = tempfile.NamedTemporaryFile(dir=file.parent, suffix=".new", delete=False)  # noqa: SIM115
    try:
        with new:
            new.write(raw)
        os.replace(new.name, file)
    except OSError:
        os.unlink(new.name)
        raise


def _prune(where: Path) -> None:
    """Remove the oldest quarter of too many files."""
    if len(os.listdir(where)) <= MOST_FILES:
        return
    ages = {}
    for file in where.iterdir():
        with contextlib.suppress(OSError):  # another process has removed it
            ages[file] = file.stat().st_mtime
    for file in sorted(ages, key=ages.get)[: MOST_FILES // 4]:
        file.unlink(missing_ok=True)
