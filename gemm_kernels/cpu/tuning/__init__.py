"""The yardsticks of the CPU ladder: its bars, the peak, the libraries."""
