"""What serves lesson 21 alone: The roofline and the ledger."""
