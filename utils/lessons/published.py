"""What the sources printed, for a lesson to compare with."""

from __future__ import annotations

from utils.errors import CourseError
from utils.measuring import records


def published_ms(kernel: str, grain: int) -> float:
    """The published time in ms of a matrix product, with so many elements of c per thread.

    kernel: as in `data/published/gemm_gpu.csv`. CourseError where no time or several are printed.
    """
    frame = records.published("gemm_gpu")
    found = frame.loc[(frame["kernel"] == kernel) & (frame["grain"] == grain), "time_ms"].dropna()
    if len(found) != 1:
        raise CourseError(
            f"{len(found)} times of {kernel} with {grain} elements per thread are published: "
            "look into data/published/gemm_gpu.csv."
        )
    return float(found.iloc[0])


def published_gflops(kernel: str, size: int) -> float:
    """The published rate of a square product on one thread of a CPU, in 10^9 a second.

    kernel: as in `data/published/gemm_cpu.csv`. CourseError where none or several are printed.
    """
    frame = records.published("gemm_cpu")
    found = frame.loc[(frame["kernel"] == kernel) & (frame["m"] == size), "gflops"].dropna()
    if len(found) != 1:
        raise CourseError(
            f"{len(found)} rates of {kernel} at {size} are published: look into "
            "data/published/gemm_cpu.csv."
        )
    return float(found.iloc[0])


def claimed(claim: str) -> float:
    """The value of a claim of the sources. claim: as in `data/published/claims.csv`.

    CourseError for a claim that is not there once.
    """
    frame = records.published("claims")
    found = frame.loc[frame["claim"] == claim, "value"]
    if len(found) != 1:
        raise CourseError(
            f"{len(found)} claims read {claim!r}: look into data/published/claims.csv."
        )
    return float(found.iloc[0])
