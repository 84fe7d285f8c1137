"""The arithmetic of a kernel on vectors of lanes, with the same bits as on a device.

`operations` is the entry point. The other modules hold what NumPy lacks or does differently.
"""
