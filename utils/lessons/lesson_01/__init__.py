"""What serves lesson 01 alone: Measuring honestly."""
