"""Code for lesson 11, "ILP", only."""
