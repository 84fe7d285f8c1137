"""Record what the profiler counts in single launches: times, caches, and what warps wait for.

    python -m tools.records.profiled_launches --record

needs a CUDA device and Nsight Compute (``ncu``). Each kernel is launched twice, and the second
launch counts. It replaces ``profiled_launches.csv`` in the folder of the device; with ``--missing``
it adds the launches that the file does not have. ``data/README.md`` describes a row.
"""

from __future__ import annotations

import argparse
import datetime
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numba import cuda

import gemm_kernels
import reduce_kernels
from gemm_kernels import buffers_alone, tiles_alone, wide_alone
from gemm_kernels.occupancy_alone import kernels, with_blocks
from tools.records.profiler import lines_of, profiled_text
from utils.errors import CourseError
from utils.ladder.problems import draw
from utils.ladder.shapes import GemmShape, ReduceShape
from utils.ladder.step import Variant
from utils.machine.devices import slug
from utils.measuring import rows
from utils.measuring.command_line import Command, device_for, main
from utils.measuring.profiled_launches import COUNTERS, FILE, ProfiledLaunch
from utils.paths import DATA

STATES = "regex:smsp__average_warps_issue_stalled_.*_per_issue_active"
STATE = re.compile(r"smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio")
# Our word for what the profiler does with the caches before a launch -> its own.
CACHES = {"cold": "all", "warm": "none"}
ELEMENTS = 2**25
# Step -> the numbers of blocks on an SM with which its kernel of `occupancy-alone` is profiled.
BLOCKS = {"naive": (8, 4, 2, 1), "tiled": (8, 4, 2), "vectorized": (7, 6, 5, 4)}
MANY_ELEMENTS = 2**30
PER_THREAD = 64, 4096, 2  # of reduce6 at this size: 65,536 blocks, 1,024, and 2,097,152
WIDE, BUFFERED = {"BM": 128, "BN": 128, "BK": 8}, ("vectorized", "double_buffered")


@dataclass(frozen=True)
class Profiled:
    """A launch that is profiled: its name in the record, the variant, and the shape."""

    kernel: str
    variant: Variant
    shape: GemmShape | ReduceShape

    @property
    def shape_text(self) -> str:
        """The shape as the record writes it, such as "4096x4096x4096" for m, n and k.

        For a reduction it is the number of elements, such as "33554432".
        """
        if isinstance(self.shape, ReduceShape):
            return str(self.shape.elements)
        return f"{self.shape.m}x{self.shape.n}x{self.shape.k}"


def profiled() -> list[Profiled]:
    """Return the launches in their order; the kernels of `with_blocks` are compiled for it."""
    step = gemm_kernels.LADDER.step
    naive, sizes = step("naive").variant(), (256, 512, 1024, 2048, 8192)
    unrolled = [step("unrolled").variant(UNROLL=count) for count in (2, 4, 8)]
    at_4096 = [
        *(step(name).variant() for name in ("multi_output", "tiled", "tiled_padded", "ilp")),
        step("granularity").variant(GRAIN=4, TILE=32),
        step("register_blocked").variant(),
        *(step(name).variant(BM=64, BN=64, BK=16) for name in ("vectorized", "double_buffered")),
        *(step(name).variant(**WIDE) for name in (*BUFFERED, "prefetch")),
        step("warp_tiled").variant(),
        step("maxwell64").variant(),
    ]
    uncut = step("autotuned").variant(BM=128, BN=128, BK=16, TM=16, TN=8, BLOCKS=2)
    narrow = step("autotuned").variant(BM=96, BN=128, BK=16, TM=12, TN=8, BLOCKS=2)
    listed = [
        *((naive, _cube(n)) for n in (*sizes, 4096)),
        *((one, _cube(n)) for one in unrolled for n in (512, 2048, 4096, 8192)),
        *((one, _cube(4096)) for one in at_4096),
        *((step(name).variant(**WIDE), _cube(n)) for n in sizes for name in BUFFERED),
        *(
            (one, _cube(4096))
            for alone in (tiles_alone, wide_alone, buffers_alone)
            for one in alone.variants()
        ),
        *((one, GemmShape(71, 8852, 8480)) for one in (uncut, narrow)),
        *(
            (reduce_kernels.LADDER.step(f"reduce{number}").variant(), ReduceShape(ELEMENTS))
            for number in range(3, 10)
        ),
        *(
            (
                reduce_kernels.LADDER.step("reduce6").variant(PER_THREAD=each),
                ReduceShape(MANY_ELEMENTS),
            )
            for each in PER_THREAD
        ),
    ]
    fewer = {
        variant: with_blocks(variant, most)  # the last has 1 block on an SM
        for variant, most in kernels().items()
        if variant.step.name in BLOCKS
    }
    once = {
        (str(variant), shape): Profiled(str(variant), variant, shape) for variant, shape in listed
    }
    return [
        *once.values(),
        *(
            Profiled(f"{variant}, at most {blocks} per SM", launches[-blocks], _cube(4096))
            for variant, launches in fewer.items()
            for blocks in BLOCKS[variant.step.name]
        ),
    ]


def _cube(n: int) -> GemmShape:
    """Return the shape of a product of n×n matrices."""
    return GemmShape(n, n, n)


def wanted(recorded: Sequence[ProfiledLaunch]) -> list[Profiled]:
    """Return the launches that have no row among `recorded`, in their order."""
    there = {(row.kernel, row.shape) for row in recorded}
    return [one for one in profiled() if (one.kernel, one.shape_text) not in there]


def launch(launches: Sequence[Profiled]) -> None:
    """Launch each kernel alone, twice; the profiler sees the second launch."""
    for one in launches:
        if isinstance(one.shape, GemmShape):
            m, n, k = one.shape.m, one.shape.n, one.shape.k
            inputs = draw("uniform", (m, k), 1), draw("uniform", (k, n), 2)
            out = cuda.device_array((m, n), np.float32)
        else:
            inputs = (draw("uniform", (one.shape.elements,), 1),)
            out = cuda.device_array(1, np.float32)
        arrays = tuple(cuda.to_device(array) for array in inputs)
        execute = one.variant.main_call(one.shape, arrays, out).bound()
        execute()
        cuda.synchronize()
        with cuda.profiling():
            execute()
            cuda.synchronize()


def profile(caches: str, *options: str) -> str:
    """Return the CSV text that the profiler prints; exit if the profiler fails.

    It has a line per launch and metric. caches: "cold" or "warm". options: further options of this
    command, which is started under the profiler.
    """
    own = ["--profile-from-start", "off", "--cache-control", CACHES[caches]]
    own += ["--metrics", ",".join([*COUNTERS, STATES])]
    return profiled_text(own, "tools.records.profiled_launches", "--launch", *options)


def rows_of(
    text: str, launches: Sequence[Profiled], caches: str, device: str
) -> Iterator[ProfiledLaunch]:
    """Yield a row per launch and counter, in the order of the launches and of the names.

    text: what `profile` returns. Raises CourseError unless the profiler saw each launch, once.
    """
    values: dict[str, dict[str, float]] = {}
    for line in lines_of(text):
        metric, value = line["Metric Name"], float(line["Metric Value"].replace(",", ""))
        found = STATE.fullmatch(metric)
        if counter := found[1] if found else COUNTERS.get(metric):
            values.setdefault(line["ID"], {})[counter] = value
    if len(values) != len(launches):
        raise CourseError(
            f"The profiler saw {len(values)} launches where {len(launches)} were made: see whether "
            "each kernel is launched once while it is observed."
        )
    today = datetime.date.today().isoformat()
    for one, (_, counters) in zip(launches, sorted(values.items(), key=_number), strict=True):
        for counter, value in sorted(counters.items()):
            row = (device, one.kernel, one.shape_text, caches, counter, value, today)
            yield ProfiledLaunch(*row)


def _number(launch: tuple[str, dict[str, float]]) -> int:
    """Return the number that the profiler gave a launch: (its number as text, its counters)."""
    return int(launch[0])


def _configure(parser: argparse.ArgumentParser) -> None:
    """Add the options --record, --missing, and --launch, which only launches the kernels."""
    parser.add_argument("--record", action="store_true", help="write the rows to data/measured")
    parser.add_argument("--missing", action="store_true", help="only launches without a row")
    parser.add_argument("--launch", action="store_true", help="what the profiler is started over")


def _run(options: argparse.Namespace) -> int:
    """Profile the launches with cold and with warm caches; write the rows with --record.

    Returns the exit code 0. Raises CourseError without a GPU.
    """
    device = device_for("profiled-launches").name
    file = DATA / "measured" / slug(device) / FILE
    there = rows.read_if_any(file, ProfiledLaunch) if options.missing else ()
    launches = wanted(there)
    if options.launch:
        launch(launches)
        return 0
    further = ["--missing"] * options.missing
    found = [
        row
        for caches in CACHES
        for row in rows_of(profile(caches, *further), launches, caches, device)
    ]
    print(*found, sep="\n")
    if options.record:
        rows.write(file, [*there, *found], ProfiledLaunch)
    return 0


COMMAND = Command("profiled-launches", "count single launches", _configure, _run)

if __name__ == "__main__":
    raise SystemExit(main("Counters of single launches under the profiler", (COMMAND,)))
