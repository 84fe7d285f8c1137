"""What serves lesson 15 alone: The Maxwell classic."""
