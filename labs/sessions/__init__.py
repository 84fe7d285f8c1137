"""Plans for an instructor: what to do with a class in 50 minutes of each lesson."""
