"""The greatest share of the peak that a loop can reach by its instructions."""


def issue_bound(instructions, multiply_adds, lanes):
    cycles_of_a_multiply_add = 32 / lanes
    share = multiply_adds * cycles_of_a_multiply_add / instructions
    return min(100, 100 * share)
