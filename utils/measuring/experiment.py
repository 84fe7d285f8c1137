"""Experiments beside a ladder: kernels whose timings are interleaved, with a record per device."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from utils.machine.devices import slug
from utils.measuring import rows
from utils.measuring.command_line import Command, device_for
from utils.paths import DATA


@dataclass(frozen=True)
class Experiment:
    """An experiment whose command measures kernels, prints their times, and can record them.

    name: the command's name, such as "ilp-alone"; the record is `ilp_alone.csv`. help: the
    command's description for --help. row: the dataclass of a row, with `kernel` and the fields
    named by the other arguments. size: the row's field with the size of the problem. measured: a
    function from the device's name to the rows, in the order in which they are printed. printed: a
    function from a row to True if it belongs into the printed table; by default all rows do.
    figures: pairs (head of a column of the table, the row's field with a number); by default the
    times in ms.
    """

    name: str
    help: str
    row: type
    size: str
    measured: Callable[[str], Iterator]
    printed: Callable[[object], bool] = lambda row: True
    figures: tuple[tuple[str, str], ...] = (
        ("ms", "time_ms"), ("least", "time_ms_min"), ("most", "time_ms_max")
    )  # fmt: skip

    @property
    def file(self) -> str:
        """The name of the CSV file in the folder of a device."""
        return f"{self.name.replace('-', '_')}.csv"

    def recorded(self) -> tuple:
        """Return the rows of all devices that have a record, device by device; () if none has.

        Devices are in the order of their folders' names.
        """
        files = sorted((DATA / "measured").glob(f"*/{self.file}"))
        return tuple(row for file in files for row in rows.read(file, self.row))

    def command(self) -> Command:
        """Return the experiment's command, with the option --record."""
        return Command(self.name, f"{self.help}; --record keeps the figures", _configure, self._run)

    def _run(self, options: argparse.Namespace) -> int:
        """Measure on the current GPU, print a table, and write the record with --record; return 0.

        Raises CourseError without a GPU.
        """
        device = device_for(self.name)
        timed = list(self.measured(device.name))
        table = Table("kernel", self.size, *(head for head, _ in self.figures), title=device.name)
        for row in filter(self.printed, timed):
            figures = (_shown(getattr(row, field)) for _, field in self.figures)
            table.add_row(row.kernel, f"{getattr(row, self.size):,}", *figures)
        Console(width=None if os.isatty(1) else 120).print(table)
        if options.record:
            file: Path = DATA / "measured" / slug(device.name) / self.file
            rows.write(file, timed, self.row)
            print(f"Recorded in {file.relative_to(DATA.parent)}.", file=sys.stderr)
        return 0


def _shown(figure: float | None) -> str:
    """Return a figure as text with up to four significant digits; "" for None."""
    return "" if figure is None else f"{figure:.4g}"


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--record", action="store_true", help="write the figures to data/measured")
