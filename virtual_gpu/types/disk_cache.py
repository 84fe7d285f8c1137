"""A disk cache of Numba's answers about types, kept as JSON for the next process.

``VIRTUAL_GPU_CACHE`` names the folder; by default it is in the user's cache folder. ``off`` or an
empty value switches the cache off. ``VIRTUAL_GPU_CACHE_READ_ONLY=1`` reads entries and writes none.
The entries have a subfolder of their own, so that a sandbox can be given access to it alone.
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
    """Return the folder that holds the cache's entries, which may not exist yet.

    Returns None if the cache is switched off, or if there is no home folder to put it in.
    """
    setting = os.environ.get("VIRTUAL_GPU_CACHE")
    if setting is not None:
        return None if setting.strip().lower() in ("", "0", "off") else Path(setting) / ENTRIES
    try:
        return Path.home() / ".cache" / "numba-virtual-gpu" / ENTRIES
    except RuntimeError:  # the user has no home folder
        return None


def read(key: str | None):
    """Return the JSON content that was written under this key.

    Returns None if there is no complete entry, the key is None or the cache is switched off.
    """
    entries = folder()
    if key is None or entries is None:
        return None
    with contextlib.suppress(*_UNREADABLE):
        entry = json.loads(gzip.decompress(_file(entries, key).read_bytes()))
        if isinstance(entry, dict) and entry.get("key") == key:
            return entry.get("content")
    return None


def write(key: str | None, content) -> None:
    """Write content that JSON can hold to the entry of this key, compressed.

    Old entries are removed if there are too many. Does nothing if the key is None, or if the folder
    cannot or must not be written.
    """
    entries = folder()
    if key is None or entries is None or _is_read_only():
        return
    raw = gzip.compress(json.dumps({"key": key, "content": content}).encode(), 6, mtime=0)
    with contextlib.suppress(OSError):
        entries.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write_whole(_file(entries, key), raw)
        _prune(entries)


def _is_read_only() -> bool:
    """Return True if VIRTUAL_GPU_CACHE_READ_ONLY is set and is neither "" nor "0"."""
    return os.environ.get("VIRTUAL_GPU_CACHE_READ_ONLY", "0") not in ("", "0")


def _file(entries: Path, key: str) -> Path:
    """Return the path of the entry with this key in the folder ``entries``."""
    return entries / f"{key}.json.gz"


def _write_whole(file: Path, raw: bytes) -> None:
    """Write ``raw`` to another file and rename it, so that a reader finds all of it or no file.

    Raises OSError if that fails, and then leaves no other file behind.
    """
    new = tempfile.NamedTemporaryFile(dir=file.parent, suffix=".new", delete=False)  # noqa: SIM115
    try:
        with new:
            new.write(raw)
        os.replace(new.name, file)
    except OSError:
        os.unlink(new.name)
        raise


def _prune(entries: Path) -> None:
    """Remove the oldest MOST_FILES // 4 files if there are more than MOST_FILES."""
    if len(os.listdir(entries)) <= MOST_FILES:
        return
    ages = {}
    for file in entries.iterdir():
        with contextlib.suppress(OSError):  # another process has removed it
            ages[file] = file.stat().st_mtime
    for file in sorted(ages, key=ages.get)[: MOST_FILES // 4]:
        file.unlink(missing_ok=True)
