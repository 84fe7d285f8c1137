"""A hub that runs while a block of a test runs, and nothing of it afterwards."""

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
    """folder: of the class. left: commands that were still there when the hub had ended."""

    folder: Path
    address: str
    process: subprocess.Popen
    left: list[str] = field(default_factory=list)

    def log(self) -> str:
        return (self.folder / "hub.log").read_text(encoding="utf-8")


@contextmanager
def running(folder: Path) -> Iterator[Hub]:
    """The hub of a class, which answers. However the block ends, all its processes end with it."""
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
    """The environment in which an instructor starts the hub."""
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
    """The first of four ports in a row of which none is taken."""
    for port in range(20_000, 30_000, 4):
        with suppress(OSError):
            for more in range(4):
                with socket.socket() as tried:
                    tried.bind(("127.0.0.1", port + more))
            return port
    raise OSError("No four ports in a row are free.")


def wait_for(hub: Hub) -> None:
    """Returns when the hub answers, with the grade book behind it."""
    until = time.monotonic() + STARTS
    while time.monotonic() < until and hub.process.poll() is None:
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
    """Every process, wherever it belongs, whose environment names this folder."""
    found = []
    for one in psutil.process_iter(["cmdline"]):
        with suppress(psutil.Error):
            if any(str(folder) in value for value in one.environ().values()):
                found.append(one)
    return [one for one in found if one.pid != os.getpid()]
