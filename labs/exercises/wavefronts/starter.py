"""The wavefronts of one request to shared memory."""


def wavefronts(side, stride_x, stride_y):
    # About 8 lines: the different words of the 32 lanes, and the bank that has the most of them.
    pass
