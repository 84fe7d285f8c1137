"""`python -m reduce_kernels remainder`: time `reduce0` with and without its integer remainder.

Both kernels keep the same lanes busy, so they diverge alike. Their repetitions are interleaved with
those of `reduce1` to `reduce3`, and of two pairs whose loops compute with 32 bits throughout: Numba
gives the result of `uint32 >> uint32` 64 bits, and compares a uint32 with an int32 in 64 bits. In
the second pair, `masks_up` and `masks_down`, both trees choose their lanes by `tid & mask == 0`, so
their loops have the same form.

In `warps_leave` idle warps end early. Two more pairs have the same instructions and differ in one
constant: `with_conflicts` and `without_conflicts` place the words of `reduce2` in other banks, and
in `lanes_diverge` and `warps_agree` half of the threads take either side of a long branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from numba import cuda, float32, uint32

from reduce_kernels import LADDER
from utils.ladder.step import Step, Variant
from utils.measuring import rows
from utils.measuring.experiment import Experiment
from utils.measuring.kernel_times import ArrayTime, require_right_sum, time_sums
from utils.paths import DATA

BLOCK = 256
ELEMENTS = (2**25, 2**30)


@cache
def build(BLOCK):
    """Return the kernel (x, partials) of reduce0 with `&` instead of `%`.

    Each block of BLOCK threads, a power of two, sums BLOCK floats; block i stores its sum in
    partials[i].
    """

    @cuda.jit
    def without_remainder(x, partials):
        shared = cuda.shared.array(BLOCK, float32)
        tid = uint32(cuda.threadIdx.x)
        i = cuda.grid(1)
        shared[tid] = x[i] if i < x.size else float32(0)
        cuda.syncthreads()

        stride = uint32(1)
        while stride < cuda.blockDim.x:
            # 2·stride is a power of two, so the lower bits of tid are its remainder.
            if tid & uint32(2 * stride - 1) == 0:
                shared[tid] += shared[tid + stride]
            cuda.syncthreads()
            stride = uint32(2 * stride)

        if tid == 0:
            partials[cuda.blockIdx.x] = shared[0]

    return without_remainder


@cache
def build_32(BLOCK):
    """Return `without_remainder` with a loop test of 32 bits.

    BLOCK is the number of threads per block, a power of two. The kernel (x, partials) stores the
    sum of block i's BLOCK floats in partials[i].
    """

    @cuda.jit
    def without_remainder_32(x, partials):
        shared = cuda.shared.array(BLOCK, float32)
        tid = uint32(cuda.threadIdx.x)
        i = cuda.grid(1)
        shared[tid] = x[i] if i < x.size else float32(0)
        cuda.syncthreads()

        stride = uint32(1)
        while stride < uint32(cuda.blockDim.x):
            if tid & uint32(2 * stride - 1) == 0:
                shared[tid] += shared[tid + stride]
            cuda.syncthreads()
            stride = uint32(2 * stride)

        if tid == 0:
            partials[cuda.blockIdx.x] = shared[0]

    return without_remainder_32


@cache
def build_halves_32(BLOCK):
    """Return `reduce2` with a stride of 32 bits.

    BLOCK is the number of threads per block, a power of two. The kernel (x, partials) stores the
    sum of block i's BLOCK floats in partials[i].
    """

    @cuda.jit
    def reduce2_32(x, partials):
        shared = cuda.shared.array(BLOCK, float32)
        tid = uint32(cuda.threadIdx.x)
        i = cuda.grid(1)
        shared[tid] = x[i] if i < x.size else float32(0)
        cuda.syncthreads()

        stride = uint32(uint32(cuda.blockDim.x) >> uint32(1))
        while stride > 0:
            if tid < stride:
                shared[tid] += shared[tid + stride]
            cuda.syncthreads()
            stride = uint32(stride >> uint32(1))

        if tid == 0:
            partials[cuda.blockIdx.x] = shared[0]

    return reduce2_32


@cache
def build_masks_up(BLOCK):
    """Return the kernel (x, partials) that adds the pairs of reduce0, with masks 1, 3, 7, …

    Each block of BLOCK threads, a power of two, sums BLOCK floats; block i stores its sum in
    partials[i].
    """

    @cuda.jit
    def masks_up(x, partials):
        shared = cuda.shared.array(BLOCK, float32)
        tid = uint32(cuda.threadIdx.x)
        i = cuda.grid(1)
        shared[tid] = x[i] if i < x.size else float32(0)
        cuda.syncthreads()

        size = uint32(cuda.blockDim.x)
        stride = uint32(1)
        mask = stride
        while stride != size:
            if tid & mask == 0:
                shared[tid] += shared[tid + stride]
            cuda.syncthreads()
            stride = uint32(stride << uint32(1))
            mask = uint32(mask + stride)

        if tid == 0:
            partials[cuda.blockIdx.x] = shared[0]

    return masks_up


@cache
def build_masks_down(BLOCK):
    """Return the kernel (x, partials) that adds the pairs of reduce2, with masks 128, 192, 224, …

    The masks are those of 256 threads. Each block of BLOCK threads, a power of two, sums BLOCK
    floats; block i stores its sum in partials[i].
    """

    @cuda.jit
    def masks_down(x, partials):
        shared = cuda.shared.array(BLOCK, float32)
        tid = uint32(cuda.threadIdx.x)
        i = cuda.grid(1)
        shared[tid] = x[i] if i < x.size else float32(0)
        cuda.syncthreads()

        stride = uint32(uint32(cuda.blockDim.x) >> uint32(1))
        mask = stride
        while stride != 0:
            if tid & mask == 0:
                shared[tid] += shared[tid + stride]
            cuda.syncthreads()
            stride = uint32(stride >> uint32(1))
            mask = uint32(mask + stride)

        if tid == 0:
            partials[cuda.blockIdx.x] = shared[0]

    return masks_down


@cache
def build_warps_leave(BLOCK):
    """Return `reduce3` without idle warps: a thread with nothing left to add leaves the kernel.

    BLOCK is the number of threads per block, a power of two. The kernel (x, partials) stores the
    sum of block i's 2·BLOCK floats in partials[i].
    """

    @cuda.jit
    def warps_leave(x, partials):
        shared = cuda.shared.array(BLOCK, float32)
        tid = uint32(cuda.threadIdx.x)
        i = uint32(cuda.blockIdx.x) * (2 * BLOCK) + tid

        total = x[i] if i < x.size else float32(0)
        if i + BLOCK < x.size:
            total += x[i + BLOCK]
        shared[tid] = total
        cuda.syncthreads()

        stride = uint32(cuda.blockDim.x) >> uint32(1)
        while stride > 0:
            # The barrier below waits only for the threads that have not ended.
            if tid >= stride:
                return
            shared[tid] += shared[tid + stride]
            cuda.syncthreads()
            stride = stride >> uint32(1)

        if tid == 0:
            partials[cuda.blockIdx.x] = shared[0]

    return warps_leave


# Name -> the distance in words between neighbours in shared memory. Lanes 12 words apart meet in
# banks, four of them in each, and those 13 words apart do not.
PITCHES = {"with_conflicts": 12, "without_conflicts": 13}
# Name -> how many neighbouring threads take the same side of the branch.
ON_ONE_SIDE = {"lanes_diverge": 16, "warps_agree": 32}
LONG = 128  # steps of each side


@cache
def build_pitch(name: str, BLOCK: int):
    """Return `reduce2_32` with words that are further apart in shared memory.

    `name` is a key of `PITCHES`, whose value is the distance from one thread's word to the next, in
    words; the kernel gets this name. BLOCK is the number of threads per block, a power of two. The
    kernel (x, partials) stores the sum of block i's BLOCK floats in partials[i].
    """
    PITCH, WORDS = uint32(PITCHES[name]), BLOCK * max(PITCHES.values())

    def kernel(x, partials):
        shared = cuda.shared.array(WORDS, float32)
        tid = uint32(cuda.threadIdx.x)
        i = cuda.grid(1)
        word = uint32(tid * PITCH)
        shared[word] = x[i] if i < x.size else float32(0)
        cuda.syncthreads()

        apart = uint32(uint32(uint32(cuda.blockDim.x) >> uint32(1)) * PITCH)
        while apart >= PITCH:
            if word < apart:
                shared[word] += shared[word + apart]
            cuda.syncthreads()
            apart = uint32(apart >> uint32(1))

        if tid == 0:
            partials[cuda.blockIdx.x] = shared[0]

    kernel.__name__ = kernel.__qualname__ = name
    return cuda.jit(kernel)


@cache
def build_sides(name: str, BLOCK: int):
    """Return `reduce3` with a long branch before its tree, on a bit of the thread's number.

    The bit is `ON_ONE_SIDE[name]`, and `name` becomes the name of the kernel. The two sides of the
    branch have different instructions, and both leave the thread's sum unchanged. BLOCK is the
    number of threads per block, a power of two. The kernel (x, partials) stores the sum of block
    i's 2·BLOCK floats in partials[i].
    """
    BIT = uint32(ON_ONE_SIDE[name])

    def kernel(x, partials):
        shared = cuda.shared.array(BLOCK, float32)
        tid = uint32(cuda.threadIdx.x)
        i = uint32(cuda.blockIdx.x) * (2 * BLOCK) + tid

        total = x[i] if i < x.size else float32(0)
        if i + BLOCK < x.size:
            total += x[i + BLOCK]
        # The compiler does not know these two numbers, so it cannot leave the instructions out.
        one, zero = float32(cuda.gridDim.y), float32(cuda.blockIdx.y)
        if tid & BIT == 0:
            for _ in range(LONG):
                total = total * one + zero
        else:
            for _ in range(LONG):
                total = (total - zero) * one
        shared[tid] = total
        cuda.syncthreads()

        stride = uint32(uint32(cuda.blockDim.x) >> uint32(1))
        while stride > 0:
            if tid < stride:
                shared[tid] += shared[tid + stride]
            cuda.syncthreads()
            stride = uint32(stride >> uint32(1))

        if tid == 0:
            partials[cuda.blockIdx.x] = shared[0]

    kernel.__name__ = kernel.__qualname__ = name
    return cuda.jit(kernel)


def _like(step: str, name: str, idea: str, build: Callable) -> Step:
    """Return a step that only this experiment times, launched as the ladder's `step` is.

    `name` and `idea` are the new step's, and `build(BLOCK)` returns its kernel.
    """
    same = LADDER.step(step)
    return replace(same, module=__name__, name=name, idea=idea, previous=step, build=build)


WITHOUT_REMAINDER = _like("reduce0", "without_remainder", "reduce0 with & instead of %", build)
IN_32_BITS = (
    _like("reduce0", "without_remainder_32", "& instead of %, in 32 bits", build_32),
    _like("reduce2", "reduce2_32", "reduce2 with a stride of 32 bits", build_halves_32),
)
MASKS = (
    _like("reduce0", "masks_up", "reduce0 with masks 1, 3, 7, …", build_masks_up),
    _like("reduce2", "masks_down", "reduce2 with masks 128, 192, 224, …", build_masks_down),
)

WARPS_LEAVE = _like("reduce3", "warps_leave", "idle warps leave", build_warps_leave)
CONFLICTS = tuple(
    _like("reduce2", name, "reduce2_32 with words further apart", partial(build_pitch, name))
    for name in PITCHES
)
SIDES = tuple(
    _like("reduce3", name, "reduce3 with two long sides of a branch", partial(build_sides, name))
    for name in ON_ONE_SIDE
)


@dataclass(frozen=True)
class IssueSlots:
    """A row of `issue_slots.csv`: what the profiler counted in one launch of a kernel.

    elements: the number of float32 that are summed. instructions: the number of instructions that
    all warps executed. busy: the fraction of the SMs' cycles in which a scheduler issues an
    instruction, on average over the schedulers. device, kernel: their names.
    """

    device: str
    kernel: str
    elements: int
    instructions: int
    busy: float


@dataclass(frozen=True)
class WarpState:
    """A row of `warp_states.csv`: how long the warps of a kernel are in one state.

    elements: the number of float32 that are summed. state: as the profiler names it, such as
    "barrier"; a warp that issues is "selected", and one that could issue is "not_selected". cycles:
    how long a warp is in this state per instruction that it issues, on average. device, kernel:
    their names.
    """

    device: str
    kernel: str
    elements: int
    state: str
    cycles: float


def variants() -> tuple[Variant, ...]:
    """Return the kernels in the order in which they are timed, with blocks of 256 threads.

    They are reduce0, reduce0 without a remainder, reduce1, reduce2 and reduce3, then reduce0
    without a remainder and reduce2 with indices of 32 bits, the two trees with masks, reduce3 whose
    idle warps leave, reduce2 with and without bank conflicts, and reduce3 with a long branch.
    """
    first, *others = (LADDER.step(f"reduce{number}") for number in range(4))
    steps = (first, WITHOUT_REMAINDER, *others, *IN_32_BITS, *MASKS)
    steps += (WARPS_LEAVE, *CONFLICTS, *SIDES)
    return tuple(step.variant(BLOCK=BLOCK) for step in steps)


def recorded_times() -> tuple[ArrayTime, ...]:
    """Return the times of all devices that have a record, device by device; () if none has one."""
    return EXPERIMENT.recorded()


def recorded_slots() -> tuple[IssueSlots, ...]:
    """Return the rows of the files `issue_slots.csv` of all devices; () if there is no file."""
    files = sorted((DATA / "measured").glob("*/issue_slots.csv"))
    return tuple(row for file in files for row in rows.read(file, IssueSlots))


def recorded_states() -> tuple[WarpState, ...]:
    """Return the rows of the files `warp_states.csv` of all devices; () if there is no file."""
    files = sorted((DATA / "measured").glob("*/warp_states.csv"))
    return tuple(row for file in files for row in rows.read(file, WarpState))


def measured(device: str, lengths: Sequence[int] = ELEMENTS) -> Iterator[ArrayTime]:
    """Yield an ArrayTime per kernel for each length, the kernels in the order of `variants`.

    All kernels of a length come one after the other, and their repetitions are interleaved.
    `device` is the name for the rows, and `lengths` are numbers of float32. Raises CourseError if a
    kernel's sum of whole numbers is wrong.
    """
    for variant in variants():
        require_right_sum(variant)
    return time_sums(variants(), device, lengths)


EXPERIMENT = Experiment(
    name="remainder",
    help="time reduce0 with and without its integer remainder",
    row=ArrayTime,
    size="elements",
    measured=measured,
)
COMMAND = EXPERIMENT.command()
