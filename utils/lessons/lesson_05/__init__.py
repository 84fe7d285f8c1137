"""What serves lesson 05 alone: Which lane reads which word."""
