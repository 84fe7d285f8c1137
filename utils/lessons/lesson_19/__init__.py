"""What serves lesson 19 alone: Reduce 4 to 7."""
