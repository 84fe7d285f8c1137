"""Functions of the host are called in bubblewrap: no network, no other process, and of all files
Python's and the course's alone, which cannot be written.

This keeps machine, class and secret from a function that got past the allow-list of `allowed`. The
mark itself rests on that list: what runs beside the judge could speak in its place.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from labs.grading.child import USUAL, Limits
from labs.grading.messages import Ended, MiB, ended, heard
from labs.grading.reading import Submission
from labs.grading.sandboxed import STARTED, request
from labs.grading.system_calls import only_this_process
from utils.errors import CourseError
from utils.paths import ROOT
from virtual_gpu.types import disk_cache

PROGRAM = ("-m", "labs.grading.sandboxed")
PACKAGES = ("data", "gemm_kernels", "labs", "utils")
SCRATCH = "/scratch"
SCRATCH_BYTES = 64 * MiB
SECONDS_TO_END = 10  # of a process that was killed
# All that the program knows of its surroundings; threads of NumPy's library would cost start-up.
ENVIRONMENT = {
    "HOME": SCRATCH, "TMPDIR": SCRATCH, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1",
    "OPENBLAS_NUM_THREADS": "1", "VIRTUAL_GPU_CACHE_READ_ONLY": "1",
}  # fmt: skip
LONGEST = 5_000  # characters of a sentence that comes back
# What bubblewrap says, and what is to be done.
CURES = {
    "Unknown option": "It is too old, and 0.8 is needed: install a newer one.",
    "No permissions to create": (
        "User namespaces are forbidden here: ask the administrator to allow them to users, or "
        "grade on another Linux machine."
    ),
    "exceeded": (
        "User namespaces are switched off here, or used up: raise user.max_user_namespaces by "
        "sysctl, or grade on another Linux machine."
    ),
    "uid map": (
        "User namespaces are forbidden to it: on Ubuntu 24.04 load an AppArmor profile for bwrap "
        "(the package apparmor-profiles has one, bwrap-userns-restrict)."
    ),
    "Operation not permitted": (
        "User namespaces are forbidden here: start the container so that it may make them, or "
        "grade on another Linux machine."
    ),
}


def require_sandbox() -> None:
    """Start the sandbox once, for nothing. Raises CourseError with what to do where it fails."""
    in_sandbox(Submission("", ()), ())


def in_sandbox(submission: Submission, asked: Sequence[str], limits: Limits = USUAL) -> Ended:
    """The messages of `attempts` for the exercises of these names, whose functions are called.

    Whatever they do, the call returns, and no process of it is left. Raises CourseError where the
    sandbox does not start, which says nothing of the submission.
    """
    seen = run(PROGRAM, request(submission, list(asked), limits), limits.seconds)
    return Ended(tuple(map(_plain, seen.messages)), _text(seen.problem))


def run(program: Sequence[str], given: dict, seconds: float) -> Ended:
    """Run Python with these arguments in the sandbox. given: what `serve` reads there.

    Raises CourseError where it does not come to `serve`.
    """
    bubblewrap = _bubblewrap()
    reader, writer = os.pipe()
    with (
        _holding(json.dumps(given).encode()) as stdin,
        _holding(only_this_process()) as rules,
        tempfile.TemporaryFile() as errors,
        open(reader, "rb"),
    ):
        try:
            process = subprocess.Popen(
                [bubblewrap, *_walls(rules.fileno()), sys.executable, *program, str(writer)],
                stdin=stdin, stdout=subprocess.DEVNULL, stderr=errors, env=_environment(),
                pass_fds=(writer, rules.fileno()),
            )  # fmt: skip
        finally:
            os.close(writer)
        seen = _heard_from(process, reader, seconds)
        if seen.messages[:1] != (STARTED,):
            errors.seek(0)
            raise CourseError(_did_not_start(errors.read().decode(errors="replace"), seen.problem))
    return Ended(seen.messages[1:], seen.problem)


def _environment() -> dict[str, str]:
    """Return what the program sees of the environment: it finds the cache of types where it is."""
    cache = _cache()
    return {**ENVIRONMENT, "VIRTUAL_GPU_CACHE": str(cache.parent) if cache else "off"}


def _cache() -> Path | None:
    """Return the folder with what Numba has said about types; None where there is none."""
    folder = disk_cache.folder()
    return folder.resolve() if folder is not None and folder.is_dir() else None


def _heard_from(process: subprocess.Popen, reader: int, seconds: float) -> Ended:
    """What it says until it ends, or its time is over. It has ended then."""
    try:
        raw, problem = heard(reader, seconds)
        if not problem:  # it has closed the descriptor, and most often ends by itself
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(SECONDS_TO_END)
    finally:
        process.kill()
        process.wait(SECONDS_TO_END)
    return ended(raw, problem, _killed_by(process.returncode))


def _bubblewrap() -> str:
    if not sys.platform.startswith("linux"):
        raise CourseError(
            "This lab has functions of the host, which are called in a sandbox of Linux alone: "
            "grade it on a Linux machine or in a container."
        )
    found = shutil.which("bwrap")
    if not found:
        raise CourseError(
            "This lab has functions of the host, which are called in bubblewrap, and it is not "
            "installed: install the package bubblewrap (Debian, Ubuntu, Fedora)."
        )
    return found


def _holding(raw: bytes) -> BinaryIO:
    """A file in memory, at its beginning."""
    file = open(os.memfd_create("given"), "w+b")  # noqa: SIM115
    file.write(raw)
    file.seek(0)
    return file


def _walls(rules: int) -> Iterator[str]:
    """The arguments of bubblewrap. rules: a descriptor with the filter of system calls."""
    yield from ("--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL")
    yield from ("--die-with-parent", "--new-session", "--seccomp", str(rules))
    for folder in ("bin", "lib", "lib64"):
        yield from _as_here(Path("/") / folder)
    yield from ("--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache")
    for path in _read():
        yield from ("--ro-bind", str(path), str(path))
    yield from ("--proc", "/proc", "--dev", "/dev")
    yield from ("--size", str(SCRATCH_BYTES), "--tmpfs", SCRATCH, "--chdir", str(ROOT))
    # The roots of these are in memory, and could be filled.
    yield from ("--remount-ro", "/dev", "--remount-ro", "/")


def _as_here(folder: Path) -> tuple[str, ...]:
    """On most systems /lib is a link to /usr/lib."""
    if folder.is_symlink():
        return "--symlink", os.readlink(folder), str(folder)
    return "--ro-bind-try", str(folder), str(folder)


def _read() -> list[Path]:
    """What Python and the course need; of the course neither its tests nor what lies beside it."""
    prefixes = [Path("/usr"), Path(sys.base_prefix), Path(sys.prefix)]
    packages = [ROOT / name for name in PACKAGES]
    paths = [path for path in (*prefixes, *packages) if path.exists()]
    cache = _cache()
    return paths if cache is None else [*paths, cache]


def _killed_by(returncode: int) -> int:
    """The signal that ended bubblewrap, or what ran in it: then it exits with 128 more."""
    return -returncode if returncode < 0 else max(0, returncode - 128)


def _did_not_start(errors: str, problem: str) -> str:
    last = (errors.strip().splitlines() or [problem])[-1][:300].rstrip(".")
    cure = next((cure for words, cure in CURES.items() if words in last), "")
    return (
        "This lab has functions of the host, which are called in bubblewrap, and it does not start "
        f"({last}). {cure}"
    ).rstrip()


def _plain(message: dict) -> dict:
    """Of a message what the parent reads of a function of the host, held to its type."""
    causes = message.get("causes")
    kept = {"part": message.get("part"), "passed": message.get("passed") is True}
    kept["causes"] = list(map(_text, causes)) if isinstance(causes, list) else []
    return {**kept, "refused": _text(message["refused"])} if "refused" in message else kept


def _text(said: object) -> str:
    return str(said)[:LONGEST].encode(errors="replace").decode()
