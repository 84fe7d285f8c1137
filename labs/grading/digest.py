"""A digest of all files of the course on which a mark depends.

A stored mark whose digest differs came from another version and is not used again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from labs.grading.labs import Lab
from utils.paths import ROOT

# Folders whose files judge a submission, together with those of the lab's own exercises. Their
# tests give no marks.
FOLDERS = (
    "gpu_xray", "labs/checking", "labs/families", "labs/grading", "labs/host", "labs/numbers",
    "labs/targets", "utils/intrinsics", "virtual_gpu",
)  # fmt: skip
SUFFIXES = (".py", ".json")


def digest_of(lab: Lab) -> str:
    """Return 16 hexadecimal digits: a hash of a lab, its exercises' files and the grader's."""
    hashed = hashlib.sha256(repr(lab).encode())
    for file in _files(lab):
        raw = file.read_bytes()
        hashed.update(f"\0{file.relative_to(ROOT)}\0{len(raw)}\0".encode() + raw)
    return hashed.hexdigest()[:16]


def _files(lab: Lab) -> Iterator[Path]:
    """Yield the paths of all files on which a lab's marks depend, in a fixed order.

    They are the modules directly in `labs`, and the files with a suffix of `SUFFIXES` in the
    folders of the lab's exercises and in `FOLDERS`, without tests.
    """
    yield from sorted((ROOT / "labs").glob("*.py"))
    folders = [part.definition.folder for part in lab.parts]
    for folder in [*folders, *(ROOT / name for name in FOLDERS)]:
        files = sorted(file for file in folder.rglob("*") if file.suffix in SUFFIXES)
        yield from (file for file in files if "tests" not in file.relative_to(ROOT).parts)
