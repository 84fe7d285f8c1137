"""What serves lesson 14 alone: Prefetch."""
