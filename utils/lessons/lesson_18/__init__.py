"""Code for lesson 18, "Reduce 0 to 3", only."""
