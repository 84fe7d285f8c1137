"""Code for lesson 02, "CPU: the order of three loops", only."""
