"""What the tools printed, kept on disk, so that each kernel is compiled once."""

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


def folder() -> Path:
    """Where it is kept: the folder that XRAY_CACHE names, or one in the user's cache."""
    return Path(os.environ.get("XRAY_CACHE") or Path.home() / ".cache" / "numba-gpu-xray")


def cached(key: str | None, kind: type[Record], make: Callable[[], Record]) -> Record:
    """The record of that key, a dataclass of numbers and texts; made and kept when it is new.

    Without a key, or where nothing can be written, it is made each time.
    """
    if key is None:
        return make()
    file = folder() / f"{key}.json.gz"
    with contextlib.suppress(OSError, EOFError, ValueError, TypeError):
        return kind(**json.loads(gzip.decompress(file.read_bytes())))
    record = make()
    with contextlib.suppress(OSError):
        _write(file, gzip.compress(json.dumps(dataclasses.asdict(record)).encode(), mtime=0))
    return record


def _write(file: Path, content: bytes) -> None:
    """Under another name first: a reader finds the whole file or none."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as new:
        new.write(content)
    os.replace(new.name, file)
