"""Kernels that are compiled and measured for records; each module is a command that writes one."""
