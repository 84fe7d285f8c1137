"""What a kernel can compute: operations on vectors of lanes that give the bits of a device.

`operations` is the way in; the others hold what NumPy lacks or does differently.
"""
