"""Right only where the launch does not fill the device."""


def device_occupancy(blocks, resident, threads, threads_per_sm, sms):
    return min(1, blocks * threads / (threads_per_sm * sms))
