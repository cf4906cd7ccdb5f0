"""Stands in for CANN's package for collective communication."""
