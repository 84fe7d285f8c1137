"""A filter of system calls for the sandbox, as the kernel reads it (seccomp, classic BPF).

The limits of a process hold for each process by itself, and Linux does not count the processes of
root. So the filter refuses another process, and memory that belongs to none. Threads may start.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from utils.errors import CourseError


@dataclass(frozen=True)
class Machine:
    """Numbers of one kind of processor. audit: its own, as the kernel calls it.

    refused: fork and vfork where there are any, memfd_create, memfd_secret, shmget.
    """

    audit: int
    clone: int
    refused: tuple[int, ...]


MACHINES = {
    "x86_64": Machine(0xC000003E, 56, (57, 58, 319, 447, 29)),
    "aarch64": Machine(0xC00000B7, 220, (279, 447, 194)),
}
CLONE3 = 435  # on all machines
OTHER_ABI = 0x4000_0000  # from here on x86 counts its calls a second time
CLONE_THREAD = 0x10000
# Where the kernel's record of a call holds its number, its machine, and its first argument.
NUMBER, ARCHITECTURE, FIRST = 0, 4, 16
LOAD, IF_EQUAL, IF_AT_LEAST, IF_BITS, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOWED, REFUSED = 0x7FFF_0000, 0x0005_0000 | errno.EPERM
UNKNOWN = 0x0005_0000 | errno.ENOSYS  # then the C library takes `clone`, whose flags can be read


def only_this_process() -> bytes:
    """The filter for this machine. Raises CourseError where it is not known."""
    name = platform.machine()
    if name not in MACHINES:
        raise CourseError(
            f"The sandbox does not know processors of the kind {name!r}: grade this lab on a "
            f"machine with one of {', '.join(MACHINES)}."
        )
    return b"".join(struct.pack("<HBBI", *one) for one in _instructions(MACHINES[name]))


def _instructions(machine: Machine) -> Iterator[tuple[int, int, int, int]]:
    """Each: what is done, how many are skipped where a test holds and where not, a number."""
    yield LOAD, 0, 0, ARCHITECTURE
    yield IF_EQUAL, 1, 0, machine.audit
    yield RETURN, 0, 0, REFUSED
    yield LOAD, 0, 0, NUMBER
    yield IF_AT_LEAST, 0, 1, OTHER_ABI
    yield RETURN, 0, 0, REFUSED
    for number in machine.refused:
        yield IF_EQUAL, 0, 1, number
        yield RETURN, 0, 0, REFUSED
    yield IF_EQUAL, 0, 1, CLONE3
    yield RETURN, 0, 0, UNKNOWN
    yield IF_EQUAL, 0, 3, machine.clone
    yield LOAD, 0, 0, FIRST
    yield IF_BITS, 1, 0, CLONE_THREAD
    yield RETURN, 0, 0, REFUSED
    yield RETURN, 0, 0, ALLOWED
