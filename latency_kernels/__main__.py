"""`python -m latency_kernels`: verify, measure and record ceilings and curves of this device."""

from latency_kernels import LADDER
from latency_kernels.hiding import curves
from utils.figures.plot_command import plot_command
from utils.measuring.command_line import main
from utils.measuring.measure_command import measure_command

COMMANDS = (measure_command(LADDER), plot_command(LADDER), curves.COMMAND)

if __name__ == "__main__":
    raise SystemExit(main(LADDER.title, COMMANDS))
