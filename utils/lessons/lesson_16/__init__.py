"""What serves lesson 16 alone: Reading the machine code."""
