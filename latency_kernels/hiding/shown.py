"""Tables of lesson 09: Little's law in numbers, and copies in machine code.

`frame` holds recorded curves, and `device` is the device that they are of; see `curves`.
"""

from __future__ import annotations

import pandas as pd
from numba import float32, int64, void

from gpu_xray import xray
from latency_kernels.hiding import curves
from utils.errors import CourseError
from utils.figures.look import number
from utils.ladder.step import Variant
from utils.lessons.cards import Card, Table, table
from utils.machine.devices import Device

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
    """Return the texts of latency, rate and their product, without units, for a part of a rate.

    The latency is in cycles, the rate per cycle. `row` is a row of `littles_law`, and `part` is the
    factor of its rate.
    """
    return number(row["latency"]), number(part * row["per_cycle"]), number(part * row["under_way"])


def _kept(words: str) -> str:
    """Return the text with non-breaking spaces, so that it stays on one line."""
    return words.replace(" ", "\u00a0")


def order_of_moves(arch: str, **kernels) -> Table | Card:
    """Return the table of the loads and stores of copies, in the order of the machine code.

    `kernels` maps the name that the reader sees, with _ for spaces, to a copy (x, out), which is a
    kernel or a variant of a step. A row shows the loads (L) and stores (S) as text such as "LLSS",
    the most loads that a thread issues before it needs one of their values, and the registers per
    thread. If the compiler is missing or refuses a kernel, a card with a sentence that says so is
    returned instead.
    """
    rows = []
    for name, kernel in kernels.items():
        try:
            report = xray(kernel.kernel if isinstance(kernel, Variant) else kernel, COPY, arch)
        except CourseError as error:
            return Card("ask", (_SENTENCE.format(error),))
        moves = "".join({"LDG": "L", "STG": "S"}.get(each.name, "") for each in report.code)
        shown = _kept(name.replace("_", " "))
        rows.append((shown, moves, report.loads_before_use, report.registers))
    head = ("kernel", "loads (L) and stores (S)", "loads before the first use", "registers")
    return table(f"In the machine code, compiled for {arch}", head, rows)
