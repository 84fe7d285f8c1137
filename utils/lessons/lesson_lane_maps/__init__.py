"""Code for the extra lesson "Lane maps" only."""
