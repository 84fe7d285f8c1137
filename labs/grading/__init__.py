"""Gives marks for what students hand in, by its text.

A submission is read as bytes by the parent, and by a child process of its own all else: parsed,
held against an allow-list, turned into functions, launched on the virtual GPU. The Python of a
kernel never runs. The child gets inputs and gives back what the function wrote and what was
counted; references and the marks stay with the parent. Functions of the host are the one exception:
after the allow-list they are called, by a child in a sandbox. See `python -m labs grade --help`.
"""
