"""Right only where the launch fills the device."""


def device_occupancy(blocks, resident, threads, threads_per_sm, sms):
    return resident * threads / threads_per_sm
