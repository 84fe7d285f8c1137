"""The annotated source: each function with its own costs, no folder of this machine, a verdict."""

import importlib.util
import tempfile
from pathlib import Path

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from numba import complex64, cuda, float32, int8

from virtual_gpu import VirtualGpuError, trace
from virtual_gpu.common.filenames import short_names

HELPER = """from numba import cuda, float32


@cuda.jit(device=True)
def pair_sum(x, i):
    return x[2 * i] + x[2 * i + 1]
"""
KERNEL = """from numba import cuda

pair_sum = None
@cuda.jit
def sums(x, y, out):
    out[cuda.grid(1)] = y[cuda.grid(1)] + pair_sum(x, cuda.grid(1))
"""


def module(path: Path, text: str):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    new = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(new)
    return new


def arrays(*sizes):
    return [np.ones(size, np.float32) for size in sizes]


@pytest.fixture
def of_two_files(tmp_path):
    """Return the trace of a kernel whose line 6 calls a function in line 6 of another file."""
    helper = module(tmp_path / "helper.py", HELPER)
    kernel = module(tmp_path / "kernel.py", KERNEL)
    kernel.pair_sum = helper.pair_sum
    return trace(kernel.sums, 1, 128, *arrays(256, 128, 128))


def test_one_line_number_of_two_files_is_two_rows(of_two_files):
    lines = of_two_files.lines.set_index(["file", "line"])
    assert list(lines.index) == [("kernel.py", 6), ("helper.py", 6)]
    assert list(lines["global_load_requests"]) == [4, 8]
    assert list(lines["global_store_requests"]) == [4, 0]


def test_a_called_function_stands_below_the_kernel_with_its_own_costs(of_two_files):
    text = str(of_two_files).splitlines()
    heading = text.index("       pair_sum() (helper.py)")
    (kernels,) = (row for row in text[:heading] if "out[cuda" in row)
    (helpers,) = (row for row in text[heading:] if "return" in row)
    assert kernels.split()[-5:] == ["4", "16", "4", "16", "128"]
    assert helpers.split()[-3:] == ["8", "64", "128"]
    html = of_two_files._repr_html_()
    assert html.index("out[cuda") < html.index("pair_sum() (helper.py)") < html.rindex("return x[")


NEIGHBOUR = """from numba import cuda


@cuda.jit(device=True)
def neighbour(tile):
    return tile[63 - cuda.threadIdx.x]
"""
MEETING = """from numba import cuda, float32
neighbour = None
@cuda.jit
def meeting(out):
    tile = cuda.shared.array(64, float32)
    tile[cuda.threadIdx.x] = 1
    out[cuda.threadIdx.x] = neighbour(tile)
"""


def test_a_race_with_a_line_of_another_file_shows_its_text(tmp_path):
    helper = module(tmp_path / "neighbour.py", NEIGHBOUR)
    kernel = module(tmp_path / "meeting.py", MEETING)
    kernel.neighbour = helper.neighbour
    run = trace(kernel.meeting, 1, 64, *arrays(64))
    (race,) = run.findings
    assert "has written at line 6 `tile[cuda.threadIdx.x] = 1` with" in race.message
    assert "(neighbour.py)" in str(run).splitlines()[1]


@cuda.jit(device=True)
def twice(i):
    return 2 * i


@cuda.jit
def every_second(x, out):
    i = cuda.grid(1)
    out[i] = x[twice(i)]


def test_a_called_function_without_costs_is_left_out():
    run = trace(every_second, 1, 64, *arrays(128, 64))
    assert "twice()" not in str(run)
    assert [section.name for section in run.sections] == ["every_second", "twice"]


def test_nothing_that_is_shown_holds_a_folder_of_this_machine(of_two_files, tmp_path):
    shown = [str(of_two_files), repr(of_two_files), of_two_files._repr_html_()]
    shown += [of_two_files.lines.to_string(), of_two_files.accesses.to_string()]
    assert not any(str(tmp_path) in text for text in shown)
    assert repr(of_two_files).startswith("<Trace of sums on the virtual GPU: no flaw found")


def test_two_files_of_one_name_stay_apart(tmp_path):
    names = short_names([str(tmp_path / "a" / "k.py"), str(tmp_path / "b" / "k.py")])
    assert list(names.values()) == ["k.py", "k.py (2)"]


def test_a_file_below_the_current_folder_is_named_from_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert short_names([str(tmp_path / "a" / "k.py")])[str(tmp_path / "a" / "k.py")] == "a/k.py"


def test_cells_are_named_as_the_reader_counts_them():
    shell = InteractiveShell.instance()
    try:
        file = shell.compile.cache("pass", 7)
        assert short_names([file])[file] == "cell In[7]"
    finally:
        InteractiveShell.clear_instance()
    for file, name in (
        ("<ipython-input-3-0a1b2c>", "cell In[3]"),
        (str(Path(tempfile.gettempdir(), "ipykernel_12", "345.py")), "cell"),
        ("<stdin>", "<stdin>"),
    ):
        assert short_names([file])[file] == name


@cuda.jit
def past_the_end(x, out):
    i = cuda.grid(1)
    out[i] = x[i + 1]


@cuda.jit
def neighbours(x, out):
    tile = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    out[i] = tile[63 - i] + tile[i]


@cuda.jit
def from_the_end(x, out):
    i = cuda.grid(1)
    out[i] = x[-1 - i]


@pytest.mark.parametrize(
    ("kernel", "sentence"),
    [
        (past_the_end, "1 index out of bounds"),
        (neighbours, "1 race"),
        (from_the_end, "no flaw found; 1 warning"),
    ],
)
def test_the_verdict_says_what_was_found(kernel, sentence):
    run = trace(kernel, 1, 64, *arrays(64, 64))
    assert run.verdict == sentence
    assert sentence in str(run).splitlines()[0]
    assert sentence in run._repr_html_()


def test_the_code_stands_before_its_figures_and_fits_a_terminal():
    text = str(trace(neighbours, 1, 64, *arrays(64, 64))).splitlines()
    (row,) = (row for row in text if "tile[63 - i]" in row and not row.startswith("  race"))
    number, code = row.split("  out[i] = tile[63 - i] + tile[i]")
    assert number.split() == [str(neighbours.py_func.__code__.co_firstlineno + 5)]
    assert [int(figure) for figure in code.split()] == [2, 8, 4, 4, 64]
    assert all(len(row) <= 112 for row in text if not row.startswith("  race"))


@cuda.jit
def long_line(x, out):
    i = cuda.grid(1)
    if i < out.size:  # the next line is longer than a terminal is wide when its figures follow
        out[i] = x[i] * float32(2.0) + x[i] * float32(3.0) + x[i] * float32(4.0) + x[i] * float32(5)


def test_code_that_is_too_long_is_cut_where_figures_follow():
    text = str(trace(long_line, 1, 64, *arrays(64, 64))).splitlines()
    (row,) = (row for row in text if "out[i] = " in row)
    assert len(row) <= 112
    assert "…" in row
    assert row.split()[-5:] == ["8", "32", "2", "8", "448"]


@cuda.jit
def staged(x, y, out):
    tile = cuda.shared.array((32, 32), float32)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    tile[j, i] = x[j, i] + y[i]
    cuda.syncthreads()
    cuda.atomic.add(out, i, tile[i, j])


def staged_trace():
    x, y, out = np.ones((32, 32), np.float32), np.ones(32, np.float32), np.zeros(32, np.float32)
    return trace(staged, 1, (32, 32), x, y, out)


def test_each_array_of_a_line_has_a_row_of_its_own():
    accesses = staged_trace().accesses
    rows = {(row.array, row.kind): row for row in accesses.itertuples()}
    assert set(rows) == {
        *(("x", "load"), ("y", "load"), ("tile", "store"), ("tile", "load"), ("out", "atomic"))
    }
    for array in ("x", "y"):
        row = rows[array, "load"]
        assert (row.space, row.requests, row.sectors, row.cache_lines) == ("global", 32, 128, 32)
        assert (row.words, row.bytes, row.lanes) == (1024, 4096, 1024)
    assert rows["tile", "store"].wavefronts == 32
    assert rows["tile", "load"].wavefronts == 1024
    assert accesses[accesses["space"] == "shared"]["sectors"].isna().all()
    assert accesses[accesses["space"] == "global"]["wavefronts"].isna().all()
    assert accesses[accesses["kind"] == "atomic"][["sectors", "wavefronts"]].isna().all(axis=None)


def test_the_arrays_of_a_line_add_up_to_the_line():
    run = staged_trace()
    for line, rows in run.accesses.groupby("line"):
        counts = run.lines.set_index("line").loc[line]
        assert rows["requests"].sum() == counts["warps"]
        assert rows["lanes"].sum() == counts["lanes"]
        for space, kind in (("global", "load"), ("shared", "load"), ("shared", "store")):
            part = rows[(rows["space"] == space) & (rows["kind"] == kind)]
            assert part["requests"].sum() == counts[f"{space}_{kind}_requests"]
            amount = "sectors" if space == "global" else "wavefronts"
            assert part[amount].sum() == counts[f"{space}_{kind}_{amount}"]


def test_first_requests_are_addresses_by_lane():
    run = staged_trace()
    assert run.requests("x").shape == (12, 32)
    assert (run.requests("x", first=2)[1] == 128 + 4 * np.arange(32)).all()
    line = staged.py_func.__code__.co_firstlineno + 6
    column = run.requests("tile", first=1, line=line)
    assert (column == 128 * np.arange(32)).all()
    assert (trace(past_the_end, 1, 8, *arrays(9, 8)).requests("x")[0][8:] == -1).all()
    with pytest.raises(VirtualGpuError, match="made no store of x at line 3; it made: atomic of"):
        run.requests("x", kind="store", line=3)


@cuda.jit
def complex_copy(x, out):
    tile = cuda.shared.array(64, complex64)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    out[i] = tile[i]


@pytest.mark.parametrize(("dtype", "sectors"), [(np.complex64, 32), (np.complex128, 64)])
def test_a_complex_number_in_global_memory_is_two_requests(dtype, sectors):
    """The machine code has two LDG, each of which loads every second number for 32 lanes."""
    accesses = trace(complex_copy, 1, 64, np.ones(64, dtype), np.ones(64, dtype)).accesses
    for array, kind in (("x", "load"), ("out", "store")):
        row = accesses[(accesses["array"] == array) & (accesses["kind"] == kind)].iloc[0]
        assert (row["requests"], row["lanes"]) == (4, 128)
        assert row["sectors"] == sectors


def test_a_complex_number_in_shared_memory_is_one_wide_request():
    """The machine code has LDS.64 and STS.64."""
    accesses = trace(complex_copy, 1, 64, *[np.ones(64, np.complex64)] * 2).accesses
    tile = accesses[accesses["array"] == "tile"]
    assert list(tile["requests"]) == [2, 2]
    assert list(tile["wavefronts"]) == [4, 4]


@cuda.jit
def odd_bytes(out):
    tile = cuda.shared.array(33, int8)
    i = cuda.threadIdx.x
    tile[i] = i
    out[cuda.grid(1)] = tile[i]


def test_the_tile_of_every_block_begins_in_the_first_bank():
    run = trace(odd_bytes, 3, 32, np.zeros(96, np.int8))
    addresses = run.requests("tile")
    assert addresses.shape == (3, 32)
    assert (addresses == np.arange(32)).all()
