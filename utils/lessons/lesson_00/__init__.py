"""Code for lesson 00, "Start here: your first kernel", only."""
