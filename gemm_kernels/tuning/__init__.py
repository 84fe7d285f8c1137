"""The search for the constants of `autotuned`, what it found, and what transfers cost."""
