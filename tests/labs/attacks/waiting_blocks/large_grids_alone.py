"""Right only where the grid has more blocks than slots."""


def waiting_blocks(blocks, sms, per_sm):
    return sms * per_sm - 1
