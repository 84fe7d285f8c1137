"""Grade what students hand in, by its text.

The parent process only reads a submission's bytes. A child process parses the text, checks it
against an allow-list, turns it into functions and launches these on the virtual GPU, so the Python
of a kernel never runs. The child gets inputs and sends back what the function wrote and what the
virtual GPU counted; reference results and marks stay with the parent. Host functions are the one
exception: after the allow-list they are called, by a child in a sandbox. See `python -m labs grade
--help`.
"""
