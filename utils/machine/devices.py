"""GPUs and their peaks, from data sheets, from the driver, or computed."""

from __future__ import annotations

import csv
import difflib
import functools
import platform
import re
from dataclasses import dataclass, field, replace

import cpuinfo
from numba import cuda

from utils.errors import CourseError
from utils.paths import DATA
from utils.translation import translate

TABLE = DATA / "devices.csv"
# The device on which the course's records were made; shown if no other device is present.
REFERENCE = "NVIDIA H200"
KIB = 1024
GIB = 1024**3


@dataclass(frozen=True)
class Device:
    """One GPU: a row of `data/devices.csv`, or the driver's description of a GPU without a row.

    name: the name that drivers report. aliases: the names in the source documents.
    year, architecture: such as 2010 and "Fermi"; None without a row.
    compute_capability: such as (9, 0). sms: the number of SMs.
    fp32_lanes_per_sm: the number of float32 lanes of an SM.
    boost_clock_mhz: the clock at which the data sheet states `fp32_gflops`.
    fp32_gflops, memory_gb_per_s: the data sheet's peaks, in 10^9 per second; None without a row.
    memory_gib, l2_kib: the sizes of the memory and of the L2 cache.
    shared_kib_per_sm, max_shared_kib_per_block: the most shared memory of an SM and of a block.
    source: where the figures are published, or "the driver".
    tensor_gflops: the data sheet's peak of products of float16 with float32 sums on tensor cores,
        without sparsity, in 10^9 per second; None where none is listed. tensor_source: its source.
    driver_gb_per_s: memory clock × bus width × 2 as the driver reports them; None without a driver.
    """

    name: str
    aliases: tuple[str, ...]
    year: int | None
    architecture: str | None
    compute_capability: tuple[int, int]
    sms: int
    fp32_lanes_per_sm: int
    boost_clock_mhz: float
    fp32_gflops: float | None
    memory_gb_per_s: float | None
    memory_gib: float
    l2_kib: int
    shared_kib_per_sm: float
    max_shared_kib_per_block: float
    source: str
    tensor_gflops: float | None = None
    tensor_source: str = ""
    driver_gb_per_s: float | None = field(default=None, compare=False)

    @property
    def slug(self) -> str:
        """The name of this device's folder in `data/measured`, such as "nvidia_h200"."""
        return _slug(self.name)

    @property
    def arch(self) -> str:
        """The compute capability as compilers name it, such as "sm_90"."""
        return "sm_{}{}".format(*self.compute_capability)

    @property
    def peak_gflops(self) -> float:
        """FP32 peak in 10^9 operations per second: the data sheet's, else computed."""
        return self.fp32_gflops or self.computed_gflops()

    @property
    def peak_gb_per_s(self) -> float | None:
        """Memory peak in 10^9 bytes per second: the data sheet's, else the driver's, else None."""
        return self.memory_gb_per_s or self.driver_gb_per_s

    def computed_gflops(self, clock_mhz: float | None = None) -> float:
        """Return SMs × FP32 lanes × 2 × clock in 10^9 per second; by default at the boost clock."""
        return self.sms * self.fp32_lanes_per_sm * 2 * (clock_mhz or self.boost_clock_mhz) / 1000


@functools.cache
def known() -> tuple[Device, ...]:
    """Return the devices of `data/devices.csv`, in the order of the table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return tuple(_from_row(row) for row in csv.DictReader(file))


def find(name: str) -> Device:
    """Return the device that has this name or alias, or whose name or alias has all these words.

    Case and punctuation are ignored. An equal name wins over words. Raises CourseError if no device
    or several devices fit: the message has the names of those that fit, or else the closest.
    """
    matches = [device for device in known() if _is_called(device, name)] or [
        device
        for device in known()
        if any(_words(name) <= _words(label) for label in _labels(device))
    ]
    if len(matches) == 1:
        return matches[0]
    close = [device.name for device in matches] or _close_names(name)
    raise CourseError(
        f"'{name}' {'fits several devices' if matches else 'is no device of data/devices.csv'}:"
        f" choose {', '.join(close)}."
    )


def slug(name: str) -> str:
    """Return the folder's name in `data/measured` for a GPU or CPU, such as "nvidia_h200".

    For an alias of a known device, it is the folder of the device's own name.
    """
    return next((device.slug for device in known() if _is_called(device, name)), _slug(name))


def current(cuda=cuda) -> Device | None:
    """Return the current CUDA device, or None if kernels cannot run on one.

    `cuda` is Numba's module; tests pass another.
    """
    return _probe(cuda)[0]


def why_no_device(cuda=cuda) -> str | None:
    """Return one sentence on why no CUDA device can be used, or None if one can.

    The sentence is in the reader's language. `cuda` is Numba's module; tests pass another.
    """
    return _probe(cuda)[1]


def from_driver(gpu, memory_bytes: int) -> Device:
    """Return the device that `gpu`, from `numba.cuda.get_current_device()`, describes.

    If the table has a row with its name and its number of SMs, the device is that row. Otherwise
    the figures are the driver's. The lanes per SM are then those of the newest compute capability
    in the table that is not newer than the device's. `memory_bytes` is the size of its memory.
    """
    # In kHz and bits; some virtualised GPUs report 0.
    bandwidth = 2 * gpu.MEMORY_CLOCK_RATE * gpu.GLOBAL_MEMORY_BUS_WIDTH / 8 / 1e6 or None
    name = gpu.name.decode() if isinstance(gpu.name, bytes) else gpu.name
    for device in known():
        # Different chips are sold under one name, and a slice of a GPU has fewer SMs.
        if _is_called(device, name) and device.sms == gpu.MULTIPROCESSOR_COUNT:
            return replace(device, driver_gb_per_s=bandwidth)
    capability = tuple(gpu.compute_capability)
    lanes = {device.compute_capability: device.fp32_lanes_per_sm for device in known()}
    return Device(
        name=name,
        aliases=(),
        year=None,
        architecture=None,
        compute_capability=capability,
        sms=gpu.MULTIPROCESSOR_COUNT,
        fp32_lanes_per_sm=lanes[max(older for older in lanes if older <= capability)],
        boost_clock_mhz=gpu.CLOCK_RATE / 1000,
        fp32_gflops=None,
        memory_gb_per_s=None,
        memory_gib=memory_bytes / GIB,
        l2_kib=gpu.L2_CACHE_SIZE // KIB,
        shared_kib_per_sm=gpu.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR / KIB,
        max_shared_kib_per_block=gpu.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN / KIB,
        source="the driver",
        driver_gb_per_s=bandwidth,
    )


def fraction_of_peak(value: float, peak: float, what: str) -> float:
    """Return value / peak; raise CourseError above 1, because no kernel is faster than its device.

    `value` and `peak` have the same unit. `what` begins the error's sentence, such as "tiled at
    1024".
    """
    if value > peak:
        raise CourseError(
            f"{what} is {value / peak:.1%} of the peak, which no kernel reaches: check that the"
            " timer waits for the device, that the work is counted right, that the clock is not"
            " above the one of the peak, and that bytes come from memory and not from a cache."
        )
    return value / peak


@functools.cache
def cpu_info() -> dict:
    """Return py-cpuinfo's facts about this machine's processor, name -> value.

    The first call takes a second; the result is cached.
    """
    return cpuinfo.get_cpu_info()


@functools.cache
def cpu_name() -> str:
    """Return the brand name of this machine's processor, or the architecture if it has none.

    The architecture is such as "x86_64".
    """
    return cpu_info().get("brand_raw") or platform.processor() or platform.machine()


def _probe(cuda) -> tuple[Device | None, str | None]:
    """Return (device, None), or (None, a sentence on why no CUDA device can be used)."""
    try:
        if not cuda.is_available():
            return None, _runs_virtually(cuda.cuda_error())
        gpu = cuda.get_current_device()
        if gpu.name == "virtual GPU":  # `python -m virtual_gpu` says that there is one
            why = translate("This program was started on the virtual GPU: kernels run there.")
            return None, why
        memory_bytes = cuda.current_context().get_memory_info().total
    # Numba, cuda.core and its bindings each raise exceptions of their own.
    except Exception as error:
        return None, _runs_virtually(str(error))
    return from_driver(gpu, memory_bytes), None


def _runs_virtually(problem: str | None) -> str:
    """Return a sentence on why CUDA cannot be used, which adds that the virtual GPU runs kernels.

    problem: the text of CUDA's error; None means that Numba's CUDA compiler is missing.
    """
    return translate("{why}: kernels run on the virtual GPU.", why=_why(problem))


def _why(problem: str | None) -> str:
    """Return the words on a problem; None means that Numba's CUDA compiler is missing.

    The words are such as "No CUDA driver was found".
    """
    if problem is None:
        return translate("Numba's CUDA compiler is missing ('make setup' installs it)")
    if "cannot be found" in problem:
        return translate("No CUDA driver was found")
    if "NUMBA_DISABLE_CUDA" in problem:
        return translate("CUDA is switched off by NUMBA_DISABLE_CUDA")
    return translate(
        "The CUDA device cannot be used ({problem})", problem=" ".join(problem.split())
    )


def _from_row(row: dict[str, str]) -> Device:
    """Return the device of a row of `data/devices.csv`, given as column -> text."""
    major, minor = row["compute_capability"].split(".")
    whole = ("year", "sms", "fp32_lanes_per_sm", "l2_kib")
    texts = ("name", "architecture", "source", "tensor_source")
    others = {*whole, *texts, "aliases", "compute_capability", "tensor_gflops"}
    return Device(
        **{column: row[column] for column in texts},
        **{column: int(row[column]) for column in whole},
        **{column: float(row[column]) for column in row.keys() - others},
        tensor_gflops=float(row["tensor_gflops"]) if row["tensor_gflops"] else None,
        aliases=tuple(row["aliases"].split(";")),
        compute_capability=(int(major), int(minor)),
    )


def _labels(device: Device) -> tuple[str, ...]:
    """Return the name and all aliases of a device."""
    return device.name, *device.aliases


def _is_called(device: Device, name: str) -> bool:
    """Return True if this is the device's name or alias, ignoring case and punctuation."""
    return _slug(name) in map(_slug, _labels(device))


def _words(text: str) -> set[str]:
    """Return the words of a text, in lower case."""
    return set(_slug(text).split("_"))


def _slug(name: str) -> str:
    """Return a text in lower case with one underscore for each run of other characters.

    Letters and digits of ASCII stay. There is no underscore at the ends.
    """
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _close_names(name: str) -> list[str]:
    """Return the names of at most three devices whose name or alias is similar to this one.

    Without any, return the names of the newest five devices and a phrase on the others.
    """
    labels = {_slug(label): device.name for device in known() for label in _labels(device)}
    close = difflib.get_close_matches(_slug(name), labels, n=3, cutoff=0.5)
    newest = [*(device.name for device in known()[-5:]), "or another of its rows"]
    return list(dict.fromkeys(labels[label] for label in close)) or newest
