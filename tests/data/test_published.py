"""The published tables agree with themselves: rates with times, shares with peaks, known names.

Each check gives the rows that break it, and is proven by a row that does.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable

import pandas as pd
import pytest

from utils.errors import CourseError
from utils.machine import devices
from utils.measuring import records
from utils.paths import DATA

TABLES = ("claims", "cpu_peak", "gemm_cpu", "gemm_gpu", "latency_hiding", "occupancy_paradox",
          "transfers")  # fmt: skip
DOCUMENTS = tomllib.loads((DATA / "sources.toml").read_text(encoding="utf-8"))
SOURCES = {document["file"] for document in DOCUMENTS.values()}
# The sources name these chips where they mean every card with one; data/devices.csv has cards.
CHIPS = {"G80", "G80-GT200", "GF100", "GF104"}
PROCESSORS = {"Xeon Platinum 8260Y"}
UNSTATED = r"unstated( \(.+\))?"
CONTRADICTS = "the source contradicts itself"
BITS = {"AVX2": 256, "AVX-512": 512}
WORD_BITS = {"single": 32, "double": 64}


def numbers(frame: pd.DataFrame, *columns: str) -> list[pd.Series]:
    return [frame[column].astype(float) for column in columns]


def explained(frame: pd.DataFrame) -> pd.Series:
    return frame["note"].fillna("").str.contains(CONTRADICTS)


def work(frame: pd.DataFrame) -> pd.Series:
    """Floating-point operations of a product; NaN where the shape is not known."""
    return 2 * frame[["m", "n", "k"]].astype(float).prod(axis=1, skipna=False)


def unknown_sources(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[~frame["source"].isin(SOURCES)]


def unknown_devices(frame: pd.DataFrame) -> pd.DataFrame:
    known = {name for device in devices.known() for name in (device.name, *device.aliases)}
    names = frame["device" if "device" in frame else "cpu"]
    listed = names.isin(known | CHIPS | PROCESSORS)
    return frame[~listed & ~names.str.fullmatch(UNSTATED)]


def wrong_bandwidths(frame: pd.DataFrame) -> pd.DataFrame:
    """A rate is bytes over time, in 10^9 a second, to half of its last digit."""
    size, time_ms, rate = numbers(frame, "bytes", "time_ms", "gb_per_s")
    return frame[(size / time_ms / 1e6 - rate).abs() > 0.0006]


def wrong_gpu_rates(frame: pd.DataFrame) -> pd.DataFrame:
    """Work over time is the rate within 2 %, in the unit that the row names."""
    time_ms, rate = numbers(frame, "time_ms", "gflops")
    unit = frame["gflops_base"].map({"2^30": 2**30, "10^9": 1e9}).astype(float).fillna(1e9)
    off = (work(frame) / (time_ms / 1e3) / unit / rate - 1).abs()
    return frame[(off > 0.02) & ~explained(frame)]


def wrong_cpu_rates(frame: pd.DataFrame) -> pd.DataFrame:
    """As for the GPU; and no product on a CPU is without a rate and without a time."""
    time_s, rate = numbers(frame, "time_s", "gflops")
    off = (work(frame) / time_s / 1e9 / rate - 1).abs()
    return frame[((off > 0.02) & ~explained(frame)) | (time_s.isna() & rate.isna())]


def wrong_shares(frame: pd.DataFrame) -> pd.DataFrame:
    """The share of the peak is the rate over the data sheet's, to a point: sources cut digits."""
    rate, share = numbers(frame, "gflops", "efficiency_pct")
    return frame[(100 * rate / frame["device"].map(peak) - share).abs() > 1]


def peak(device: str) -> float:
    try:
        return devices.find(device).peak_gflops
    except CourseError:
        return float("nan")


def wrong_shared_bytes(frame: pd.DataFrame) -> pd.DataFrame:
    """A tile of a and one of b for each thread's column, in float32."""
    side = frame["block"].str.partition("x")[0].astype(float)
    (grain,) = numbers(frame, "grain")
    tiles = (1 + grain).where(frame["kernel"] == "granularity", 2)
    (shared,) = numbers(frame, "shared_bytes")
    return frame[(4 * tiles * side**2 - shared).abs() > 0]


def wrong_peaks(frame: pd.DataFrame) -> pd.DataFrame:
    """Clock × FMA units × lanes × 2."""
    lanes = frame["instruction_set"].map(BITS) / frame["precision"].map(WORD_BITS)
    clock, units, stated = numbers(frame, "clock_ghz", "fma_units", "peak_gflops_per_core")
    return frame[(clock * units * lanes * 2 - stated).abs() > 0.01]


def wrong_parallelism(frame: pd.DataFrame) -> pd.DataFrame:
    """Operations are latency × lanes; a row counts threads or operations or neither."""
    factors = frame["note"].str.extract(r"(\d+) cycles x (\d+) lanes").astype(float)
    product = factors.prod(axis=1, skipna=False)
    operations, threads = numbers(frame, "operations_per_sm_for_peak", "threads_per_sm_for_peak")
    needed = frame["experiment"] == "needed_parallelism"
    return frame[
        (needed & (operations != product))
        | (needed != operations.notna())
        | (operations.notna() & threads.notna())
    ]


def incomplete_claims(frame: pd.DataFrame) -> pd.DataFrame:
    """A claim says what, how much, of what unit and on what, and is there once."""
    said = ["claim", "value", "unit", "device"]
    return frame[frame[said].isna().any(axis=1) | frame.duplicated([*said, "source"])]


CHECKS = {
    "transfers": (wrong_bandwidths,),
    "gemm_gpu": (wrong_gpu_rates, wrong_shares, wrong_shared_bytes),
    "gemm_cpu": (wrong_cpu_rates,),
    "cpu_peak": (wrong_peaks,),
    "latency_hiding": (wrong_parallelism,),
    "claims": (incomplete_claims,),
}
EVERY = [
    (table, check)
    for table in TABLES
    for check in (unknown_sources, unknown_devices, *CHECKS.get(table, ()))
]
# table, check, which row, what is wrong in it
WRONG = [
    ("transfers", unknown_sources, "direction == 'both'", {"source": "a web page"}),
    ("transfers", unknown_devices, "direction == 'both'", {"device": "Quadro (unstated)"}),
    ("gemm_cpu", unknown_devices, "kernel == 'onednn' and m == 64", {"cpu": "a Xeon"}),
    ("transfers", wrong_bandwidths, "time_ms == 0.32701", {"gb_per_s": 11.945}),
    ("gemm_gpu", wrong_gpu_rates, "kernel == 'cublas'", {"note": "79 % at 2048"}),
    ("gemm_gpu", wrong_gpu_rates, "gflops == 165", {"gflops_base": "10^9"}),
    ("gemm_gpu", wrong_shares, "gflops == 790", {"efficiency_pct": 17}),
    ("gemm_gpu", wrong_shared_bytes, "gflops == 1058", {"shared_bytes": 4096}),
    ("gemm_cpu", wrong_cpu_rates, "kernel == 'onednn' and m == 1024", {"time_s": 0.1}),
    ("gemm_cpu", wrong_cpu_rates, "kernel == 'naive_parallel'", {"time_s": None}),
    ("cpu_peak", wrong_peaks, "peak_gflops_per_core == 160", {"clock_ghz": 1.25}),
    ("latency_hiding", wrong_parallelism, "device == 'GF104'", {"operations_per_sm_for_peak": 800}),
    ("latency_hiding", wrong_parallelism, "device == 'GF100'", {"threads_per_sm_for_peak": 576}),
    ("latency_hiding", wrong_parallelism, "device == 'GF100'",
     {"threads_per_sm_for_peak": 576, "operations_per_sm_for_peak": None}),
    ("claims", incomplete_claims, "value == 1.41", {"unit": None}),
    ("claims", incomplete_claims, "claim == 'L1 instruction cache'", {"claim": "L1 data cache"}),
]  # fmt: skip


def test_every_table_is_checked():
    assert sorted(path.stem for path in (records.DATA / "published").glob("*.csv")) == list(TABLES)


@pytest.mark.parametrize("table, check", EVERY)
def test_a_published_table_agrees_with_itself(table: str, check: Callable):
    wrong = check(records.published(table))
    assert wrong.empty, wrong.to_string()


@pytest.mark.parametrize("table, check, row, wrong", WRONG)
def test_a_wrong_row_is_found(table: str, check: Callable, row: str, wrong: dict):
    frame = records.published(table)
    at = frame.query(row).index
    assert len(at) == 1
    for column, value in wrong.items():
        frame.loc[at, column] = value
    assert list(check(frame).index) == list(at)


def test_every_check_is_proven_by_a_wrong_row():
    assert {check for _, check, _, _ in WRONG} == {check for _, check in EVERY}


def test_every_row_that_contradicts_itself_says_how():
    """The contradiction stands after the words, with the figures of both sides."""
    for table in TABLES:
        frame = records.published(table)
        for note in frame.loc[explained(frame), "note"]:
            assert len(note.partition(CONTRADICTS)[2]) > 20, (table, note)


def test_the_sequential_product_is_that_of_the_timed_build():
    """30.473 s for ten products; the build without optimisation takes three times as long."""
    frame = records.published("gemm_cpu").query("m == 2000").set_index("kernel")
    rates = work(frame) / frame["time_s"].astype(float) / 1e9
    assert rates["naive"] == pytest.approx(1.58, abs=0.01)
    assert rates["naive_parallel"] / rates["naive"] == pytest.approx(30.473 / 14.652, rel=0.001)
