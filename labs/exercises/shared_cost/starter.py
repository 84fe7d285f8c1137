"""The wavefronts of shared memory per multiply-add of a warp, with tiles of 32×32."""


def shared_cost(grain, word_of_a):
    # About 3 lines: the reads of one step, its part of the stores, and both per multiply-add.
    pass
