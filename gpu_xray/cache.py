"""A disk cache for the output of the compiler's tools, so that each kernel is compiled once."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

Record = TypeVar("Record")
MOST_FILES = 16_384  # about 60 MB


def folder() -> Path:
    """Return the folder of the cache: that of XRAY_CACHE, or ~/.cache/numba-gpu-xray if unset."""
    return Path(os.environ.get("XRAY_CACHE") or Path.home() / ".cache" / "numba-gpu-xray")


def cached(key: str | None, kind: type[Record], make: Callable[[], Record]) -> Record:
    """Return the cached record of a key; if there is none, call ``make()`` and store its result.

    ``kind`` is the record's class, a dataclass of numbers and texts. Without a key, or if the cache
    cannot be written, ``make()`` is called each time. A file that cannot be read is made again.
    """
    if key is None:
        return make()
    file = folder() / f"{key}.json.gz"
    with contextlib.suppress(OSError, EOFError, ValueError, TypeError):
        return kind(**json.loads(gzip.decompress(file.read_bytes())))
    record = make()
    with contextlib.suppress(OSError):
        write_whole(file, gzip.compress(json.dumps(dataclasses.asdict(record)).encode(), mtime=0))
        prune(file.parent, MOST_FILES)
    return record


def write_whole(file: Path, content: bytes) -> None:
    """Write ``content`` to ``file`` so that a reader finds the whole file or none.

    It is written under another name first. Missing folders are created. Raises OSError if it
    cannot be written.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = tempfile.NamedTemporaryFile(dir=file.parent, suffix=".new", delete=False)  # noqa: SIM115
    try:
        with new:
            new.write(content)
        os.replace(new.name, file)
    except OSError:
        os.unlink(new.name)
        raise


def prune(where: Path, most: int) -> None:
    """Delete the oldest files of the folder ``where`` if it has more than ``most``.

    Then ``most // 4`` files are deleted, by the time of their last change.
    """
    if len(os.listdir(where)) <= most:
        return
    ages = {}
    for file in where.iterdir():
        with contextlib.suppress(OSError):  # another process has removed it
            ages[file] = file.stat().st_mtime
    for file in sorted(ages, key=ages.get)[: most // 4]:
        file.unlink(missing_ok=True)
