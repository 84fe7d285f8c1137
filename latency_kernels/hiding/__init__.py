"""The experiments of latency hiding, and the curves that they give."""
