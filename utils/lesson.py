"""What a lesson shows besides plots: where it runs, what a step changes, a device's peaks."""

from __future__ import annotations

import html
import inspect
import sys
import textwrap
from collections.abc import Iterable, Mapping
from types import ModuleType

import pandas as pd
from IPython.display import HTML

from utils import devices, records
from utils.devices import Device
from utils.edits import difference, source_of
from utils.errors import CourseError
from utils.steps import Step
from utils.xray import xray
from utils.xray.words import mix

_STYLE = """<style>
.lesson-code {font-family: monospace; font-size: 12px; white-space: pre; overflow-x: auto;
 border: 1px solid rgba(128,128,128,.4); border-radius: 6px; padding: 6px 0; line-height: 1.45}
.lesson-code div {padding: 0 10px}
.lesson-code .added {background: rgba(0,114,178,.18); border-left: 4px solid #0072b2}
.lesson-code .removed {background: rgba(213,94,0,.16); border-left: 4px solid #d55e00}
.lesson-code .skipped {opacity: .6}
</style>"""
_KINDS = {"+": "added", "-": "removed", "@": "skipped"}


def this_device() -> str:
    """One sentence: the GPU that runs the kernels here, or that the virtual GPU does."""
    device = devices.current()
    if device is None:
        return devices.why_no_device()
    capability = ".".join(map(str, device.compute_capability))
    return f"Kernels run on {device.name} (compute capability {capability}, {device.sms} SMs)."


def device_shown(default: str = "NVIDIA H200") -> Device:
    """The device whose records a lesson draws: the one at hand if it has any, else ``default``."""
    device = devices.current()
    recorded = records.recorded_devices("gemm")
    return device if device and device.name in recorded else devices.find(default)


def module_of(step: Step) -> ModuleType:
    """The file in which a step is written."""
    return sys.modules[step.build.__module__]


def kernel_difference(old: Step, new: Step) -> list[str]:
    """The lines of a diff between the kernels of two steps, each with + or - or a space before."""
    return difference(_kernel_source(old), _kernel_source(new), context=99)


def show_change(old: Step, new: Step) -> HTML:
    """The difference between the kernels of two steps: what the lesson is about."""
    return _block(kernel_difference(old, new))


def show_difference(before: ModuleType, after: ModuleType) -> HTML:
    """The difference between two kernel files, one of them edited."""
    return _block(difference(source_of(before), source_of(after), context=2))


def show_source(step: Step) -> HTML:
    """The whole file of a step."""
    return _block(source_of(module_of(step)).rstrip().splitlines(), marked=False)


def _kernel_source(step: Step) -> str:
    """The text of a step's kernel at the left margin, without empty lines: they match anywhere."""
    text = textwrap.dedent(inspect.getsource(step.build(**step.constants()).py_func))
    return "\n".join(line for line in text.splitlines() if line.strip())


def _block(lines: Iterable[str], marked: bool = True) -> HTML:
    lines = list(lines)
    if marked and lines[:1] and lines[0].startswith("@@"):
        lines = lines[1:]  # where the first part stands is of no interest
    rows = [f'<div class="{_kind(line) if marked else ""}">{_text(line)}</div>' for line in lines]
    return HTML(f'{_STYLE}<div class="lesson-code">{"".join(rows)}</div>')


def _kind(line: str) -> str:
    return _KINDS.get(line[:1], "")


def _text(line: str) -> str:
    return html.escape("⋯" if line.startswith("@@") else line) or "&nbsp;"


def peaks(device: Device) -> pd.DataFrame:
    """The peaks of a device, three ways, in GFLOP/s and GB/s.

    The data sheet's; SMs × lanes × 2 × the clock seen while the FMA loop ran (the boost clock
    where nothing was recorded); and what the FMA loop and the copy reached in the record.
    """
    ceilings = _ceilings(device)
    clock = ceilings.get("sm_clock_mhz") or device.boost_clock_mhz
    rows = {
        "data sheet": (device.fp32_gflops, device.memory_gb_per_s),
        f"{device.sms} SMs × {device.fp32_lanes_per_sm} lanes × 2 × {clock:.0f} MHz": (
            device.computed_gflops(clock),
            None,
        ),
        "measured: fma_loop, copy": (ceilings.get("fma_loop"), ceilings.get("copy")),
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=["GFLOP/s", "GB/s"])


def ledger(
    predictions: Mapping[str, tuple[str | None, float | None]], truth: pd.DataFrame
) -> pd.DataFrame:
    """A student's predictions beside what is known; a step with an empty one stays hidden.

    predictions: step -> (what limits it, GFLOP/s). truth: indexed by step, with columns limit and
    gflops. One row per prediction: yours and the truth side by side, and how far the rate is off,
    as a fraction. CourseError for a step, a limit or a rate that cannot be.
    """
    limits = sorted(truth["limit"].unique(), key=str.lower)
    rows = {}
    for step, (limit, gflops) in predictions.items():
        if step not in truth.index:
            raise CourseError(f"No step is called '{step}': choose one of {', '.join(truth.index)}.")
        rows[step] = {"you: limit": limit, "you: GFLOP/s": gflops}
        if limit is None or gflops is None:
            continue
        if limit not in limits:
            raise CourseError(f"'{limit}' limits no step: choose one of {', '.join(limits)}.")
        if not gflops > 0:
            raise CourseError(f"{step} at {gflops} GFLOP/s never ends: predict a rate above 0.")
        known = truth.loc[step]
        rows[step] |= {
            "limit": known["limit"],
            "GFLOP/s": known["gflops"],
            "right limit": "yes" if limit == known["limit"] else "no",
            "off by": gflops / known["gflops"] - 1,
        }
    columns = ["you: limit", "limit", "right limit", "you: GFLOP/s", "GFLOP/s", "off by"]
    return pd.DataFrame.from_dict(rows, orient="index").reindex(columns=columns)


def _ceilings(device: Device) -> dict[str, float]:
    """The best recorded rates of the FMA loop and the copy, and the clock; {} without a record."""
    if device.name not in records.recorded_devices("latency"):
        return {}
    frame = records.measured(device.name, "latency")
    best = frame.groupby("step")[["gflops", "gb_per_s", "sm_clock_mhz"]].max()
    found = {
        "fma_loop": best["gflops"].get("fma_loop"),
        "copy": best["gb_per_s"].get("copy"),
        "sm_clock_mhz": best["sm_clock_mhz"].get("fma_loop"),
    }
    return {name: value for name, value in found.items() if not pd.isna(value)}


def instructions(signature, **kernels) -> pd.DataFrame | None:
    """What the assembler made of several kernels of one signature, in plain words, for sm_90.

    Where the compiler is not installed a sentence says so, and the lesson goes on.
    """
    try:
        seen = {name: xray(kernel, signature) for name, kernel in kernels.items()}
    except CourseError as error:
        print(error)
        return None
    table = pd.DataFrame({name: mix(one.code) for name, one in seen.items()})
    return table.fillna(0).astype(int)
