"""Right functions of numbers in an unusual style."""

import math


def wavefronts(side, stride_x, stride_y):
    words = {lane % side * stride_x + lane // side * stride_y for lane in range(32)}
    return max(sum(1 for word in words if word % 32 == bank) for bank in range(32))


required_shared = lambda side: 2 * side**2 * 4  # noqa: E731
square_side = lambda threads: 2 ** int(math.log2(threads) // 2)  # noqa: E731
device_occupancy = lambda blocks, resident, threads, threads_per_sm, sms: (  # noqa: E731
    min(blocks, resident * sms) * threads / (threads_per_sm * sms)
)
