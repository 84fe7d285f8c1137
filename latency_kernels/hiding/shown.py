"""Tables of lesson 09: Little's law in numbers, stalls of the machine code, then and now."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from numba import float32, int64, void

from latency_kernels import arithmetic
from latency_kernels.hiding import curves
from utils.errors import CourseError
from utils.figures.look import number
from utils.lessons.cards import Card, Table, table
from utils.machine import devices
from utils.machine.devices import Device
from utils.measuring import records
from utils.xray import xray

# Signatures of the kernels: chains (x, out, turns), and a copy (x, out).
CHAINS = void(float32[::1], float32[::1], int64)
COPY = void(float32[::1], float32[::1])
_SENTENCE = "{} The lesson goes on without this table."


def law(frame: pd.DataFrame, device: Device) -> Table:
    """Latency × rate for multiply-adds and for memory; and for the memory of 2010, published."""
    found = curves.littles_law(frame, device)
    operations, memory = found.loc["arithmetic"], found.loc["memory"]
    rows = [
        ("multiply-adds, one SM", *_product(operations, 1), ""),
        ("bytes from memory, one SM", *_product(memory, 1), _kilobytes(memory, 1)),
        ("bytes, all SMs together", *_product(memory, device.sms), _kilobytes(memory, device.sms)),
    ]
    note = (
        f"{curves.where(frame)}; rates are those of the data sheet. A GTX 480 of 2010, published: "
        f"at most 800 cycles, {devices.find('GTX480').peak_gb_per_s:g} GB/s, and so at most "
        f"{_claim('data in flight that hide the latency of memory, at most'):g} KB."
    )
    head = ("", "latency (cycles)", "per cycle", "under way", "")
    return table("Little's law: latency × rate = under way", head, rows, note)


def _product(row: pd.Series, sms: int) -> tuple[str, str, str]:
    """Latency, rate of so many SMs, and what they have under way."""
    return number(row["latency"]), number(sms * row["per_cycle"]), number(sms * row["under_way"])


def _kilobytes(row: pd.Series, sms: int) -> str:
    return _kept(f"{number(sms * row['under_way'] / 1e3)} KB")


def _claim(what: str) -> float:
    claims = records.published("claims").set_index("claim")["value"]
    return float(claims[what])


def stalls(*ilps: int, arch: str) -> Table | Card:
    """The multiply-adds of one round of the loop, and for how many cycles the warp then pauses.

    ilps: numbers of chains. Where the compiler is missing a sentence takes the table's place.
    """
    rows = []
    for ilp in ilps:
        try:
            seen = xray(arithmetic.build(ilp), CHAINS, arch)
        except CourseError as error:
            return Card("ask", (_SENTENCE.format(error),))
        rows += [
            (
                _kept(f"{ilp} chain{'s' * (ilp != 1)}"),
                _kept(f"{one.name} {one.operands[0]}"),
                one.control.stall,
            )
            for one in one_round(seen.hot.body, ilp)
        ]
    head = ("", "instruction and its result", "cycles until the next one")
    return table(f"One round of all chains of a thread, compiled for {arch}", head, rows)


def _kept(words: str) -> str:
    """Words that stay on one row."""
    return words.replace(" ", "\u00a0")


def one_round(body: Sequence, ilp: int) -> list:
    """The last multiply-adds of a loop but those before its jump: one of each chain."""
    multiply_adds = [one for one in body if one.name == "FFMA"]
    return multiply_adds[-2 * ilp : -ilp]


def threads_then_and_now(frame: pd.DataFrame, enough: float = 0.9) -> Table:
    """For each ILP the threads of an SM that a GTX480 needed, and those that are needed here."""
    published = records.published("latency_hiding").query("experiment == 'arithmetic'")
    rows = []
    for row in published.itertuples():
        then, now = int(row.threads_per_sm_for_peak), curves.fewest_threads(frame, row.ilp, enough)
        rows.append((_kept(f"ILP {row.ilp}"), then, row.ilp * then, now, row.ilp * now))
    head = ("", "threads, GTX 480", "under way", "threads, here", "under way")
    caption = "Threads per SM for full speed"
    note = f"GTX 480, published: its peak. Here, {curves.where(frame)}: {enough:.0%} of the peak."
    return table(caption, head, rows, note)


def copies_at(frame: pd.DataFrame, threads: int, *curves_shown: str) -> Table:
    """Recorded copies with so many threads per SM: rate, share, and cycles from load to load."""
    rows = []
    for what in curves_shown:
        (_, point), *_ = frame[
            frame["what"].eq(what) & frame["threads_per_sm"].eq(threads)
        ].iterrows()
        rows.append(
            (
                _kept(what),
                _kept(f"{point['value']:,.0f} GB/s"),
                f"{point['share']:.0%}",
                number(curves.turn_cycles(frame, what, threads)),
            )
        )
    head = ("under way in a thread", "rate", "of the data sheet", "cycles from load to load")
    return table(f"Copies with {threads} threads per SM, {curves.where(frame)}", head, rows)


def order_of_moves(arch: str, **kernels) -> Table | Card:
    """Loads and stores of copies (x, out) in the order of the machine code.

    kernels: by the name that the reader sees, with _ for spaces. Where the compiler is missing a
    sentence takes the table's place.
    """
    rows = []
    for name, kernel in kernels.items():
        try:
            seen = xray(kernel, COPY, arch)
        except CourseError as error:
            return Card("ask", (_SENTENCE.format(error),))
        order = "".join({"LDG": "L", "STG": "S"}.get(one.name, "") for one in seen.code)
        rows.append((_kept(name.replace("_", " ")), order, seen.loads_before_use, seen.registers))
    head = ("", "loads (L) and stores (S)", "loads before the first use", "registers")
    return table(f"In the machine code, compiled for {arch}", head, rows)
