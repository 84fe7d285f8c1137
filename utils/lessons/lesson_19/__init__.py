"""Code for lesson 19, "Reduce 4 to 7", only."""
