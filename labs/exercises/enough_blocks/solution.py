"""The number of blocks that has a thread for each element."""


def enough_blocks(elements, threads):
    return (elements + threads - 1) // threads
