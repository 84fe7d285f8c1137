"""Code for lesson 23, "Feeding the tensor cores", only."""
