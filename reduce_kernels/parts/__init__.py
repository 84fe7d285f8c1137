"""Parts that several reductions share: grids, operations, trees, wide loads, the second pass."""
