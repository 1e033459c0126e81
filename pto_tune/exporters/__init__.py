"""Turning a recommended configuration into something that a kernel build can use."""
