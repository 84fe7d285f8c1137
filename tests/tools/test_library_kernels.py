"""Test how the profiler's output becomes rows of `library_kernels.csv`."""

import datetime
from types import SimpleNamespace

import pytest

from tools.records import library_kernels
from tools.records.library_kernels import DYNAMIC, REGISTERS, rows_of
from utils.errors import CourseError
from utils.ladder.shapes import GemmShape
from utils.machine import devices
from utils.measuring import rows
from utils.measuring.command_line import main
from utils.measuring.library_kernels import LibraryKernel
from utils.paths import DATA

FILES = sorted((DATA / "measured").glob("*/library_kernels.csv"))
HEAD = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",'
    '"Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"'
)
LOG = """\
==PROF== Connected to process 4711 (/usr/bin/python3.12)
==PROF== Profiling "product" - 0: 0%....50%....100% - 1 pass
==PROF== Disconnected from process 4711
"""


def lines_of(number: int, kernel: str, dynamic: str, registers: str) -> list[str]:
    """Return the two lines that the profiler prints for one launch."""
    launch = f'"{number}","4711","python3.12","127.0.0.1","{kernel}","1","7","(384, 1, 1)"'
    launch += ',"(2, 66, 1)","0","9.0","Command line profiler metrics"'
    return [
        f'{launch},"{REGISTERS}","register/thread","{registers}"',
        f'{launch},"{DYNAMIC}","byte/block","{dynamic}"',
    ]


TWO = (
    *lines_of(0, "void product<float, 8>(T1, T2)", "213,016", "168"),
    *lines_of(1, "add_slices", "0", "32"),
)


def test_each_launch_becomes_a_row_in_its_order():
    text = LOG + "\n".join([HEAD, *TWO]) + "\n"
    first, second = rows_of(text, "float16", "a GPU", 130200)
    assert first == LibraryKernel(
        "a GPU", "float16", 4096, 4096, 4096, "void product<float, 8>(T1, T2)", (2, 66, 1),
        (384, 1, 1), 213_016, 168, 130200, datetime.date.today().isoformat(),
    )  # fmt: skip
    assert (second.kernel, second.dynamic_shared_bytes, second.registers) == ("add_slices", 0, 32)


def test_a_row_is_the_same_after_it_was_written(tmp_path):
    text = LOG + "\n".join([HEAD, *TWO]) + "\n"
    found = tuple(rows_of(text, "bfloat16", "a GPU", 130200))
    rows.write(tmp_path / "a.csv", found, LibraryKernel)
    assert rows.read(tmp_path / "a.csv", LibraryKernel) == found


@pytest.mark.parametrize("elements, dtype", [("float16", "float16"), ("bfloat16", "uint16")])
def test_the_profiler_sees_the_second_product_alone(monkeypatch, elements, dtype):
    seen = []

    class Profiling:
        def __enter__(self):
            seen.append("begin")

        def __exit__(self, *error):
            seen.append("end")

    def bind(inputs, out):
        assert [one.dtype for one in (*inputs, out)] == [dtype, dtype, "float32"]
        assert [one.shape for one in (*inputs, out)] == [(3, 5), (5, 4), (3, 4)]
        return lambda: seen.append("product")

    monkeypatch.setattr(library_kernels, "CUBLAS_TENSOR", SimpleNamespace(bind=bind))
    monkeypatch.setattr(library_kernels.cuda, "profiling", Profiling)
    library_kernels.launch(elements, GemmShape(3, 4, 5))
    assert seen == ["product", "begin", "product", "end"]


def test_without_the_library_nothing_is_profiled(monkeypatch):
    nothing = SimpleNamespace(bind=lambda inputs, out: None)
    monkeypatch.setattr(library_kernels, "CUBLAS_TENSOR", nothing)
    with pytest.raises(CourseError, match="install CuPy"):
        library_kernels.launch("float16", GemmShape(3, 4, 5))


def test_without_a_device_one_sentence_says_so(monkeypatch, capsys):
    monkeypatch.setattr("utils.machine.devices.current", lambda: None)
    assert main("", [library_kernels.COMMAND], ["--record"]) == 2
    assert "library-kernels needs a CUDA device" in capsys.readouterr().err


def test_a_run_with_record_writes_a_row_per_kind_of_elements(monkeypatch, tmp_path):
    text = LOG + "\n".join([HEAD, *TWO[:2]]) + "\n"
    monkeypatch.setattr("utils.machine.devices.current", lambda: devices.find(devices.REFERENCE))
    monkeypatch.setattr(library_kernels, "cublas_version", lambda: 130200)
    monkeypatch.setattr(library_kernels, "profile", lambda elements: text)
    monkeypatch.setattr(library_kernels, "DATA", tmp_path)
    assert main("", [library_kernels.COMMAND], ["--record"]) == 0
    file = tmp_path / "measured" / "nvidia_h200" / "library_kernels.csv"
    assert [row.elements for row in rows.read(file, LibraryKernel)] == ["float16", "bfloat16"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_a_record_has_a_kernel_for_each_kind_of_elements(file):
    recorded = rows.read(file, LibraryKernel)
    assert {row.elements for row in recorded} == {*library_kernels.STORED}
    assert all(row.dynamic_shared_bytes + row.registers for row in recorded)
