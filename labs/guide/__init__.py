"""The instructor's pages, and the code of those answers that are code."""
