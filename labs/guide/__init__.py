"""The instructor's pages, and the code of answers that are code."""
