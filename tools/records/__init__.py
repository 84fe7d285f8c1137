"""Makes the tables of `data/` that are not of a ladder: compiled, counted, compared, profiled."""
