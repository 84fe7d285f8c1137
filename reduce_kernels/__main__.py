"""`python -m reduce_kernels`: verify, measure, record and draw the ladder of reductions."""

from reduce_kernels import LADDER, as_called, bits, grids_alone, remainder, trees_alone
from utils.figures.plot_command import plot_command
from utils.measuring.command_line import main
from utils.measuring.measure_command import measure_command

COMMANDS = (
    measure_command(LADDER),
    plot_command(LADDER),
    as_called.COMMAND,
    remainder.COMMAND,
    bits.COMMAND,
    trees_alone.COMMAND,
    grids_alone.COMMAND,
)

if __name__ == "__main__":
    raise SystemExit(main(LADDER.title, COMMANDS))
