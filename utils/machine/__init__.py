"""What this machine is: its GPU, its processor, the limits of an SM, the versions of the software.

Facts come from the tables in `data/` and from the driver. What runs or measures a kernel stays out.
"""
