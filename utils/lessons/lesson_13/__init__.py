"""What serves lesson 13 alone: Wide loads and lane maps."""
