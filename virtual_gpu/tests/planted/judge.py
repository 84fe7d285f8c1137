"""Run a program with a planted bug as `python -m virtual_gpu` does, and list what is said."""

from __future__ import annotations

import warnings

from virtual_gpu import install
from virtual_gpu.common.errors import VirtualGpuError
from virtual_gpu.host.transfers import counting_transfers
from virtual_gpu.launching.dispatcher_methods import watching
from virtual_gpu.programs.launch_log import LaunchLog
from virtual_gpu.programs.summary import UNSEEN

from . import Planted

# Hints on speed and on alignment, which a program without a bug gets, too.
ON_SPEED = frozenset(
    {"strided_access", "bank_conflict", "idle_lanes", "float64", "unaligned_array"}
)


def remarks(program: Planted) -> list[tuple[str, str]]:
    """Return all remarks on a program as pairs (kind, sentence), without hints on its speed.

    The kind is that of a finding or a hint, the name of the exception that ended the program, or
    "warning" for a Python warning, or "unseen" for the hint that no result was copied back.
    """
    install()
    log, said = LaunchLog(), []
    with (
        warnings.catch_warnings(record=True) as caught,
        counting_transfers() as transfers,
        watching(log),
    ):
        warnings.simplefilter("always")
        try:
            program.run()
        except (VirtualGpuError, TypeError, ValueError, AttributeError) as error:
            if getattr(error, "finding", None) is None:
                said.append((type(error).__name__, str(error)))
    for kernel in log.kernels:
        said += [(note.kind, str(note)) for note in (*kernel.findings, *kernel.hints)]
    said += [("unseen", UNSEEN)] if log.results_are_unseen(transfers) else []
    said += [("warning", str(one.message)) for one in caught if one.category is UserWarning]
    return [(kind, text) for kind, text in said if kind not in ON_SPEED]
