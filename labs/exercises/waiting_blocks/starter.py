"""The most blocks of a grid that may wait for all others."""


def waiting_blocks(blocks, sms, per_sm):
    # About 3 lines: does each block of the grid have a slot of its own?
    pass
