"""What serves lesson 09 alone: Hiding latency."""
