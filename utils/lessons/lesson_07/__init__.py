"""What serves lesson 07 alone: Tiling."""
