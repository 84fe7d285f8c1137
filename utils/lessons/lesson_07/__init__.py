"""Code for lesson 07, "Tiling", only."""
