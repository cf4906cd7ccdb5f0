"""Stands in for estimators, optimizers, hooks and scopes of the NPU."""
