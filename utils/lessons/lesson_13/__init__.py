"""Code for lesson 13, "Wide loads and lane maps", only."""
