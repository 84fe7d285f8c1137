"""Archives are unpacked in small pieces, and reading stops at the limit and not behind it."""

import os
import resource
import subprocess
import sys
import time
import zipfile

import pytest

from labs.grading import submissions
from labs.grading.submissions import MOST_BYTES, MOST_FILES, collect
from utils.paths import ROOT

LARGE = 400 * 2**20


def bomb(path, method, size=LARGE):
    with (
        zipfile.ZipFile(path, "w", method) as archive,
        archive.open("work.py", "w", force_zip64=True) as file,
    ):
        for _ in range(size >> 20):
            file.write(bytes(2**20))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_only_stored_and_deflated_files_are_unpacked(tmp_path, method, monkeypatch):
    bomb(tmp_path / "ann.zip", method, 2**20)
    monkeypatch.setattr(zipfile.ZipExtFile, "read", None)  # nothing is unpacked
    (one,) = collect([tmp_path])
    assert one.files == ()
    assert "another method than deflate" in one.problem


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_stored_and_deflated_files_are_read(tmp_path, method):
    with zipfile.ZipFile(tmp_path / "ann.zip", "w", method) as archive:
        archive.writestr("work.py", b"x = 1\n" * 100_000)
    (one,) = collect([tmp_path])
    assert one.files == (("work.py", b"x = 1\n" * 100_000),)


SMALL = """
import resource, sys, pathlib
from labs.grading.submissions import collect
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
(one,) = collect([pathlib.Path(sys.argv[1])])
print(one.problem)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_small_archive_takes_no_large_memory(tmp_path):
    bomb(tmp_path / "one.zip", zipfile.ZIP_DEFLATED, 50 * 2**20)
    raw = (tmp_path / "one.zip").read_bytes()
    (tmp_path / "class" / "ann").mkdir(parents=True)
    for number in range(60):
        (tmp_path / "class" / "ann" / f"{number}.zip").write_bytes(raw)
    output = subprocess.run(
        [sys.executable, "-c", SMALL, str(tmp_path / "class")], cwd=ROOT, check=True, timeout=120,
        capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    assert "more than 5 MB" in output[0]
    assert int(output[1]) < 60_000  # kilobytes


def test_the_files_of_a_folder_are_read_to_the_limit_and_no_further(tmp_path, monkeypatch):
    (tmp_path / "ann").mkdir()
    for number in range(20):
        (tmp_path / "ann" / f"{number:02}.py").write_bytes(b"#" * (MOST_BYTES // 2))
    opened, read = tmp_path / "opened.txt", submissions._read_bytes

    def counted(path, name):  # in a child process, whose variables are lost
        with opened.open("a") as file:
            file.write(f"{path}\n")
        return read(path, name)

    monkeypatch.setattr(submissions, "_read_bytes", counted)
    (one,) = collect([tmp_path])
    assert "Together the files have more than 5 MB" in one.problem
    assert len(opened.read_text().splitlines()) == 3


def test_a_folder_of_very_many_files_is_refused(tmp_path):
    (tmp_path / "ann").mkdir()
    for number in range(MOST_FILES + 1):
        (tmp_path / "ann" / f"{number}.py").write_text("x = 1")
    (one,) = collect([tmp_path])
    assert f"more than {MOST_FILES} files" in one.problem


@pytest.mark.parametrize("error", [MemoryError, RecursionError, UnicodeError, OverflowError])
def test_an_error_while_unpacking_costs_one_submission(tmp_path, monkeypatch, error):
    bomb(tmp_path / "ann.zip", zipfile.ZIP_DEFLATED, 2**20)
    (tmp_path / "bob.py").write_text("x = 1")

    def failing(*_):
        raise error

    monkeypatch.setattr(zipfile.ZipExtFile, "read", failing)
    ann, bob = collect([tmp_path])
    words = (error.__name__, "no zip", "more memory than the check gives")
    assert any(one in ann.problem for one in words)
    assert bob.files


def test_the_grading_process_opens_no_archive(tmp_path, monkeypatch):
    bomb(tmp_path / "ann.zip", zipfile.ZIP_DEFLATED, 2**20)
    (tmp_path / "bob").mkdir()
    bomb(tmp_path / "bob" / "work.zip", zipfile.ZIP_STORED, 2**20)
    parent, real = os.getpid(), zipfile.ZipFile

    def opened(*arguments):
        assert os.getpid() != parent
        return real(*arguments)

    monkeypatch.setattr(submissions.zipfile, "ZipFile", opened)
    monkeypatch.setattr(submissions, "decoded", None)
    assert [[len(raw) for _, raw in one.files] for one in collect([tmp_path])] == [[2**20]] * 2


@pytest.mark.parametrize("how", ["waits", "counts", "takes memory", "ends"])
def test_a_reader_that_does_not_end_costs_one_submission(tmp_path, monkeypatch, how):
    bomb(tmp_path / "ann.zip", zipfile.ZIP_DEFLATED, 2**20)
    (tmp_path / "bob.py").write_text("x = 1")

    def reading(*_):
        if how == "waits":
            time.sleep(600)
        elif how == "takes memory":
            bytearray(2**30)
        elif how == "ends":
            os._exit(0)
        while True:
            pass

    limits = submissions.TO_READ.__class__(seconds=8.0, cpu_seconds=1, memory_bytes=2**29)
    monkeypatch.setattr(submissions, "TO_READ", limits)
    monkeypatch.setattr(submissions, "_unzip", reading)
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    ann, bob = collect([tmp_path])
    assert bob.files
    words = {
        "waits": "did not end in the time",
        "counts": "more processor time",
        "takes memory": "MemoryError",
        "ends": "ended before its work was done",
    }
    assert words[how] in ann.problem
    assert ann.files == ()
    assert time.monotonic() - start < 60
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 3
