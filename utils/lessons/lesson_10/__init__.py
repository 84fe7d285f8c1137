"""What serves lesson 10 alone: Granularity."""
