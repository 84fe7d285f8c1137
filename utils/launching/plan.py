"""Plans: the launches of a function for arrays of certain shapes, prepared once.

On a device, a plan has compiled kernels and packed arguments, and a launch only writes pointers and
factors and calls the driver. On the virtual GPU, a plan goes through Numba's launch syntax.
"""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numba import cuda

from utils.ladder.memory import on_device
from utils.ladder.step import Call
from utils.launching import driver, numba_kernels, workspace
from utils.launching.slots import Factor, Slot

# Plans are small, but a program may use an unlimited number of shapes.
MOST_PLANS = 4096
# A thread writes pointers and enqueues kernels that share a workspace; no other thread may launch
# in between. Reentrant, because freeing memory can run code of other libraries.
_LAUNCHING = threading.RLock()
# Making a plan compiles kernels, which takes seconds; other threads go on launching meanwhile.
_PLANNING = threading.RLock()


@dataclass(frozen=True, eq=False)
class LaunchPlan:
    """All launches of one call of a function.

    `calls` are in the order of their launches. Their arguments are a Slot for each array, a Factor
    for each factor, and constants. `arrays` and `factors` are the numbers of arrays and factors
    that a call passes. `layout` is the additional memory that the plan needs.
    """

    calls: tuple[Call, ...]
    arrays: int
    factors: int
    layout: workspace.WorkspaceLayout

    def ready(self, device: int) -> Callable:
        """Return a function of (pointers, factors, stream, arrays) that launches on that device.

        On a device, its kernels are compiled and loaded now. `stream` is a handle. `arrays` are the
        objects that own the pointers; only the virtual GPU uses them.
        """
        if not driver.present():
            return _ThroughNumba(self)
        with driver.outside_captures():
            has_parts = any(slot.offset for call in self.calls for slot in _slots(call.arguments))
            return (_PackedParts if has_parts else _Packed)(self, device)


class Plans:
    """The plans of one function, by key. When there are more than `most`, the oldest is dropped.

    `get(key)` returns the plan for a key, or None. `len(plans)` is their number.
    """

    def __init__(self, most: int = MOST_PLANS) -> None:
        self._most = most
        self._plans: dict[Hashable, object] = {}
        # No lock is needed: a dict is safe to read while another thread writes it.
        self.get = self._plans.get

    def __len__(self) -> int:
        return len(self._plans)

    def made(self, key: Hashable, make: Callable[[], object]):
        """Return the plan for `key`; if there is none, make it with `make` and keep it.

        Other threads that need a new plan wait meanwhile, so each plan is made once.
        """
        with _PLANNING:
            plan = self._plans.get(key)
            if plan is None:
                plan = make()
                while len(self._plans) >= self._most:
                    del self._plans[next(iter(self._plans))]
                self._plans[key] = plan
        return plan


class _Packed:
    """A plan whose arguments are packed in one array of 8-byte words; a call launches its kernels.

    The words are pointers, factors, addresses in the workspace, then constants. Kernels that take
    the same argument share its words.
    """

    def __init__(self, plan: LaunchPlan, device: int) -> None:
        # The driver's functions live as long as their kernels, and the plan holds the kernels.
        self._plan = plan
        self._device, self._layout, self._base = device, plan.layout, 0
        self._nbytes = plan.layout.nbytes
        self._own_at = plan.arrays + plan.factors
        constants = self._own_at + len(plan.layout.slots)
        words, launches = [0] * constants, []
        # (word, number of the array, offset in bytes) of each part of an array.
        self._parts: list[tuple[int, int, int]] = []
        for call in plan.calls:
            indices = []
            for argument in call.arguments:
                indices += self._word_indices(call.kernel, argument, words)
            launches.append((numba_kernels.loaded(call.kernel, call.arguments), call, indices))
        self._words = (ctypes.c_uint64 * len(words))(*words)
        first = ctypes.addressof(self._words)
        self._pointers = [
            (ctypes.c_void_p * len(indices))(*(first + 8 * index for index in indices))
            for _, _, indices in launches
        ]
        self._launches = tuple(
            (
                (function, *_three(call.launch.grid), *_three(call.launch.block)),
                call.launch.shared_bytes,
                ctypes.addressof(pointers),
            )
            for (function, call, _), pointers in zip(launches, self._pointers, strict=True)
        )
        self._stream, self._on_stream = None, ()
        self._write = struct.Struct("=" + "Q" * plan.arrays).pack_into
        self._factors = [
            ctypes.c_float.from_buffer(self._words, 8 * (plan.arrays + number))
            for number in range(plan.factors)
        ]

    def __call__(self, pointers: tuple, factors: tuple, stream: int, arrays: Sequence) -> None:
        with _LAUNCHING:
            self._write(self._words, 0, *pointers)
            if factors:
                for word, factor in zip(self._factors, factors):
                    word.value = factor
            if stream != self._stream:
                self._take_stream(stream)
            temporary = self._take_workspace(stream) if self._nbytes else None
            try:
                for arguments in self._on_stream:
                    error = driver.launch(*arguments)[0]
                    if error:
                        driver.refuse(error, "cuLaunchKernel")
            finally:
                if temporary:
                    driver.free_in_order(temporary, stream)

    def _take_stream(self, stream: int) -> None:
        """Prepare and keep the arguments with which the driver launches all kernels on this stream.
        """
        argument = driver.stream_argument(stream)
        self._on_stream = tuple(
            (*function_and_sizes, shared_bytes, argument, parameters, 0)
            for function_and_sizes, shared_bytes, parameters in self._launches
        )
        self._stream = stream

    def _take_workspace(self, stream: int) -> int | None:
        """Write the addresses of the workspace's arrays into the plan's words.

        Returns the address of memory that was allocated for this call alone, which the caller must
        free. It is None if the memory belongs to the pool.
        """
        base = workspace.POOL.address(self._device, stream, self._nbytes)
        temporary = None
        if base is None:
            base = temporary = driver.allocate_in_order(self._nbytes, stream)
            if any(self._layout.zeroed):
                driver.zero(base, workspace.ZERO_BYTES, stream)
        if base != self._base:
            for word, offset in enumerate(self._layout.offsets, self._own_at):
                self._words[word] = base + offset
            self._base = base
        return temporary

    def _word_indices(self, kernel, argument, words: list[int]) -> list[int]:
        """Return the indices in `words` of the words that hold an argument, in the kernel's order.

        New words are appended to `words`, except for pointers and factors, which all kernels share.
        The pointer of a part of an array gets a word of its own, which is noted in `_parts`.
        """
        plan = self._plan
        if isinstance(argument, Factor):
            return [plan.arrays + argument.number]
        if isinstance(argument, tuple):  # a kernel gets its members one after the other
            members = (self._word_indices(kernel, each, words) for each in argument)
            return [index for indices in members for index in indices]
        if not isinstance(argument, Slot):
            raw = np.asarray(argument).tobytes()
            words.append(int.from_bytes(raw, "little"))
            return [len(words) - 1]
        own = argument.number >= plan.arrays
        numbers = numba_kernels.numbers_of(kernel, argument)
        indices = list(range(len(words), len(words) + len(numbers)))
        for pointer in numba_kernels.pointers_of(kernel):
            if argument.offset:
                assert not own, "parts are of the arrays of a call"
                self._parts.append((indices[pointer], argument.number, argument.offset))
            else:
                indices[pointer] = argument.number + (plan.factors if own else 0)
        words += numbers
        return indices


class _PackedParts(_Packed):
    """A packed plan that also has parts of arrays, whose addresses are written at each call.

    It is a separate class so that a call of a plan without parts, as nearly all are, costs nothing
    more.
    """

    def __call__(self, pointers: tuple, factors: tuple, stream: int, arrays: Sequence) -> None:
        with _LAUNCHING:
            for word, number, offset in self._parts:
                self._words[word] = pointers[number] + offset
            super().__call__(pointers, factors, stream, arrays)


class _ThroughNumba:
    """A plan that launches by Numba's syntax and allocates its workspace anew at each call."""

    def __init__(self, plan: LaunchPlan) -> None:
        self._plan = plan

    def __call__(self, pointers: tuple, factors: tuple, stream: int, arrays: Sequence) -> None:
        layout = self._plan.layout
        own = [
            on_device(slot.shape, slot.dtype, 0 if zero else None)
            for slot, zero in zip(layout.slots, layout.zeroed, strict=True)
        ]
        all_arrays = [*arrays, *own]

        def value_of(argument):
            if isinstance(argument, Factor):
                # As packed arguments do, this refuses what is no number, such as text.
                return np.float32(ctypes.c_float(factors[argument.number]).value)
            if not isinstance(argument, Slot):
                return argument
            array = all_arrays[argument.number]
            same = (array.shape, array.strides) == (argument.shape, argument.strides)
            return array if same and not argument.offset else _view(array, argument)

        stream = cuda.external_stream(stream) if stream else 0
        for call in self._plan.calls:
            launch = call.launch.grid, call.launch.block, stream, call.launch.shared_bytes
            call.kernel[launch](*map(value_of, call.arguments))


def _view(array, slot: Slot):
    """Return a device array over an array's memory with the slot's shape, strides and offset."""
    if slot.ndim == 1 and array.is_c_contiguous() and array.size == slot.size:
        return array.ravel()
    interface = dict(array.__cuda_array_interface__, shape=slot.shape, strides=slot.strides)
    pointer, read_only = interface["data"]
    interface["data"] = pointer + slot.offset, read_only
    return cuda.from_cuda_array_interface(interface, owner=array)


def _slots(arguments: tuple) -> Iterator[Slot]:
    """Yield all slots among arguments, also those in nested tuples, in order."""
    for argument in arguments:
        if isinstance(argument, tuple):
            yield from _slots(argument)
        elif isinstance(argument, Slot):
            yield argument


def _three(sizes: tuple[int, ...]) -> tuple[int, int, int]:
    """Return a grid's or block's sizes as three numbers; missing ones are 1."""
    return (*sizes, 1, 1)[:3]
