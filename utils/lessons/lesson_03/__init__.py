"""What serves lesson 03 alone: Sums in registers, blocks in caches."""
