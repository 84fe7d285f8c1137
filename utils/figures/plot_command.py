"""The sub-command `plot`, which draws the records of a ladder into PNG files."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

from utils.figures import plots
from utils.ladder.ladder import Ladder
from utils.machine import devices
from utils.measuring import records
from utils.measuring.command_line import Command
from utils.measuring.measure_command import add_device, add_steps


def plot_command(ladder: Ladder) -> Command:
    """Return the sub-command `plot`, which draws a ladder's records into PNG files.

    Its argument is the folder of the files. Its options are --steps and, for a ladder on the GPU,
    --device. It prints the path and the alt text of each file.
    """

    def configure(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the files go")
        add_steps(parser, ladder)
        if ladder.on_gpu:
            add_device(parser)

    return Command(
        "plot", "measure nothing: draw what is recorded, as PNG files", configure,
        partial(_plot, ladder),
    )  # fmt: skip


def _plot(ladder: Ladder, options: argparse.Namespace) -> int:
    """Draw the records of the chosen steps and device into files; return the exit code 0.

    Raises CourseError for an unknown device, if the ladder has no records on the device, and in the
    same cases as `plots.figures_of`.
    """
    device = devices.find(options.device).name if ladder.on_gpu else devices.cpu_name()
    frame = records.measured(device, ladder.name)
    figures = plots.figures_of(frame[frame["step"].isin(options.steps)], ladder.title)
    write(figures, options.folder, ladder.name)
    return 0


def write(figures: dict[str, Figure], folder: Path, prefix: str) -> None:
    """Save each figure as FOLDER/PREFIX_NAME.png, and print its path and its alt text.

    figures: NAME -> figure. The folder is created if it is missing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, figure in figures.items():
        path = folder / f"{prefix}_{name}.png"
        plots.save(figure, path)
        print(f"{path}: {figure.alt_text}")
