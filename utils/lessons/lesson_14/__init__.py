"""Code for lesson 14, "Prefetch", only."""
