"""Stands in for the profiler of the NPU."""
