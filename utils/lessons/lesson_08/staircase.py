"""The reader's calculator as a curve, between the answers of a driver."""

from __future__ import annotations

import csv
from collections.abc import Callable

from utils.figures import page
from utils.figures.look import COLOURS, INK, new_figure, style, with_alt
from utils.machine.devices import REFERENCE
from utils.paths import DATA
from virtual_gpu.pictures.svg import Picture

THREADS = 256
REGISTERS = range(16, 256)  # of the curve
ANSWERS = DATA / "measured" / "nvidia_h200" / "occupancy.csv"


def driver_answers() -> dict[int, int]:
    """Return registers per thread -> resident blocks of 256 threads on an SM, by the H200's driver.

    The answers are recorded, for kernels without shared memory. Some of the numbers of registers
    from 16 to 255 are keys, in the order of the record, which is not ascending.
    """
    with ANSWERS.open(encoding="utf-8", newline="") as file:
        return {
            int(row["registers"]): int(row["blocks"])
            for row in csv.DictReader(file)
            if int(row["threads"]) == THREADS
            and int(row["registers"]) in REGISTERS
            and not row["carveout"]
            and row["static_bytes"] == row["dynamic_bytes"] == "0"
        }


def draw(resident_blocks: Callable[[int, int, int], int]) -> Picture:
    """Draw a calculator's blocks per SM against the registers per thread, and the driver's answers.

    Both are for blocks of 256 threads without shared memory, on the H200. resident_blocks: the
    reader's solution of the exercise of this name: (threads per block, registers per thread, bytes
    of shared memory) -> blocks.
    """
    driver = driver_answers()
    blocks = [resident_blocks(THREADS, count, 0) for count in REGISTERS]
    with style():
        where = f"blocks of {THREADS} threads without shared memory, on one {REFERENCE}"
        figure = new_figure("Your calculator, and the driver's answers", where, height=2.8)
        axes = figure.add_subplot()
        axes.step(REGISTERS, blocks, where="mid", color=COLOURS[0], label="your function")
        axes.plot(*zip(*driver.items()), "o", color=INK, label="the driver")
        axes.set_xlim(16, 256)
        axes.set_ylim(0, 9)
        axes.set_xticks((16, 64, 128, 192, 255))
        axes.set_xlabel("registers per thread")
        axes.set_ylabel("blocks per SM")
        axes.grid(axis="y")
        axes.legend(loc="upper right")
    same = sum(blocks[count - REGISTERS[0]] == held for count, held in driver.items())
    alt = (
        f"A staircase from {blocks[0]} blocks at 16 registers per thread to {blocks[-1]} at 255. "
        f"{same} of {len(driver)} answers of the driver are on it."
    )
    return Picture(page.as_html(with_alt(figure, alt)), alt)
