"""The search for the constants of `autotuned` and of the estimate, and what it found."""
