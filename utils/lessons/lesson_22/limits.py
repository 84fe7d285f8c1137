"""What one mma of `mma_naive` needs: cache lines, instructions, and time of the tensor cores."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pandas as pd

from gpu_xray import xray
from gpu_xray.sass import Instruction
from tensor_kernels.mma_naive import STEP, K, M, N
from utils.errors import CourseError
from utils.figures.kernel_bars import WIDTH
from utils.lessons.cards import Card, Fold, Stack, Table, table
from utils.lessons.counting import one_per_cycle_ms, watch
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import duration, recorded_ms
from utils.machine.devices import REFERENCE, find
from utils.machine.occupancy import WARP, limits_of
from utils.measuring import records
from utils.translation import translate
from virtual_gpu import Trace
from virtual_gpu.pictures.svg import GREY, ORANGE, Picture, path, rect, svg, text

MULTIPLY_ADDS = M * N * K  # of one mma
# Rows of a and of b are at least a cache line long, so that no two rows share one.
COUNTED = "32x64x64"
SIDE = "4096"
COUNTS = {"requests": "loads", "cache_lines": "cache lines"}
OPERATIONS = 4096  # per cycle on the tensor cores of an SM of an H200, by the data sheet
MMA, LOADS, JOINS, ZEROS = "HMMA", "loads", "joining two float16", "zeros beyond an edge"
ADDRESSES, GUARDS, LOOP = "indices and addresses", "guards", "the loop"


@cache
def seen() -> Trace:
    """Return the trace of `mma_naive` at the shape `COUNTED`; cached."""
    return watch(STEP, COUNTED)


def lines_per_mma(trace: Trace) -> float:
    """Return the mean number of cache lines that a warp's loads touch per mma."""
    loads = trace.accesses.query("kind == 'load'")
    return loads["cache_lines"].sum() / trace.totals["mma"]


def loads_table(trace: Trace) -> Table:
    """Return a table of a warp's loads of a and b, and their cache lines, per mma."""
    loads = trace.accesses.query("kind == 'load'").groupby("array").sum(numeric_only=True)
    rows = [
        (f"`{name}`", *(f"{one[what] / trace.totals['mma']:g}" for what in COUNTS))
        for name, one in loads.iterrows()
    ]
    return table("Per mma, counted on the virtual GPU", ("from", *COUNTS.values()), rows)


@cache
def _body() -> tuple[Instruction, ...]:
    """Return the instructions in the loop of `mma_naive` on the device shown.

    The result is empty without a compiler.
    """
    try:
        report = xray(STEP.variant().kernel, STEP.signature, device_shown().arch)
    except CourseError:
        return ()
    return next(tuple(one.body) for one in report.loops if any(i.name == MMA for i in one.body))


def loop() -> dict[str, int] | None:
    """Return kind -> number of instructions in one iteration of the loop of `mma_naive`.

    The loop is compiled for the device shown. The kinds are, in this order, "HMMA", "loads",
    "joining two float16", "zeros beyond an edge", "guards", "indices and addresses" and "the loop".
    The result is None without a compiler.
    """
    body = _body()
    if not body:
        return None
    branch = _of_branch(body)
    kinds = Counter(LOOP if one in branch else _kind(one) for one in body)
    return {kind: kinds[kind] for kind in (MMA, LOADS, JOINS, ZEROS, GUARDS, ADDRESSES, LOOP)}


def _of_branch(body) -> list:
    """Return the branch at the end of a loop, and the comparisons that decide it."""
    found = [body[-1]]
    needed = {found[0].predicate.lstrip("@!")}
    for one in reversed(body[:-1]):
        if one.name == "ISETP" and one.operands[0] in needed:
            found.append(one)
            needed = {name.lstrip("!") for name in one.operands[2:]}
    return found


def _kind(instruction) -> str:
    """Return the kind of an instruction of the loop as text, such as "loads" or "guards".

    It is a key of `loop()`. PRMT joins halves of two registers, or a half and zeros.
    """
    if instruction.name == "PRMT":
        return ZEROS if "RZ" in instruction.operands else JOINS
    kinds = {"HMMA": MMA, "LDG": LOADS, "ISETP": GUARDS, "UIADD3": LOOP}
    return kinds.get(instruction.name, ADDRESSES)


def loop_table() -> Stack | Card:
    """Return a table of one iteration's instructions by kind, and a fold with the multiplication.

    Without a compiler, return a card.
    """
    kinds = loop()
    if kinds is None:
        return Card("ask", (translate("The machine code needs a compiler for GPUs."),))
    rows = [*kinds.items(), ("all", sum(kinds.values()))]
    counts = table(
        f"One iteration of mma_naive, {device_shown().arch}", ("instructions", "count"),
        [(kind, str(count)) for kind, count in rows],
    )  # fmt: skip
    return Stack((counts, Fold(translate("The multiplication and its registers"), _registers())))


def _registers() -> Table:
    """Return a table of the instructions that join two elements, and of the `HMMA`."""
    said = {JOINS: "a pair in {}"}
    said[MMA] = "{} to {}: sums; {} and {}: fragment of `a`; {}: fragment of `b`"
    rows = [
        (f"`{one.text_to('').strip()}`", said[kind].format(*_held_by(one)))
        for one in _body()
        if (kind := _kind(one)) in said
    ]
    return table("In their order", ("instruction", "registers"), rows)


def _held_by(instruction: Instruction) -> tuple[str, ...]:
    """Return the registers of an instruction as the table of registers names them.

    For an `HMMA` they are the first and the last of its sums, the two of a, and the one of b.
    """
    names = [name.removesuffix(".reuse") for name in instruction.operands]
    if instruction.name != MMA:
        return (names[0],)
    sums, of_a, of_b = names[:3]
    return sums, _after(sums, 3), of_a, _after(of_a, 1), of_b


def _after(register: str, count: int) -> str:
    """Return the name of the register `count` after this one: 3 after "R8" is "R11"."""
    return f"R{int(register[1:]) + count}"


def slots_per_mma() -> int:
    """Return the number of instructions that a scheduler can start per `HMMA` at the peak.

    The `HMMA` is one of them. A scheduler of an H200 starts at most one instruction per cycle.
    """
    schedulers = limits_of(find(REFERENCE).compute_capability).sub_partitions
    return schedulers * 2 * MULTIPLY_ADDS // OPERATIONS


def float16_records() -> pd.DataFrame:
    """Return the records of the ladder "tensor" on the device shown, without its bfloat16 step."""
    return records.measured(device_shown().name, "tensor").query("step != 'mma_bfloat16'")


def lines_ms(per_mma: float, shape: str = SIDE) -> float:
    """Return the ms of a product whose mma touch `per_mma` cache lines, one per cycle and SM.

    shape: n of an n×n product, as on the command line.
    """
    return one_per_cycle_ms(WARP * float(per_mma) / MULTIPLY_ADDS, shape)


def estimates(shape: str = SIDE) -> dict[str, float]:
    """Return resource -> ms that a product takes if only this resource is used, at full rate.

    The tensor cores have the data sheet's rate, an SM gets one cache line per cycle, and each of
    its schedulers starts one instruction per cycle. Instructions are left out without a compiler.
    shape: n of an n×n product, as text.
    """
    device = device_shown()
    flops = 2 * int(shape) ** 3
    found = {"tensor cores": flops / device.tensor_gflops / 1e6}
    if loop():
        schedulers = limits_of(device.compute_capability).sub_partitions
        per_mma = sum(loop().values()) / schedulers
        found["instructions"] = one_per_cycle_ms(WARP * per_mma / MULTIPLY_ADDS, shape)
    return {**found, "cache lines": lines_ms(lines_per_mma(seen()), shape)}


def draw_limits(shape: str = SIDE) -> Picture:
    """Draw bars of the ms that each resource needs alone, above the recorded time.

    shape: n of an n×n product, as text. The longest estimate is orange.
    """
    needed = estimates(shape)
    bars = {**needed, "recorded": recorded_ms(STEP, shape)}
    left, longest = 96, max(bars.values())
    title = f"{STEP.name} at {shape}: what each resource needs alone"
    body, y = text(0, 14, title, 13, font_weight="bold"), 28
    for name, ms in bars.items():
        wide = max((WIDTH - left - 64) * ms / longest, 1)
        colour = ORANGE if name == max(needed, key=needed.get) else GREY
        if name == "recorded":  # it is no resource
            colour, y = "currentColor", y + 12
            body += path(f"M0 {y - 8}H{WIDTH}", opacity=0.4)
        body += text(left - 8, y + 12, name, 13, "end") + rect(left, y, wide, 15, colour)
        body += text(left + wide + 6, y + 12, duration(ms), 13)
        y += 24
    said = ", ".join(f"{name} {duration(ms)}" for name, ms in bars.items())
    alt = f"{title}, {device_shown().name}: {said}."
    return Picture(svg(WIDTH, y, body, alt, widest=600), alt)
