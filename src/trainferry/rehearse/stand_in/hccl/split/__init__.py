"""Stands in for the ways to split gradients for allreduce."""
