"""Explain one configuration: timeline, critical path, bounds, trace file."""
