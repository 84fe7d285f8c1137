"""Call host functions in bubblewrap: no network, no other process, and few files, all read-only.

Only Python's files and the course's are visible there. This protects the machine, the class and the
secret from a function that got past the allow-list. The mark itself depends on the allow-list,
because code that runs in the judge's process could send messages in the judge's name.
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

from labs.grading.child import USUAL, ChildLimits
from labs.grading.messages import ChildOutcome, MiB, decode, receive
from labs.grading.sandbox_program import STARTED, WRITABLE, make_request
from labs.grading.submissions import Submission
from labs.grading.system_calls import only_this_process
from utils.errors import CourseError
from utils.paths import ROOT
from virtual_gpu.types import disk_cache

PROGRAM = ("-m", "labs.grading.sandbox_program")
PACKAGES = (
    "data", "gemm_kernels", "gpu_xray", "kernels_anywhere.py", "labs", "utils", "virtual_gpu",
)  # fmt: skip
SCRATCH = "/scratch"
SCRATCH_BYTES = 64 * MiB
SECONDS_TO_END = 10  # seconds that a killed process may take to end
# The program's whole environment. Threads of NumPy's BLAS library would slow its start.
ENVIRONMENT = {
    "HOME": SCRATCH, "TMPDIR": SCRATCH, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1",
    "OPENBLAS_NUM_THREADS": "1", "VIRTUAL_GPU_CACHE_READ_ONLY": "1",
}  # fmt: skip
ALL_POINTS = 100  # the percentage that a function loses if its message says nothing else
LONGEST = 5_000  # characters of a sentence from the sandbox
# Words of bubblewrap's errors, and what to do about them.
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
    """Start the sandbox once as a test, without calling any function.

    Raises CourseError, which says what to do, if the sandbox does not start or does not protect
    this machine's kernel.
    """
    in_sandbox(Submission("", ()), ())


def in_sandbox(
    submission: Submission, names: Sequence[str], limits: ChildLimits = USUAL
) -> ChildOutcome:
    """Call a submission's host functions in a sandbox, and return the messages of `attempts` there.

    Each message is reduced to "part", "passed", "causes", "lost" and, if a function was refused,
    "refused". Whatever the functions do, the call returns and all their processes are ended. names:
    the exercises whose functions are called. Raises CourseError if the sandbox does not start or
    does not protect this machine's kernel, whatever the submission is.
    """
    outcome = run(PROGRAM, make_request(submission, list(names), limits), limits.seconds)
    first, *messages = outcome.messages or ({},)  # sent before any function is called
    _require_unwritable(first.get(WRITABLE))
    return ChildOutcome(tuple(map(_plain, messages)), _plain_text(outcome.problem))


def _require_unwritable(path: object) -> None:
    """Raise CourseError unless path is None.

    path: a file of the Linux kernel that can be written in the sandbox, or None if the sandbox
    found none.
    """
    if path:
        raise CourseError(
            f"This lab calls host functions in a sandbox, where {path} of this machine's kernel "
            "can be written: grade it as another user than root, or on another machine."
        )


def run(program: Sequence[str], request: dict, seconds: float) -> ChildOutcome:
    """Run a Python program in the sandbox and return its messages, without the first, STARTED.

    program: Python's arguments, to which the file descriptor for the messages is appended. request:
    what `sandbox_program.serve` reads from standard input. seconds: the wall-clock limit, after
    which the program is killed. Raises CourseError if bubblewrap is missing or the program does not
    reach `serve`.
    """
    bubblewrap = _bubblewrap()
    reader, writer = os.pipe()
    with (
        _holding(json.dumps(request).encode()) as stdin,
        _holding(only_this_process()) as rules,
        tempfile.TemporaryFile() as errors,
        open(reader, "rb"),
    ):
        try:
            process = subprocess.Popen(
                [bubblewrap, *_options(rules.fileno()), sys.executable, *program, str(writer)],
                stdin=stdin, stdout=subprocess.DEVNULL, stderr=errors, env=_environment(),
                pass_fds=(writer, rules.fileno()),
            )  # fmt: skip
        finally:
            os.close(writer)
        outcome = _heard_from(process, reader, seconds)
        if outcome.messages[:1] != (STARTED,):
            errors.seek(0)
            output = errors.read().decode(errors="replace")
            raise CourseError(_did_not_start(output, outcome.problem))
    return ChildOutcome(outcome.messages[1:], outcome.problem)


def _environment() -> dict[str, str]:
    """Return the environment variables of the program in the sandbox, by name.

    They are ENVIRONMENT and VIRTUAL_GPU_CACHE, which is the cache's folder, or "off".
    """
    cache = _cache()
    return {**ENVIRONMENT, "VIRTUAL_GPU_CACHE": str(cache.parent) if cache else "off"}


def _cache() -> Path | None:
    """Return the folder in which type inference is cached.

    Returns None if nothing is cached, or if the folder does not exist.
    """
    folder = disk_cache.folder()
    return folder.resolve() if folder is not None and folder.is_dir() else None


def _heard_from(process: subprocess.Popen, reader: int, seconds: float) -> ChildOutcome:
    """Return a process's messages after it has ended; kill it if it takes more than `seconds`.

    reader: the file descriptor from which its messages are read.
    """
    try:
        raw, problem = receive(reader, seconds)
        if not problem:  # the pipe is closed, so the process usually ends by itself
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(SECONDS_TO_END)
    finally:
        process.kill()
        process.wait(SECONDS_TO_END)
    return decode(raw, problem, _killed_by(process.returncode))


def _bubblewrap() -> str:
    """Return the path of bubblewrap's program. Raises CourseError if this machine has none."""
    if not sys.platform.startswith("linux"):
        raise CourseError(
            "This lab calls host functions in a sandbox that needs Linux: grade it on a Linux "
            "machine or in a container."
        )
    program = shutil.which("bwrap")
    if not program:
        raise CourseError(
            "This lab calls host functions in bubblewrap, which is not installed: "
            "install the package bubblewrap (Debian, Ubuntu, Fedora)."
        )
    return program


def _holding(raw: bytes) -> BinaryIO:
    """Return an in-memory file with this content, positioned at its start."""
    file = open(os.memfd_create("content"), "w+b")  # noqa: SIM115
    file.write(raw)
    file.seek(0)
    return file


def _options(rules: int) -> Iterator[str]:
    """Yield bubblewrap's command-line arguments in order, without the program that it starts.

    rules: a file descriptor from which the system-call filter is read.
    """
    yield from ("--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL")
    yield from ("--die-with-parent", "--new-session", "--seccomp", str(rules))
    for folder in ("bin", "lib", "lib64"):
        yield from _bind_or_link(Path("/") / folder)
    yield from ("--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache")
    for path in _readable_paths():
        yield from ("--ro-bind", str(path), str(path))
    yield from ("--proc", "/proc", "--dev", "/dev")
    yield from ("--size", str(SCRATCH_BYTES), "--tmpfs", SCRATCH, "--chdir", str(ROOT))
    # As root, a function could write settings of the kernel there; bubblewrap covers few of them.
    yield from ("--remount-ro", "/proc", "--ro-bind-try", "/proc/sys", "/proc/sys")
    # Their root folders are in memory, which a submission could fill.
    yield from ("--remount-ro", "/dev", "--remount-ro", "/")


def _bind_or_link(folder: Path) -> tuple[str, ...]:
    """Return bubblewrap's arguments that show a folder at the same path in the sandbox, read-only.

    If it is a symbolic link, they make the same link.
    """
    if folder.is_symlink():
        return "--symlink", os.readlink(folder), str(folder)
    return "--ro-bind-try", str(folder), str(folder)


def _readable_paths() -> list[Path]:
    """Return the existing paths that are visible read-only in the sandbox, at the same path.

    They are `/usr`, the folders of Python, those of the course's PACKAGES, and the cache of types,
    if there is one.
    """
    prefixes = [Path("/usr"), Path(sys.base_prefix), Path(sys.prefix)]
    packages = [ROOT / name for name in PACKAGES]
    paths = [path for path in (*prefixes, *packages) if path.exists()]
    cache = _cache()
    return paths if cache is None else [*paths, cache]


def _killed_by(returncode: int) -> int:
    """Return the number of the signal that ended bubblewrap or the program in it, or 0.

    If the program was killed, bubblewrap exits with 128 plus the signal's number.
    """
    return -returncode if returncode < 0 else max(0, returncode - 128)


def _did_not_start(errors: str, problem: str) -> str:
    """Return a sentence on why bubblewrap does not start, and what to do if that is known.

    errors: its standard error. problem: how the process ended, used if there is no error text.
    """
    last = (errors.strip().splitlines() or [problem])[-1][:300].rstrip(".")
    cure = next((cure for words, cure in CURES.items() if words in last), "")
    return (
        f"This lab calls host functions in bubblewrap, which does not start ({last}). {cure}"
    ).rstrip()


def _plain(message: dict) -> dict:
    """Return a message on a host function with only the fields that the parent reads.

    Their types are enforced: "passed" is a bool, "causes" a list of texts, "lost" a percentage from
    1 to 100, and "refused", if it is present, a text. If "lost" is anything else, it becomes 100.
    "part" is copied.
    """
    causes = message.get("causes")
    kept = {"part": message.get("part"), "passed": message.get("passed") is True}
    kept["causes"] = list(map(_plain_text, causes)) if isinstance(causes, list) else []
    lost = message.get("lost")
    kept["lost"] = lost if type(lost) is int and 0 < lost <= ALL_POINTS else ALL_POINTS
    return {**kept, "refused": _plain_text(message["refused"])} if "refused" in message else kept


def _plain_text(text: object) -> str:
    """Return any value as text of at most 5000 characters that can be written as UTF-8."""
    return str(text)[:LONGEST].encode(errors="replace").decode()
