"""Code for lesson 12, "Register blocking", only."""
