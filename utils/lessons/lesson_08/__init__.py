"""Code for lesson 08, "Occupancy", only."""
