"""The processor of this machine: the width of its vectors, its caches, its FMA units."""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass
from pathlib import Path

from llvmlite import binding
from numba.core import config
from threadpoolctl import threadpool_info

from utils.machine.devices import KIB, cpu_info, cpu_name
from utils.paths import DATA

TABLE = DATA / "cpus.csv"
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
# Used if the system does not report them: every x86 processor with AVX2 has at least these.
SMALLEST_CACHES = (32 * KIB, 256 * KIB, 2048 * KIB)
INSTRUCTION_SETS = {8: "AVX2", 16: "AVX-512"}


@dataclass(frozen=True)
class Cpu:
    """One processor.

    name: the brand name.
    lanes: the number of float32 in its widest vector: 16 with AVX-512, 8 with AVX2 and FMA, 0
        without.
    caches: bytes of the data caches of levels 1, 2 and 3.
    fma_units: lanes -> the number of FMAs on vectors of this length that one core starts per cycle;
        empty for a processor that `data/cpus.csv` does not have.
    source: where `fma_units` was published, or why it is empty.
    """

    name: str
    lanes: int
    caches: tuple[int, int, int]
    fma_units: dict[int, int]
    source: str

    @property
    def sentence(self) -> str:
        """A sentence on the processor's vectors: their instruction set and the floats in one.

        For a processor without AVX2 and FMA, it says that kernels for vectors run but gain nothing.
        """
        if self.lanes:
            return f"{self.name} has {INSTRUCTION_SETS[self.lanes]}: vectors of {self.lanes}."
        return (
            f"{self.name} has no AVX2 with FMA: the kernels for vectors run, but the compiler "
            "splits every vector into what there is, and they are no faster than its own."
        )


@functools.cache
def current() -> Cpu:
    """Return the processor of this machine, as Numba compiles for it; the result is cached."""
    units, source = _fma_units(cpu_info())
    return Cpu(cpu_name(), lanes(), caches(), units, source)


def blas() -> str:
    """Return NumPy's BLAS, its version, and the processor whose kernels it chose, as text.

    An example is "openblas 0.3.30 (SkylakeX)"; several libraries are separated by commas. OpenBLAS
    obeys the environment variable OPENBLAS_CORETYPE, which can make it slow.
    """
    return ", ".join(
        f"{library['internal_api']} {library['version']} ({library.get('architecture', 'unknown')})"
        for library in threadpool_info()
        if library["user_api"] == "blas"
    )


def caches() -> tuple[int, int, int]:
    """Return the bytes of the data caches that one core reaches, of levels 1, 2 and 3.

    A level that the system does not report has its size in `SMALLEST_CACHES`.
    """
    sizes = {}
    for index in CACHES.glob("index*"):
        kind, level, size = (
            (index / name).read_text().strip() for name in ("type", "level", "size")
        )
        if kind != "Instruction" and size.endswith("K"):
            sizes[int(level)] = int(size[:-1]) * KIB
    return tuple(sizes.get(level, least) for level, least in enumerate(SMALLEST_CACHES, start=1))


def lanes() -> int:
    """Return how many float32 are in a vector that Numba compiles for.

    It is 16 with AVX-512, 8 with AVX2 and FMA, and 0 without. The environment variables
    NUMBA_CPU_NAME and NUMBA_CPU_FEATURES change what Numba compiles for.
    """
    features = config.CPU_FEATURES
    if features is None:
        features = "" if config.CPU_NAME == "generic" else binding.get_host_cpu_features().flatten()
    enabled = features.split(",")
    if "+avx512f" in enabled:
        return 16
    return 8 if {"+avx2", "+fma"} <= set(enabled) else 0


def _fma_units(info: dict) -> tuple[dict[int, int], str]:
    """Return (lanes -> FMAs per cycle of a core, their origin as text) for py-cpuinfo's facts.

    The dict is empty, and the text gives the reason if `data/cpus.csv` lacks the processor.
    """
    vendor, family, model = (info.get(key) for key in ("vendor_id_raw", "family", "model"))
    with TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            models = range(int(row["first_model"]), int(row["last_model"]) + 1)
            if (vendor, str(family)) == (row["vendor"], row["family"]) and model in models:
                texts = {8: row["fma_units_avx2"], 16: row["fma_units_avx512"]}
                units = {lanes: int(text) for lanes, text in texts.items() if text}
                return units, f"{row['architecture']}: {row['source']}"
    return {}, f"data/cpus.csv has no row for {vendor} family {family} model {model}"
