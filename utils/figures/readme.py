"""Writes what README.md says and shows of results: ``python -m utils.figures.readme``.

data/results.md, with all of them, and the README of the virtual GPU are written, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from utils.figures import plots, results_page, virtual_gpu_readme
from utils.figures.results_page import COLUMNS, FIGURES, GROUNDS, ON_CPU, ON_GPU, figures
from utils.ladder.shapes import ReduceShape
from utils.machine import devices
from utils.machine.devices import REFERENCE, slug
from utils.measuring import as_called, records
from utils.paths import MEASURED, ROOT

README = ROOT / "README.md"
STAIRCASE = "gemm_staircase"
# What the short table shows: six rungs of the product, the last reduction, and one thread of a CPU.
RUNGS = ("naive", "tiled", "register_blocked", "vectorized", "prefetch", "autotuned", "reduce9")
ON_ONE_THREAD = "micro_kernel_avx512"
CUBES = (64, 128, 256, 512, 1024, 2048)  # of what is called on the CPU


def staircase() -> str:
    """HTML: the ladder of the product, and what is to be seen as words."""
    folder = FIGURES.relative_to(README.parent).as_posix()
    return results_page.picture(folder, STAIRCASE, figures()[STAIRCASE])


def short_results(device: str = REFERENCE) -> str:
    """Markdown: RUNGS at a large size on a GPU, and one thread of each recorded CPU."""
    rows = [pair for pair in results_page.rows_at(device, ON_GPU) if pair[0].step in RUNGS]
    sheet = devices.find(device)
    recorded = (
        f"Recorded on one {device}, {max(row.date for row, _ in rows)}, strict float32, each step "
        "with its best constants, timed in turns with the library. Of peak: of the data sheet's "
        f"{sheet.peak_gflops / 1e3:.1f} TFLOP/s and {sheet.peak_gb_per_s / 1e3:.1f} TB/s. The last "
        "rows are one thread of a CPU each, on another day, beside one thread of the library; "
        "their peak is not known:"
    )
    rows += [
        (row, f"{problem}, {processor}")
        for processor in records.recorded_devices("cpu")
        for row, problem in results_page.rows_at(processor, ON_CPU)
        if row.step == ON_ONE_THREAD
    ]
    lines = (results_page.line(row._replace(params=None), problem) for row, problem in rows)
    return "\n".join((recorded, "", COLUMNS, *lines))


def calls(device: str = REFERENCE) -> str:
    """Markdown: the functions as people call them, Python included, beside their libraries."""
    rows = as_called.read(as_called.file_of(device))
    lines = [
        _call(function, as_called.summary(of_function))
        for function, of_function in as_called.by_function(rows)
    ]
    head = (
        f"As called from Python on one {device}, arrays on the device; the library is the faster "
        "of PyTorch and CuPy:\n\n"
        "| call | shapes | library's time ÷ ours, mean | worst | slower than the library | "
        "Python a call |\n| --- | ---: | ---: | ---: | ---: | ---: |"
    )
    beside_numpy = [
        _call_on_cpu(processor, as_called.read(as_called.file_of(processor)))
        for processor in records.recorded_devices("cpu")
        if as_called.file_of(processor).exists()
    ]
    return "\n".join((head, *lines, "", *beside_numpy))


def _call_on_cpu(processor: str, rows: Sequence[as_called.Row]) -> str:
    found = as_called.summary(rows)
    cubes = ", ".join(
        f"{row.ratio:.2f} at {row.m}³" for row in rows if row.m == row.n == row.k and row.m in CUBES
    )
    return (
        f"`matmul` on one thread of an {processor}, beside one thread of NumPy, over {found.rows} "
        f"shapes: the same ratio is {found.geometric_mean:.2f} in the mean, {cubes}; worst "
        f"{found.worst.ratio:.2f} at {found.worst.size}, {found.behind} slower than NumPy."
    )


def _call(function: str, found: as_called.Summary) -> str:
    worst = found.worst
    size = ReduceShape(worst.elements) if worst.elements else worst.size
    return (
        f"| `{function}` | {found.rows} | {found.geometric_mean:.2f} | {worst.ratio:.2f} at {size} "
        f"| {found.behind} | {found.host_us:.0f} µs |"
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


SECTIONS = {
    "staircase": staircase, "short results": short_results, "calls": calls, "trust": trust,
}  # fmt: skip
PAGES = (
    (README, SECTIONS),
    (results_page.PAGE, results_page.SECTIONS),
    (virtual_gpu_readme.README, virtual_gpu_readme.SECTIONS),
)


def with_results(text: str, sections: Mapping[str, Callable[[], str]] = SECTIONS) -> str:
    """A page's text with its parts between ``<!-- name -->`` and ``<!-- end -->`` made anew."""
    for name, make in sections.items():
        parts = re.split(rf"(<!-- {name}: [^>]*-->\n).*?(\n<!-- end -->)", text, flags=re.S)
        text = make().join(["".join(parts[:2]), "".join(parts[2:])])
    return text


def main() -> None:
    for page, sections in PAGES:
        page.write_text(with_results(page.read_text(encoding="utf-8"), sections), encoding="utf-8")
    FIGURES.mkdir(exist_ok=True)
    for name, figure in figures().items():
        for ground in GROUNDS:
            plots.save(figure, FIGURES / f"{name}_{ground}.svg", ground)


if __name__ == "__main__":
    main()
