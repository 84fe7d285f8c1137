"""Code for lesson 10, "Granularity", only."""
