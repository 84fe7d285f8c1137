"""The machine room of the CPU ladder: five loops, packed panels, the widest micro-kernel."""
