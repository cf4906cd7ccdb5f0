"""Stands in for the image operators of the NPU."""
