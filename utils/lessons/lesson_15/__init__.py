"""Code for lesson 15, "The Maxwell classic", only."""
