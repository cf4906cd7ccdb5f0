"""Stands in for the door to the operators of the NPU."""
