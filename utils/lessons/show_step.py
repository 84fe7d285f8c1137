"""Two steps of a ladder side by side: source code, machine code, occupancy, speed."""

from __future__ import annotations

import contextlib
import html
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure

from gpu_xray import XRay, xray
from gpu_xray.compile import capability_of
from gpu_xray.widths import SHARED_LOADS, loaded_bytes
from gpu_xray.words import mix
from utils.errors import CourseError
from utils.figures import plots
from utils.ladder.explain import count_step
from utils.ladder.ladder import Ladder, ladder_of
from utils.ladder.step import Step, Variant
from utils.ladder.tasks import Shape
from utils.lessons import code, lesson
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
    """What a new step changes. A notebook shows the diff, the table and the two curves.

    lines: the diff of the kernels. figures: one row per figure, with the columns `old` and `new`.
    mix: instructions of the hot loop per multiply-add, by what they do. notes: what is missing.
    arch: None for steps that run on the CPU.
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
        """Both steps with their constants, and the architecture they were compiled for."""
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


def show_step(old: Step, new: Step) -> StepChange:
    """What changes from one step to another of the same ladder, each with its default constants.

    Curves come from the records of the device at hand, or else of the course's own device.
    """
    ladder, variants = ladder_of(new), [step.variant() for step in (old, new)]
    device = lesson.device_shown()
    arch = device.arch if ladder.on_gpu else None
    figures, mixes, drawn, notes = pd.DataFrame(), pd.DataFrame(), None, []
    if arch:
        with _noting(notes):
            seen = [xray(one.kernel, one.step.signature, arch) for one in variants]
            figures = _table(variants, seen)
            mixes = _mixes(*seen)
    with _noting(notes):
        drawn = curves(ladder, device, old.name, new.name)
    lines = tuple(code.kernel_difference(old, new)[1:])
    return StepChange(*variants, arch, lines, figures, mixes, drawn, tuple(notes))


@contextlib.contextmanager
def _noting(notes: list[str]) -> Iterator[None]:
    """What is missing here becomes a sentence, and the rest is shown."""
    try:
        yield
    except (CourseError, VirtualGpuError) as error:
        notes.append(str(error))


def _table(variants: list[Variant], seen: list[XRay]) -> pd.DataFrame:
    """The columns `old` and `new`; a row that has nothing to say of either is left out."""
    columns = [_figures(*pair) for pair in zip(variants, seen, strict=True)]
    table = pd.DataFrame(columns, index=["old", "new"]).T.fillna(_NOTHING)
    return table[(table != _NOTHING).any(axis=1)]


def _figures(variant: Variant, seen: XRay) -> dict[str, str]:
    """One column of the table, for the smallest shape that is recorded."""
    ladder = ladder_of(variant.step)
    shape = ladder.parse(ladder.sizes[0])
    launch = variant.launch(shape)
    shared_bytes = seen.shared_bytes + launch.shared_bytes
    return {
        "threads per block": f"{launch.threads:,}",
        "registers per thread": str(seen.registers),
        "spilled bytes per thread": str(seen.spill_bytes),
        "shared memory per block": f"{shared_bytes:,} bytes",
        "occupancy": _occupancy(seen, launch.threads, shared_bytes),
        "loads": ", ".join(f"{count} {name}" for name, count in seen.loads.items()) or "none",
        **_counted(variant, shape, seen),
        "multiply-adds in the hot loop": _share(seen),
    }


def _occupancy(seen: XRay, threads: int, shared_bytes: int) -> str:
    """Warps that an SM holds at once, and what limits them."""
    resident = occupancy(capability_of(seen.arch), threads, seen.registers, shared_bytes)
    return f"{resident.fraction:.0%}, limited by {' and '.join(resident.limit)}"


def _counted(variant: Variant, shape: Shape, seen: XRay) -> dict[str, str]:
    """What memory does for one multiply-add, or for one element of a sum or a copy."""
    work = variant.step.task.work(shape)
    if seen.hot and seen.hot.ffma:
        return _per_multiply_add(count_step(variant, shape, blocks=1).totals, seen)
    if work.bytes and not work.cached:
        elements = shape.elements / variant.launch(shape).blocks
        return _per_element(count_step(variant, shape, blocks=1).totals, elements)
    return {}


def _per_multiply_add(totals: pd.Series, seen: XRay) -> dict[str, str]:
    """Shared memory in two ways: in bytes as the hot loop asks for them, and in wavefronts as the
    code does.
    """
    multiply_adds = totals["float32_ops"] / 2
    from_shared = loaded_bytes(seen.hot.body, SHARED_LOADS) / seen.hot.ffma
    wavefronts = totals["shared_load_wavefronts"] / (multiply_adds / WARP)
    return {
        "bytes from global memory per multiply-add": (
            f"{totals['global_load_bytes'] / multiply_adds:.3g}"
        ),
        "bytes from shared memory per multiply-add": f"{from_shared:.3g}",
        "shared-memory wavefronts per multiply-add of a warp": f"{wavefronts:.3g}",
    }


def _per_element(totals: pd.Series, elements: float) -> dict[str, str]:
    """A bank conflict is a wavefront that a request takes beyond its first."""
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


def _share(seen: XRay) -> str:
    if not (seen.hot and seen.hot.ffma):
        return _NOTHING
    return f"{seen.hot.ffma} of {len(seen.hot.body)}: at most {seen.bound:.1%} of the peak"


def _mixes(old: XRay, new: XRay) -> pd.DataFrame:
    """Instructions per multiply-add by group; empty where a hot loop has no multiply-adds."""
    if not all(seen.hot and seen.hot.ffma for seen in (old, new)):
        return pd.DataFrame()
    per_ffma = {
        name: pd.Series(mix(seen.hot.body)) / seen.hot.ffma
        for name, seen in (("old", old), ("new", new))
    }
    return pd.DataFrame(per_ffma, index=_in_order(old, new)).fillna(0).map("{:.2f}".format)


def _in_order(*seen: XRay) -> list[str]:
    return list(mix([one for kernel in seen for one in kernel.hot.body]))


def curves(ladder: Ladder, device: Device, old: str, new: str) -> Figure:
    """Both recorded curves; CourseError where a record lacks a step."""
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
    """Of products the cubes, so that the axis is one size; of other tasks all."""
    cubes = frame["m"].eq(frame["n"]) & frame["n"].eq(frame["k"])
    return frame[cubes | frame["m"].isna()]


def _html_row(row, kind: str = "") -> str:
    cells = "".join(f"<td>{html.escape(str(value))}</td>" for value in row)
    return f'<tr class="{kind}">{cells}</tr>'
