"""A filter of system calls for the sandbox, as the Linux kernel reads it (seccomp, classic BPF).

Limits apply to each process separately, and Linux does not count the processes of root. So the
filter refuses to start processes, and to allocate memory that belongs to no process. Threads may
start.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from utils.errors import CourseError


@dataclass(frozen=True)
class Architecture:
    """Numbers of system calls on one processor architecture.

    audit: the architecture's own number in Linux's audit interface. clone: the number of the call
    that starts threads and processes. refused: the numbers of the calls that are refused: fork and
    vfork if they exist, memfd_create, memfd_secret and shmget.
    """

    audit: int
    clone: int
    refused: tuple[int, ...]


ARCHITECTURES = {
    "x86_64": Architecture(0xC000003E, 56, (57, 58, 319, 447, 29)),
    "aarch64": Architecture(0xC00000B7, 220, (279, 447, 194)),
}
CLONE3 = 435  # on all architectures
OTHER_ABI = 0x4000_0000  # system calls of the x32 ABI begin here
CLONE_THREAD = 0x10000
# Offsets in the kernel's record of a call: its number, its architecture, its first argument.
NUMBER, ARCHITECTURE, FIRST = 0, 4, 16
LOAD, IF_EQUAL, IF_AT_LEAST, IF_BITS, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOWED, REFUSED = 0x7FFF_0000, 0x0005_0000 | errno.EPERM
UNKNOWN = 0x0005_0000 | errno.ENOSYS  # the C library then uses `clone`, whose flags can be read


def only_this_process() -> bytes:
    """Return the bytes of a seccomp program (BPF) for this machine that refuses new processes.

    The program also refuses to allocate memory that belongs to no process. Threads may start.
    Raises CourseError if the machine's architecture is unknown.
    """
    name = platform.machine()
    if name not in ARCHITECTURES:
        raise CourseError(
            f"The sandbox does not know processors of the kind {name!r}: grade this lab on a "
            f"machine with one of {', '.join(ARCHITECTURES)}."
        )
    return b"".join(struct.pack("<HBBI", *one) for one in _instructions(ARCHITECTURES[name]))


def _instructions(machine: Architecture) -> Iterator[tuple[int, int, int, int]]:
    """Yield the filter's BPF instructions: (operation, jump if true, jump if false, constant).

    A jump is the number of instructions to skip.
    """
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
