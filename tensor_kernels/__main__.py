"""`python -m tensor_kernels`: verify, measure, record and draw the ladder of tensor cores."""

from tensor_kernels import LADDER, pairs_alone, registers_alone
from utils.figures.plot_command import plot_command
from utils.measuring.command_line import main
from utils.measuring.measure_command import measure_command

COMMANDS = (
    measure_command(LADDER),
    plot_command(LADDER),
    pairs_alone.COMMAND,
    registers_alone.COMMAND,
)

if __name__ == "__main__":
    raise SystemExit(main(LADDER.title, COMMANDS))
