"""The machine code of the loop over tiles of a product: compiled here, or from a record.

`python -m tools.records.big_loops` makes the record, for machines without a compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from numba import float32, void

from gpu_xray import XRay, xray
from gpu_xray.kernel import SHARED_LATENCY
from gpu_xray.loops import FFMA, distances_to_use
from gpu_xray.sass import Instruction
from utils.errors import CourseError
from utils.figures.look import number
from utils.ladder.ladder import is_of_a_ladder, ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Card, Table, table
from utils.lessons.counting import as_step, as_variant
from utils.lessons.lesson import device_shown
from utils.lessons.lesson_14 import instruction_timeline
from utils.lessons.lesson_14.warps_and_gains import Gain, draw_gains_and_warps
from utils.lessons.occupancy import resources_of
from utils.lessons.own_kernels import is_mine
from utils.lessons.recorded import NOTHING, recorded_ms
from utils.machine.occupancy import occupancy
from utils.measuring import records, rows
from utils.paths import DATA
from utils.translation import translate
from virtual_gpu.pictures.svg import Picture

FILE = DATA / "compiled" / "big_loops.csv"
EXPERIMENT = "gemm_kernels.buffers_alone"  # the module of its kernels, which have no constants
STEPS_OF_A_TILE = 8 * 8 * 8  # multiply-adds of a thread: 8 steps of k, 8×8 elements of c
PRODUCT = void(*[float32[:, ::1]] * 3)


@dataclass(frozen=True)
class BigLoop:
    """One iteration of the loop over tiles in machine code, with its inner loop fully unrolled.

    Attributes
    ----------
    reads : tuple of int
        For each load from shared memory, in order, the number of instructions until its value is
        first used. Loads whose value is not used in the loop are left out.
    names : tuple of str
        The names of the instructions, in order. Every multiply-add is named "FFMA".
    """

    reads: tuple[int, ...]
    names: tuple[str, ...]

    @property
    def early_reads(self) -> int:
        """The number of shared-memory loads whose value is used before it usually arrives.

        The first use is fewer than `SHARED_LATENCY` instructions after the load.
        """
        return sum(distance < SHARED_LATENCY for distance in self.reads)


def big_loop(step: Step | Variant) -> BigLoop:
    """Return an iteration of a register-blocked step's loop over tiles, for the device shown.

    The loop is compiled here, or read from the record if there is no compiler. A Step means its
    default constants. Raise CourseError if the record does not have the loop either.
    """
    variant, arch = as_variant(step), device_shown().arch
    try:
        return compiled_big_loop(variant, arch)
    except CourseError:
        if (arch, str(variant)) not in recorded_big_loops():
            raise
        return recorded_big_loops()[arch, str(variant)]


def compiled_big_loop(variant: Variant, arch: str) -> BigLoop:
    """Compile a variant for `arch` and return an iteration of its loop over tiles.

    `arch` is text such as "sm_90". Raise CourseError if there is no compiler, if the kernel has no
    loop, or if the longest loop does not have a thread's multiply-adds of a tile: BK × TM × TN,
    where TM and TN are 8 for `warp_tiled`, and all three are 8 for the kernels of `buffers_alone`.
    For any other kernel, the number is the side of its square blocks, which are as large as its
    tiles. Raise CourseError for such a kernel if its blocks are not square.
    """
    sizes = variant.constants
    if variant.step.module == EXPERIMENT:
        steps = STEPS_OF_A_TILE
    elif {"BK", "TM", "TN"} <= sizes.keys():
        steps = sizes["BK"] * sizes["TM"] * sizes["TN"]
    elif "LANES" in sizes:
        steps = STEPS_OF_A_TILE // 8 * sizes["BK"]
    else:
        steps = _side_of_block(variant)
    return _iteration(xray(variant.kernel, variant.step.signature, arch), steps)


def _side_of_block(variant: Variant) -> int:
    """Return the number of threads along a side of square blocks; raise CourseError for others."""
    launch = variant.launch(ladder_of(variant.step).parse("1"))
    if launch is None or len(launch.block) != 2 or len(set(launch.block)) != 1:
        raise CourseError(
            f"The loop over tiles of {variant} is not known, because its blocks are not square: "
            "choose a kernel with tiles, such as double_buffered."
        )
    return launch.block[0]


def _iteration(kernel_xray: XRay, multiply_adds: int) -> BigLoop:
    """Return an iteration of the longest loop of a kernel, with the loop inside it unrolled.

    Raise CourseError if there is no loop, or if the iteration does not have `multiply_adds`
    multiply-adds per thread.
    """
    if not kernel_xray.loops:
        raise CourseError(f"The machine code of {kernel_xray.kernel} has no loop.")
    big = max(kernel_xray.loops, key=lambda loop: loop.end - loop.start)
    inside = [one for one in kernel_xray.loops if big.start < one.start and one.end <= big.end]
    code = kernel_xray.code[big.start : big.end + 1]
    if len(inside) == 1 and inside[0].ffma:
        small = inside[0]
        iterations = (multiply_adds - big.ffma) // small.ffma
        code = _unrolled(code, small.start - big.start, small.end + 1 - big.start, iterations)
    if sum(one.name in FFMA for one in code) != multiply_adds:
        raise CourseError(
            f"An iteration of {kernel_xray.kernel}'s loop over tiles does not have "
            f"{multiply_adds} multiply-adds in machine code."
        )
    names = tuple("FFMA" if one.name in FFMA else one.name for one in code)
    return BigLoop(tuple(distances_to_use(code)), names)


def _unrolled(
    code: Sequence[Instruction], start: int, end: int, iterations: int
) -> tuple[Instruction, ...]:
    """Return code in which the instructions from index `start` to before `end` are repeated.

    They occur `iterations` times in a row, and all other instructions once.
    """
    return (*code[:start], *code[start:end] * iterations, *code[end:])


def draw_iterations(**kernels: Step | Variant | Callable) -> Picture | Card:
    """Draw the instructions in one iteration of each kernel's loop over tiles, one bar per kernel.

    Parameters
    ----------
    **kernels : Step, Variant or callable
        Register-blocked steps of the ladder, or kernels (a, b, c) with tiles of 16×16. The keyword
        is the label; in the label of a kernel that is no step, _ becomes a space. That of the
        reader's own step begins with "your".

    Returns
    -------
    Picture or Card
        The picture. A card with the reason if neither a compiler nor the record has one of the
        kernels, or if an iteration has no global load that a store to shared memory follows.
    """
    try:
        cut = instruction_timeline.from_load_to_store
        iterations = {_label(name, one): cut(_loop_of(one).names) for name, one in kernels.items()}
        title = "One iteration of the loop over tiles, in machine code"
        return instruction_timeline.draw_iterations(title, iterations)
    except CourseError as error:
        return Card("ask", (f"{error} The lesson goes on without this picture.",))


def _label(name: str, kernel: Step | Variant | Callable) -> str:
    """Return the label of a bar.

    It is "your " and the name for the reader's own step, the name unchanged for a step of the
    course, and the name with spaces for _ for a kernel that is no step.
    """
    if isinstance(kernel, Variant) and is_mine(kernel):
        return translate("your {name}", name=name)
    return name if isinstance(kernel, Step | Variant) else name.replace("_", " ")


def _loop_of(kernel: Step | Variant | Callable) -> BigLoop:
    """Return an iteration of the loop over tiles of a step, or of a kernel with tiles of 16×16.

    Raise CourseError for anything else, for a step whose loop is neither compiled here nor
    recorded, and for a kernel that cannot be compiled here or has no loop with 16 multiply-adds.
    """
    if isinstance(kernel, Step | Variant):
        return big_loop(kernel)
    if not hasattr(kernel, "py_func"):
        raise CourseError(f"{kernel!r} is no kernel and no step, so it has no machine code.")
    return _iteration(xray(kernel, PRODUCT, device_shown().arch), multiply_adds=16)


def resident_warps(variant: Variant, shape: str = "4096") -> int:
    """Return the number of a variant's warps that are resident on one SM of the device shown.

    For a step of a ladder it follows from the registers and shared memory in the variant's record,
    and CourseError is raised if there is no record. For any other kernel, such as the reader's own,
    it follows from the kernel as compiled here. `shape` is the problem size as on the command line;
    only a step of a ladder needs it.
    """
    device, ladder = device_shown(), ladder_of(variant.step)
    if not is_of_a_ladder(variant.step):
        return occupancy(device.compute_capability, *resources_of(variant)).warps
    frame = records.measured(device.name, ladder.name)
    rows = frame[(frame["step"] == variant.step.name) & (frame["params"] == variant.params)]
    if rows.empty:
        raise CourseError(f"There is no record of {variant} on {device.name}.")
    launch, row = variant.launch(ladder.parse(shape)), rows.iloc[0]
    resources = launch.threads, int(row["registers"]), int(row["shared_bytes"])
    return occupancy(device.compute_capability, *resources).warps


def reads(**steps: Step | Variant) -> Table | Card:
    """Return a table of how soon the values of shared-memory loads are used, one row per step.

    The columns are the smallest number of instructions from a load to its first use, and text such
    as "3 of 16": the loads that are used fewer than `SHARED_LATENCY` instructions later, of all
    loads that are used in the loop. Without such loads the first number is "–". Return a card with
    the reason if neither a compiler nor the record has one of the steps.
    """
    rows = []
    for name, step in steps.items():
        try:
            loop = big_loop(step)
        except CourseError as error:
            return _no_table(error)
        early = f"{loop.early_reads} of {len(loop.reads)}"
        soonest = number(min(loop.reads)) if loop.reads else NOTHING
        rows.append((f"`{name}`", soonest, early))
    head = ("", "instructions to the first use, at least", f"used within {SHARED_LATENCY}")
    return table("Loads from shared memory in one iteration of the loop over tiles", head, rows)


def _no_table(error: CourseError) -> Card:
    """Return the card that replaces a table, with the reason."""
    return Card("ask", (f"{error} The lesson goes on without this table.",))


def draw_tile_shapes(old: Step, new: Step, shape: str = "4096") -> Picture:
    """Draw the speed-up of the new step over the old one, and both steps' resident warps per SM.

    There is one bar per variant of the new step, compared with the old step's variant that has the
    same BM, BN and BK. The largest speed-up is at the top. Times are recorded ones at `shape`, as
    on the command line. Raises CourseError if a time is missing, or if a step has no choice of BM,
    BN and BK.
    """
    rows, old, new = [], as_step(old), as_step(new)
    for step in (old, new):
        if not {"BM", "BN", "BK"} <= step.choices.keys():
            raise CourseError(
                f"{step.name} has no tiles of BM, BN and BK to choose from: choose two "
                "register-blocked steps of the course, such as vectorized."
            )
    for after in new.variants():
        sizes = {name: after.constants[name] for name in ("BM", "BN", "BK")}
        before = old.variant(**sizes)
        faster = recorded_ms(before, shape) / recorded_ms(after, shape)
        warps = resident_warps(before, shape), resident_warps(after, shape)
        rows.append(Gain("×".join(map(str, sizes.values())), faster, *warps))
    title = f"{new.name}: times faster than {old.name}, n = {shape}"
    return draw_gains_and_warps(title, rows)


@dataclass(frozen=True)
class RecordedBigLoop:
    """A row of the record: a kernel's loop over tiles, and the versions of the compiler.

    arch: the architecture compiled for, such as "sm_90". toolkit, numba_cuda: the versions. kernel:
    the step and its constants.
    """

    arch: str
    toolkit: str
    numba_cuda: str
    kernel: str
    loop: BigLoop


def recorded_big_loops() -> dict[tuple[str, str], BigLoop]:
    """Return the loops of the record, by (architecture, kernel).

    The architecture is text such as "sm_90", and the kernel a name with its constants, such as
    "prefetch BM=128 BN=128 BK=8 TM=8 TN=8".
    """
    return {(row.arch, row.kernel): row.loop for row in rows.read(FILE, RecordedBigLoop)}
