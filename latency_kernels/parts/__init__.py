"""What the ceilings compute, so that they are checked like every other kernel."""
