"""Code for lesson 11, "Is it ILP?", only."""
