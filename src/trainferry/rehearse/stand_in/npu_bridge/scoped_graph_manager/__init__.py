"""Stands in for the memory of initialisation graphs on the NPU."""
