"""Code for lesson 04, "To the GPU and back", only."""
