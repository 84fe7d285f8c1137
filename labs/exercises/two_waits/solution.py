"""The microseconds from a launch until its kernel ends, and of nothing else."""


def two_waits(device):
    device.launch()  # compiles
    device.synchronize()
    start = device.now()
    device.launch()
    device.synchronize()
    end = device.now()
    return (end - start) * 10**6
