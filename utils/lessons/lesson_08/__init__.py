"""What serves lesson 08 alone: Occupancy."""
