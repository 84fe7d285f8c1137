"""The wavefronts of shared memory per multiply-add of a warp, with tiles of 32×32."""


def shared_cost(grain, word_of_a):
    reads = grain + word_of_a
    stores = (1 + grain) / 32
    return (reads + stores) / grain
