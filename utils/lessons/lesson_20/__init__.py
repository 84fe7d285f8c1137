"""Code for lesson 20, "Reduce at the limit", only."""
