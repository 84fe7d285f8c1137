"""Writes what README.md says and shows of results: ``python -m utils.figures.readme``.

The README of the virtual GPU is written, too.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from utils.figures import plots, virtual_gpu_readme
from utils.ladder.shapes import GemmShape, ReduceShape
from utils.machine.devices import REFERENCE, slug
from utils.measuring import records
from utils.paths import DATA, MEASURED, ROOT

README = ROOT / "README.md"
FIGURES = DATA / "figures"
# (ladder, what is computed, which of its rows), where something is recorded.
ON_GPU = (
    ("gemm", "4096³ product", "m == 4096 and n == 4096 and k == 4096"),
    ("reduce", "sum of 2^30", f"elements == {2**30}"),
)
LAST_RUNGS = (("gemm", "autotuned", ("m", "n", "k")), ("reduce", "reduce9", ("elements",)))
# (ladder, title, the size of its staircase)
PLOTS = (("gemm", "SGEMM on the GPU", "4096"), ("reduce", "Sum of float32 on the GPU", "2³⁰"))
GROUNDS = ("light", "dark")
ON_CPU = (("cpu", "1024³ product", "m == 1024 and n == 1024 and k == 1024"),)


def results(device: str = REFERENCE) -> str:
    """Markdown: every step at a large size, with its best constants, on a GPU and on CPUs."""
    tables = [_table(device, ON_GPU, "the library")]
    tables += [
        _table(processor, ON_CPU, "one thread of the library; the parallel steps use all cores")
        for processor in records.recorded_devices("cpu")
    ]
    return "\n\n".join(tables)


def _table(device: str, problems: tuple[tuple[str, str, str], ...], rival: str) -> str:
    rows = [
        (row, problem)
        for ladder, problem, sizes in problems
        if device in records.recorded_devices(ladder)
        for row in _fastest_at(sizes, device, ladder).itertuples()
    ]
    lines = [
        f"Recorded on one {device}, {max(row.date for row, _ in rows)}, strict float32, each step "
        f"with its best constants, interleaved with {rival}:",
        "",
        "| step | problem | | of peak | of the library |",
        "| --- | --- | ---: | ---: | ---: |",
        *(_line(row, problem) for row, problem in rows),
    ]
    return "\n".join(lines)


def _fastest_at(sizes: str, device: str, ladder: str) -> pd.DataFrame:
    return records.fastest(records.measured(device, ladder).query(sizes), ("step",))


def last_rungs(device: str = REFERENCE) -> str:
    """Markdown: the last step of each ladder over its library at every size, on two devices."""
    lines = ["| step | problem | library | first | second |", "| --- | --- | --- | ---: | ---: |"]
    for ladder, step, sides in LAST_RUNGS:
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


def figures(device: str = REFERENCE) -> dict[str, Figure]:
    """The plots of the README by the names of their files: the staircases, each step by size."""
    drawn = {}
    for ladder, title, size in PLOTS:
        frame = records.measured(device, ladder)
        drawn[f"{ladder}_staircase"] = plots.staircase(frame, f"{title}: share of the peak", size)
        drawn[f"{ladder}_by_size"] = plots.small_multiples(frame, f"{title}: each step by size")
    return drawn


def pictures() -> str:
    """HTML: the plots for light and for dark pages, with what is to be seen as words."""
    return "\n\n".join(_picture(name, figure) for name, figure in figures().items())


def _picture(name: str, figure: Figure) -> str:
    folder = FIGURES.relative_to(README.parent).as_posix()
    return (
        '<picture><source media="(prefers-color-scheme: dark)" '
        f'srcset="{folder}/{name}_dark.svg">'
        f'<img src="{folder}/{name}_light.svg" width="560" alt="{html.escape(figure.alt_text)}">'
        "</picture>"
    )


def trust(device: str = REFERENCE) -> str:
    """Sentences: what of this project was compared with the tools and the driver of a device."""
    folder = MEASURED / slug(device)
    counters = pd.read_csv(folder / "counters.csv", keep_default_na=False)
    verdicts = pd.read_csv(folder / "sanitizer.csv")
    broken = verdicts[verdicts["corpus"] == "broken"]
    correct = verdicts[verdicts["corpus"] == "correct"]
    answers = pd.read_csv(folder / "occupancy.csv")
    exact = (counters["reason"] == "").sum()
    resources = pd.read_csv(folder / "resources.csv")
    equal = (resources["driver"] == resources["xray"]).sum()
    return (
        f"Of {len(counters)} counts of requests, sectors, wavefronts and active lanes that the "
        f"hardware profiler made of {counters['launch'].nunique()} launches, {exact} are equal and "
        f"{len(counters) - exact} differ for a reason that stands beside them "
        "(`counters.csv`). Of "
        f"{len(broken)} broken kernels, of which compute-sanitizer reports "
        f"{int(broken['reported'].sum())}, the virtual GPU reports all, and it accuses none of "
        f"{len(correct)} correct ones (`sanitizer.csv`). The occupancy calculator gives all "
        f"{len(answers)} answers that the driver gave (`occupancy.csv`). Registers, shared, local "
        "and constant memory and the most threads per block are what the driver says in "
        f"{equal} of {len(resources)} figures of {resources['kernel'].nunique()} kernels "
        "(`resources.csv`)."
    )


SECTIONS = {"results": results, "last rungs": last_rungs, "plots": pictures, "trust": trust}


def with_results(text: str, sections: Mapping[str, Callable[[], str]] = SECTIONS) -> str:
    """The README's text with its parts between ``<!-- name -->`` and ``<!-- end -->`` made anew."""
    for name, make in sections.items():
        parts = re.split(rf"(<!-- {name}: [^>]*-->\n).*?(\n<!-- end -->)", text, flags=re.S)
        text = make().join(["".join(parts[:2]), "".join(parts[2:])])
    return text


def _line(row, problem: str) -> str:
    name = f"`{row.step}` {'' if pd.isna(row.params) else row.params}".strip()
    rate, unit = (row.gb_per_s, "GB/s") if pd.isna(row.gflops) else (row.gflops, "GFLOP/s")
    figure = f"{rate:,.{0 if rate >= 10 else 1}f} {unit}"
    library = f"{row.library_ratio:.1%} ({row.library})"
    share = "" if pd.isna(row.efficiency) else f"{row.efficiency:.1%}"
    return f"| {name} | {problem} | {figure} | {share} | {library} |"


def main(path: Path = README) -> None:
    readmes = ((path, SECTIONS), (virtual_gpu_readme.README, virtual_gpu_readme.SECTIONS))
    for readme, sections in readmes:
        text = with_results(readme.read_text(encoding="utf-8"), sections)
        readme.write_text(text, encoding="utf-8")
    FIGURES.mkdir(exist_ok=True)
    for name, figure in figures().items():
        for ground in GROUNDS:
            plots.save(figure, FIGURES / f"{name}_{ground}.svg", ground)


if __name__ == "__main__":
    main()
