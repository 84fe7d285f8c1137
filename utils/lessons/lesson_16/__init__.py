"""Code for lesson 16, "Reading the machine code", only."""
