"""Code for lesson 21, "The roofline and the ledger", only."""
