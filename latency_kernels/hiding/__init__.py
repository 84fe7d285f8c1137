"""The experiments of latency hiding, the curves that they give, and the tables of lesson 09."""
