"""Stands in for operators that run on the CPU cores of the NPU."""
