"""What a notebook imports: code and its changes, edits of a kernel, two steps side by side.

And what executes the notebooks. What a kernel or a command line needs stays out.
"""
