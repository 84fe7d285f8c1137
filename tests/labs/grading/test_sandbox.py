"""Python that got past the allow-list: its limits in the sandbox, and the processes it leaves."""

import contextlib
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from labs import EXERCISES
from labs.__main__ import main
from labs.grading import system_calls
from labs.grading.child import ChildLimits
from labs.grading.grade import grade
from labs.grading.labs import LABS, find
from labs.grading.messages import ChildOutcome, decode
from labs.grading.sandbox import PACKAGES, in_sandbox, require_sandbox, run
from labs.grading.sandbox_program import first_writable
from labs.grading.submissions import Submission
from utils.errors import CourseError
from utils.paths import ROOT

SECRET = "a secret of sixteen characters"
LIMITS = ChildLimits(seconds=120, cpu_seconds=60)
# A child that does what a test says, where that of the grader calls functions of a submission.
HOSTILE = """
import ctypes, os, pathlib, resource, signal, socket, subprocess, sys, threading, time
from labs.grading import sandbox_program
from labs.grading.sandbox_program import serve

libc = ctypes.CDLL(None, use_errno=True)

def called(result):
    if result == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return result

def tries(given):
    for text in given["tries"]:
        try:
            yield {"tried": text, "got": repr(eval(text))}
        except (OSError, ValueError, MemoryError) as error:
            yield {"tried": text, "error": type(error).__name__}

serve(tries)
"""
REFUSED = {
    "reads a file of the system": "open('/etc/passwd').read()",
    "reads the secret of the class": "open({secret!r}).read()",
    "reads the course's notes on itself": "open({root!r} + '/pyproject.toml').read()",
    "reads the memory of another process": "open('/proc/1/mem', 'rb').read(1)",
    "writes the core pattern": "open('/proc/sys/kernel/core_pattern', 'r+b', 0)",
    "writes another setting": "open('/proc/sys/vm/drop_caches', 'wb', 0)",
    "writes an interrupt's setting": "open('/proc/irq/default_smp_affinity', 'wb', 0)",
    "asks for a reboot": "open('/proc/sysrq-trigger', 'wb', 0)",
    "writes into the course": "open({root!r} + '/labs/pwned', 'w')",
    "writes into the root": "open('/pwned', 'w')",
    "writes where all may write": "open({shared!r} + '/pwned', 'w')",
    "writes into the cache of types": "open({cache!r} + '/pwned', 'w')",
    "removes an entry of that cache": "os.unlink({cache!r} + '/entry.json.gz')",
    "reads what is beside that cache": "open({cache!r} + '/../secret').read()",
    "writes into shared memory": "open('/dev/shm/pwned', 'w')",
    "fills its scratch": (
        "[open(f'/scratch/{{i}}', 'wb').write(bytes(60 * 2**20)) for i in range(3)]"
    ),
    "writes a large file": "open('/scratch/large', 'wb').write(bytes(200 * 2**20))",
    "connects to this machine": "socket.create_connection(('127.0.0.1', {port}), 5)",
    "connects by a name": "socket.socket(socket.AF_UNIX).connect('\\0{name}')",
    "forks": "os.fork()",
    "starts a program": "subprocess.run(['/usr/bin/env'], timeout=5)",
    "spawns a program": "os.posix_spawn('/usr/bin/env', ['env'], {{}})",
    "makes a user namespace": "called(libc.unshare(0x10000000))",
    "mounts": "called(libc.mount(b'x', b'/scratch', b'tmpfs', 0, None))",
    "takes 100 GB": "bytearray(100 * 2**30)",
    "takes memory without an owner": "os.memfd_create('x')",
    "takes memory of System V": "called(libc.shmget(0, 2**30, 0o1600))",
    "kills others": "os.kill(-1, 9)",
    "raises a limit": "resource.setrlimit(resource.RLIMIT_CPU, (-1, -1))",
}
PERMITTED = {
    "kernel": "sandbox_program.first_writable(pathlib.Path('/proc'))",
    "environment": "dict(os.environ)",
    "environment of the first process": (
        "open('/proc/1/environ').read() if os.access('/proc/1/environ', os.R_OK) else ''"
    ),
    "processes": "[int(one) for one in os.listdir('/proc') if one.isdigit()]",
    "descriptors": "[os.readlink(f'/proc/self/fd/{{one}}') for one in range(3, 50) "
    "if os.path.lexists(f'/proc/self/fd/{{one}}')]",
    "course": "os.listdir({root!r})",
    "a thread": "threading.Thread(target=print).start()",
    "scratch": "open('/scratch/small', 'w').write('x')",
    "entry": "open({cache!r} + '/entry.json.gz').read()",
    "cache": "[os.environ['VIRTUAL_GPU_CACHE'], os.environ['VIRTUAL_GPU_CACHE_READ_ONLY']]",
}


@pytest.fixture(scope="module")
def tried(sandbox, tmp_path_factory):
    """Return the message about every attempt by name: the result, or the error."""
    folder, name = tmp_path_factory.mktemp("class"), f"name{secrets.token_hex()}"
    (folder / "secret").write_text(SECRET)
    (folder / "types").mkdir()
    (folder / "types" / "entry.json.gz").write_text("an entry")
    inherited = os.open(folder / "secret", os.O_RDONLY)
    os.set_inheritable(inherited, True)
    with (
        pytest.MonkeyPatch.context() as patch,
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as named,
    ):
        patch.setenv("COURSE_SECRET", SECRET)
        patch.setenv("VIRTUAL_GPU_CACHE", str(folder))
        named.bind(f"\0{name}")
        named.listen()
        known = {
            "secret": str(folder / "secret"), "root": str(ROOT), "name": name,
            "port": server.getsockname()[1], "shared": tempfile.gettempdir(),
            "cache": str(folder / "types"),
        }  # fmt: skip
        texts = {what: text.format(**known) for what, text in (REFUSED | PERMITTED).items()}
        request = {"limits": asdict(LIMITS), "tries": list(texts.values())}
        outcome = run(("-c", HOSTILE), request, LIMITS.seconds)
        for what in (
            "reads the secret of the class", "connects to this machine", "connects by a name",
        ):  # fmt: skip
            eval(texts[what], {"socket": socket})  # here it works: it is the sandbox that refuses
    os.close(inherited)
    assert outcome.problem == ""
    by_text = {one["tried"]: one for one in outcome.messages}
    return {what: by_text[text] for what, text in texts.items()}


@pytest.mark.parametrize("what", REFUSED)
def test_the_sandbox_refuses(tried, what):
    assert "error" in tried[what], tried[what]


def test_nothing_that_is_seen_there_holds_the_secret(tried):
    assert not any(SECRET in one.get("got", "") for one in tried.values())
    assert "COURSE_SECRET" not in tried["environment"]["got"]


def test_nothing_of_the_kernel_can_be_opened_for_writing(tried):
    assert eval(tried["kernel"]["got"]) is None


def test_a_kernel_that_can_be_written_is_one_sentence(monkeypatch):
    """What a function forges comes behind the first message, and is not believed."""
    from labs.grading import sandbox as module

    messages = ({"writable": "/proc/sys/kernel/panic"},)
    monkeypatch.setattr(module, "run", lambda *_: ChildOutcome(messages))
    with pytest.raises(CourseError, match=r"/proc/sys/kernel/panic .* another user than root"):
        require_sandbox()
    messages = ({"writable": None}, {"writable": "/proc/sys/kernel/panic"})
    require_sandbox()


def test_only_files_of_the_kernel_are_tried(tmp_path):
    (tmp_path / "sys" / "vm").mkdir(parents=True)
    (tmp_path / "12").mkdir()
    (tmp_path / "12" / "comm").write_text("")
    (tmp_path / "self").symlink_to("12")
    assert first_writable(tmp_path) is None
    (tmp_path / "sys" / "vm" / "setting").write_text("")
    assert first_writable(tmp_path) == str(tmp_path / "sys" / "vm" / "setting")


def test_only_its_own_processes_and_its_pipe_are_seen(tried):
    assert len(eval(tried["processes"]["got"])) <= 3
    (pipe,) = set(eval(tried["descriptors"]["got"])) - {os.devnull}
    assert pipe.startswith("pipe:")


def test_of_the_course_only_what_runs_is_there(tried):
    prefixes = {Path(one) for one in (sys.prefix, sys.base_prefix)}
    known = {one.relative_to(ROOT).parts[0] for one in prefixes if one.is_relative_to(ROOT)}
    assert set(eval(tried["course"]["got"])) <= {*PACKAGES, *known}


def test_the_cache_of_types_is_read_and_never_written(tried):
    assert eval(tried["entry"]["got"]) == "an entry"
    assert eval(tried["cache"]["got"])[1] == "1"


@pytest.mark.parametrize("value", ["off", "/nowhere"])
def test_without_a_cache_of_types_the_sandbox_has_none(monkeypatch, value):
    from labs.grading import sandbox as sandbox_module

    monkeypatch.setenv("VIRTUAL_GPU_CACHE", value)
    assert sandbox_module._environment()["VIRTUAL_GPU_CACHE"] == "off"
    assert sandbox_module._cache() is None


def test_what_a_right_function_may_need_is_there(tried):
    assert "got" in tried["a thread"]
    assert "got" in tried["scratch"]


# Each ends the child, or what it says, in a way of its own; with a word of what is told.
ENDS = {
    "loops for ever": ("exec('while True: pass')", "more processor time"),
    "sleeps, deaf to signals": (
        "[signal.pthread_sigmask(signal.SIG_SETMASK, range(1, 65)), time.sleep(600)]",
        "did not end in the time",
    ),
    "leaves": ("os._exit(0)", "ended before its work was done"),
    "kills itself": ("os.kill(os.getpid(), 9)", "SIGKILL"),
    "crashes": ("ctypes.string_at(0)", "SIGSEGV"),
    "says what is no message": (
        "[os.write(int(sys.argv[1]), b'\\xff' * 100), os._exit(0)]", "ended before",
    ),
    "writes without end": (
        "exec('while True: os.write(int(sys.argv[1]), bytes(2**20))')", "more than the check reads",
    ),
    "closes its pipe and goes on": (
        "[os.close(int(sys.argv[1])), time.sleep(600)]", "ended by SIGKILL",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("what", ENDS)
def test_however_a_child_ends_it_is_told_and_no_process_is_left(sandbox, what):
    text, words = ENDS[what]
    mark = secrets.token_hex()
    limits = ChildLimits(seconds=30 if "sleeps" in what else 120, cpu_seconds=6)
    request = {"limits": asdict(limits), "tries": [text]}
    outcome = run(("-c", f"{HOSTILE}\n# {mark}"), request, limits.seconds)
    assert words in outcome.problem
    assert _within_a_minute(lambda: mark not in _contents_in_proc("cmdline"))


@pytest.mark.slow
def test_where_the_grader_is_killed_its_sandbox_ends(sandbox):
    mark = secrets.token_hex(7)  # as long as the name of a thread may be
    sleeps = f"[libc.prctl(15, b'{mark}', 0, 0, 0), time.sleep(600)]"  # PR_SET_NAME
    request = {"limits": asdict(LIMITS), "tries": [sleeps]}
    grades = f"from labs.grading.sandbox import run\nrun(('-c', {HOSTILE!r}), {request}, 600)"
    grader = subprocess.Popen([sys.executable, "-c", grades], cwd=ROOT)
    assert _within_a_minute(lambda: mark in _contents_in_proc("comm"))
    grader.kill()
    grader.wait(10)
    assert _within_a_minute(lambda: mark not in _contents_in_proc("comm"))


def _within_a_minute(holds) -> bool:
    """Return True once a condition holds, since sandboxes take time to start and to end."""
    for _ in range(600):
        if holds():
            return True
        time.sleep(0.1)
    return False


def _contents_in_proc(file: str) -> str:
    """Return the content of this file in `/proc` for every process."""
    contents = []
    for path in Path("/proc").glob(f"[0-9]*/{file}"):
        with contextlib.suppress(OSError):  # it has ended
            contents.append(path.read_text(errors="replace"))
    return "\n".join(contents)


@pytest.mark.slow
def test_a_function_without_end_gets_no_points_and_the_next_one_is_graded(sandbox):
    lab, limits = find("measuring"), ChildLimits(cpu_seconds=6)
    solution = EXERCISES["benchmark"].solution_text
    endless = "def benchmark(device, m, n, k):\n    return sum(range(10**15))\n"
    waits = "def benchmark(device, m, n, k):\n    while True:\n        pass\n"
    marks = [
        grade(lab, Submission("student", (("work.py", text.encode()),)), SECRET, limits)
        for text in (endless, waits, solution)
    ]
    assert [one.points for one in marks] == [0, 0, 100]
    assert all(one.rows[0].told for one in marks[:2])


@pytest.mark.parametrize(
    "raw",
    [
        b"\xff" * 20,
        (2).to_bytes(8, "little") + b"[]",
        (2**62).to_bytes(8, "little") + b"{}",
        (6).to_bytes(8, "little") + b'{"a":\xff',
        (200_000).to_bytes(8, "little") + b"[" * 200_000,
    ],
)
def test_what_is_no_message_is_none(raw):
    assert decode(raw, "", 0).messages == ()
    assert decode(raw, "", 99).problem == "it was ended by an unknown signal"


def test_a_forged_message_is_held_to_its_types(monkeypatch):
    from labs.grading import sandbox
    from labs.grading.marks import rows_of

    part = find("measuring").parts[0]
    forged = {"part": "benchmark", "passed": 1, "causes": [{"a": "\ud800"}, "\ud800" * 10**6]}
    (plain,) = (sandbox._plain(one) for one in [forged])
    assert plain["passed"] is False
    assert all(len(one.encode()) <= sandbox.LONGEST for one in plain["causes"])
    assert sandbox._plain({"causes": 5, "refused": [1]})["refused"] == "[1]"
    (row,) = rows_of(part, [plain], None, "")
    assert row.points == 0


@pytest.mark.parametrize(
    ("said", "cure"),
    [
        ("bwrap: setting up uid map: Permission denied", "AppArmor profile"),
        ("bwrap: No permissions to create new namespace", "ask the administrator"),
        ("bwrap: Creating new namespace failed: Operation not permitted", "start the container so"),
        ("bwrap: Creating new namespace failed: max_*_namespaces exceeded", "switched off"),
        ("bwrap: Unknown option --disable-userns", "0.8 is needed"),
        ("", "it ended before its work was done"),
    ],
)
def test_a_sandbox_that_does_not_start_says_what_to_do(tmp_path, monkeypatch, said, cure):
    (tmp_path / "bwrap").write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CourseError, match=cure):
        require_sandbox()
    with pytest.raises(CourseError, match="does not start"):
        in_sandbox(Submission("student", ()), ("benchmark",))


@pytest.mark.parametrize("words", [["grade", "transfers", "{work}", "--out", "{out}"],
                                   ["selftest", "measuring"], ["selftest"]])  # fmt: skip
def test_without_bubblewrap_the_command_refuses_before_it_grades(
    tmp_path, monkeypatch, capsys, words
):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("COURSE_SECRET", SECRET)
    (tmp_path / "ann.py").write_text("x = 1")
    places = {"work": tmp_path / "ann.py", "out": tmp_path / "out"}
    assert main([word.format(**places) for word in words]) == 2
    assert "install the package bubblewrap" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_elsewhere_than_on_linux_it_is_refused(monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(CourseError, match="Linux machine or in a container"):
        require_sandbox()


def test_an_unknown_processor_is_refused(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(CourseError, match="riscv64"):
        system_calls.only_this_process()


HOST_LABS = {
    "measuring", "rates_and_times", "transfers", "copies_and_slices", "sheffield_lab06",
    "against_cublas",
}  # fmt: skip


def test_labs_of_kernels_need_no_sandbox(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert {lab.name for lab in LABS.values() if lab.needs_sandbox} == HOST_LABS
    mark = grade(find("unrolling"), Submission("student", (("a.py", b"x = 1"),)), SECRET)
    assert "There is no function `unroll`" in mark.rows[0].told
