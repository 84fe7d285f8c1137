"""The searches for the constants of `autotuned` and of the estimate."""
