"""What serves lesson 04 alone: To the GPU and back."""
