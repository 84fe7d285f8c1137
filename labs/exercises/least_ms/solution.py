"""The least time of a matrix product in milliseconds."""


def least_ms(n, instructions, lines, sms, mhz):
    multiply_adds = n**3 / 32 / sms
    cycles_of_one = max(instructions / 4, lines)
    cycles = multiply_adds * cycles_of_one
    return cycles / mhz / 1000
