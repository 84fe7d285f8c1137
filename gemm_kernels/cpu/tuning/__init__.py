"""What the CPU ladder is measured against: the bars, the peak, the libraries beside it."""
