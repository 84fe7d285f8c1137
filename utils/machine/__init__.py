"""Facts about this machine: its GPU, its processor, the limits of an SM, software versions.

The facts come from the tables in `data/` and from the driver. Code that runs or measures a kernel
does not belong here.
"""
