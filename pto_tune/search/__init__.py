"""Searching a space of configurations: all of it, or the part that a sampler proposes."""
