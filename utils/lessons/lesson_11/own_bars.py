"""The reader's kernel beside `tiled`: what a multiply-add needs, and the bars of both."""

from __future__ import annotations

from collections.abc import Mapping

from gemm_kernels import ilp_alone
from gpu_xray import xray
from utils.ladder.shapes import parse_gemm
from utils.ladder.step import Variant
from utils.lessons.cards import Stack, Table, table
from utils.lessons.counting import as_variant
from utils.lessons.granularity import machine_wavefronts
from utils.lessons.inner_loops import hot_loop
from utils.lessons.lesson import device_shown
from utils.lessons.lesson_11 import time_bars
from utils.machine.occupancy import occupancy
from utils.translation import translate


def beside_tiled(kernel: Variant) -> Stack:
    """Return a table and a picture of `tiled` and of the reader's kernel, which has no record.

    The table is that of `needs_of_kernels`. The picture has the estimates of wavefronts and of
    instructions, and the recorded time of `tiled`. Raises CourseError without a compiler.
    """
    rows, tiled = ilp_alone.recorded_times(), ilp_alone.variants()[0]
    own, yours = as_variant(kernel), translate("your {step}", step=kernel.step.name)
    times = {
        "tiled": time_bars.times_of(tiled, rows),
        yours: time_bars.estimates_of(own, rows[0].device),
    }
    needs = needs_of_kernels({"tiled": tiled, yours: own})
    return Stack((needs, time_bars.draw_on_scale(times, rows)))


def needs_of_kernels(kernels: Mapping[str, Variant]) -> Table:
    """Return a table of what kernels need, one row per kernel.

    The columns are the wavefronts and the instructions per multiply-add of a warp, the registers
    per thread, and the warps that an SM of the device shown holds. kernels: by the name in the
    table. Raises CourseError without a compiler.
    """
    rows = []
    for name, kernel in kernels.items():
        instructions = hot_loop(kernel).per_multiply_add_with_tiles
        figures = f"{machine_wavefronts(kernel):.2f}", f"{instructions:.2f}"
        rows.append((name, *figures, *_registers_and_warps(kernel)))
    head = (
        "",
        "wavefronts per multiply-add",
        "instructions per multiply-add",
        "registers",
        "warps on an SM",
    )
    return table("What the kernels need, in machine code", head, rows)


def _registers_and_warps(kernel: Variant) -> tuple[int, int]:
    """Return the registers of a thread, and the warps that an SM of the device shown holds."""
    device, launch = device_shown(), kernel.launch(parse_gemm(str(time_bars.N)))
    code = xray(kernel.kernel, kernel.step.signature, device.arch)
    shared = code.shared_bytes + launch.shared_bytes
    held = occupancy(device.compute_capability, launch.threads, code.registers, shared)
    return code.registers, held.warps
