"""Code for lesson 17, "Against cuBLAS", only."""
