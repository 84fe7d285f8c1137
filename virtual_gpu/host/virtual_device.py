"""The virtual GPU as a device of ``numba.cuda``: its attributes, its context, the device list."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ..common.errors import LaunchError
from ..common.limits import physical_memory
from ..machine import occupancy
from ..machine.geometry import MAX_BLOCK, MAX_GRID, MAX_THREADS
from ..memory.shared import MAX_SHARED_BYTES
from .streams import VirtualStream
from .transfers import note_wait

_ATTRIBUTES = {
    "ASYNC_ENGINE_COUNT": 3,
    "CAN_MAP_HOST_MEMORY": 1,
    "COMPUTE_CAPABILITY_MAJOR": 9,
    "COMPUTE_CAPABILITY_MINOR": 0,
    "COMPUTE_MODE": 0,
    "CONCURRENT_KERNELS": 1,
    "CONCURRENT_MANAGED_ACCESS": 1,
    "COOPERATIVE_LAUNCH": 1,
    "INTEGRATED": 0,
    "KERNEL_EXEC_TIMEOUT": 0,
    "MANAGED_MEMORY": 1,
    "MAX_BLOCKS_PER_MULTIPROCESSOR": occupancy.BLOCKS_PER_MULTIPROCESSOR,
    "MAX_REGISTERS_PER_BLOCK": 65536,
    "MAX_REGISTERS_PER_MULTIPROCESSOR": 65536,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 227 * 1024,
    "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": occupancy.SHARED_BYTES_PER_MULTIPROCESSOR,
    "MAX_THREADS_PER_MULTIPROCESSOR": occupancy.THREADS_PER_MULTIPROCESSOR,
    "PCI_BUS_ID": 0,
    "PCI_DEVICE_ID": 0,
    "PCI_DOMAIN_ID": 0,
    "RESERVED_SHARED_MEMORY_PER_BLOCK": occupancy.RESERVED_SHARED_BYTES,
    "SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO": 2,
    "TCC_DRIVER": 0,
    "TOTAL_CONSTANT_MEMORY": 65536,
    "UNIFIED_ADDRESSING": 1,
}


@dataclass(frozen=True)
class VirtualDevice:
    """The device and its attributes, which are those of compute capability 9.0.

    MULTIPROCESSOR_COUNT is 1. A program that launches a number of blocks per multiprocessor then
    launches few blocks, which gives the same results sooner. Attributes of speed are not modelled:
    they raise AttributeError.
    """

    name: str = "virtual GPU"
    id: int = 0
    compute_capability: tuple[int, int] = (9, 0)
    uuid: str = "GPU-00000000-0000-0000-0000-000000000000"
    supports_float16: bool = True
    supports_bfloat16: bool = True
    supports_fp8: bool = True
    WARP_SIZE: int = 32
    MAX_THREADS_PER_BLOCK: int = MAX_THREADS
    MAX_BLOCK_DIM_X: int = MAX_BLOCK[0]
    MAX_BLOCK_DIM_Y: int = MAX_BLOCK[1]
    MAX_BLOCK_DIM_Z: int = MAX_BLOCK[2]
    MAX_GRID_DIM_X: int = MAX_GRID[0]
    MAX_GRID_DIM_Y: int = MAX_GRID[1]
    MAX_GRID_DIM_Z: int = MAX_GRID[2]
    MAX_SHARED_MEMORY_PER_BLOCK: int = MAX_SHARED_BYTES
    MULTIPROCESSOR_COUNT: int = 1

    def __getattr__(self, name: str) -> int:
        """Return an attribute of _ATTRIBUTES; raise AttributeError for one that is not modelled."""
        if name in _ATTRIBUTES:
            return _ATTRIBUTES[name]
        raise AttributeError(f"The virtual GPU does not model the attribute {name} of a device.")

    def __enter__(self) -> VirtualDevice:
        return self

    def __exit__(self, *ignored) -> None:
        """Do nothing, because there is no other device to return to."""

    def reset(self) -> None:
        """Do nothing, because nothing is kept between launches."""

    def get_primary_context(self) -> VirtualContext:
        """Return a context of this device."""
        return VirtualContext(self)

    def get_device_identity(self) -> dict[str, int]:
        """Return the PCI numbers of the device, which are all 0.

        The keys are ``pci_domain_id``, ``pci_bus_id`` and ``pci_device_id``.
        """
        return {"pci_domain_id": 0, "pci_bus_id": 0, "pci_device_id": 0}


class MemoryInfo(NamedTuple):
    """The ``free`` and ``total`` bytes of the host's memory, which holds the device arrays."""

    free: int
    total: int


class VirtualDeallocations:
    """The pending deallocations of a context: none, because memory is freed at once."""

    def __len__(self) -> int:
        return 0

    def clear(self) -> None:
        """Do nothing, because no memory waits to be freed."""

    @contextlib.contextmanager
    def disable(self) -> Iterator[None]:
        """Do nothing within the context, because no memory waits to be freed."""
        yield

    @property
    def is_disabled(self) -> bool:
        """False, because nothing is deferred."""
        return False


@dataclass(frozen=True)
class VirtualContext:
    """The context of the virtual device."""

    device: VirtualDevice = VirtualDevice()

    def synchronize(self) -> None:
        """Log that the program waits, and return at once, because no work is pending."""
        note_wait()

    def reset(self) -> None:
        """Do nothing, because nothing is kept between launches."""

    @property
    def deallocations(self) -> VirtualDeallocations:
        """The list of memory that waits to be freed, which is always empty."""
        return VirtualDeallocations()

    def push(self) -> None:
        """Do nothing, because there is no other context."""

    def pop(self) -> None:
        """Do nothing, because there is no other context."""

    def get_memory_info(self) -> MemoryInfo:
        """Return the host's free and total memory in bytes.

        If the free memory is unknown, it is given as the total. Raises LaunchError if the total is
        unknown.
        """
        total = physical_memory()
        if total is None:
            raise LaunchError("This system does not tell how much memory it has.")
        try:
            free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
        except ValueError:
            free = total
        return MemoryInfo(free, total)

    def get_active_blocks_per_multiprocessor(
        self, func, blocksize: int, memsize: int, flags=None
    ) -> int:
        """Return the number of resident blocks per multiprocessor, at most 32.

        Only this maximum, the threads per block (``blocksize``, in whole warps) and the bytes of
        dynamic shared memory (``memsize``, plus 1 KiB per block for the system) limit it. Registers
        and static shared memory are not counted; ``func`` and ``flags`` are ignored.
        """
        return occupancy.blocks_per_multiprocessor(blocksize, memsize)

    def create_stream(self) -> VirtualStream:
        """Return a new VirtualStream."""
        return VirtualStream()

    def get_default_stream(self) -> VirtualStream:
        """Return a new VirtualStream; it behaves like every other stream."""
        return VirtualStream()

    @contextlib.contextmanager
    def defer_cleanup(self):
        """Return a context manager that has no effect."""
        yield


class VirtualDevices:
    """The sequence ``cuda.gpus``, which holds the one virtual device."""

    def __getitem__(self, number: int) -> VirtualDevice:
        return self.lst[number]

    def __iter__(self) -> Iterator[VirtualDevice]:
        return iter(self.lst)

    def __len__(self) -> int:
        return len(self.lst)

    def __str__(self) -> str:
        return ", ".join(device.name for device in self.lst)

    lst = (VirtualDevice(),)
    current = lst[0]


def current_device() -> VirtualDevice:
    """Return the virtual device, which is the only one."""
    return VirtualDevices.current


def current_context(devnum: int | None = None) -> VirtualContext:
    """Return a context of the virtual device; raise LaunchError for a number other than 0.

    ``devnum=None`` means device 0.
    """
    return VirtualContext(select_device(devnum or 0))


def select_device(device_id: int) -> VirtualDevice:
    """Return the virtual device; raise LaunchError for a number other than 0."""
    if device_id != 0:
        raise LaunchError(
            f"Device {device_id!r} was requested; there is one virtual GPU, and its number is 0."
        )
    return VirtualDevices.current
