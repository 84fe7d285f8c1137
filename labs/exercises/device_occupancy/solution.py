"""The share of the device's threads that a launch can have at once."""


def device_occupancy(blocks, resident, threads, threads_per_sm, sms):
    active = min(blocks, resident * sms)
    return active * threads / (threads_per_sm * sms)
