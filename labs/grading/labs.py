"""The labs: exercises of the bank, with points, as an instructor assigns them."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from labs.checking.exercise import Exercise
from labs.exercises import find as exercise
from labs.host.exercise import HostExercise
from utils.errors import CourseError
from utils.paths import ROOT, is_extra

# A file per lab that an instructor composed of the course's exercises.
COMPOSED = ROOT / "labs" / "composed"


@dataclass(frozen=True)
class Part:
    """One exercise of a lab.

    exercise: its name. points: the points for all of it. main: for a kernel, the names of the
    targets that the task is about, called its idea. needed: the names of targets without which
    reaching the main ones gives no points. right_starter: True if the starter's result is right
    already, so that its speed can be compared. pinned: True if targets in machine code give points
    too; all submissions must then be graded with one compiler.
    """

    exercise: str
    points: int
    main: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    right_starter: bool = False
    pinned: bool = False

    @property
    def definition(self) -> Exercise:
        """The exercise itself, as the bank of exercises has it."""
        return exercise(self.exercise)


@dataclass(frozen=True)
class Lab:
    """Exercises that are handed out and handed in together.

    name: as on the command line. title: its heading. minutes: for a student who has done the
    lessons. lessons: the names of the lessons to do before, such as "07". objectives: what a
    student can do afterwards, as phrases. parts: its exercises with their points.
    """

    name: str
    title: str
    minutes: int
    lessons: tuple[str, ...]
    objectives: tuple[str, ...]
    parts: tuple[Part, ...]

    @property
    def points(self) -> int:
        """The points of all parts together."""
        return sum(part.points for part in self.parts)

    @property
    def after(self) -> str:
        """The lessons to do first, as text such as "extra, 15"; "extra" is any extra lesson."""
        return ", ".join("extra" if is_extra(name) else name for name in self.lessons)

    @property
    def needs_sandbox(self) -> bool:
        """True if the lab has host functions, which run in a sandbox; others are interpreted."""
        return any(isinstance(part.definition, HostExercise) for part in self.parts)


TREE = ("requests to load x for 32 lanes", "shared requests per block")
# a load of `a` serves four columns, also where blocks are partial
LOADS_OF_COLUMNS = ("loads per multiply-add", "loads of a per thread and term")
TILED = ("loads per multiply-add",)  # a kernel without tiles loads each element many times
BOTH_READS = ("wavefronts to read sa", "wavefronts to read sb")  # one is fast in the simplest map
OF_LAUNCH = "tiles in other memory"  # than that for which the launch asks
WIDE_LOADS = ("narrow loads of global memory", "narrow loads of shared memory", *TILED)
WIDE_ENDS = ("narrow loads of global memory", "narrow stores of global memory")
AGAIN = ("reads besides the wanted ones", "missing syncwarp between the sums")
UNROLLED = ("iterations per multiply-add", "tests per multiply-add")
WITHOUT_CONFLICTS = (("wavefronts per request",), TILED)  # the main and the needed targets

LABS: Mapping[str, Lab] = {
    lab.name: lab
    for lab in (
        Lab(
            "first_kernel", "The first kernel", 30, ("00",),
            ("write a kernel that is right at any length",),
            (Part("scale", 100, ("requests for 32 lanes",)),),
        ),
        Lab(
            "first_steps", "The first kernel, with tasks of four kinds", 60, ("00",),
            (
                "write a kernel that is right at any length",
                "compute the number of blocks of its launch",
                "say what each line of a guarded kernel needs above it",
                "choose the guard of a kernel for a matrix",
                "let neighbouring lanes read neighbouring elements",
            ),
            (
                Part("scale", 20, ("requests for 32 lanes",)),
                Part("enough_blocks", 20),
                Part("order_saxpy", 20, ("stores per element",)),
                Part("fix_guard", 20, ("sectors per request",)),
                Part("sectors", 20, ("sectors per request",)),
            ),
        ),
        Lab(
            "measuring", "A benchmark without faults", 60, ("01",),
            ("say what a benchmark measures, and mend one that measures something else",),
            (Part("benchmark", 100),),
        ),
        Lab(
            "rates_and_times", "Rates and times, with tasks of two kinds", 60, ("01",),
            (
                "compute a rate from the sizes of a product and its time",
                "say where a program must wait before it reads the clock",
                "mend a benchmark that measures something else than it says",
            ),
            (Part("benchmark", 60), Part("two_waits", 20), Part("gflops", 20)),
        ),
        Lab(
            "cpu_blocking", "Loops and vectors of the CPU", 120, ("02", "03"),
            (
                "order loops so that neighbours in time are neighbours in memory",
                "write a micro-kernel of vectors that keeps its sums in registers",
            ),
            (
                Part("loop_order", 40, ("stride of the innermost loop",), right_starter=True),
                Part(
                    "micro_kernel", 60,
                    ("vector loads per multiply-add", "broadcasts per multiply-add"),
                ),
            ),
        ),
        Lab(
            "loops_and_caches", "Loops and caches of the CPU, with tasks of three kinds", 60,
            ("02",),
            (
                "order loops so that neighbours in time are neighbours in memory",
                "say which cache lines a cache with sets can hold at the same time",
                "let neighbouring additions go to different sums",
            ),
            (
                Part("loop_order", 40, ("stride of the innermost loop",), right_starter=True),
                Part("room_in_sets", 25),
                Part("partial_sums", 35, ("terms in the longest chain",), right_starter=True),
            ),
        ),
        Lab(
            "panels_and_sums", "Panels and sums, with tasks of three kinds", 75, ("03",),
            (
                "write a micro-kernel of vectors that keeps its sums in registers",
                "give neighbouring steps sums of their own",
                "put a matrix into the order in which a micro-kernel reads it",
            ),
            (
                Part(
                    "micro_kernel", 60,
                    ("vector loads per multiply-add", "broadcasts per multiply-add"),
                ),
                Part("four_sums", 20, ("steps in the longest chain",), right_starter=True),
                Part("order_packing", 20, ("stride of the innermost loop",)),
            ),
        ),
        Lab(
            "transfers", "To the GPU and back", 60, ("04",),
            ("copy each array once, and none twice", "use managed memory, and wait for it"),
            (Part("to_the_gpu_and_back", 60), Part("without_copies", 40)),
        ),
        Lab(
            "copies_and_slices", "To the GPU and back, with tasks of two kinds", 75, ("04",),
            (
                "copy each array once, and leave on the device what is needed again",
                "estimate the time of a product whose copies run beside its kernels",
                "use managed memory, and wait for it",
            ),
            (
                Part("to_the_gpu_and_back", 30), Part("copy_once", 20),
                Part("sliced_time", 20), Part("without_copies", 30),
            ),
        ),
        Lab(
            "coalescing", "Coalesced access, and several elements of c per thread", 90, ("05",),
            (
                "say which index must follow `threadIdx.x`, and why",
                "write a kernel whose threads compute several elements, and count its loads",
            ),
            (
                Part("coalescing", 40, ("sectors per request",), right_starter=True),
                Part(
                    "four_columns", 60, LOADS_OF_COLUMNS, needed=LOADS_OF_COLUMNS,
                    right_starter=True,
                ),
            ),
        ),
        Lab(
            "lanes_and_words", "Coalesced access, with tasks of three kinds", 90, ("05",),
            (
                "say which index must follow `threadIdx.x`, and why",
                "write a kernel whose lanes read neighbouring words",
                "say where a load must be, so that it serves four multiply-adds",
                "write a kernel whose threads compute several elements, and count its loads",
            ),
            (
                Part("coalescing", 20, ("sectors per request",), right_starter=True),
                Part("column_sums", 20, ("sectors per request",)),
                Part("order_rows", 20, ("loads per multiply-add",)),
                Part(
                    "four_columns", 40, LOADS_OF_COLUMNS, needed=LOADS_OF_COLUMNS,
                    right_starter=True,
                ),
            ),
        ),
        Lab(
            "unrolling", "A loop unrolled by hand", 60, ("06",),
            ("unroll a loop whose length is no multiple of the factor",),
            (Part("unroll", 100, UNROLLED, right_starter=True),),
        ),
        Lab(
            "unrolled_loops", "Unrolled loops, with tasks of two kinds", 60, ("06",),
            (
                "say which test a loop needs that adds two terms per iteration",
                "unroll a loop whose length is no multiple of the factor",
                "say from two counts how fast a product can be at most",
            ),
            (
                Part("unroll", 50, UNROLLED, right_starter=True),
                Part("order_by_two", 20, ("iterations per multiply-add",)),
                Part("least_ms", 30),
            ),
        ),
        Lab(
            "tiling", "The product by tiles in shared memory", 90, ("07",),
            (
                "load a tile together, wait for it, and use it",
                "handle edges that no tile fits",
                "lay a tile out without bank conflicts",
            ),
            (
                Part("tiling", 70, TILED),
                Part("conflict_free", 30, *WITHOUT_CONFLICTS, right_starter=True),
            ),
        ),
        Lab(
            "barriers_and_banks", "Barriers, tiles and banks, with tasks of three kinds", 90,
            ("07",),
            (
                "put two barriers around the words that threads share",
                "load a tile together, wait for it, and use it",
                "compute the wavefronts of a request from the strides of its lanes",
                "lay a tile out without bank conflicts",
            ),
            (
                Part("reverse_pieces", 15, ("barriers per block",)), Part("tiling", 50, TILED),
                Part("wavefronts", 15),
                Part("conflict_free", 20, *WITHOUT_CONFLICTS, right_starter=True),
            ),
        ),
        Lab(
            "transpose", "The transpose through shared memory", 60, ("07",),
            (
                "let loads and stores both go along rows, with a tile in shared memory",
                "handle edges that no tile fits",
                "lay a tile out without bank conflicts",
            ),
            (
                Part(
                    "transpose", 100, ("sectors per request", "wavefronts per request"),
                    needed=("sectors per request",),
                ),
            ),
        ),
        Lab(
            "occupancy", "Occupancy, and the best block", 90, ("08",),
            (
                "compute how many blocks of a kernel an SM holds, and what limits them",
                "choose the block for a kernel whose shared memory grows with it",
            ),
            (
                Part("required_shared", 15), Part("square_side", 15),
                Part("resident_blocks", 40), Part("best_block", 30),
            ),
        ),
        Lab(
            "resident_warps", "Resident blocks, with tasks of two kinds", 60, ("08",),
            (
                "compute how many blocks of a kernel an SM holds",
                "mend a search for the block size with the most resident threads",
                "compute the shared memory with which an SM holds a number of blocks",
            ),
            (Part("resident_blocks", 50), Part("best_block", 30), Part("shared_for", 20)),
        ),
        Lab(
            "sheffield_lab06", "The tiled product, its occupancy, and the best block", 150,
            ("07", "08"),
            (
                "use shared memory to load less from global memory",
                "write the product by tiles, for tiles whose side is known at the launch alone",
                "compute the stride of an access, and say why it has no bank conflicts",
                "compute the occupancy of a launch by hand",
                "find the block with the most resident threads, and launch with it",
            ),
            (
                Part("tiling", 25, TILED), Part("wavefronts", 10),
                Part("conflict_free", 10, *WITHOUT_CONFLICTS, right_starter=True),
                Part("resident_blocks", 10), Part("device_occupancy", 5),
                Part("required_shared", 5),
                Part(
                    "dynamic_tiles", 15, (*TILED, OF_LAUNCH), needed=(*TILED, OF_LAUNCH),
                ),
                Part("best_block", 5),
                Part("square_side", 5), Part("launch_best", 10),
            ),
        ),
        Lab(
            "latency", "Hiding latency", 60, ("09",),
            ("write a copy with four loads under way in each thread",),
            (Part("four_loads", 100, ("waits in the source",), right_starter=True),),
        ),
        Lab(
            "under_way", "Work under way, with tasks of two kinds", 60, ("09",),
            (
                "say from a latency and a rate how much must be under way",
                "repair a law for one scheduler so that it holds for four",
                "write a copy with four loads under way in each thread",
            ),
            (
                Part("four_loads", 50, ("waits in the source",), right_starter=True),
                Part("law_of_schedulers", 30),
                Part("littles_law", 20),
            ),
        ),
        Lab(
            "granularity", "More work for a thread", 60, ("10",),
            ("let one tile of a serve two tiles of b, and count what it saves",),
            (Part("two_tiles", 100, TILED),),
        ),
        Lab(
            "shared_tiles", "One tile for several, with tasks of two kinds", 75, ("10",),
            (
                "let one tile of a serve two tiles of b, and count what it saves",
                "compute the wavefronts of a multiply-add from its reads and stores",
                "undo one of several savings, to measure what it is worth",
            ),
            (
                Part("two_tiles", 60, TILED),
                Part("shared_cost", 20),
                Part("reads_again", 20, AGAIN, needed=AGAIN),
            ),
        ),
        Lab(
            "ilp", "Fewer threads with independent sums", 60, ("11",),
            ("do the same work with a quarter of the threads",),
            (Part("independent_sums", 100, TILED),),
        ),
        Lab(
            "fewer_threads", "Independent sums, with tasks of three kinds", 90, ("11",),
            (
                "split a sum into chains that do not wait for each other",
                "compute the first row of a block that covers more rows than it has threads",
                "do the same work with a quarter of the threads",
                "take four steps of k per iteration, so that reads are joined",
            ),
            (
                Part("independent_sums", 40, TILED),
                Part("four_chains", 20, ("terms in the longest chain",), right_starter=True),
                Part("shrunk_block", 20, ("elements per thread",)),
                Part("four_steps", 20, ("iterations per multiply-add",)),
            ),
        ),
        Lab(
            "register_blocking", "A tile of c in registers", 90, ("12",),
            ("give each thread eight rows of a column, and keep their sums in registers",),
            (Part("eight_rows", 100, TILED),),
        ),
        Lab(
            "thread_tiles", "A tile of c per thread, with tasks of three kinds", 75, ("12",),
            (
                "give each thread eight rows of a column, and keep their sums in registers",
                "put the lines of an outer product in order",
                "choose the rows of a thread, so that reads have no bank conflict",
            ),
            (
                Part("eight_rows", 60, TILED),
                Part("order_outer_product", 20, ("shared loads per multiply-add",)),
                Part(
                    "rows_apart", 20, ("wavefronts to read both tiles",), needed=TILED,
                    right_starter=True,
                ),
            ),
        ),
        Lab(
            "wide_loads", "Lane maps and whole rows", 120, ("lane_maps", "15"),
            (
                "choose which lane takes which part of a tile, so that banks do not meet",
                "store a tile through shared memory in whole rows",
            ),
            (
                Part("lane_map", 50, BOTH_READS, needed=BOTH_READS),
                Part("whole_rows", 50, ("sectors per store",), right_starter=True),
            ),
        ),
        Lab(
            "bits_and_rows", "Bits, banks and rows, with tasks of two kinds", 75, ("15",),
            (
                "write which bits of a lane's number select which part of a tile",
                "choose the length of a row in shared memory, so that banks do not meet",
                "store a tile through shared memory in whole rows",
            ),
            (
                Part("whole_rows", 50, ("sectors per store",), right_starter=True),
                Part("lane_bits", 25, BOTH_READS, needed=BOTH_READS, right_starter=True),
                Part(
                    "row_length", 25, ("wavefronts, times the fewest",),
                    needed=("wavefronts, times the fewest",),
                ),
            ),
        ),
        Lab(
            "transposed_tiles", "Wide loads, with tasks of two kinds", 75, ("13",),
            (
                "move four words with one instruction",
                "store a tile transposed, and choose the length of its rows",
                "write a product whose loads all move 128 bits",
            ),
            (
                Part("wide_tiles", 60, WIDE_LOADS, needed=WIDE_LOADS),
                Part("turned_tile", 25, WIDE_ENDS, needed=WIDE_ENDS),
                Part(
                    "row_gap", 15, ("wavefronts per store to shared memory",), needed=WIDE_ENDS,
                    right_starter=True,
                ),
            ),
        ),
        Lab(
            "lane_maps", "Lane maps, with tasks of three kinds", 75, ("lane_maps",),
            (
                "say how many wavefronts a wide read takes, from the quads of its lanes",
                "choose which lane computes which part of a tile",
            ),
            (
                Part("lane_map", 50, BOTH_READS, needed=BOTH_READS),
                Part("tall_map", 25, BOTH_READS, needed=BOTH_READS),
                Part("paired_reads", 25, ("wavefronts to read tile",), right_starter=True),
            ),
        ),
        Lab(
            "prefetch", "Two buffers", 90, ("14",),
            ("load the next tile while this one is used, with one barrier for each",),
            (
                Part(
                    "double_buffer", 100, ("barriers per tile", "loads that are waited for"),
                    right_starter=True,
                ),
            ),
        ),
        Lab(
            "loads_ahead", "Loads ahead of their use, with tasks of two kinds", 45, ("14",),
            ("load the next tile before this one is multiplied, and say how far ahead it must be",),
            (
                Part("order_loads", 50, ("loads that are waited for",)),
                Part("tiles_ahead", 50, ("cases",)),
            ),
        ),
        Lab(
            "machine_code", "Sums kept in registers", 60, ("16",),
            ("keep a local array out of memory, and see it in the machine code",),
            (
                Part(
                    "sums_in_registers", 100,
                    ("bytes of local memory",),
                    right_starter=True, pinned=True,
                ),
            ),
        ),
        Lab(
            "reading_loops", "Loops in machine code, with tasks of two kinds", 60, ("16",),
            (
                "find the number that makes a loop work in float64, and change it",
                "say from a loop's instructions which share of the peak it can reach",
                "keep a local array out of memory, and see it in the machine code",
            ),
            (
                Part(
                    "sums_in_registers", 40, ("bytes of local memory",),
                    right_starter=True, pinned=True,
                ),
                Part("single_precision", 30, ("operations in float64",), right_starter=True),
                Part("issue_bound", 30),
            ),
        ),
        Lab(
            "estimates", "Slices and rooflines", 60, ("17", "21"),
            (
                "choose the number of slices of a product by an estimate",
                "compute what a roof allows",
            ),
            (Part("slices", 60), Part("attainable", 40)),
        ),
        Lab(
            "against_cublas", "Slices and a library, with tasks of two kinds", 90, ("17",),
            (
                "choose the number of slices of a product by an estimate",
                "write a kernel whose thread blocks share the sums of a product",
                "call a library that reads columns with matrices in rows",
                "pad matrices for a kernel that needs sides divisible by four",
            ),
            (
                Part("slices", 30),
                Part(
                    "cut_along_k", 35, ("loads per multiply-add", "iterations per multiply-add"),
                ),
                Part("call_by_rows", 20),
                Part("pad_to_fours", 15),
            ),
        ),
        Lab(
            "rooflines", "Rooflines, with tasks of two kinds", 60, ("21",),
            (
                "say from a tile and a memory how fast a product can be",
                "save bytes by doing the work of three launches in one",
                "count the time of a pipe instead of the bytes that it brings",
                "find out from counts how busy the busiest resource of a kernel is",
            ),
            (
                Part("attainable", 30),
                Part("fused", 30, ("stores per element",)),
                Part("pipe_roof", 20),
                Part("busy_share", 20),
            ),
        ),
        Lab(
            "one_warp", "One warp on a tensor core, with tasks of two kinds", 60, ("22",),
            (
                "say which lane holds an element of a product on tensor cores",
                "load and store the fragments of a warp",
                "let whole warps multiply at the edges of a matrix",
            ),
            (
                Part("lane_of", 20),
                Part("one_mma", 50, ("mma missing or too many", "loads per mma")),
                Part("whole_warp", 30, ("mma missing or too many",)),
            ),
        ),
        Lab(
            "fed_tensor_cores", "Feeding the tensor cores, with tasks of two kinds", 60, ("23",),
            (
                "count the wavefronts of ldmatrix by the length of a row",
                "swizzle a tile in shared memory, so that ldmatrix has no bank conflicts",
                "let a pipeline of three stages read a tile when it is complete",
            ),
            (
                Part("ldmatrix_wavefronts", 20),
                Part(
                    "swizzled_tile", 50,
                    ("ldmatrix missing or too many", "wavefronts per request"),
                ),
                Part("stage_ready", 30, ("waits for all copies", "barriers per iteration")),
            ),
        ),
        Lab(
            "reduce_0_to_3", "A reduction without divergence and conflicts", 90, ("18",),
            (
                "add up an array by a tree whose warps work whole",
                "let each thread add while it loads",
            ),
            (
                Part("tree", 60, ("wavefronts per request",), right_starter=True),
                Part("add_while_loading", 40, ("shared requests per block",)),
            ),
        ),
        Lab(
            "more_reductions", "A maximum and a dot product by trees", 60, ("18",),
            (
                "use a tree in shared memory for an operation other than a sum",
                "choose what threads beyond the end of an array bring into a reduction",
                "combine two arrays and reduce the result in one kernel",
            ),
            (Part("maximum", 50, TREE), Part("dot", 50, TREE)),
        ),
        Lab(
            "trees", "Trees in shared memory, with tasks of four kinds", 120, ("18",),
            (
                "say where a tree needs a barrier, and why one place can be enough",
                "replace a remainder by a bit operation",
                "write the steps of a tree whose warps work whole",
            ),
            (
                Part("tree", 30, ("wavefronts per request",), right_starter=True),
                Part("add_while_loading", 20, ("shared requests per block",)),
                Part("order_tree", 20, ("barriers per block",)),
                Part("missing_barrier", 15, ("barriers per block",)),
                Part("without_remainder", 15, ("divisions in loops",), right_starter=True),
            ),
        ),
        Lab(
            "reduce_4_to_7", "A reduction by shuffles", 60, ("19",),
            ("add up a block by shuffles, with one word of shared memory for each warp",),
            (
                Part(
                    "shuffles", 100, ("words of shared memory", "barriers per block"),
                    needed=("shuffles of a thread",),
                ),
            ),
        ),
        Lab(
            "last_warps", "Warps that go on alone, with tasks of two kinds", 120, ("19",),
            (
                "say which lanes of one warp must wait for each other, and where",
                "let each thread add several elements before it meets the others",
                "add up a block by shuffles, with one word of shared memory for each warp",
            ),
            (
                Part(
                    "shuffles", 50, ("words of shared memory", "barriers per block"),
                    needed=("shuffles of a thread",),
                ),
                Part("last_warp", 25, ("barriers per block",)),
                Part(
                    "eight_elements", 25,
                    ("loads per element", "sectors per request", "shared requests per block"),
                ),
            ),
        ),
        Lab(
            "reduce_at_the_limit", "A reduction in one launch", 90, ("20",),
            ("let the last block finish, with a ticket and a fence",),
            (
                Part(
                    "ticket", 100, ("blocks that add without the ticket", "atomics on the result"),
                ),
            ),
        ),
        Lab(
            "one_launch", "Blocks that hand over, with tasks of two kinds", 90, ("20",),
            (
                "say which accesses of two blocks need a fence between them",
                "compute how many blocks may wait for all others",
                "let the last block finish, with a ticket and two fences",
            ),
            (
                Part(
                    "ticket", 50, ("blocks that add without the ticket", "atomics on the result"),
                ),
                Part("two_fences", 30, ("loads without a fence",)),
                Part("waiting_blocks", 20),
            ),
        ),
    )
}  # fmt: skip


def all_labs() -> dict[str, Lab]:
    """Return a dict from name to lab: the course's labs, then those in the folder `COMPOSED`.

    The labs of the folder are in the order of their names. Raises CourseError if a file in the
    folder is not as `python -m labs compose` writes it.
    """
    return {**LABS, **{file.stem: _read(file) for file in sorted(COMPOSED.glob("*.toml"))}}


def _read(file: Path) -> Lab:
    """Return the lab that a TOML file describes. Raises CourseError if it cannot be used."""
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8"))
        return composed(file.stem, given["title"], int(given["minutes"]), given["points"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CourseError(
            f"{file.relative_to(ROOT)} is no lab ({type(error).__name__}: {error}): write it again "
            "with `python -m labs compose`, or delete it."
        ) from None


def composed(name: str, title: str, minutes: int, points: Mapping[str, int]) -> Lab:
    """Return a lab of exercises of the course's labs, with their targets.

    Its lessons are those of the exercises, sorted. points: a dict from an exercise's name to its
    points, in the order of the tasks. Raises CourseError if no lab of the course has an exercise.
    """
    parts = tuple(replace(part_with(exercise), points=value) for exercise, value in points.items())
    return Lab(
        name, title, minutes,
        tuple(sorted({part.definition.lesson for part in parts})),
        tuple(f"solve the task “{part.definition.title}”" for part in parts),
        parts,
    )  # fmt: skip


def part_with(exercise: str) -> Part:
    """Return the first part of the course's labs that has this exercise.

    Raises CourseError if no lab has it; the message has the most similar name, if there is one.
    """
    parts = {part.exercise: part for lab in reversed(LABS.values()) for part in lab.parts}
    if exercise not in parts:
        raise _unknown("exercise in a lab", exercise, parts)
    return parts[exercise]


def minutes_of(exercise: str) -> float:
    """Return the estimated minutes of an exercise: its share of the first lab that has it.

    Raises CourseError if no lab of the course has it.
    """
    part = part_with(exercise)
    lab = next(lab for lab in LABS.values() if part in lab.parts)
    return lab.minutes * part.points / lab.points


def find(name: str) -> Lab:
    """Return the lab of this name.

    Raises CourseError if there is none; the message has the most similar name, or else all names.
    Also raises it if a file in the folder `COMPOSED` cannot be used.
    """
    known = all_labs()
    if name not in known:
        raise _unknown("lab", name, known)
    return known[name]


def _unknown(what: str, name: str, known: Iterable[str]) -> CourseError:
    """Return, without raising it, the CourseError for a name that is not among those known.

    Its message has the most similar known name, or all of them if none is similar. what: what the
    name should be, such as "lab".
    """
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}."
    return CourseError(f"There is no {what} {name!r}: {hint}")
