"""A launch whose block is the best one."""


def launch_best(kernel, registers, a, b, c):
    # About 4 lines: the side, the grid, the launch; return the side.
    pass
