"""The reads of the reader's own kernel for `rows_apart`, beside those of the course's kernels."""

from __future__ import annotations

from utils.figures.look import number
from utils.ladder.step import Variant
from utils.lessons.cards import Stack, table
from utils.lessons.counting import multiply_adds, watch
from utils.lessons.own_kernels import twins
from utils.machine.occupancy import WARP
from virtual_gpu import Trace, VirtualGpuError
from virtual_gpu.pictures import draw_banks

EXERCISE = "rows_apart"
SHAPE = "64x64x16"
EACH = 64  # multiply-adds of a thread in a step of k


def compare_rows(mine: Variant) -> Stack:
    """Return a table of the shared-memory reads of three kernels, and a picture of a read of sa.

    mine: the reader's right kernel for `rows_apart`. The rows are `register_blocked`, the reader's
    kernel and the course's. The columns are the requests of a warp to read both tiles in one step
    of k, their wavefronts, and the wavefronts per request. The picture shows the banks of the first
    read of "sa" by the reader's kernel; it is left out if the kernel has no shared array of this
    name.
    """
    twin = twins()[EXERCISE]
    kernels = {
        "register_blocked": twin.before,
        f"your {EXERCISE}": mine,
        twin.step.name: twin.variant,
    }
    traces = {name: watch(variant, SHAPE) for name, variant in kernels.items()}
    rows = [(name, *_reads(trace)) for name, trace in traces.items()]
    head = ("", "reads", "wavefronts", "wavefronts of a read")
    counted = table("Reads of a warp in one step of k, counted on the virtual GPU", head, rows)
    try:
        return Stack((counted, draw_banks(traces[f"your {EXERCISE}"].warp_access("sa"))))
    except VirtualGpuError:
        return Stack((counted,))


def _reads(trace: Trace) -> tuple[str, str, str]:
    """Return three cells as texts: requests, wavefronts, and wavefronts per request.

    They are those of a warp that reads both tiles in one step of k.
    """
    steps = multiply_adds(trace) / WARP / EACH
    requests = trace.totals["shared_load_requests"] / steps
    wavefronts = trace.totals["shared_load_wavefronts"] / steps
    return number(requests), number(wavefronts), number(wavefronts / requests)
