"""Stands in for single operators of the NPU."""
