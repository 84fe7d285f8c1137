"""Code for lesson 05, "Which lane reads which word", only."""
