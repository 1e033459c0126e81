"""Checking a committed result against today's model: what a baseline holds, tuning it again, what has changed."""
