"""Archives are unpacked in small pieces, and reading stops at the limit and not behind it."""

import subprocess
import sys
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
    opened, read = [], submissions._read_bytes

    def counted(path, name):
        opened.append(path)
        return read(path, name)

    monkeypatch.setattr(submissions, "_read_bytes", counted)
    (one,) = collect([tmp_path])
    assert "Together the files have more than 5 MB" in one.problem
    assert len(opened) == 3


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
    assert error.__name__ in ann.problem or "no zip" in ann.problem
    assert bob.files
