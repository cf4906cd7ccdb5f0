"""Runs a migrated project without an NPU, and tells what the device would say."""
