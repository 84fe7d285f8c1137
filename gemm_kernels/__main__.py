"""`python -m gemm_kernels`: verify, measure, record, draw and tune the GPU ladder of SGEMM."""

from gemm_kernels import (
    LADDER,
    as_called,
    buffers_alone,
    copies_alone,
    ilp_alone,
    occupancy_alone,
    overlap,
    pitfalls,
    rows_apart,
    tiles_alone,
    transfers,
    wide_alone,
)
from gemm_kernels.tuning import search, shapes_search
from utils.figures.plot_command import plot_command
from utils.measuring.command_line import main
from utils.measuring.measure_command import measure_command

COMMANDS = (
    measure_command(LADDER),
    plot_command(LADDER),
    search.COMMAND,
    shapes_search.COMMAND,
    transfers.COMMAND,
    pitfalls.COMMAND,
    as_called.COMMAND,
    ilp_alone.COMMAND,
    occupancy_alone.COMMAND,
    overlap.COMMAND,
    tiles_alone.COMMAND,
    wide_alone.COMMAND,
    rows_apart.COMMAND,
    buffers_alone.COMMAND,
    copies_alone.COMMAND,
)

if __name__ == "__main__":
    raise SystemExit(main(LADDER.title, COMMANDS))
