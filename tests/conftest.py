"""What holds for all tests."""

from numba import cuda

# These launch kernels that are wrong, or count on the virtual GPU to run a launch. With a CUDA
# device launches run there, and a wrong one can end the process's use of the device.
collect_ignore_glob = ["test_virtual_gpu_*.py"] if cuda.is_available() else []
