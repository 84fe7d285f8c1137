"""What a host program handles: device arrays, copies, streams, and what it asks of a device.

Launches are in the room `launching`.
"""
