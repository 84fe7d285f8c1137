"""What serves lesson 17 alone: Against cuBLAS."""
