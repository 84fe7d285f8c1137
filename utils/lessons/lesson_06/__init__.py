"""What serves lesson 06 alone: Unrolling."""
