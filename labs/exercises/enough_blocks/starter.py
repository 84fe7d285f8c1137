"""The number of blocks that has a thread for each element."""


def enough_blocks(elements, threads):
    # 1 line: the smallest number of blocks.
    pass
