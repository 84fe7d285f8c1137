"""What serves lesson 00 alone: Start here: your first kernel."""
