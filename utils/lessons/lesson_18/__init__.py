"""What serves lesson 18 alone: Reduce 0 to 3."""
