"""Code for lesson 01, "Measuring honestly", only."""
