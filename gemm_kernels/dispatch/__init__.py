"""The run-time decisions of `sgemm` and `autotuned`: the kernel for a shape, and its constants."""
