"""What serves lesson 02 alone: CPU: the order of three loops."""
