"""Code for lesson 22, "One warp multiplies", only."""
