"""The measurements around the CPU ladder: its requirements, the peak, the rates of libraries."""
