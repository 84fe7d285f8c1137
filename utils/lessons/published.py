"""Times, rates and claims that the sources published."""

from __future__ import annotations

from utils.errors import CourseError
from utils.measuring import records


def published_ms(kernel: str, grain: int) -> float:
    """Return the published time of a matrix product on a GPU, in ms, at the shape of its row.

    kernel: its name in `data/published/gemm_gpu.csv`. grain: the elements of c per thread. Raises
    CourseError unless exactly one time is published.
    """
    frame = records.published("gemm_gpu")
    times = frame.loc[(frame["kernel"] == kernel) & (frame["grain"] == grain), "time_ms"].dropna()
    if len(times) != 1:
        raise CourseError(
            f"{len(times)} times of {kernel} with {grain} elements per thread are published: "
            "look into data/published/gemm_gpu.csv."
        )
    return float(times.iloc[0])


def published_gflops(kernel: str, size: int) -> float:
    """Return the published rate of a square product on one thread of a CPU, in GFLOP/s.

    kernel: its name in `data/published/gemm_cpu.csv`. size: the number of rows of the matrices.
    Raises CourseError unless exactly one rate is published.
    """
    frame = records.published("gemm_cpu")
    rates = frame.loc[(frame["kernel"] == kernel) & (frame["m"] == size), "gflops"].dropna()
    if len(rates) != 1:
        raise CourseError(
            f"{len(rates)} rates of {kernel} at {size} are published: look into "
            "data/published/gemm_cpu.csv."
        )
    return float(rates.iloc[0])


def claimed(claim: str) -> float:
    """Return the number that a published claim states, in the unit of its row.

    claim: its text in `data/published/claims.csv`. Raises CourseError unless exactly one row has
    this text.
    """
    frame = records.published("claims")
    values = frame.loc[frame["claim"] == claim, "value"]
    if len(values) != 1:
        raise CourseError(
            f"{len(values)} claims read {claim!r}: look into data/published/claims.csv."
        )
    return float(values.iloc[0])
