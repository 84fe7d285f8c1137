"""Code for lesson 13, "Wide loads", only."""
