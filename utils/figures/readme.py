"""Write the results in README.md from the records: ``python -m utils.figures.readme``.

It also writes data/results.md, which has all results, and the README of the virtual GPU.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import pandas as pd

from utils.figures import plots, results_page, three_machines, traced_kernel, virtual_gpu_readme
from utils.figures.results_page import COLUMNS, FIGURES, GROUNDS, ON_CPU, ON_GPU, figures
from utils.ladder.shapes import ReduceShape
from utils.machine import devices
from utils.machine.devices import REFERENCE, slug
from utils.measuring import as_called, records
from utils.paths import MEASURED, ROOT

README = ROOT / "README.md"
STAIRCASE = "gemm_staircase"
# The steps of the short table: on the GPU, and on one thread of a CPU.
GPU_STEPS = ("naive", "tiled", "register_blocked", "vectorized", "prefetch", "autotuned", "reduce9")
ON_ONE_THREAD = "micro_kernel_avx512"
CUBES = (64, 128, 256, 512, 1024, 2048)  # sizes of the square products on the CPU that are listed


def traced() -> str:
    """Return HTML that shows the picture of a traced kernel, with its alt text.

    The HTML loads SVG files, one for light and one for dark pages.
    """
    folder = FIGURES.relative_to(README.parent).as_posix()
    return results_page.picture_of(
        folder, traced_kernel.NAME, traced_kernel.alt_text(), traced_kernel.WIDTH
    )


def staircase() -> str:
    """Return HTML that shows the staircase of the GPU's ladder of products, with its alt text.

    The HTML loads SVG files, one for light and one for dark pages.
    """
    folder = FIGURES.relative_to(README.parent).as_posix()
    return results_page.picture(folder, STAIRCASE, figures()[STAIRCASE])


def short_results(device: str = REFERENCE) -> str:
    """Return Markdown: a table of the records of `GPU_STEPS` on a device, each at one large size.

    A paragraph on the conditions is above the table. The last rows are of the step
    `ON_ONE_THREAD`, one per recorded CPU.
    """
    rows = [pair for pair in results_page.rows_at(device, ON_GPU) if pair[0].step in GPU_STEPS]
    sheet = devices.find(device)
    recorded = (
        f"Recorded on one {device}, {max(row.date for row, _ in rows)}, strict float32, each step "
        "with its best constants, interleaved with the library. The peak is the data sheet's "
        f"{sheet.peak_gflops / 1e3:.1f} TFLOP/s or {sheet.peak_gb_per_s / 1e3:.1f} TB/s. The last "
        "rows were recorded on another day: one thread of a CPU, whose peak is not known, against "
        "one thread of the library:"
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
    """Return Markdown: the times of our functions as called from Python, compared with libraries.

    It is a line on the conditions, a table of the calls on the GPU with one or two rows per
    function, and a sentence per CPU with recorded calls.
    """
    rows = as_called.read(as_called.file_of(device))
    lines = [
        _call(kind, as_called.summary(own))
        for function, function_rows in as_called.by_function(rows)
        for kind, own in _by_layout(function, function_rows)
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


def _by_layout(
    function: str, rows: Sequence[as_called.CallRow]
) -> Iterator[tuple[str, list[as_called.CallRow]]]:
    """Yield (name shown, rows) once or twice for a function.

    The first rows are those whose inputs are all stored row by row; the second, if there are any,
    have other layouts. Libraries are made for the first kind, so one mean of all would flatter
    ours.
    """
    plain = [row for row in rows if set(row.layout.split(", ")) == {"rows"}]
    others = [row for row in rows if row not in plain]
    yield (f"`{function}`, both inputs in rows" if others else f"`{function}`"), plain
    if others:
        yield f"`{function}`, other layouts", others


def _call_on_cpu(processor: str, rows: Sequence[as_called.CallRow]) -> str:
    """Return a sentence that compares `matmul` with NumPy, each on one thread of a CPU.

    processor: the CPU's name. rows: its recorded calls. The ratios are NumPy's time over ours: the
    mean, those at the sizes of `CUBES`, and the worst.
    """
    summary = as_called.summary(rows)
    cubes = ", ".join(
        f"{row.ratio:.2f} at {row.m}³" for row in rows if row.m == row.n == row.k and row.m in CUBES
    )
    return (
        f"`matmul` on one thread of an {processor}, beside one thread of NumPy, over "
        f"{summary.rows} shapes: the same ratio is {summary.geometric_mean:.2f} in the mean, "
        f"{cubes}; worst {summary.worst.ratio:.2f} at {summary.worst.size}, "
        f"{summary.behind} slower than NumPy."
    )


def _call(kind: str, summary: as_called.CallSummary) -> str:
    """Return a Markdown row for one kind of call.

    The cells are: kind, number of shapes, geometric mean of the ratios, worst ratio with its size,
    number of slower calls, and the time in microseconds that Python takes per call. kind: the words
    of the first cell. A ratio is the library's time over ours.
    """
    worst = summary.worst
    size = ReduceShape(worst.elements) if worst.elements else worst.size
    return (
        f"| {kind} | {summary.rows} | {summary.geometric_mean:.2f} "
        f"| {worst.ratio:.2f} at {size} | {summary.behind} | {summary.host_us:.0f} µs |"
    )


def trust(device: str = REFERENCE) -> str:
    """Return a paragraph that compares the course's tools with a device's profiler and driver.

    The counts come from the device's files in `data/measured`.
    """
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
        f"The hardware profiler made {len(counters)} counts of requests, sectors, wavefronts and "
        f"active lanes in {counters['launch'].nunique()} launches. The virtual GPU's counts are "
        f"equal in {exact} of them; `counters.csv` gives the reason for each of the other "
        f"{len(counters) - exact}. The virtual GPU reports all of {len(broken)} broken kernels, of "
        f"which compute-sanitizer reports {int(broken['reported'].sum())}, and none of "
        f"{len(correct)} correct ones (`sanitizer.csv`). The occupancy calculator gives all "
        f"{len(answers)} answers that the driver gave (`occupancy.csv`). `gpu_xray` agrees with "
        f"the driver in {equal} of {len(resources)} figures of {resources['kernel'].nunique()} "
        "kernels: registers, shared, local and constant memory, and the most threads per block "
        "(`resources.csv`)."
    )


SECTIONS = {
    "traced kernel": traced, "staircase": staircase, "short results": short_results,
    "calls": calls, "trust": trust,
}  # fmt: skip
PAGES = (
    (README, SECTIONS),
    (results_page.PAGE, results_page.SECTIONS),
    (virtual_gpu_readme.README, virtual_gpu_readme.SECTIONS),
)


def with_results(text: str, sections: Mapping[str, Callable[[], str]] = SECTIONS) -> str:
    """Return a page's text in which the content of each section is replaced by new content.

    A section is between ``<!-- name: … -->`` and ``<!-- end -->``. If the text lacks a section, its
    content is appended at the end. sections: name -> function that returns the content.
    """
    for name, make in sections.items():
        parts = re.split(rf"(<!-- {name}: [^>]*-->\n).*?(\n<!-- end -->)", text, flags=re.S)
        text = make().join(["".join(parts[:2]), "".join(parts[2:])])
    return text


def main() -> None:
    """Write the sections of all pages, and the SVG files of the figures."""
    for page, sections in PAGES:
        page.write_text(with_results(page.read_text(encoding="utf-8"), sections), encoding="utf-8")
    FIGURES.mkdir(exist_ok=True)
    for name, figure in figures().items():
        for ground in GROUNDS:
            plots.save(figure, FIGURES / f"{name}_{ground}.svg", ground)
    for ground in GROUNDS:
        file = FIGURES / f"{traced_kernel.NAME}_{ground}.svg"
        file.write_text(traced_kernel.svg_text(ground), encoding="utf-8")
    file = FIGURES / f"{three_machines.NAME}.svg"
    file.write_text(three_machines.svg_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
