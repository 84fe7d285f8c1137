"""The sections of data/results.md, written by ``utils.figures.readme``: all steps and plots."""

from __future__ import annotations

import html
from collections.abc import Iterator
from functools import cache

import pandas as pd
from matplotlib.figure import Figure

from utils.figures import plots
from utils.figures.ratio_map import ratio_map
from utils.ladder.shapes import GemmShape, ReduceShape
from utils.machine.devices import REFERENCE
from utils.measuring import as_called, records
from utils.paths import DATA

PAGE = DATA / "results.md"
FIGURES = DATA / "figures"
# (ladder, the problem in words, the query for its rows).
ON_GPU = (
    ("gemm", "4096³ product", "m == 4096 and n == 4096 and k == 4096"),
    ("reduce", "sum of 2³⁰", f"elements == {2**30}"),
)
ON_TENSOR_CORES = (("tensor", "4096³ product", "m == 4096 and n == 4096 and k == 4096"),)
ON_CPU = (("cpu", "1024³ product", "m == 1024 and n == 1024 and k == 1024"),)
LAST_STEPS = (("gemm", "autotuned", ("m", "n", "k")), ("reduce", "reduce9", ("elements",)))
# (ladder, title, the size of its staircase)
PLOTS = (("gemm", "SGEMM on the GPU", "4096"), ("reduce", "Sum of float32 on the GPU", "2³⁰"))
GROUNDS = ("light", "dark")
COLUMNS = "| step | problem | rate | of peak | of the library |\n| --- | --- | ---: | ---: | ---: |"


def results(device: str = REFERENCE) -> str:
    """Return Markdown tables of every step at a large size, on a GPU and on each CPU.

    There are two tables of `device`, first products in float32 and sums, then products on tensor
    cores, and one table per CPU with records. A sentence on date and device is above each table.
    """
    tables = [
        _table(device, ON_GPU, "the library"),
        _table(device, ON_TENSOR_CORES, "the library", "16-bit inputs, float32 sums and results"),
    ]
    tables += [
        _table(processor, ON_CPU, "one thread of the library; the parallel steps use all cores")
        for processor in records.recorded_devices("cpu")
    ]
    return "\n\n".join(tables)


def _table(
    device: str,
    problems: tuple[tuple[str, str, str], ...],
    rival: str,
    arithmetic: str = "strict float32",
) -> str:
    """Return a Markdown table of each step's fastest record, below a sentence on date and device.

    problems: (ladder, the problem in words, the pandas query for its rows) per ladder. rival,
    arithmetic: the library's name and the kinds of numbers in the sentence.
    """
    rows = list(rows_at(device, problems))
    recorded = (
        f"Recorded on one {device}, {max(row.date for row, _ in rows)}, {arithmetic}, each step "
        f"with its best constants, interleaved with {rival}:"
    )
    return "\n".join((recorded, "", COLUMNS, *(line(row, problem) for row, problem in rows)))


def rows_at(device: str, problems: tuple[tuple[str, str, str], ...]) -> Iterator[tuple]:
    """Yield (record, problem) per step of the ladders: its fastest record at the problem's size.

    problems: (ladder, the problem in words, the pandas query for its rows) per ladder. A ladder
    without records on the device is left out. problem: the words. record: a named tuple of the row.
    """
    for ladder, problem, sizes in problems:
        if device in records.recorded_devices(ladder):
            frame = records.measured(device, ladder).query(sizes)
            for row in records.fastest(frame, ("step",)).itertuples():
                yield row, problem


def line(row, problem: str) -> str:
    """Return a record as a row of the Markdown table with the header `COLUMNS`.

    row: a row of a data frame of records. problem: its words, such as "4096³ product".
    """
    name = f"`{row.step}` {'' if pd.isna(row.params) else row.params}".strip()
    rate, unit = (row.gb_per_s, "GB/s") if pd.isna(row.gflops) else (row.gflops, "GFLOP/s")
    figure = f"{rate:,.{0 if rate >= 10 else 1}f}\u00a0{unit}"
    library = f"{row.library_ratio:.1%} ({row.library})"
    share = "" if pd.isna(row.efficiency) else f"{row.efficiency:.1%}"
    return f"| {name} | {problem} | {figure} | {share} | {library} |"


def last_steps(device: str = REFERENCE) -> str:
    """Return a Markdown table of each ladder's final step against the library, on two devices.

    Its numbers are the library's time over the step's. There is a row per shape that was recorded
    on both. The second device is one of the same kind, on which the records were repeated.
    """
    lines = ["| step | problem | library | first | second |", "| --- | --- | --- | ---: | ---: |"]
    for ladder, step, sides in LAST_STEPS:
        first, second = (
            records.fastest(read(device, ladder).query(f"step == '{step}'"), sides)
            for read in (records.measured, records.repeated)
        )
        for row in first.merge(second, on=list(sides), suffixes=("", "_second")).itertuples():
            numbers = [int(getattr(row, side)) for side in sides]
            shape = GemmShape(*numbers) if ladder == "gemm" else ReduceShape(*numbers)
            ratios = f"{row.library_ratio:.3f} | {row.library_ratio_second:.3f}"
            lines.append(f"| `{step}` | {shape} | {row.library} | {ratios} |")
    return "\n".join(lines)


@cache
def figures(device: str = REFERENCE) -> dict[str, Figure]:
    """Return file name without suffix -> figure; the result is cached.

    These are a staircase and the steps by size for each ladder of `PLOTS`, and the calls of sgemm.
    """
    named = {}
    for ladder, title, size in PLOTS:
        frame = records.measured(device, ladder)
        named[f"{ladder}_staircase"] = plots.staircase(frame, f"{title}: share of the peak", size)
        named[f"{ladder}_by_size"] = plots.small_multiples(frame, f"{title}: each step by size")
    rows = [row for row in as_called.read(as_called.file_of(device)) if row.function == "sgemm"]
    title, where = "sgemm as called: library's time ÷ ours", f"recorded on {device}"
    named["sgemm_as_called"] = ratio_map(rows, title, where)
    return named


def pictures() -> str:
    """Return HTML that shows all figures, for light and dark pages, with their alt texts."""
    return "\n\n".join(picture("figures", name, figure) for name, figure in figures().items())


def picture(folder: str, name: str, figure: Figure) -> str:
    """Return HTML of one figure, for light and dark pages, with its alt text.

    folder: the folder of the SVG files, relative to the page. name: the file name without
    "_light.svg" or "_dark.svg".
    """
    return picture_of(folder, name, figure.alt_text)


def picture_of(folder: str, name: str, alt: str, width: int = 560) -> str:
    """Return HTML of one SVG picture, for light and dark pages.

    folder: the folder of the SVG files, relative to the page. name: the file name without
    "_light.svg" or "_dark.svg". alt: the alt text. width: in pixels.
    """
    return (
        '<picture><source media="(prefers-color-scheme: dark)" '
        f'srcset="{folder}/{name}_dark.svg">'
        f'<img src="{folder}/{name}_light.svg" width="{width}" alt="{html.escape(alt)}">'
        "</picture>"
    )


SECTIONS = {"results": results, "last steps": last_steps, "plots": pictures}
