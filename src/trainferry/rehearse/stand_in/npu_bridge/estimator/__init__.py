"""Stands in for what estimators, optimizers and operators of the NPU need."""
