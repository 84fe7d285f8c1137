"""Code for lesson 06, "Unrolling", only."""
