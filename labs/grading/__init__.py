"""Gives marks for what students hand in, by its text: their Python never runs.

A submission is read as bytes by the parent, and by a child process of its own all else: parsed,
held against an allow-list, turned into functions, launched on the virtual GPU. The child gets
inputs and gives back what the function wrote and what was counted; hidden shapes, references and
the marks stay with the parent. See `python -m labs grade --help`.
"""
