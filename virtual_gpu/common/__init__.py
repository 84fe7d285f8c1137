"""What every room knows: errors, threads as lanes, a kernel's text, the limits of a launch.

These files import nothing of the other rooms.
"""
