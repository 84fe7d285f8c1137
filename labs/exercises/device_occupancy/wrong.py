"""Wrong answers to `device_occupancy`: what `check` says, and the changes that earn it."""

ACTIVE = "min(blocks, resident * sms)"
SHARE = "active * threads / (threads_per_sm * sms)"

WRONG = {
    "The first bracket counts the blocks of one SM, and the second one the threads of all SMs.": {
        "the blocks of one SM": [(ACTIVE, "resident")],
        "the blocks of one SM, or fewer": [(ACTIVE, "min(blocks, resident)")]},
    "`blocks` makes no difference to your answers: a small launch leaves SMs empty.": {
        "the launch left out": [(ACTIVE, "resident * sms")],
        "one SM": [(SHARE, "resident * threads / threads_per_sm")]},
    "`resident` makes no difference to your answers: an SM does not hold more blocks at once.": {
        "the residents left out": [(ACTIVE, "blocks")]},
    "`resident` makes no difference to your answers, but for a limit of 1: an SM holds `resident` "
    "blocks at once, and they need not fill it.": {
        "a limit of 1": [(SHARE, "min(1, blocks * threads / (threads_per_sm * sms))")]},
    "You take the larger number of blocks. What the launch has and what the device holds are both "
    "limits.": {"the larger": [("min", "max")]},
    "The blocks of a launch are shared out to the SMs and rounded down. Count those of the whole "
    "device.": {"rounded down": [(ACTIVE, "min(blocks // sms, resident) * sms")]},
    "The blocks of a launch are shared out to the SMs and rounded up. Count those of the whole "
    "device.": {"rounded up": [(ACTIVE, "min(-(-blocks // sms), resident) * sms")]},
    "The number of SMs is missing in the second bracket.": {
        "SMs left out": [("(threads_per_sm * sms)", "threads_per_sm")]},
    "This is one SM with all `blocks` on it. They are shared out to all SMs.": {
        "the launch on one SM": [(SHARE, "min(blocks, resident) * threads / threads_per_sm")]},
    "This is in percent, and a share from 0 to 1 is asked for.": {
        "percent": [(SHARE, f"100 * {SHARE}")]},
    "`//` rounds down to a whole number, and a share lies between 0 and 1.": {
        "whole": [("threads / (", "threads // (")]},
    "You have divided the wrong way round.": {
        "the wrong way round": [(SHARE, "threads_per_sm * sms / (active * threads)")]},
    "This is the share that stays empty.": {"the empty share": [(SHARE, f"1 - {SHARE}")]},
    "You count blocks, and the room is that of threads.": {
        "blocks": [("active * threads", "active")]},
    "You count warps, and the room is that of threads.": {
        "warps": [("active * threads", "active * threads / 32")]},
    "These are threads. The share of the device's room is asked for.": {
        "threads": [(SHARE, "active * threads")]},
    "These are blocks. The share of the device's room is asked for.": {
        "only blocks": [(SHARE, "active")]},
    "Python divides by the threads of an SM and then multiplies by the SMs: put the second bracket "
    "into brackets.": {"no brackets": [("(threads_per_sm * sms)", "threads_per_sm * sms")]},
    "The formula counts threads": {
        "whole warps": [("active * threads", "active * -(-threads // 32) * 32")]},
    "blocks are on the device at once": {"of an H200": [("* sms)", "* 132)")]},
    "returns nothing": {"nothing": [("return ", "")]},
}  # fmt: skip
