"""The curves of latency hiding: python -m latency_kernels curves [--record] [--plot FOLDER].

A curve is a series of measurements against the threads per SM. It is named "ILP n" for n chains of
multiply-adds per thread, and "n float", "n float2" or "n float4" for a copy with n loads in flight
per thread. A frame of curves has one row per measurement, with the columns of `Point`.
"""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from latency_kernels.hiding.experiments import WARP, measure
from utils.errors import CourseError
from utils.figures import plots
from utils.figures.plot_command import write
from utils.machine import devices
from utils.machine.devices import Device
from utils.machine.occupancy import limits_of
from utils.machine.versions import versions
from utils.measuring import records, rows
from utils.measuring.command_line import Command, device_for
from utils.measuring.measure_command import add_device

DRAWN_ILPS = (1, 2, 3, 4)
DRAWN_THREADS = (64, 128, 256)
FLOAT_BYTES = 4
# The copies that are drawn, and the occupancies in % that their figure marks.
DRAWN_COPIES = ("1 float", "4 float", "8 float", "8 float4")
OCCUPANCY_TICKS = (8, 16, 25, 50, 100)
# Two recorded rates that differ by less than this fraction count as the same.
SAME = 0.02
# What 100 % of the arithmetic is in the record: the rate of this loop, measured in the same run.
FASTEST_LOOP = "the speed of fma_loop"
# The claim of Volkov 2010 for a GTX 480: this share of the bandwidth at this occupancy.
CLAIMED_SHARE, CLAIMED_OCCUPANCY, CLAIMED_COPY = 0.87, 0.08, "8 float4"


def _configure(parser: argparse.ArgumentParser) -> None:
    """Add the options --record, --plot and the device to the command's parser."""
    parser.add_argument("--record", action="store_true", help="write the curves to data/measured")
    parser.add_argument("--plot", type=Path, metavar="FOLDER", help="draw them as PNG files there")
    add_device(parser)


def _run(options: argparse.Namespace) -> int:
    """Measure the curves, or read them without a GPU, print what they show, and return 0.

    Printed are the answer to a claim and the table of Little's law. The options may ask for a
    record and for figures, too. Raises CourseError if there is no GPU to record on, or no record to
    read.
    """
    device, frame = _curves(options)
    if options.plot:
        write(_figures(frame, device), options.plot, "latency")
    print(f"{where(frame)}.", answer(frame), "", littles_law(frame, device).to_string(), sep="\n")
    return 0


def device_shown() -> Device:
    """Return the device whose curves a lesson draws: the current one if recorded, else the H200."""
    device = devices.current()
    return device if device and _path(device).exists() else devices.find(devices.REFERENCE)


def recorded(device: Device) -> pd.DataFrame:
    """Return the recorded curves of a device: the columns of `Point`, and device, versions, date.

    There is one row per measurement. Raises CourseError if there is no record.
    """
    path = _path(device)
    if not path.exists():
        raise CourseError(
            f"The curves of {device.name} are not recorded: run python -m latency_kernels curves "
            "--record on a machine with one."
        )
    return pd.read_csv(path)


def of_the_data_sheet(frame: pd.DataFrame, device: Device) -> pd.DataFrame:
    """Return curves whose shares of arithmetic are those of the data sheet's peak.

    In `frame`, a record of `device`, they are shares of what `fma_loop` reached in the same run.
    The shares of copies are those of the data sheet's bandwidth in both. The peak is that of as
    many SMs as computed, at the recorded clock.
    """
    is_chain = frame["experiment"] == "arithmetic"
    peak = 2 * device.fp32_lanes_per_sm * frame["sms"] * frame["sm_clock_mhz"] / 1e3
    return frame.assign(share=frame["share"].where(~is_chain, frame["value"] / peak))


def littles_law(frame: pd.DataFrame, device: Device) -> pd.DataFrame:
    """Return the work that must be in flight in an SM to hide latency: latency × throughput.

    The rows are "arithmetic" and "memory". The columns are latency (cycles), per_cycle (operations
    or bytes of one SM), under_way (their product), and unit ("multiply-adds" or "bytes"). The
    latency is that of an idle device in `frame`, the throughput that of the data sheet.
    """
    cycles = frame[frame["experiment"] == "latency"].set_index("what")["value"]
    clock = frame.loc[frame["experiment"] == "latency", "sm_clock_mhz"].median()
    bytes_per_cycle = device.peak_gb_per_s * 1e3 / clock / device.sms
    laws = {
        "arithmetic": (cycles["FMA"], device.fp32_lanes_per_sm, "multiply-adds"),
        "memory": (cycles["DRAM"], bytes_per_cycle, "bytes"),
    }
    table = pd.DataFrame.from_dict(laws, "index", columns=["latency", "per_cycle", "unit"])
    table.insert(2, "under_way", table["latency"] * table["per_cycle"])
    return table


def expected_share(
    frame: pd.DataFrame, device: Device, threads: pd.Series, ilp: pd.Series
) -> pd.Series:
    """Return the share of an SM's peak, from 0 to 1, that chains can reach by Little's law.

    There is a share per entry of `threads`, the threads per SM, and of `ilp`, the independent
    chains per thread. `frame` has the latency. The warps are distributed over the SM's
    sub-partitions, each with lanes of its own, and the SM has finished when the fullest
    sub-partition has.
    """
    parts = limits_of(device.compute_capability).sub_partitions
    warps = np.ceil(threads / WARP)
    fullest = np.ceil(warps / parts)
    needed = littles_law(frame, device).loc["arithmetic", "under_way"] / parts
    return (fullest * WARP * ilp / needed).clip(upper=1) * warps / (parts * fullest)


def answer(frame: pd.DataFrame) -> str:
    """Return a sentence that compares a claim of Volkov 2010 with the nearest recorded copy.

    The claim is that a copy of CLAIMED_COPY reaches CLAIMED_SHARE of the bandwidth at
    CLAIMED_OCCUPANCY. The nearest copy is the one with the nearest occupancy.
    """
    copies = frame[(frame["experiment"] == "copy") & (frame["what"] == CLAIMED_COPY)]
    nearest = copies.loc[(copies["occupancy"] - CLAIMED_OCCUPANCY).abs().idxmin()]
    return (
        f"{CLAIMED_SHARE:.0%} of the bandwidth at {CLAIMED_OCCUPANCY:.0%} occupancy, as claimed in "
        f"2010: here copying {CLAIMED_COPY} per thread reaches {nearest['share']:.1%} of the data "
        f"sheet's bandwidth at {nearest['occupancy']:.1%} occupancy."
    )


def where(frame: pd.DataFrame) -> str:
    """Return the text "recorded <date> on <device>", with the latest date of a record's rows."""
    return f"recorded {frame['date'].max()} on {frame['device'].iloc[0]}"


def arithmetic_figure(
    frame: pd.DataFrame, device: Device, sms: int, ilps: Sequence[int] = DRAWN_ILPS
) -> Figure:
    """Draw the fraction of the FMA loop's rate against threads per SM, for chains on `sms` SMs.

    For each number of chains per thread in `ilps` there is a curve, a dotted one for what the model
    expects, and a mark if one is published. If there is only one number, the points where its share
    falls are annotated with the number of threads. Returns the figure.
    """
    chosen = frame[(frame["experiment"] == "arithmetic") & (frame["sms"] == sms)]
    chosen = chosen[chosen["floats"].isin(ilps)]
    threads, ilp = chosen["threads_per_sm"], chosen["floats"]
    points = pd.DataFrame(
        {
            "label": chosen["what"],
            "x": threads,
            "share": chosen["share"],
            "model": expected_share(frame, device, threads, ilp),
        }
    )
    published = records.published("latency_hiding").query("experiment == 'arithmetic'")
    marks = [
        (row.threads_per_sm_for_peak, 1.0, f"ILP {row.ilp}")
        for row in published.itertuples()
        if row.ilp in ilps
    ]
    title = f"Chains of multiply-adds on {'one SM' if sms == 1 else f'all {sms} SMs'}"
    crosses = "cross" if len(marks) == 1 else "crosses"
    subtitle = f"{where(frame)}; {crosses}: where the GTX480 of 2010 is at its peak"
    notes = _falls(points) if len(ilps) == 1 else ()
    return plots.share_lines(
        points, "threads per SM", title, subtitle, marks, notes=notes, yardstick=FASTEST_LOOP
    )


def _falls(points: pd.DataFrame) -> list[tuple[float, float, str]]:
    """Return (x, share, x as text) per point whose share is lower than that of the point before.

    A share counts as lower if it is less than 1 - SAME of the share before. `points` has the
    columns x and share.
    """
    falls = points["share"] < (1 - SAME) * points["share"].shift()
    return [(point.x, point.share, f"{point.x:g}") for point in points[falls].itertuples()]


def chains_figure(frame: pd.DataFrame, device: Device) -> Figure:
    """Draw the fraction of the data sheet's peak against chains per thread, on one SM.

    There is a curve for each number of threads per SM in DRAWN_THREADS, and a dotted one for what
    the model expects. Returns the figure.
    """
    frame = of_the_data_sheet(frame, device)
    chosen = frame[(frame["experiment"] == "arithmetic") & (frame["sms"] == 1)]
    chosen = chosen[chosen["threads_per_sm"].isin(DRAWN_THREADS)]
    chosen = chosen.sort_values(["threads_per_sm", "floats"])
    threads, ilp = chosen["threads_per_sm"], chosen["floats"]
    points = pd.DataFrame(
        {
            "label": threads.map("{} threads".format),
            "x": ilp,
            "share": chosen["share"],
            "model": expected_share(frame, device, threads, ilp),
        }
    )
    title = "More chains in each thread of one SM"
    return plots.share_lines(points, "chains per thread (ILP)", title, f"{where(frame)}")


def share(frame: pd.DataFrame, what: str, threads: int) -> float:
    """Return the recorded share, from 0 to 1, of a point of chains on one SM, or of a copy.

    The share is that of the FMA loop's rate for chains, and of the data sheet's bandwidth for a
    copy. `what` is a curve, such as "ILP 2" or "8 float4", and `threads` is per SM. If there are
    several such points, the one with the largest share counts. Raises CourseError if there is none.
    """
    return float(point(frame, what, threads)["share"])


def fewest_threads(frame: pd.DataFrame, ilp: int, enough: float) -> int | None:
    """Return the fewest recorded threads of one SM whose `ilp` chains reach the share `enough`.

    Returns None if they reach it with no recorded number of threads.
    """
    chosen = frame[(frame["experiment"] == "arithmetic") & (frame["sms"] == 1)]
    chosen = chosen[(chosen["floats"] == ilp) & (chosen["share"] >= enough)]
    return int(chosen["threads_per_sm"].min()) if len(chosen) else None


def loads_under_way(frame: pd.DataFrame, what: str, threads: int) -> float:
    """Return the bytes of loads that an SM has in flight at a recorded point of a copy.

    `what` is the curve, such as "8 float4", and `threads` is per SM. Raises CourseError if there is
    no such point.
    """
    row = point(frame, what, threads)
    return float(row["threads_per_sm"] * row["floats"] * FLOAT_BYTES)


def turn_cycles(frame: pd.DataFrame, what: str, threads: int) -> float:
    """Return the cycles of one iteration of a recorded copy, from a thread's load to its next load.

    By Little's law, it is the loads in flight divided by the loads per cycle. Half of the recorded
    rate is loads. `what` is the curve, such as "8 float4", and `threads` is per SM. Raises
    CourseError if there is no such point.
    """
    row = point(frame, what, threads)
    loaded_per_cycle = row["value"] / 2 * 1e3 / row["sm_clock_mhz"] / row["sms"]
    return loads_under_way(frame, what, threads) / loaded_per_cycle


def loop_cycles(frame: pd.DataFrame, device: Device, ilp: int, multiply_adds: int) -> float:
    """Return the recorded cycles of one iteration of a loop of `ilp` chains on one SM.

    There is one warp per scheduler. `multiply_adds` is the number of them per warp and iteration in
    the compiled loop. Raises CourseError if there is no such point.
    """
    threads = WARP * limits_of(device.compute_capability).sub_partitions
    row = point(frame, f"ILP {ilp}", threads)
    per_warp_and_cycle = row["value"] * 1e3 / 2 / row["sm_clock_mhz"] / threads
    return multiply_adds / per_warp_and_cycle


def point(frame: pd.DataFrame, what: str, threads: int) -> pd.Series:
    """Return the recorded point of a curve with the largest share, as a row of `frame`.

    `what` is a curve of chains on one SM, or of a copy, and `threads` is per SM. Raises CourseError
    if there is no such point.
    """
    return _points(frame, what, threads).sort_values("share").iloc[-1]


def _points(frame: pd.DataFrame, what: str, threads: int) -> pd.DataFrame:
    """Return the rows of `frame` of a curve on one SM, or of a copy, with this many threads per SM.

    Raises CourseError if there is none.
    """
    comparable = frame["sms"].eq(1) | frame["experiment"].eq("copy")
    points = frame[comparable & frame["what"].eq(what) & frame["threads_per_sm"].eq(threads)]
    if points.empty:
        raise CourseError(
            f"There is no recorded point of {what!r} with {threads} threads per SM: look into "
            "latency_curves.csv."
        )
    return points


def copy_figure(frame: pd.DataFrame, device: Device) -> Figure:
    """Draw the fraction of the bandwidth against occupancy, for the copies in DRAWN_COPIES.

    There is a curve per copy, and a dotted one for what the model expects. A cross marks the claim
    of Volkov 2010. Returns the figure.
    """
    chosen = frame[frame["what"].isin(DRAWN_COPIES)].sort_values(["floats", "occupancy"])
    needed = littles_law(frame, device).loc["memory", "under_way"]
    # Half of the bandwidth is reads, and only reads make a thread wait.
    under_way = chosen["threads_per_sm"] * chosen["floats"] * FLOAT_BYTES
    points = pd.DataFrame(
        {
            "label": chosen["what"],
            "x": 100 * chosen["occupancy"],
            "share": chosen["share"],
            "model": (2 * under_way / needed).clip(upper=1),
        }
    )
    marks = [(100 * CLAIMED_OCCUPANCY, CLAIMED_SHARE, CLAIMED_COPY)]
    title = "Copying, by what each thread has under way"
    subtitle = f"{where(frame)}; cross: the claim for the GTX480 of 2010"
    ticks = OCCUPANCY_TICKS
    return plots.share_lines(points, "occupancy in %", title, subtitle, marks, ticks=ticks)


def _curves(options: argparse.Namespace) -> tuple[Device, pd.DataFrame]:
    """Return a device and its curves: measured on the current device, or recorded without a GPU.

    Without a GPU the device is that of `options.device`. With `options.record`, the measured curves
    replace the record of the device. Raises CourseError if there is no GPU to record on, or no
    record to read.
    """
    device = device_for("--record", "Leave it out.") if options.record else devices.current()
    if device is None:
        device = devices.find(options.device)
        return device, recorded(device)
    frame = _as_frame(device)
    if options.record:
        text = frame.to_csv(index=False, float_format="%.6g", lineterminator="\n")
        rows.write_text(_path(device), text)
    return device, frame


def _as_frame(device: Device) -> pd.DataFrame:
    """Measure all curves of the current device and return them as a frame.

    It has one row per measurement, with device, versions and date. The other columns are the fields
    of Point.
    """
    columns = {
        "device": device.name,
        "compute_capability": ".".join(map(str, device.compute_capability)),
        **asdict(versions()),
        "date": datetime.date.today().isoformat(),
    }
    return pd.DataFrame([columns | asdict(point) for point in measure(device)])


def _path(device: Device) -> Path:
    """Return the path of the device's record, which may not exist."""
    return records.file_of(device.name, "latency_curves")


def _figures(frame: pd.DataFrame, device: Device) -> dict[str, Figure]:
    """Return a dict from name to figure: chains on one SM, chains on all SMs, and copies.

    The names are "arithmetic_one_sm", "arithmetic_all_sms" and "copy_occupancy".
    """
    return {
        "arithmetic_one_sm": arithmetic_figure(frame, device, 1),
        "arithmetic_all_sms": arithmetic_figure(frame, device, device.sms),
        "copy_occupancy": copy_figure(frame, device),
    }


COMMAND = Command(
    "curves", "measure how much must be under way to hide latency, or show what was recorded",
    _configure, _run,
)  # fmt: skip
