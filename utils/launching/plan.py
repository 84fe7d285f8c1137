"""A plan: the launches of a function for arrays of certain shapes, found once.

On a device its kernels are compiled and its arguments packed, and a launch writes pointers and
factors and calls the driver. On the virtual GPU it goes through Numba's launch syntax.
"""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numba import cuda

from utils.ladder.memory import on_device
from utils.ladder.step import Call
from utils.launching import driver, numba_kernels, workspace
from utils.launching.slots import Factor, Slot

# Plans are small, but a program may ask for ever new shapes.
MOST_PLANS = 4096
# A thread writes pointers, enqueues kernels that share a workspace, and must not be interrupted by
# another one in between. Reentrant, because freeing memory can run code of others.
_LAUNCHING = threading.RLock()
# A plan compiles kernels, which takes seconds; others go on launching meanwhile.
_PLANNING = threading.RLock()


@dataclass(frozen=True, eq=False)
class Plan:
    """All launches of one call of a function.

    calls: with a Slot for each array and a Factor for each factor. arrays, factors: how many of
    them a call gives. layout: the memory that the plan needs besides.
    """

    calls: tuple[Call, ...]
    arrays: int
    factors: int
    layout: workspace.Layout

    def ready(self, device: int) -> Callable:
        """The plan as a function of (pointers, factors, stream, arrays), on that device.

        stream: a handle. arrays: what lies at the pointers, for the virtual GPU.
        """
        if not driver.present():
            return _ThroughNumba(self)
        with driver.outside_captures():
            return _Packed(self, device)


class Plans:
    """The plans of one function by all that they depend on; the oldest one goes first."""

    def __init__(self, most: int = MOST_PLANS) -> None:
        self._most = most
        self._found: dict[Hashable, object] = {}
        # Without a lock: a dict is safe to read while another thread writes it.
        self.get = self._found.get

    def __len__(self) -> int:
        return len(self._found)

    def made(self, key: Hashable, make: Callable[[], object]):
        """The plan of that key, made by the first thread that asks for it."""
        with _PLANNING:
            plan = self._found.get(key)
            if plan is None:
                plan = make()
                while len(self._found) >= self._most:
                    del self._found[next(iter(self._found))]
                self._found[key] = plan
        return plan


class _Packed:
    """Arguments lie in one array of 8-byte words: pointers, factors, workspace, then what stays.

    Kernels share the words of what they share.
    """

    def __init__(self, plan: Plan, device: int) -> None:
        # A function is there as long as its kernel, and the plan has the kernels.
        self._plan = plan
        self._device, self._layout, self._base = device, plan.layout, 0
        self._nbytes = plan.layout.nbytes
        self._own_at = plan.arrays + plan.factors
        constants = self._own_at + len(plan.layout.slots)
        words, launches = [0] * constants, []
        for call in plan.calls:
            places = []
            for argument in call.arguments:
                places += self._place(argument, plan, words)
            launches.append((numba_kernels.loaded(call.kernel, call.arguments), call, places))
        self._words = (ctypes.c_uint64 * len(words))(*words)
        first = ctypes.addressof(self._words)
        self._pointers = [
            (ctypes.c_void_p * len(places))(*(first + 8 * place for place in places))
            for _, _, places in launches
        ]
        self._launches = tuple(
            (
                (function, *_three(call.launch.grid), *_three(call.launch.block)),
                call.launch.shared_bytes,
                ctypes.addressof(pointers),
            )
            for (function, call, _), pointers in zip(launches, self._pointers, strict=True)
        )
        self._write = struct.Struct("=" + "Q" * plan.arrays).pack_into
        self._factors = [
            ctypes.c_float.from_buffer(self._words, 8 * (plan.arrays + number))
            for number in range(plan.factors)
        ]

    def __call__(self, pointers: tuple, factors: tuple, stream: int, arrays: Sequence) -> None:
        with _LAUNCHING:
            self._write(self._words, 0, *pointers)
            for word, factor in zip(self._factors, factors):
                word.value = factor
            lent = self._take_workspace(stream) if self._nbytes else None
            try:
                for what, shared_bytes, parameters in self._launches:
                    error = driver.launch(*what, shared_bytes, stream, parameters, 0)[0]
                    if error:
                        driver.refuse(error, "cuLaunchKernel")
            finally:
                if lent:
                    driver.free_in_order(lent, stream)

    def _take_workspace(self, stream: int) -> int | None:
        """Point the words of the workspace to it; returns what is lent for this call alone."""
        base = workspace.POOL.block(self._device, stream, self._nbytes)
        lent = None
        if base is None:
            base = lent = driver.allocate_in_order(self._nbytes, stream)
            if any(self._layout.zeroed):
                driver.zero(base, workspace.ZERO_BYTES, stream)
        if base != self._base:
            for word, offset in enumerate(self._layout.offsets, self._own_at):
                self._words[word] = base + offset
            self._base = base
        return lent

    @staticmethod
    def _place(argument, plan: Plan, words: list[int]) -> list[int]:
        """The words of one argument; those that no other has are added."""
        if isinstance(argument, Factor):
            return [plan.arrays + argument.number]
        if isinstance(argument, tuple):  # a kernel gets its members one after the other
            return [place for each in argument for place in _Packed._place(each, plan, words)]
        if not isinstance(argument, Slot):
            raw = np.asarray(argument).tobytes()
            words.append(int.from_bytes(raw, "little"))
            return [len(words) - 1]
        own = argument.number >= plan.arrays
        numbers = numba_kernels.numbers_of(argument)
        places = list(range(len(words), len(words) + len(numbers)))
        places[numba_kernels.POINTER] = argument.number + (plan.factors if own else 0)
        words += numbers
        return places


class _ThroughNumba:
    """Numba's own launches, with new memory for each."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def __call__(self, pointers: tuple, factors: tuple, stream: int, arrays: Sequence) -> None:
        layout = self._plan.layout
        own = [
            on_device(slot.shape, slot.dtype, 0 if zero else None)
            for slot, zero in zip(layout.slots, layout.zeroed, strict=True)
        ]
        every = [*arrays, *own]

        def given(argument):
            if isinstance(argument, Factor):
                return np.float32(factors[argument.number])
            if not isinstance(argument, Slot):
                return argument
            array = every[argument.number]
            same = (array.shape, array.strides) == (argument.shape, argument.strides)
            return array if same else _seen_as(array, argument)

        stream = cuda.external_stream(stream) if stream else 0
        for call in self._plan.calls:
            where = call.launch.grid, call.launch.block, stream, call.launch.shared_bytes
            call.kernel[where](*map(given, call.arguments))


def _seen_as(array, slot: Slot):
    """The memory of an array with the shape and the strides of the slot."""
    if slot.ndim == 1 and array.is_c_contiguous():
        return array.ravel()
    interface = dict(array.__cuda_array_interface__, shape=slot.shape, strides=slot.strides)
    return cuda.from_cuda_array_interface(interface, owner=array)


def _three(sizes: tuple[int, ...]) -> tuple[int, int, int]:
    return (*sizes, 1, 1)[:3]
