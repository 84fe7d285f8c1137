"""The share of the device's threads that a launch can have at once."""


def device_occupancy(blocks, resident, threads, threads_per_sm, sms):
    # About 2 lines: the blocks that are on the device at once, and the share of its threads.
    pass
