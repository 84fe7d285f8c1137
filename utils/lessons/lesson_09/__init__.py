"""Code for lesson 09, "Hiding latency", only."""
