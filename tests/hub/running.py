"""Run a hub for the duration of a block, and end all its processes afterwards."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from utils.paths import ROOT

CONFIG = ROOT / "labs" / "platforms" / "hub" / "jupyterhub_config.py"
MISSING = "These tests need JupyterHub, its proxy and nbgrader: make check-hub brings them."
STUDENTS = ("ada", "grace")
INSTRUCTOR = "teacher"
PASSWORD = "of all students"
INSTRUCTOR_PASSWORD = "of the instructors, and longer than that"
STARTS = 180  # seconds
STOPS = 30


@dataclass
class Hub:
    """A running hub.

    folder: the class's folder. left: commands that were still running when the hub had ended.
    """

    folder: Path
    address: str
    process: subprocess.Popen
    left: list[str] = field(default_factory=list)

    def log(self) -> str:
        return (self.folder / "hub.log").read_text(encoding="utf-8")


@contextmanager
def running(folder: Path) -> Iterator[Hub]:
    """Start the hub of a class, yield it once it answers, and end all its processes."""
    port = free_port()
    with (folder / "hub.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyterhub", "--config", str(CONFIG)],
            cwd=folder, env=variables(folder, port), stdout=log, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
    hub = Hub(folder, f"http://127.0.0.1:{port}", process)
    try:
        wait_for(hub)
        yield hub
    finally:
        stop(hub)


def variables(folder: Path, port: int) -> dict[str, str]:
    """Return the environment in which an instructor starts the hub."""
    return {
        **os.environ,
        "COURSE_CLASS": str(folder),
        "COURSE_STUDENTS": " ".join(STUDENTS),
        "COURSE_INSTRUCTORS": INSTRUCTOR,
        "COURSE_PASSWORD": PASSWORD,
        "COURSE_INSTRUCTOR_PASSWORD": INSTRUCTOR_PASSWORD,
        "COURSE_PORT": str(port),
    }


def free_port() -> int:
    """Return the first of four consecutive free ports."""
    for port in range(20_000, 30_000, 4):
        with suppress(OSError):
            for more in range(4):
                with socket.socket() as candidate:
                    candidate.bind(("127.0.0.1", port + more))
            return port
    raise OSError("No four ports in a row are free.")


def wait_for(hub: Hub) -> None:
    """Wait until the hub and the grade book behind it answer."""
    deadline = time.monotonic() + STARTS
    while time.monotonic() < deadline and hub.process.poll() is None:
        with suppress(urllib.error.URLError, TimeoutError, ConnectionError):
            urllib.request.urlopen(f"{hub.address}/services/grades/api", timeout=5).close()
            return
        time.sleep(0.5)
    raise RuntimeError(f"The hub did not start: {hub.log()[-3000:]}")


def stop(hub: Hub) -> None:
    """End the hub as Ctrl-C does, and kill what it left behind."""
    with suppress(ProcessLookupError):
        hub.process.send_signal(2)
    with suppress(subprocess.TimeoutExpired):
        hub.process.wait(STOPS)
    _, left = psutil.wait_procs(processes_of(hub.folder), timeout=10)
    hub.left += [" ".join(one.info["cmdline"]) for one in left]
    for one in left:
        with suppress(psutil.NoSuchProcess):
            one.kill()
    psutil.wait_procs(left, timeout=10)
    with suppress(subprocess.TimeoutExpired):
        hub.process.wait(1)


def processes_of(folder: Path) -> list[psutil.Process]:
    """Return every process whose environment names this folder."""
    processes = []
    for process in psutil.process_iter(["cmdline"]):
        with suppress(psutil.Error):
            if any(str(folder) in value for value in process.environ().values()):
                processes.append(process)
    return [process for process in processes if process.pid != os.getpid()]
