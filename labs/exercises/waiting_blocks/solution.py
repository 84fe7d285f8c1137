"""The most blocks of a grid that may wait for all others."""


def waiting_blocks(blocks, sms, per_sm):
    slots = sms * per_sm
    if blocks <= slots:
        return blocks
    return slots - 1
