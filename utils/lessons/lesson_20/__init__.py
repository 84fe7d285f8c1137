"""What serves lesson 20 alone: Reduce at the limit."""
