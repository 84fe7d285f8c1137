"""Tables of lesson 09: Little's law in numbers, loops in machine code, copies, then and now.

`frame` holds recorded curves, and `device` is the device that they are of; see `curves`.
"""

from __future__ import annotations

import pandas as pd
from numba import float32, int64, void

from gpu_xray import xray
from latency_kernels import LADDER, arithmetic
from latency_kernels.hiding import curves
from utils.errors import CourseError
from utils.figures.look import number
from utils.lessons.cards import Card, Table, table
from utils.lessons.recorded import share_of_peak
from utils.machine.devices import Device
from utils.measuring import records

# Signatures of the kernels: chains (x, out, turns), and a copy (x, out).
CHAINS = void(float32[::1], float32[::1], int64)
COPY = void(float32[::1], float32[::1])
_SENTENCE = "{} The lesson goes on without this table."


def law(frame: pd.DataFrame, device: Device) -> Table:
    """Return the table of latency, rate and their product, which must be in flight to hide latency.

    Its rows are multiply-adds on one SM, bytes from memory on one SM and on all, and bytes that a
    copy loads on one SM. The columns are the latency in cycles, the rate per cycle, and their
    product.
    """
    needed = curves.littles_law(frame, device)
    operations, memory = needed.loc["arithmetic"], needed.loc["memory"]
    rows = [
        ("multiply-adds, one SM", *_product(operations, 1)),
        ("bytes from memory, one SM", *_product(memory, 1)),
        (f"bytes from memory, all {device.sms} SMs", *_product(memory, device.sms)),
        ("bytes that a copy loads, one SM", *_product(memory, 1 / 2)),
    ]
    note = f"{curves.where(frame)}; rates are those of the data sheet."
    head = ("what, and where", "latency (cycles)", "rate (per cycle)", "under way")
    return table("Little's law: latency × rate = under way", head, rows, note)


def _product(row: pd.Series, part: float) -> tuple[str, str, str]:
    """Return latency, rate and their product as text, for `part` times the rate of one SM.

    `row` is a row of `littles_law`.
    """
    return number(row["latency"]), number(part * row["per_cycle"]), number(part * row["under_way"])


def _kept(words: str) -> str:
    """Return the text with non-breaking spaces, so that it stays on one line."""
    return words.replace(" ", "\u00a0")


def loops(frame: pd.DataFrame, device: Device, *ilps: int) -> Table | Card:
    """Return the table of loops of chains with one warp per scheduler: instructions and cycles.

    There is a row per number of chains in `ilps`, with instructions of the machine code and
    recorded cycles per iteration. If the compiler is missing, a card with a sentence is returned
    instead.
    """
    rows = []
    for ilp in ilps:
        try:
            loop = xray(arithmetic.build(ilp), CHAINS, device.arch).hot
        except CourseError as error:
            return Card("ask", (_SENTENCE.format(error),))
        pauses = sum(one.control.stall for one in loop.body)
        recorded = curves.loop_cycles(frame, device, ilp, loop.ffma)
        rows.append((ilp, loop.ffma, len(loop.body) - loop.ffma, pauses, number(recorded)))
    head = ("chains", "multiply-adds in an iteration", "other instructions",
            "all pauses together (cycles)", "recorded (cycles)")  # fmt: skip
    caption = f"One iteration of the loop, one warp per scheduler, compiled for {device.arch}"
    return table(caption, head, rows, f"{curves.where(frame)}.")


def threads_then_and_now(frame: pd.DataFrame, enough: float = 0.9) -> Table:
    """Return the table of the threads per SM for full speed, on a GTX480 and on this device.

    There is a row per number of chains. `enough` is the share of the peak that counts as full speed
    on the recorded device. For each device, the columns are the threads per SM and the
    multiply-adds that are then under way.
    """
    published = records.published("latency_hiding").query("experiment == 'arithmetic'")
    rows = []
    for row in published.itertuples():
        then, now = int(row.threads_per_sm_for_peak), curves.fewest_threads(frame, row.ilp, enough)
        rows.append((row.ilp, then, row.ilp * then, now, row.ilp * now))
    head = ("chains", "GTX 480: threads", "its multiply-adds under way",
            "here: threads", "multiply-adds under way here")  # fmt: skip
    caption = "Threads per SM for full speed"
    note = (
        f"Not quite the same measure: of the GTX 480 Volkov published where it came to its peak; "
        f"here, {curves.where(frame)}, it is the first number of threads with {enough:.0%} of the "
        "peak."
    )
    return table(caption, head, rows, note)


def copies_at(frame: pd.DataFrame, threads: int, *curves_shown: str) -> Table:
    """Return the table of recorded copies at `threads` threads per SM.

    There is a row per curve in `curves_shown`, such as "8 float4", with the rate, the share of the
    data sheet, the loads in flight, and the cycles per iteration.
    """
    rows = []
    for what in curves_shown:
        point = curves.point(frame, what, threads)
        rate = _kept(f"{point['value']:,.0f} GB/s")
        rows.append((_kept(what), rate, *_turn(frame, what, threads)))
    head = ("under way in a thread", "rate, in and out", *_TURN)
    return table(f"Copies with {threads} threads per SM, {curves.where(frame)}", head, rows)


def turns(frame: pd.DataFrame, device: Device, *points: tuple[str, int]) -> Table:
    """Return the table that compares an iteration of recorded copies with the latency of a load.

    There is a row per element of `points`, which is a curve, such as "8 float4", and the threads
    per SM. It has the share of the bandwidth, the loads in flight, and the cycles per iteration.
    """
    alone = curves.littles_law(frame, device).loc["memory", "latency"]
    rows = [(_kept(what), threads, *_turn(frame, what, threads)) for what, threads in points]
    head = ("under way in a thread", "threads per SM", *_TURN)
    caption = f"A load alone takes {number(alone)} cycles; iterations of copies take"
    return table(caption, head, rows, f"{curves.where(frame)}.")


_TURN = ("of the data sheet", "loads under way in an SM (bytes)", "one iteration (cycles)")


def _turn(frame: pd.DataFrame, what: str, threads: int) -> tuple[str, str, str]:
    """Return (share of bandwidth, bytes of loads in flight, cycles per iteration) of a copy.

    All are text. `what` is its curve, and `threads` is per SM.
    """
    return (
        f"{curves.share(frame, what, threads):.1%}",
        number(curves.loads_under_way(frame, what, threads)),
        number(curves.turn_cycles(frame, what, threads)),
    )


def beside_the_copy(frame: pd.DataFrame, *points: tuple[str, int]) -> Table:
    """Return the table that compares recorded copies with the step `copy`, a measure of bandwidth.

    There is a row for that step, and one per element of `points`, which is a curve, such as "8
    float4", and the threads per SM. All copy the same number of elements. The columns are the
    occupancy, the share of the data sheet's bandwidth, and the rate as a percentage of that of
    `copy`.
    """
    reference = share_of_peak(LADDER.step("copy"), "2^28")
    rows = [(f"the course's copy, {_kept('4 float')}", "100 %", f"{reference:.1%}", "–")]
    for what, threads in points:
        point = curves.point(frame, what, threads)
        share = point["share"]
        rows.append(
            (
                _kept(what),
                f"{100 * point['occupancy']:.0f} %",
                f"{share:.1%}",
                f"{share / reference:.0%}",
            )
        )
    head = ("under way in a thread", "occupancy", "of the data sheet", "of the course's copy")
    return table("Two measures of the same copies", head, rows, f"{curves.where(frame)}.")


def order_of_moves(arch: str, **kernels) -> Table | Card:
    """Return the table of the loads and stores of copies, in the order of the machine code.

    `kernels` maps the name that the reader sees, with _ for spaces, to a copy (x, out). A row shows
    the loads (L) and stores (S) as text such as "LLSS", and the registers. If the compiler is
    missing, a card with a sentence is returned instead.
    """
    rows = []
    for name, kernel in kernels.items():
        try:
            report = xray(kernel, COPY, arch)
        except CourseError as error:
            return Card("ask", (_SENTENCE.format(error),))
        moves = "".join({"LDG": "L", "STG": "S"}.get(each.name, "") for each in report.code)
        shown = _kept(name.replace("_", " "))
        rows.append((shown, moves, report.loads_before_use, report.registers))
    head = ("kernel", "loads (L) and stores (S)", "loads before the first use", "registers")
    return table(f"In the machine code, compiled for {arch}", head, rows)
