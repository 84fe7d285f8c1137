"""What `sgemm` and `autotuned` decide at run time: the kernel for a shape, and its constants."""
