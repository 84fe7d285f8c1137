"""What the profiler counted in a launch at 4096, for the claims of the lessons."""

from functools import cache

from utils.machine.devices import REFERENCE, find
from utils.machine.occupancy import limits_of
from utils.measuring.profiled_launches import counters_of, states_of

CHIP = find(REFERENCE)
SCHEDULERS = limits_of(CHIP.compute_capability).sub_partitions


@cache
def counted(kernel: object, size: int | str = 4096, caches: str = "cold") -> dict[str, float]:
    """Return counter -> value of a product of size×size matrices, with cold or warm caches.

    kernel: a variant, or its name in the record.
    """
    return counters_of(str(kernel), f"{size}x{size}x{size}", caches)


def states(kernel: object, size: int = 4096) -> dict[str, float]:
    """Return state -> the cycles that a warp is in it per instruction that it issues."""
    return states_of(counted(kernel, size))


def share(kernel: object, *names: str, size: int = 4096) -> float:
    """Return the percent of a warp's time that it is in any of these states."""
    of = states(kernel, size)
    return 100 * sum(of[name] for name in names) / sum(of.values())


def busy(kernel: object, size: int = 4096) -> float:
    """Return the percent of the cycles in which shared memory and L1 serve a wavefront."""
    counters = counted(kernel, size)
    return 100 * counters["wavefronts"] / CHIP.sms / counters["cycles"]


def per_multiply_add(kernel: object, *names: str, size: int = 4096) -> float:
    """Return the cycles in any of these states per multiply-add of a warp."""
    of, each = states(kernel, size), size**3 / 32
    return sum(of[name] for name in names) * counted(kernel, size)["instructions"] / each
