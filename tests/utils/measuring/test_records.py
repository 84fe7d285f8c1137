from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from utils.errors import CourseError
from utils.measuring import records
from utils.measuring.records import Record

DOCUMENTED = (
    "device, compute_capability, driver, python, numba, numba_cuda, toolkit, date, ladder, step,"
    " params, m, n, k, elements, time_ms, time_ms_min, time_ms_max, gflops, gb_per_s, efficiency,"
    " library, library_ratio, registers, shared_bytes, spill_bytes, sm_clock_mhz,"
    " peak, library_ms, inputs"
)
EMPTY = Record(**dict.fromkeys(records.COLUMNS))
NAIVE = replace(
    EMPTY,
    device="NVIDIA H200",
    compute_capability="9.0",
    numba="0.68.0",
    date="2026-11-21",
    ladder="gemm",
    step="naive",
    m=1024,
    n=1024,
    k=1024,
    time_ms=1 / 3,
    gflops=6442.451,
    efficiency=0.0963,
    registers=32,
)
TILED = replace(NAIVE, step="tiled", params="TILE=32")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "nvidia_h200" / "gemm.csv"


def broken(file: Path, old: str, new: str) -> Path:
    """Return the file of one record with `old` replaced by `new`."""
    records.write([NAIVE], file)
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    return file


def test_the_columns_are_the_documented_ones_in_their_order():
    assert ", ".join(records.COLUMNS) == DOCUMENTED


def test_what_is_written_is_read_back_with_its_types(file):
    records.write([NAIVE], file)
    pd.testing.assert_frame_equal(
        records.read(file), records.to_frame([replace(NAIVE, time_ms=0.333333, gflops=6442.45)])
    )


def test_versions_stay_text_and_what_does_not_apply_stays_empty(file):
    records.write([NAIVE], file)
    row = records.read(file).iloc[0]
    assert (row.compute_capability, row.numba, row.params) == ("9.0", "0.68.0", "")
    assert row.elements is pd.NA
    assert pd.isna(row.library_ratio)


def test_floats_keep_six_digits(file):
    records.write([NAIVE], file)
    assert ",0.333333," in file.read_text()


def test_the_same_measurement_replaces_the_older_one(file):
    records.write([NAIVE, TILED], file)
    records.write([replace(NAIVE, gflops=7000, date="2026-12-01")], file)
    frame = records.read(file).set_index("step")
    assert list(frame.gflops) == [7000, 6442.45]


@pytest.mark.parametrize("change", [{"n": 512}, {"params": "TILE=16"}, {"device": "Tesla T4"}])
def test_another_shape_constant_or_device_is_another_row(file, change):
    records.write([TILED, replace(TILED, **change)], file)
    assert len(records.read(file)) == 2


def test_what_a_step_chose_before_is_replaced_at_the_shapes_where_it_chose_again(file):
    elsewhere = replace(TILED, n=512, params="TILE=8")
    records.write([NAIVE, TILED, elsewhere], file)
    again = replace(TILED, params="TILE=16")
    records.write([again], file, choosing=["tiled"])
    assert sorted(records.read(file).params) == ["", "TILE=16", "TILE=8"]
    records.write([TILED], file)
    assert sorted(records.read(file).params) == ["", "TILE=16", "TILE=32", "TILE=8"]


def test_rows_are_sorted_by_the_ladders_order_then_shape(file):
    small = {"m": 8, "n": 8, "k": 8}
    records.write([TILED, NAIVE, replace(NAIVE, **small)], file, steps=["naive", "tiled"])
    frame = records.read(file)
    assert list(zip(frame.step, frame.m)) == [("naive", 8), ("naive", 1024), ("tiled", 1024)]


def test_steps_without_a_given_order_keep_the_one_in_the_file(file):
    records.write([TILED, NAIVE], file)
    records.write([replace(NAIVE, n=8), replace(TILED, step="best")], file)
    assert list(records.read(file).step) == ["tiled", "naive", "naive", "best"]


def test_nothing_else_is_left_beside_the_file(file):
    records.write([NAIVE], file)
    assert [path.name for path in file.parent.iterdir()] == ["gemm.csv"]


def test_a_record_that_cannot_be_leaves_the_file_as_it_was(file):
    records.write([NAIVE], file)
    before = file.read_bytes()
    with pytest.raises(CourseError, match="date"):
        records.write([replace(NAIVE, date="21.11.2026")], file)
    assert file.read_bytes() == before


def test_more_than_the_peak_is_refused_with_an_explanation(file):
    with pytest.raises(CourseError, match=r"120.0% of the peak, which no kernel.*timer waits"):
        records.write([replace(NAIVE, efficiency=1.2)], file)


def test_a_missing_file_is_named(file):
    with pytest.raises(CourseError, match=r"There is no .*gemm\.csv: nothing has been recorded"):
        records.read(file)


@pytest.mark.parametrize("text", ["", DOCUMENTED.replace(" ", "") + "\n"])
def test_an_empty_file_is_refused(tmp_path, text):
    file = tmp_path / "empty.csv"
    file.write_text(text)
    with pytest.raises(CourseError, match=r"empty\.csv.*record it again"):
        records.read(file)


def test_missing_and_unknown_columns_are_named(file):
    with pytest.raises(CourseError, match="missing gflops, not known speed"):
        records.read(broken(file, "gflops", "speed"))


@pytest.mark.parametrize(
    "old, new, sentence",
    [
        (",6442.45,", ",fast,", "line 2, column gflops: 'fast' is no number"),
        (",6442.45,", ",inf,", "column gflops: 'inf' is no number"),
        (",1024,1024,1024,", ",1024,10.5,1024,", "column n: '10.5' is no whole number"),
        ("2026-11-21", "2026-13-21", "column date: '2026-13-21' is no date such as"),
        ("2026-11-21", "20261121", "column date: '20261121' is no date such as"),
        (",naive,", ",,", "column step: '' must not be empty"),
        (",0.0963,", ",1.5,", "150.0% of the peak"),
    ],
)
def test_an_unreadable_value_is_named_by_row_and_column(file, old, new, sentence):
    with pytest.raises(CourseError, match=r"gemm\.csv.*" + sentence):
        records.read(broken(file, old, new))


def test_a_recorded_device_is_found_by_its_alias(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "DATA", tmp_path)
    records.write([NAIVE], tmp_path / "measured" / "nvidia_h200" / "gemm.csv")
    assert list(records.measured("h200", "gemm").step) == ["naive"]
    assert records.recorded_devices("gemm") == ("NVIDIA H200",)
    assert records.recorded_devices("reduce") == ()


PUBLISHED = ("claims", "cpu_peak", "gemm_cpu", "gemm_gpu", "latency_hiding", "occupancy_paradox",
             "transfers")  # fmt: skip


def test_every_published_table_is_checked():
    assert sorted(path.stem for path in (records.DATA / "published").iterdir()) == list(PUBLISHED)


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_published_number_names_its_source_document(name):
    frame = records.published(name)
    assert len(frame) >= 4
    assert frame.source.str.fullmatch(r"\d{3}_[0-9a-f]{16}\.txt").all()


def test_published_numbers_are_numbers():
    frame = records.published("gemm_gpu").set_index("kernel")
    assert frame.loc["cublas", "time_ms"] == 0.53028
    assert frame.loc["trivial", ["device", "year", "gflops"]].to_list() == ["C2070", 2012, 60]


def test_an_unknown_published_table_is_refused_with_the_names():
    with pytest.raises(CourseError, match=r"'gpu'.*choose claims, cpu_peak, gemm_cpu, gemm_gpu"):
        records.published("gpu")


def test_ratios_follow_from_the_peak_and_the_librarys_time(file):
    timed = replace(NAIVE, time_ms=2.0, gflops=50.0, peak=200.0, library_ms=1.0)
    assert (timed.efficiency, timed.library_ratio) == (0.25, 0.5)
    records.write([timed], file)
    assert file.read_text().endswith(",200,1,\n")


def test_rows_with_ratios_alone_are_completed_in_memory_and_never_on_disk(file):
    old = replace(NAIVE, time_ms=2.0, gflops=50.0, efficiency=0.25, library_ratio=0.5)
    records.write([old], file)
    row = records.read(file).iloc[0]
    assert (row.peak, row.library_ms) == (200.0, 1.0)
    records.write([replace(TILED, peak=66900.0)], file)
    assert file.read_text().splitlines()[1].endswith(",,")
