"""The comparison of two steps of a ladder: source code, machine code, occupancy and speed."""

from __future__ import annotations

import contextlib
import html
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure

from gpu_xray import XRay, xray
from gpu_xray.compile import capability_of
from gpu_xray.opcodes import mix
from gpu_xray.widths import SHARED_LOADS, loaded_bytes
from utils.errors import CourseError
from utils.figures import plots
from utils.ladder.explain import count_step
from utils.ladder.ladder import Ladder, ladder_of
from utils.ladder.step import Step, Variant
from utils.ladder.tasks import Shape
from utils.lessons import code, lesson
from utils.lessons.counting import as_step
from utils.machine.devices import Device
from utils.machine.occupancy import WARP, occupancy
from utils.measuring import records
from virtual_gpu import VirtualGpuError

_STYLE = """<style>
.step-change {border-collapse: collapse; margin: .6em 0; font-size: 13px}
.step-change caption {text-align: left; font-weight: bold; padding: 4px 0}
.step-change th, .step-change td {padding: 2px 14px 2px 0; text-align: right; border: none;
 background: transparent; color: inherit}
.step-change th:first-child, .step-change td:first-child {text-align: left !important}
.step-change thead th {border-bottom: 1px solid currentColor}
.step-change tr.mix td:first-child {padding-left: 1.2em; opacity: .85}
</style>"""


_NOTHING = "–"
_MIX_TITLE = "instructions of the hot loop per multiply-add"


@dataclass(frozen=True)
class StepChange:
    """The comparison of two steps. A notebook shows the diff, the table and the two curves.

    old, new: the steps with their default constants. arch: the architecture compiled for; None for
    steps on the CPU. lines: the diff of the kernels. figures: one row per figure, with the columns
    `old` and `new`. mix: instructions of the hot loop per multiply-add, by what they do, with the
    same columns. curves: the figure of both speeds by size, or None. notes: sentences that say what
    is missing and why.
    """

    old: Variant
    new: Variant
    arch: str | None
    lines: tuple[str, ...]
    figures: pd.DataFrame
    mix: pd.DataFrame
    curves: Figure | None
    notes: tuple[str, ...]

    @property
    def title(self) -> str:
        """Both steps with their constants, and the architecture, such as "…, compiled for sm_90".

        Steps on the CPU have no architecture.
        """
        return f"{self.old} → {self.new}" + (f", compiled for {self.arch}" if self.arch else "")

    def __str__(self) -> str:
        parts = ["\n".join(self.lines), self.title]
        parts += [self.figures.to_string()] if not self.figures.empty else []
        parts += [f"{_MIX_TITLE}\n{self.mix.to_string()}"] if not self.mix.empty else []
        parts += [self.curves.alt_text] if self.curves else []
        return "\n\n".join([*parts, *self.notes])

    def _repr_html_(self) -> str:
        rows = [_html_row(row) for row in self.figures.itertuples()]
        if not self.mix.empty:
            rows.append(f'<tr><td colspan="3">{_MIX_TITLE}</td></tr>')
            rows += [_html_row(row, "mix") for row in self.mix.itertuples()]
        head = f"<th></th><th>{self.old.step.name}</th><th>{self.new.step.name}</th>"
        table = (
            f'<table class="step-change"><caption>{html.escape(self.title)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        )
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        curves = plots.as_html(self.curves) if self.curves else ""
        diff = code.show_change(self.old.step, self.new.step).data
        return f"{diff}{_STYLE}{table if rows else ''}{notes}{curves}"


def show_step(old: Step | Variant, new: Step | Variant) -> StepChange:
    """Return the comparison of two steps of one ladder, each with its default constants.

    Curves come from the records of this device, or else of the reference device. Parts that cannot
    be made, such as machine code without a compiler, are empty, and a note says why.
    """
    old, new = as_step(old), as_step(new)
    ladder, variants = ladder_of(new), [step.variant() for step in (old, new)]
    device = lesson.device_shown()
    arch = device.arch if ladder.on_gpu else None
    figures, mixes, figure, notes = pd.DataFrame(), pd.DataFrame(), None, []
    if arch:
        with _noting(notes):
            xrays = [xray(variant.kernel, variant.step.signature, arch) for variant in variants]
            figures = _table(variants, xrays)
            mixes = _mixes(*xrays)
    with _noting(notes):
        figure = curves(ladder, device, old.name, new.name)
    lines = tuple(code.kernel_difference(old, new)[1:])
    return StepChange(*variants, arch, lines, figures, mixes, figure, tuple(notes))


@contextlib.contextmanager
def _noting(notes: list[str]) -> Iterator[None]:
    """Append the message of a CourseError or VirtualGpuError in the block to `notes`, and go on."""
    try:
        yield
    except (CourseError, VirtualGpuError) as error:
        notes.append(str(error))


def _table(variants: list[Variant], xrays: list[XRay]) -> pd.DataFrame:
    """Return the table of figures, with the columns `old` and `new` and one row per figure.

    Rows that are empty for both steps are left out.
    """
    columns = [_figures(*pair) for pair in zip(variants, xrays, strict=True)]
    table = pd.DataFrame(columns, index=["old", "new"]).T.fillna(_NOTHING)
    return table[(table != _NOTHING).any(axis=1)]


def _figures(variant: Variant, compiled: XRay) -> dict[str, str]:
    """Return one column of the table: name of a figure -> text, for the ladder's first size.

    The figures are threads, registers, spills and shared memory, occupancy, loads, counts of
    memory, and the multiply-adds or the products on tensor cores in the hot loop.
    """
    ladder = ladder_of(variant.step)
    shape = ladder.parse(ladder.sizes[0])
    launch = variant.launch(shape)
    shared_bytes = compiled.shared_bytes + launch.shared_bytes
    return {
        "threads per block": f"{launch.threads:,}",
        "registers per thread": str(compiled.registers),
        "spilled bytes per thread": str(compiled.spill_bytes),
        "shared memory per block": f"{shared_bytes:,} bytes",
        "occupancy": _occupancy(compiled, launch.threads, shared_bytes),
        "loads": ", ".join(f"{count} {name}" for name, count in compiled.loads.items()) or "none",
        **_counted(variant, shape, compiled),
        "multiply-adds in the hot loop": _share(compiled),
        "products on tensor cores in the hot loop": _tensor_share(compiled),
    }


def _occupancy(compiled: XRay, threads: int, shared_bytes: int) -> str:
    """Return text such as "50%, limited by registers": the occupancy and what limits it."""
    resident = occupancy(capability_of(compiled.arch), threads, compiled.registers, shared_bytes)
    return f"{resident.fraction:.0%}, limited by {' and '.join(resident.limit)}"


def _counted(variant: Variant, shape: Shape, compiled: XRay) -> dict[str, str]:
    """Return name -> text of memory counts per multiply-add, or per element of a sum or a copy.

    The dict is empty if the kernel is neither a product nor a task that moves data through DRAM.
    """
    work = variant.step.task.work(shape)
    if work.tensor:
        return _on_tensor_cores(count_step(variant, shape, blocks=1).totals)
    if compiled.hot and compiled.hot.ffma:
        return _per_multiply_add(count_step(variant, shape, blocks=1).totals, compiled)
    if work.bytes and not work.cached:
        elements = shape.elements / variant.launch(shape).blocks
        return _per_element(count_step(variant, shape, blocks=1).totals, elements)
    return {}


def _per_multiply_add(totals: pd.Series, compiled: XRay) -> dict[str, str]:
    """Return name -> text of memory counts per multiply-add.

    Bytes from shared memory are those of the hot loop's machine code. Wavefronts are counted on the
    virtual GPU, from the source code. totals: the counts of the virtual GPU.
    """
    multiply_adds = totals["float32_ops"] / 2
    from_shared = loaded_bytes(compiled.hot.body, SHARED_LOADS) / compiled.hot.ffma
    wavefronts = totals["shared_load_wavefronts"] / (multiply_adds / WARP)
    return {
        "bytes from global memory per multiply-add": (
            f"{totals['global_load_bytes'] / multiply_adds:.3g}"
        ),
        "bytes from shared memory per multiply-add": f"{from_shared:.3g}",
        "shared-memory wavefronts per multiply-add of a warp": f"{wavefronts:.3g}",
    }


def _on_tensor_cores(totals: pd.Series) -> dict[str, str]:
    """Return name -> text of memory counts per multiply-add of tensor cores, and per ldmatrix.

    totals: the counts of the virtual GPU.
    """
    from_global = totals["global_load_bytes"] / (totals["tensor_ops"] / 2)
    loads = totals["ldmatrix"]
    wavefronts = f"{totals['shared_load_wavefronts'] / loads:.3g}" if loads else _NOTHING
    return {
        "bytes from global memory per multiply-add": f"{from_global:.3g}",
        "shared-memory wavefronts per ldmatrix": wavefronts,
    }


def _per_element(totals: pd.Series, elements: float) -> dict[str, str]:
    """Return name -> text of memory counts per element, and of active lanes per instruction.

    The latter are an average, such as "24 of 32". Each wavefront of a shared-memory request after
    its first counts as a bank conflict. totals: the counts of the virtual GPU.
    """
    requests, wavefronts = (
        totals[f"shared_load_{what}"] + totals[f"shared_store_{what}"]
        for what in ("requests", "wavefronts")
    )
    sectors = totals["global_load_sectors"] + totals["global_store_sectors"]
    per_element = {
        "bytes from global memory per element": totals["global_load_bytes"],
        "sectors per element": sectors,
        "shared-memory wavefronts per element": wavefronts,
        "bank conflicts per element": wavefronts - requests,
        "barriers of a warp per element": totals["barriers"],
    }
    return {
        **{name: f"{count / elements:.3g}" for name, count in per_element.items()},
        "active lanes per memory instruction": f"{totals['lanes'] / totals['warps']:.3g} of {WARP}",
    }


def _tensor_share(compiled: XRay) -> str:
    """Return text such as "8 of 60": the products on tensor cores in the hot loop, "–" if none.

    The second number is that of all instructions of the loop.
    """
    if not (compiled.hot and compiled.hot.tensor):
        return _NOTHING
    return f"{compiled.hot.tensor} of {len(compiled.hot.body)}"


def _share(compiled: XRay) -> str:
    """Return text such as "64 of 80: at most 80.0% of the peak"; "–" without multiply-adds.

    The numbers are those of the multiply-adds and of all instructions in the hot loop.
    """
    if not (compiled.hot and compiled.hot.ffma):
        return _NOTHING
    loop = compiled.hot
    return f"{loop.ffma} of {len(loop.body)}: at most {compiled.bound:.1%} of the peak"


def _mixes(old: XRay, new: XRay) -> pd.DataFrame:
    """Return the instructions of both hot loops per multiply-add, as text, one row per group.

    The columns are `old` and `new`. The table is empty if a hot loop has no multiply-adds.
    """
    if not all(compiled.hot and compiled.hot.ffma for compiled in (old, new)):
        return pd.DataFrame()
    per_ffma = {
        name: pd.Series(mix(compiled.hot.body)) / compiled.hot.ffma
        for name, compiled in (("old", old), ("new", new))
    }
    groups = list(mix([*old.hot.body, *new.hot.body]))
    return pd.DataFrame(per_ffma, index=groups).fillna(0).map("{:.2f}".format)


def curves(ladder: Ladder, device: Device, old: str, new: str) -> Figure:
    """Return a figure of the recorded speed of both steps by size, `old` against `new`.

    old, new: names of steps. Raises CourseError if the records lack a step, or if the two are
    measured in different units.
    """
    names = records.recorded_devices(ladder.name)
    if device.name not in names:
        raise CourseError(f"The {ladder.name} ladder was not recorded on {device.name} yet.")
    frame = records.measured(device.name, ladder.name)
    missing = [name for name in (old, new) if name not in set(frame["step"])]
    if missing:
        raise CourseError(
            f"There is no record of {' and '.join(missing)} on {device.name} yet, so there are no "
            "curves: `--record` on the ladder's command line makes one."
        )
    both = frame[frame["step"].isin([old, new])]
    for unit, peak in (("gflops", device.peak_gflops), ("gb_per_s", device.peak_gb_per_s)):
        if both[unit].notna().all():
            frame = _comparable(frame.dropna(subset=[unit]))
            return plots.old_against_new(frame, old, new, peak, unit)
    raise CourseError(f"{old} and {new} are measured in different units, so no figure has both.")


def _comparable(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows whose size is one number: products with m = n = k, and other tasks."""
    cubes = frame["m"].eq(frame["n"]) & frame["n"].eq(frame["k"])
    return frame[cubes | frame["m"].isna()]


def _html_row(row, css_class: str = "") -> str:
    """Return a table row of HTML with a cell per item of `row`, a row of a data frame.

    css_class: the class of the row, "" for none.
    """
    cells = "".join(f"<td>{html.escape(str(value))}</td>" for value in row)
    return f'<tr class="{css_class}">{cells}</tr>'
