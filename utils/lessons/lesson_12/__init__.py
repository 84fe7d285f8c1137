"""What serves lesson 12 alone: Register blocking."""
