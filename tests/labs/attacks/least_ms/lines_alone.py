"""Right only where the cache lines take longer than the instructions."""


def least_ms(n, instructions, lines, sms, mhz):
    return n**3 / 32 / sms * lines / mhz / 1000
