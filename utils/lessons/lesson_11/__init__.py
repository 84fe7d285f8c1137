"""What serves lesson 11 alone: ILP."""
