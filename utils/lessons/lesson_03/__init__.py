"""Code for lesson 03, "Sums in registers, blocks in caches", only."""
